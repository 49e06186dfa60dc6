"""TODO command_line."""
