"""Checks that drained brokers receive no writes, and that no drain is forgotten or half-finished.

A drain is stored on the machine where it began. This check cannot see drains of other machines.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.advised_command import quote_command
from nsadmin.console.phrases import abbreviate_names
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState, worst_state
from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.drain.facts import NameServerFacts
from nsadmin.operations.drain.state import NO_DRAIN, SavedDrain, load_drains
from nsadmin.operations.installation import Installation
from nsadmin.operations.run_folder import InvalidStateError
from nsadmin.operations.state_folder import find_state_home

_CLOSED_PHASES = ("settle", "wait", "safe")
"""Phases in which no client may write to the broker."""
_MAX_SHOWN = 3


class ObservedDrain(NamedTuple):
    """A drain that is not undone, and the broker's current registration at each name server."""

    saved_drain: SavedDrain
    server_facts: Sequence[NameServerFacts]

    @property
    def title(self) -> str:
        return f"drain of {self.saved_drain.state.broker}"

    @property
    def is_held(self) -> bool:
        """Whether a process runs this drain, and removes the write permission again if it returns."""
        return self.saved_drain.holder_pid is not None

    @property
    def open_topics(self) -> set[str]:
        """Topics that clients can write to on the drained broker, according to at least one name server."""
        if self.saved_drain.state.phase not in _CLOSED_PHASES or self.is_held:
            return set()
        return {topic for server in self.server_facts for topic in server.open_topics}


class DrainObservation(NamedTuple):
    """The drains of this cluster at `now_ms`, and the errors of unreadable state files."""

    now_ms: int
    drains: Sequence[ObservedDrain]
    unreadable: Sequence[InvalidStateError] = ()


def observe(admin: AdminClient, scope: CheckScope) -> DrainObservation:
    """Read the drains of this machine that involve this client's servers."""
    loaded = list(Installation(admin).keep_own(load_drains(find_state_home())))
    observed = [
        ObservedDrain(drain, ClusterEnvironment(admin, drain.state.broker).read_servers())
        for drain in loaded
        if isinstance(drain, SavedDrain)
    ]
    unreadable = [drain for drain in loaded if isinstance(drain, InvalidStateError)]
    scope.skip_if(not observed and not unreadable, NO_DRAIN)
    return DrainObservation(admin.clock_ms, observed, unreadable)


def judge(scale: CheckScale, seen: DrainObservation) -> CheckFinding:
    """A writable topic on a drained broker is critical, unless a process still runs the drain."""
    topics_by_broker = {
        drain.saved_drain.state.broker: drain.open_topics for drain in seen.drains if drain.open_topics
    }
    oldest_seconds = max((_age_seconds(drain, seen.now_ms) for drain in seen.drains), default=0.0)
    figures = {
        "open": len(set().union(*topics_by_broker.values())),
        "oldest": oldest_seconds,
        "drains": len(seen.drains),
    }
    details = [line for drain in seen.drains for line in _format_drain(drain, seen.now_ms)]
    return scale.make_finding(
        _format_summary(seen, topics_by_broker),
        figures,
        [*details, *map(str, seen.unreadable)],
        minimum_state=worst_state(_minimum_states(seen)),
    )


def _age_seconds(drain: ObservedDrain, now_ms: int) -> float:
    """Return the seconds since the drain began."""
    return max(now_ms - drain.saved_drain.state.started, 0) / 1000


def _minimum_states(seen: DrainObservation) -> Iterator[CheckState]:
    for drain in seen.drains:
        if not drain.is_held and drain.saved_drain.state.phase != "safe":
            yield CheckState.WARNING
        if any(server.error for server in drain.server_facts):
            yield CheckState.UNKNOWN
    if seen.unreadable:
        yield CheckState.UNKNOWN


def _format_drain(drain: ObservedDrain, now_ms: int) -> Iterator[str]:
    state = drain.saved_drain.state
    author = f" by {state.by}" if state.by else ""
    yield (
        f"{drain.title}: started {_age_seconds(drain, now_ms) / 3600:.1f} h ago{author}, phase {state.phase}"
    )
    if not drain.is_held and state.phase == "undrain":
        next_command = quote_command("undrain", state.broker)
        yield f"{drain.title}: the undo is incomplete: run `{next_command}` to resume"
    elif not drain.is_held and state.phase != "safe":
        yield (
            f"{drain.title}: no process runs this drain: run `{quote_command('drain', state.broker)}` to "
            "resume"
        )
    for name_server in drain.server_facts:
        line_start = f"{drain.title}: name server {name_server.namesrv_addr}"
        if name_server.error is not None:
            yield f"{line_start}: {name_server.error}"
        elif state.phase in _CLOSED_PHASES and not drain.is_held and name_server.open_topics:
            open_names = abbreviate_names(name_server.open_topics, _MAX_SHOWN)
            yield f"{line_start} still routes writes for {open_names}"


def _format_summary(seen: DrainObservation, open_brokers: Iterable[str]) -> str:
    if seen.unreadable:
        more = f", and {len(seen.unreadable) - 1} more" if len(seen.unreadable) > 1 else ""
        return f"a saved drain cannot be read: {seen.unreadable[0]}{more}"
    if not seen.drains:
        return NO_DRAIN
    names = ", ".join(drain.saved_drain.state.broker for drain in seen.drains)
    open_names = ", ".join(open_brokers)
    return f"{len(seen.drains)} drained: {names}" + (
        f"; the write permission is back on {open_names}" if open_names else ""
    )


CHECK = Check(
    "drain",
    (
        CheckMeasure("open", "writable topics on drained brokers", critical="0"),
        CheckMeasure("oldest", "age of the oldest drain", "s", warning="86400"),
        CheckMeasure("drains", "brokers that are drained, or whose drain is not complete"),
    ),
    observe,
    judge,
    warning_when="a drain is a day old, or unfinished",
    critical_when="a drained broker accepts messages again",
    remedy="nsadmin drainStatus",
    warning_help="Age of a drain, in seconds. Default: 86400 (one day).",
    critical_help="Topics on drained brokers that may be writable. Default: 0.",
    help="""Check whether drained brokers are still drained, and whether a drain was forgotten or interrupted.

    If a topic changes, or if a broker or name server restarts, clients can write to the drained broker again.
    This is critical, unless `nsadmin drain BROKER --hold` runs and removes the permission. The machine where
    a drain was started keeps it (see `nsadmin drainStatus`). Run this check on that machine.

    Examples:
        # Check the drains of this machine
        nsadmin check drain
        # Accept drains of up to a week
        nsadmin check drain --warning 604800
    """,
)
