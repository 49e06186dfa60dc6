"""World: what the screen is handed: which cluster is looked at, how it is reached, what may be done to it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from nsadmin.tui.feed import Connect
from nsadmin.tui.polls import Words


class World(NamedTuple):
    """`words` are the options by which a command line reaches the same cluster.

    `journals` are folders that name servers or collectors write, and `said` puts their events into words;
    `read_only` is whether nothing may change.
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
    """The one to begin with, the names of the others, and how one of these is had.

    `enter` raises what a command line would: the text says what is wrong with the context.
    """

    first: World
    names: Callable[[], Sequence[str]] = lambda: ()
    enter: Callable[[str], World] | None = None
