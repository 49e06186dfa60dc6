"""TODO checks."""
