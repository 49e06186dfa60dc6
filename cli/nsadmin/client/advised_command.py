"""Owns the form of commands that messages advise."""

import shlex
from collections.abc import Callable, Sequence
from contextvars import ContextVar

connection_words: ContextVar[Callable[[Sequence[str], Sequence[str]], Sequence[str]]] = ContextVar(
    "connection_words", default=lambda command_words, connection: connection
)
"""Returns the options that an advised command needs: those given, else those of the running command."""
own_connection: ContextVar[Callable[[], Sequence[str]]] = ContextVar("own_connection", default=tuple)
"""Returns the options with which any other command reaches the servers of the running one, if needed."""


def quote_command(*command_words: str, connection: Sequence[str] = ()) -> str:
    """Return a command line of nsadmin to paste into a shell: names of servers cannot add a command.

    It reaches the servers of the running command, or those of `connection`.
    """
    return shlex.join(["nsadmin", *command_words, *connection_words.get()(command_words, connection)])
