"""The command palette: everything that an operator can open or run, found by a few letters of its name."""
