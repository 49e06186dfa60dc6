"""Owns the commands: a folder for each noun, and a function for each command that returns its rows."""
