"""TODO polling."""
