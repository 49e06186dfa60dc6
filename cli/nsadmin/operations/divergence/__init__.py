"""What name servers know differently, since when, and why: they never talk to each other."""
