"""TODO actions."""
