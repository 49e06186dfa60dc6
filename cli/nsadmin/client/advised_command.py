"""Owns the form of commands that messages advise."""

import shlex


def quote_command(*command_words: str) -> str:
    """Return a command line of nsadmin to paste into a shell: names of servers cannot add a command."""
    return shlex.join(["nsadmin", *command_words])
