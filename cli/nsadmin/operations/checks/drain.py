"""Checks that drained brokers receive no writes, and that no drain is forgotten or half-finished.

A drain is stored on the machine where it began. This check cannot see drains of other machines.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nsadmin.client import AdminClient
from nsadmin.console.phrases import abbreviate_names, quote_command
from nsadmin.operations.checks.findings import CheckFinding, CheckState, worst_state
from nsadmin.operations.checks.thresholds import CheckScale
from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.drain.facts import NameServerFacts
from nsadmin.operations.drain.state import SavedDrain, load_drains
from nsadmin.operations.run_folder import InvalidStateError

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
        return {topic for name_server in self.server_facts for topic in name_server.open_topics}


class DrainObservation(NamedTuple):
    """The drains of this cluster at `now_ms`, and the errors of unreadable state files."""

    now_ms: int
    observed_drains: Sequence[ObservedDrain]
    unreadable_states: Sequence[InvalidStateError] = ()


def observe_drains(admin: AdminClient, now_ms: int, state_home: Path) -> DrainObservation:
    """Read the drains stored under `state_home` that involve one of this client's name servers."""
    namesrv_addrs = set(admin.addresses.addrs)
    loaded_drains: list[SavedDrain | InvalidStateError] = list(load_drains(state_home))
    cluster_drains = [
        loaded_drain
        for loaded_drain in loaded_drains
        if isinstance(loaded_drain, SavedDrain) and namesrv_addrs & set(loaded_drain.state.name_servers)
    ]
    observed_drains = [
        ObservedDrain(loaded_drain, ClusterEnvironment(admin, loaded_drain.state.broker).read_servers())
        for loaded_drain in cluster_drains
    ]
    return DrainObservation(
        now_ms,
        observed_drains,
        [loaded_drain for loaded_drain in loaded_drains if isinstance(loaded_drain, InvalidStateError)],
    )


def judge_drains(scale: CheckScale, observation: DrainObservation) -> CheckFinding:
    """A writable topic on a drained broker is critical, unless a process still runs the drain."""
    topics_by_drain = {
        drain.title: drain.open_topics for drain in observation.observed_drains if drain.open_topics
    }
    oldest_seconds = max(
        (_age_seconds(drain, observation.now_ms) for drain in observation.observed_drains), default=0.0
    )
    samples = [
        scale.make_sample(
            "open", len({topic for open_topics in topics_by_drain.values() for topic in open_topics})
        ),
        scale.make_sample("oldest", oldest_seconds),
        scale.make_sample("drains", len(observation.observed_drains)),
    ]
    minimum_state = worst_state(_minimum_states(observation))
    detail_lines = [
        detail_line
        for drain in observation.observed_drains
        for detail_line in _format_drain(drain, observation.now_ms)
    ]
    detail_lines += [str(error) for error in observation.unreadable_states]
    return scale.make_finding(
        _format_summary(observation, topics_by_drain),
        samples,
        detail_lines,
        minimum_state=minimum_state,
    )


def _age_seconds(drain: ObservedDrain, now_ms: int) -> float:
    """Return the seconds since the drain began."""
    return max(now_ms - drain.saved_drain.state.started, 0) / 1000


def _minimum_states(observation: DrainObservation) -> Iterator[CheckState]:
    for drain in observation.observed_drains:
        if not drain.is_held and drain.saved_drain.state.phase != "safe":
            yield CheckState.WARNING
        if any(name_server.error for name_server in drain.server_facts):
            yield CheckState.UNKNOWN
    if observation.unreadable_states:
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


def _format_summary(observation: DrainObservation, open_drains: Iterable[str]) -> str:
    observed_drains, unreadable_states = observation.observed_drains, observation.unreadable_states
    if unreadable_states:
        more = f", and {len(unreadable_states) - 1} more" if len(unreadable_states) > 1 else ""
        return f"a saved drain cannot be read: {unreadable_states[0]}{more}"
    if not observed_drains:
        return "this machine has no drain of a broker of this cluster"
    broker_names = ", ".join(drain.saved_drain.state.broker for drain in observed_drains)
    open_broker_names = ", ".join(drain_name.removeprefix("drain of ") for drain_name in open_drains)
    return f"{len(observed_drains)} drained: {broker_names}" + (
        f"; the write permission is back on {open_broker_names}" if open_broker_names else ""
    )
