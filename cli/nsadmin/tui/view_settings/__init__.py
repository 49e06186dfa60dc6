"""What the screen remembers: sort, columns, filter modes and theme of each context, and saved views."""
