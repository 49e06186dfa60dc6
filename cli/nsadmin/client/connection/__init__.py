"""TODO connection."""
