"""TODO procedures."""
