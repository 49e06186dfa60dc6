"""Owns the form of commands that messages advise."""

import shlex
from collections.abc import Callable, Sequence
from contextvars import ContextVar

connection_words: ContextVar[Callable[[Sequence[str]], Sequence[str]]] = ContextVar(
    "connection_words", default=lambda command_words: ()
)
"""Returns the options with which an advised command reaches the servers of the running one."""


def quote_command(*command_words: str) -> str:
    """Return a command line of nsadmin to paste into a shell: names of servers cannot add a command."""
    return shlex.join(["nsadmin", *command_words, *connection_words.get()(command_words)])
