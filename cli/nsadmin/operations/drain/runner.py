"""Runs a drain from its check until the broker can be stopped, and yields its events."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import Perm
from nsadmin.client.results import NotFound
from nsadmin.operations.drain import events
from nsadmin.operations.drain.events import DrainEvent, EventRecord, build_event_record
from nsadmin.operations.drain.facts import (
    ClusterObservation,
    DrainEnvironment,
    NameServerFacts,
    SlaveGap,
)
from nsadmin.operations.drain.risks import (
    describe_slave_gap,
    find_master_addr,
    find_risks,
    find_slave_addrs,
    queue_share,
)
from nsadmin.operations.drain.safety import SafetyRules
from nsadmin.operations.drain.state import DrainState, QueueSnapshot
from nsadmin.operations.drain.state_machine import DrainStateMachine
from nsadmin.operations.drain.store import DrainStore

_JOINED_PAUSE_SECONDS = 0.5


class DrainRefused(RocketMQError):
    """The procedure refuses to begin or to go on. The message gives the reason and the remedy."""


class DrainPlan(NamedTuple):
    """How to drain a broker. `interval` is the number of seconds between two observations.

    The drain calls `then` with the master's address once all name servers are safe. With `hold` it then
    continues until the operator ends it.
    """

    broker: str
    rules: SafetyRules = SafetyRules()
    interval: float = 10.0
    durable: bool = False
    force: bool = False
    allow_unreachable: bool = False
    hold: bool = False
    then: Callable[[str], events.CommandEnded] | None = None
    by: str = ""


class ProcedureClock(NamedTuple):
    """The clock of a procedure: returns ms since 1970, and pauses for a number of seconds."""

    now_ms: Callable[[], int]
    pause_seconds: Callable[[float], None]


def check_plan(
    drain_plan: DrainPlan,
    server_facts: tuple[NameServerFacts, ...],
    system_topics: frozenset[str],
    ordered_topics: frozenset[str],
    now_ms: int,
    slave_gaps: tuple[SlaveGap, ...] = (),
) -> events.Checked:
    """Check what a cluster without the broker would lose.

    Slaves serve consumers while the master is down (slaveReadEnable), so `slave_gaps` are risks, too.

    Raises:
        NotFound: No name server that answered has the broker.
        DrainRefused: The drain cannot or should not begin.
    """
    silent_servers = [name_server for name_server in server_facts if name_server.error is not None]
    if len(silent_servers) == len(server_facts):
        raise DrainRefused(
            "no name server answered: "
            + "; ".join(
                f"{silent_server.namesrv_addr}: {silent_server.error}" for silent_server in silent_servers
            )
        )
    registered_servers = [name_server for name_server in server_facts if name_server.is_registered]
    if not registered_servers:
        raise NotFound(f'no broker "{drain_plan.broker}" is registered at any name server that answered')
    if silent_servers and not drain_plan.allow_unreachable:
        raise DrainRefused(
            "; ".join(
                f"{silent_server.namesrv_addr}: {silent_server.error}" for silent_server in silent_servers
            )
            + ": its routes would stay unknown; pass --allow-unreachable to drain without it"
        )
    if find_master_addr(registered_servers) is None:
        raise DrainRefused(f"{drain_plan.broker} has no master now, so no client can write to it")
    found_risks = find_risks(
        drain_plan.broker, registered_servers, system_topics, ordered_topics, drain_plan.durable
    )
    return events.Checked(
        now_ms,
        max(len(name_server.topics) for name_server in registered_servers),
        queue_share(registered_servers, system_topics),
        (*found_risks, *map(describe_slave_gap, slave_gaps)),
    )


class DrainRun:
    """One drain by this process. It ends when the broker can be stopped, or never with `hold`."""

    def __init__(
        self,
        drain_plan: DrainPlan,
        environment: DrainEnvironment,
        drain_store: DrainStore,
        procedure_clock: ProcedureClock,
    ) -> None:
        self._drain_plan = drain_plan
        self._environment = environment
        self._drain_store = drain_store
        self._procedure_clock = procedure_clock

    def run_drain(
        self, checked_event: events.Checked | None, server_facts: tuple[NameServerFacts, ...]
    ) -> Iterator[EventRecord]:
        """Drain the broker. `checked_event` is the result of `check_plan`, None to resume a saved drain."""
        yield from self._join_other_process()
        try:
            loaded_drain = self._drain_store.load_drain()
            state_machine = self._begin_drain(loaded_drain, checked_event, server_facts)
            resumed_phase = None if loaded_drain is None else loaded_drain[0].phase
            drain_state = state_machine.drain_state
            started_event = events.Started(
                self._procedure_clock.now_ms(),
                drain_state.cluster,
                drain_state.broker,
                drain_state.name_servers,
                resumed_phase,
            )
            yield self._record_event(started_event)
            if checked_event is not None:
                # The check was made before the drain began: its own time would run backwards.
                yield self._record_event(checked_event._replace(time=self._procedure_clock.now_ms()))
            yield from self._observe_until_safe(state_machine)
        finally:
            self._drain_store.release_lock()

    def _join_other_process(self) -> Iterator[EventRecord]:
        """Repeat the events of another process that runs this drain, until it ends."""
        if self._drain_store.try_lock():
            return
        event_follower = self._drain_store.follow_events()
        yield build_event_record(events.Joined(self._procedure_clock.now_ms(), self._drain_store.holder_pid))
        while not self._drain_store.try_lock():
            self._procedure_clock.pause_seconds(_JOINED_PAUSE_SECONDS)
            yield from event_follower.read_new_events()

    def _begin_drain(
        self,
        loaded_drain: tuple[DrainState, QueueSnapshot] | None,
        checked_event: events.Checked | None,
        server_facts: tuple[NameServerFacts, ...],
    ) -> DrainStateMachine:
        if loaded_drain is not None:
            # A resumed drain counts its quiet intervals again, because the file does not have them.
            drain_state = loaded_drain[0]._replace(safe_since=None)
            if drain_state.phase in ("safe", "undrain"):
                drain_state = drain_state._replace(phase="wipe")
            return DrainStateMachine(self._drain_plan.rules, drain_state, loaded_drain[1])
        if checked_event is None:
            raise DrainRefused(
                f"the drain of {self._drain_plan.broker} was undone in the meantime: run the command again "
                "to start a new drain"
            )
        registered_servers = [name_server for name_server in server_facts if name_server.is_registered]
        own_queues = self._environment.read_own_queues(find_master_addr(registered_servers) or "")
        if isinstance(own_queues, str):
            raise DrainRefused(f"the broker does not answer: {own_queues}")
        now_ms = self._procedure_clock.now_ms()
        namesrv_addrs = tuple(name_server.namesrv_addr for name_server in server_facts)
        drain_state = DrainState(
            registered_servers[0].cluster_name or "",
            self._drain_plan.broker,
            namesrv_addrs,
            now_ms,
            now_ms,
            self._drain_plan.by,
            durable=self._drain_plan.durable,
        )
        return DrainStateMachine(self._drain_plan.rules, drain_state, QueueSnapshot({}, own_queues))

    def _observe_until_safe(self, state_machine: DrainStateMachine) -> Iterator[EventRecord]:
        has_wiped = has_run_command = False
        while True:
            observation = self._observe_cluster(state_machine)
            decision = state_machine.process_observation(observation)
            self._drain_store.save_drain(state_machine.drain_state, state_machine.queue_snapshot)
            for drain_event in decision.drain_events:
                yield self._record_event(drain_event)
            if state_machine.drain_state.durable:
                yield from self._set_permission(state_machine, observation)
            elif decision.servers_to_wipe:
                wipe_errors = self._environment.wipe_write_permission(decision.servers_to_wipe)
                for drain_event in state_machine.record_wipes(wipe_errors, self._procedure_clock.now_ms()):
                    yield self._record_event(drain_event)
                self._drain_store.save_drain(state_machine.drain_state, state_machine.queue_snapshot)
                # Read the routes back at once, but only once without a pause.
                if not has_wiped:
                    has_wiped = True
                    continue
            has_wiped = False
            if state_machine.is_safe:
                is_sure = self._drain_plan.allow_unreachable or not state_machine.unknown_servers
                if self._drain_plan.then is not None and is_sure and not has_run_command:
                    has_run_command = True
                    yield self._record_event(self._drain_plan.then(observation.broker_counters.addr or ""))
                if not self._drain_plan.hold:
                    return
            self._procedure_clock.pause_seconds(self._drain_plan.interval)

    def _observe_cluster(self, state_machine: DrainStateMachine) -> ClusterObservation:
        server_facts = self._environment.read_servers()
        master_addr = find_master_addr(server_facts)
        needs_topics = master_addr is not None and state_machine.needs_own_topics(server_facts)
        broker_counters = self._environment.read_broker(
            master_addr,
            find_slave_addrs(server_facts),
            state_machine.last_counters,
            state_machine.safety_rules.for_good,
        )
        return ClusterObservation(
            self._procedure_clock.now_ms(),
            server_facts,
            broker_counters,
            self._environment.read_own_topics(master_addr) if master_addr and needs_topics else None,
        )

    def _set_permission(
        self, state_machine: DrainStateMachine, observation: ClusterObservation
    ) -> Iterator[EventRecord]:
        """Remove the broker's own write permission, again if it was restored."""
        master_addr = observation.broker_counters.addr
        if master_addr is None or not any(
            name_server.open_topics for name_server in observation.server_facts
        ):
            return
        old_perm = self._environment.read_permission(master_addr)
        if isinstance(old_perm, str) or not old_perm & Perm.WRITE:
            return
        if state_machine.drain_state.permission is None:
            state_machine.drain_state = state_machine.drain_state._replace(permission=old_perm)
            self._drain_store.save_drain(state_machine.drain_state, state_machine.queue_snapshot)
        new_perm = old_perm & ~Perm.WRITE
        change_error = self._environment.set_permission(master_addr, new_perm)
        yield self._record_event(
            events.PermissionSet(
                self._procedure_clock.now_ms(), master_addr, old_perm, new_perm, change_error
            )
        )

    def _record_event(self, drain_event: DrainEvent) -> EventRecord:
        event_record = build_event_record(drain_event)
        if not isinstance(drain_event, events.Progress):
            self._drain_store.append_event(event_record)
        return event_record
