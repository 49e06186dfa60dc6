"""The views of consumer groups."""
