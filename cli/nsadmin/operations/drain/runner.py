"""Runs a drain from its check until the broker can be stopped, and yields its events."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import Perm
from namesrv_core.transport.exchange import CallError
from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import NoneReachable, NotFound
from nsadmin.operations.drain import events
from nsadmin.operations.drain.facts import ClusterObservation, DrainEnvironment, NameServerFacts, SlaveGap
from nsadmin.operations.drain.risks import (
    describe_slave_gap,
    find_master_addr,
    find_risks,
    find_slave_addrs,
    queue_share,
)
from nsadmin.operations.drain.safety import SafetyRules
from nsadmin.operations.drain.state import DrainFolder, DrainState, QueueSnapshot, SavedDrain
from nsadmin.operations.drain.state_machine import DrainStateMachine
from nsadmin.operations.procedure_clock import ProcedureClock
from nsadmin.operations.run_folder import EventRecord

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


def describe_unknown_broker(broker: str, servers: Iterable[NameServerFacts]) -> str:
    """Say that no name server lists a broker; silent ones may."""
    limit = " that answered" if any(server.error is not None for server in servers) else ""
    return f'no name server{limit} lists a broker "{broker}"'


def check_plan(
    plan: DrainPlan,
    servers: tuple[NameServerFacts, ...],
    system_topics: frozenset[str],
    ordered_topics: frozenset[str],
    now_ms: int,
    slave_gaps: tuple[SlaveGap, ...] = (),
    drained_names: Collection[str] = (),
) -> events.Checked:
    """Check what a cluster without the broker would lose.

    Slaves can serve consumers while the master is down (slaveReadEnable), so `slave_gaps` are risks, too.

    Raises:
        NoneReachable: No name server answered.
        NotFound: No name server that answered has the broker.
        DrainRefused: The drain cannot or should not begin.
    """
    silent_servers = [server for server in servers if server.error is not None]
    if len(silent_servers) == len(servers):
        raise NoneReachable([CallError(s.namesrv_addr, "unconnected", s.error or "") for s in silent_servers])
    registered = [server for server in servers if server.is_registered]
    if not registered:
        raise NotFound(
            f"{describe_unknown_broker(plan.broker, servers)}: {quote_command('clusterList')} lists the "
            "brokers"
        )
    if silent_servers and not plan.allow_unreachable:
        raise DrainRefused(
            "; ".join(f"{server.namesrv_addr}: {server.error}" for server in silent_servers)
            + ": its clients could continue to write; pass --allow-unreachable to drain without it"
        )
    if find_master_addr(registered) is None:
        raise DrainRefused(f"{plan.broker} has no master now, so no client can write to it")
    found_risks = find_risks(
        plan.broker, registered, system_topics, ordered_topics, plan.durable, drained_names
    )
    return events.Checked(
        now_ms,
        max(len(server.topics) for server in registered),
        queue_share(registered, system_topics),
        (*found_risks, *(describe_slave_gap(plan.broker, gap) for gap in slave_gaps)),
    )


class DrainRun:
    """One drain by this process. It ends when the broker can be stopped, or never with `hold`."""

    def __init__(
        self, plan: DrainPlan, environment: DrainEnvironment, folder: DrainFolder, clock: ProcedureClock
    ) -> None:
        self._plan = plan
        self._environment = environment
        self._folder = folder
        self._clock = clock
        self._steady_ms = clock.count_steadily()

    def run_drain(
        self, checked: events.Checked | None, servers: tuple[NameServerFacts, ...]
    ) -> Iterator[EventRecord]:
        """Drain the broker. `checked` is the result of `check_plan`, None to resume a saved drain."""
        yield from self._join_other_process()
        try:
            saved = self._folder.load()
            machine = self._begin_drain(saved, checked, servers)
            phase = None if saved is None else saved.state.phase
            state, now_ms = machine.state, self._steady_ms()
            started = events.Started(now_ms, state.cluster, state.broker, state.name_servers, phase)
            yield self._folder.record(started)
            if checked is not None:
                # The check was made before the drain began: its own time would run backwards.
                yield self._folder.record(checked._replace(time=self._steady_ms()))
            yield from self._observe_until_safe(machine)
        finally:
            self._folder.lock.release()

    def _join_other_process(self) -> Iterator[EventRecord]:
        """Repeat the events of another process that runs this drain, until it ends."""
        lock = self._folder.lock
        if lock.acquire():
            return
        follower = self._folder.events.follow()
        yield events.Joined(self._clock.now_ms(), lock.holder_pid).to_record()
        while not lock.acquire():
            self._clock.pause_seconds(_JOINED_PAUSE_SECONDS)
            yield from follower.read_new()

    def _begin_drain(
        self, saved: SavedDrain | None, checked: events.Checked | None, servers: tuple[NameServerFacts, ...]
    ) -> DrainStateMachine:
        if saved is not None:
            # Nobody looked in the meantime, and the clock may have changed: the waits begin again.
            state = saved.state._replace(safe_since=None, closed_since=None)
            if state.phase in ("safe", "undrain"):
                state = state._replace(phase="wipe")
            return DrainStateMachine(self._plan.rules, state, saved.snapshot)
        if checked is None:
            raise DrainRefused(
                f"the drain of {self._plan.broker} was undone meanwhile: run the command again to start a "
                "new drain"
            )
        registered = [server for server in servers if server.is_registered]
        own_queues = self._environment.read_own_queues(find_master_addr(registered) or "")
        if isinstance(own_queues, str):
            raise DrainRefused(f"the broker does not answer: {own_queues}")
        now_ms = self._clock.now_ms()
        addrs = tuple(server.namesrv_addr for server in servers)
        state = DrainState(
            registered[0].cluster_name or "",
            self._plan.broker,
            addrs,
            now_ms,
            now_ms,
            self._plan.by,
            durable=self._plan.durable,
        )
        return DrainStateMachine(self._plan.rules, self._folder.sign(state), QueueSnapshot({}, own_queues))

    def _observe_until_safe(self, machine: DrainStateMachine) -> Iterator[EventRecord]:
        has_wiped = has_run_command = False
        while True:
            observation = self._observe_cluster(machine)
            decision = machine.process_observation(observation)
            self._folder.save(machine.state, machine.snapshot)
            for event in decision.events:
                yield self._folder.record(event)
            if machine.state.durable:
                yield from self._set_permission(machine, observation)
            elif decision.servers_to_wipe:
                wipe_errors = self._environment.wipe_write_permission(decision.servers_to_wipe)
                for event in machine.record_wipes(wipe_errors, self._steady_ms()):
                    yield self._folder.record(event)
                self._folder.save(machine.state, machine.snapshot)
                # Read the routes back at once, but only once without a pause.
                if not has_wiped:
                    has_wiped = True
                    continue
            has_wiped = False
            if machine.is_safe:
                is_sure = self._plan.allow_unreachable or not machine.unsure_servers
                if self._plan.then is not None and is_sure and not has_run_command:
                    has_run_command = True
                    yield self._folder.record(self._plan.then(observation.counters.addr or ""))
                if not self._plan.hold:
                    return
            self._clock.pause_seconds(self._plan.interval)

    def _observe_cluster(self, machine: DrainStateMachine) -> ClusterObservation:
        servers = self._environment.read_servers()
        master_addr = find_master_addr(servers)
        needs_topics = master_addr is not None and machine.needs_own_topics(servers)
        counters = self._environment.read_broker(
            master_addr, find_slave_addrs(servers), machine.last_counters, machine.safety_rules.for_good
        )
        return ClusterObservation(
            self._steady_ms(),
            servers,
            counters,
            self._environment.read_own_topics(master_addr) if master_addr and needs_topics else None,
            None
            if self._plan.force
            else self._environment.read_system_topics(master_addr or "", machine.state.cluster),
        )

    def _set_permission(
        self, machine: DrainStateMachine, observation: ClusterObservation
    ) -> Iterator[EventRecord]:
        """Remove the broker's own write permission, again if it was restored."""
        master_addr = observation.counters.addr
        if master_addr is None or not any(server.open_topics for server in observation.servers):
            return
        old_perm = self._environment.read_permission(master_addr)
        if isinstance(old_perm, str):
            return
        if not old_perm & Perm.WRITE:
            # A client restored the permission on a name server, or the broker did not reach it.
            self._environment.request_registration(master_addr)
            return
        if machine.state.permission is None:
            machine.state = machine.state._replace(permission=old_perm)
            self._folder.save(machine.state, machine.snapshot)
        new_perm = old_perm & ~Perm.WRITE
        error = self._environment.set_permission(master_addr, new_perm)
        yield self._folder.record(
            events.PermissionSet(self._steady_ms(), master_addr, old_perm, new_perm, error)
        )
