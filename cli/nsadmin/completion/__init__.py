"""What a TAB offers: names that servers know, out of a cache that is filled in the background."""
