"""TODO presentation."""
