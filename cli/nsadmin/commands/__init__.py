"""The commands: a file for each noun, a function for each command that parses, calls and returns rows."""
