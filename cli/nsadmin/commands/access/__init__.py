"""TODO access."""
