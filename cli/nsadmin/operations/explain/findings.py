"""Findings: what looking for one cause brought, on one server."""

import shlex
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from nsadmin.operations.explain.facts import Facts
from nsadmin.wording import first_of

Result = Literal["ok", "warning", "cause", "unknown", "skipped"]
"""A "warning" is wrong and not why clients find nothing; what is "unknown" could not be asked."""


SERVERS = "{servers}"
"""In a command: all the name servers of which the same is to be said."""


class Advice(NamedTuple):
    """What to do next, in words, and what to type for it (the words behind `nsadmin`), or one of these."""

    words: str
    command: tuple[str, ...] = ()

    @property
    def typed(self) -> str | None:
        """The command as a shell takes it."""
        return shlex.join(["nsadmin", *self.command]) if self.command else None

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.words, self.typed)))


class Finding(NamedTuple):
    """`seen` is the evidence, `next` what to do, if there is something.

    Where it is about one name server, `namesrv_addr` says which; likewise broker and its address.
    """

    result: Result
    seen: str
    next: Advice | None = None
    namesrv_addr: str | None = None
    broker_name: str | None = None
    broker_addr: str | None = None


class Step(NamedTuple):
    """One cause: `id` is what programs know it by, `look` finds it.

    `look` yields nothing where all is well; what is said then is `well`, or what it returns of the facts.
    """

    id: str
    well: str | Callable[[Facts], Finding]
    look: Callable[[Facts], Iterable[Finding]]
    needs_servers: bool = True


def typed(*command: str, words: str = "") -> Advice:
    """A command to type next, and in words what for."""
    return Advice(words, command)


def ok(seen: str) -> Finding:
    return Finding("ok", seen)


def skipped(seen: str) -> Finding:
    return Finding("skipped", seen)


def listed(names: Iterable[str]) -> str:
    """Names in a sentence: the first few of many."""
    known = list(names)
    # "and 1 more" would be longer than a name.
    return first_of(known, 4 if len(known) > 5 else 5)
