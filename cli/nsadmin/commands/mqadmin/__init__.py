"""What mqadmin's users know: its command names and its text output."""
