"""Tables on disk: bronze, silver, and how they are written."""
