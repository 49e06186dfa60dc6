"""TODO facts."""
