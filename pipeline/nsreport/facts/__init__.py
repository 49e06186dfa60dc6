"""Facts that several reports share, derived from events."""
