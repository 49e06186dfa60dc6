"""TODO history."""
