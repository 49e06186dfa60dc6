"""TODO contexts."""
