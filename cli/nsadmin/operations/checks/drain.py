"""Checks that drained brokers receive no writes, and that no drain is forgotten or half-finished.

A drain is stored on the machine where it began. This check cannot see drains of other machines.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nsadmin.client import AdminClient
from nsadmin.operations.checks.finding import Finding, State, worst
from nsadmin.operations.checks.thresholds import Scale
from nsadmin.operations.drain.facts import Server
from nsadmin.operations.drain.keeping import Kept, kept
from nsadmin.operations.drain.looking import Cluster
from nsadmin.operations.drain.state import BadState
from nsadmin.wording import first_of

_TAKEN = ("settle", "wait", "safe")
"""Phases in which no client may write to the broker."""
_SHOWN = 3


class Drain(NamedTuple):
    """A drain that is not undone, and the broker's current registration at each name server."""

    kept: Kept
    servers: Sequence[Server]

    @property
    def name(self) -> str:
        return f"drain of {self.kept.state.broker}"

    @property
    def is_held(self) -> bool:
        """Whether a process runs this drain, and removes the write permission again if it returns."""
        return self.kept.pid is not None

    @property
    def open_topics(self) -> set[str]:
        """Topics that clients can write to on the drained broker, according to at least one name server."""
        if self.kept.state.phase not in _TAKEN or self.is_held:
            return set()
        return {topic for server in self.servers for topic in server.open_topics}


class Seen(NamedTuple):
    """The drains of this cluster at `now_ms`, and the errors of unreadable state files."""

    now: int
    drains: Sequence[Drain]
    unreadable: Sequence[BadState] = ()


def look(admin: AdminClient, now: int, home: Path) -> Seen:
    """Read the drains stored under `state_home` that involve one of this client's name servers."""
    asked = set(admin.addresses.addrs)
    found: list[Kept | BadState] = list(kept(home))
    mine = [one for one in found if isinstance(one, Kept) and asked & set(one.state.name_servers)]
    drains = [Drain(one, Cluster(admin, one.state.broker).servers()) for one in mine]
    return Seen(now, drains, [one for one in found if isinstance(one, BadState)])


def judge(scale: Scale, seen: Seen) -> Finding:
    """A writable topic on a drained broker is critical, unless a process still runs the drain."""
    opened = {drain.name: drain.open_topics for drain in seen.drains if drain.open_topics}
    oldest = max((_age(drain, seen.now) for drain in seen.drains), default=0.0)
    samples = [
        scale.sample("open", len({topic for topics in opened.values() for topic in topics})),
        scale.sample("oldest", oldest),
        scale.sample("drains", len(seen.drains)),
    ]
    least = worst(_states(seen))
    details = [line for drain in seen.drains for line in _lines(drain, seen.now)]
    details += [str(error) for error in seen.unreadable]
    return scale.finding(_summary(seen.drains, opened), samples, details, least=least)


def _age(drain: Drain, now: int) -> float:
    """Return the seconds since the drain began."""
    return max(now - drain.kept.state.started, 0) / 1000


def _states(seen: Seen) -> Iterator[State]:
    for drain in seen.drains:
        if not drain.is_held and drain.kept.state.phase != "safe":
            yield State.WARNING
        if any(server.error for server in drain.servers):
            yield State.UNKNOWN
    if seen.unreadable:
        yield State.UNKNOWN


def _lines(drain: Drain, now: int) -> Iterator[str]:
    state = drain.kept.state
    by = f" by {state.by}" if state.by else ""
    yield f"{drain.name}: begun {_age(drain, now) / 3600:.1f} h ago{by}, phase {state.phase}"
    if not drain.is_held and state.phase == "undrain":
        yield f"{drain.name}: undoing it has ended half-way: nsadmin undrain {state.broker} goes on"
    elif not drain.is_held and state.phase != "safe":
        yield f"{drain.name}: nobody is at it any more: nsadmin drain {state.broker} goes on"
    for server in drain.servers:
        where = f"{drain.name}: name server {server.addr}"
        if server.error is not None:
            yield f"{where}: {server.error}"
        elif state.phase in _TAKEN and not drain.is_held and server.open_topics:
            yield f"{where} lets clients write to {first_of(server.open_topics, _SHOWN)}"


def _summary(drains: Sequence[Drain], opened: Iterable[str]) -> str:
    if not drains:
        return "no broker of this cluster is drained from here"
    names = ", ".join(drain.kept.state.broker for drain in drains)
    names_open = ", ".join(name.removeprefix("drain of ") for name in opened)
    return f"{len(drains)} drained: {names}" + (
        f"; writes are open again on {names_open}" if names_open else ""
    )
