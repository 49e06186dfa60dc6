"""TODO name_servers."""
