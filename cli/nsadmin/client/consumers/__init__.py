"""TODO consumers."""
