"""TODO mqadmin."""
