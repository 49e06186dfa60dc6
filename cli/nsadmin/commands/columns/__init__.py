"""TODO columns."""
