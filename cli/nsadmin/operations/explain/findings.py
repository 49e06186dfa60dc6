"""Findings of a cause check on one server, and the advice that goes with them."""

import shlex
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from nsadmin.operations.explain.facts import Facts
from nsadmin.wording import first_of

Result = Literal["ok", "warning", "cause", "unknown", "skipped"]
"""A "warning" is a problem, but not the reason why clients find no route; "unknown" could not be checked."""


SERVERS = "{servers}"
"""Placeholder in a command for all name servers that the finding is about."""


class Advice(NamedTuple):
    """What to do next: an instruction, a command (the words after `nsadmin`), or both."""

    words: str
    command: tuple[str, ...] = ()

    @property
    def typed(self) -> str | None:
        """The whole command, quoted for a shell; None without a command."""
        return shlex.join(["nsadmin", *self.command]) if self.command else None

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.words, self.typed)))


class Finding(NamedTuple):
    """The result of a cause check, its evidence, and advice if there is any.

    `namesrv_addr`, `broker_name` and `broker_addr` name the server that the finding is about, if it is one.
    """

    result: Result
    seen: str
    next: Advice | None = None
    namesrv_addr: str | None = None
    broker_name: str | None = None
    broker_addr: str | None = None


class Step(NamedTuple):
    """The check for one cause: `id` names the cause for programs, `find_problems` yields the findings.

    If `find_problems` yields nothing, the finding is `all_clear`: a text, or a function of the facts.
    """

    id: str
    well: str | Callable[[Facts], Finding]
    look: Callable[[Facts], Iterable[Finding]]
    needs_servers: bool = True


def typed(*command: str, words: str = "") -> Advice:
    """Advice to type this command, with an instruction that says why."""
    return Advice(words, command)


def ok(seen: str) -> Finding:
    return Finding("ok", seen)


def skipped(seen: str) -> Finding:
    return Finding("skipped", seen)


def listed(names: Iterable[str]) -> str:
    """Names joined for a sentence: all of them, or the first four of many."""
    known = list(names)
    # With five names, "and 1 more" would be longer than the fifth name.
    return first_of(known, 4 if len(known) > 5 else 5)
