"""Man pages, completions and the command reference, rendered from the registry of commands."""
