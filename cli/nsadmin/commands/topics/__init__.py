"""TODO topics."""
