"""The context of the screen: the observed cluster, the connection to it, and whether changes are allowed."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from nsadmin.tui.feed import Connect
from nsadmin.tui.polls import Words


class World(NamedTuple):
    """A cluster that the screen can show.

    `words` are the options that make a command line use the same cluster. Name servers or collectors write
    `journal_folders`, and `describe_event` puts their events into words. `read_only` forbids changes.
    """

    label: str
    addrs: Sequence[str]
    connect: Connect
    words: Sequence[str] = ()
    color: str | None = None
    read_only: bool = False
    journals: Sequence[str] = ()
    namespaces: Sequence[str] = ("ORDER_TOPIC_CONFIG",)
    said: Words = lambda kind, fields: None


class Worlds(NamedTuple):
    """The context at the start, the names of all contexts, and a function that opens one of them.

    `open_context` raises the errors of a command line. Their text says what is wrong with the context.
    """

    first: World
    names: Callable[[], Sequence[str]] = lambda: ()
    enter: Callable[[str], World] | None = None
