"""Runs a rolling restart and yields its events. Each step is saved on disk before it is carried out."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client.advised_command import quote_command
from nsadmin.operations.drain.events import Checked
from nsadmin.operations.drain.facts import ClusterObservation, DrainEnvironment, NameServerFacts
from nsadmin.operations.drain.risks import describe_refusals, find_master_addr, find_slave_addrs
from nsadmin.operations.drain.runner import DrainPlan, DrainRefused, DrainRun, check_plan
from nsadmin.operations.drain.state import DrainFolder, QueueSnapshot
from nsadmin.operations.drain.undo import UndoRun
from nsadmin.operations.procedure_clock import ProcedureClock
from nsadmin.operations.restart import events
from nsadmin.operations.restart.state import (
    BrokerProcess,
    RestartState,
    list_remaining_groups,
    plan_restart,
    process_title,
)
from nsadmin.operations.run_folder import EventRecord, RunFolder

CommandRunner = Callable[[str, BrokerProcess], int]
"""Runs the operator's command for the step "stop" or "start" of a process, and returns its exit code."""


class BrokerRestartContext(NamedTuple):
    """Everything that the restart of one broker needs."""

    environment: DrainEnvironment
    drain_folder: DrainFolder
    drain_plan: DrainPlan
    system_topics: frozenset[str]
    ordered_topics: frozenset[str]
    drained_names: frozenset[str] = frozenset()


class RestartRules(NamedTuple):
    """How long a process may take to become healthy, and after how many groups to pause.

    The shell commands and the operator's name are saved, so that the TUI can show and resume the restart.
    """

    patience_ms: int = 600_000
    pause_after: int | None = None
    stop_command: str = ""
    start_command: str = ""
    by: str = ""


def check_broker(context: BrokerRestartContext, servers: tuple[NameServerFacts, ...], now_ms: int) -> Checked:
    """Check what the cluster loses without the broker. Raises DrainRefused if it is too much."""
    checked = check_plan(
        context.drain_plan,
        servers,
        context.system_topics,
        context.ordered_topics,
        now_ms,
        context.environment.read_slave_gaps(find_master_addr(servers), find_slave_addrs(servers)),
        context.drained_names,
    )
    if checked.risks and not context.drain_plan.force:
        raise DrainRefused("; ".join(describe_refusals(checked.risks)))
    return checked


def find_refusals(contexts: Iterable[BrokerRestartContext], now_ms: int) -> dict[str, DrainRefused]:
    """Why masters cannot be drained, by broker. A drain that has begun is not checked again."""
    refusals = {}
    for context in contexts:
        if context.drain_folder.load() is None:
            try:
                check_broker(context, context.environment.read_servers(), now_ms)
            except DrainRefused as error:
                refusals[context.drain_plan.broker] = error
    return refusals


def require_masters(addrs: Mapping[str, Mapping[int, str]]) -> None:
    """Refuse a restart that would leave out a master: name servers do not list it now."""
    if masterless := [name for name, members in addrs.items() if MASTER_BROKER_ID not in members]:
        raise DrainRefused(
            f"no master of {', '.join(masterless)} is registered, so it would not be restarted: "
            "start it, and run the command again"
        )


class RollingRestart:
    """One rolling restart by this process. `context_of_broker` returns the context of a broker by name."""

    def __init__(
        self,
        cluster: str,
        rules: RestartRules,
        context_of_broker: Callable[[str], BrokerRestartContext],
        run_command: CommandRunner,
        folder: RunFolder[RestartState],
        clock: ProcedureClock,
        interval_seconds: float = 2.0,
    ) -> None:
        self._cluster = cluster
        self._rules = rules
        self._context_of_broker = context_of_broker
        self._run_command = run_command
        self._folder = folder
        self._clock = clock
        self._interval_seconds = interval_seconds

    def run_restart(self, addrs: Mapping[str, Mapping[int, str]]) -> Iterator[EventRecord]:
        """Restart the brokers, or resume a saved restart. Raises DrainRefused if a broker is not healthy."""
        with self._folder.lock.hold(
            lambda holder: DrainRefused(f"{holder} is already restarting {self._cluster}")
        ):
            try:
                for record in self._begin_or_resume(addrs):
                    # Also those of the drains.
                    self._folder.events.append(record)
                    yield record
            except DrainRefused as error:
                self._folder.record(events.Stopped(self._clock.now_ms(), str(error)))
                raise

    def _begin_or_resume(self, addrs: Mapping[str, Mapping[int, str]]) -> Iterator[EventRecord]:
        saved_state = self._folder.state.load()
        if saved_state is None:
            require_masters(addrs)
            self._folder.events.delete()
        now_ms, rules = self._clock.now_ms(), self._rules
        state = (saved_state or self._folder.sign(plan_restart(self._cluster, addrs, now_ms)))._replace(
            stop_command=rules.stop_command, start_command=rules.start_command, by=rules.by
        )
        if saved_state is not None and not state.is_done and self._may_be_open(state):
            state = state._replace(step="drain", boot=None)
        groups = tuple(list_remaining_groups(state))
        yield events.Began(now_ms, self._cluster, groups, saved_state is not None).to_record()
        yield from self._restart_processes(state)

    def _may_be_open(self, state: RestartState) -> bool:
        """Whether clients may write again to a drained master that still runs, as nobody held its drain."""
        process = state.current_process
        if state.step != "stop" or not process.is_master:
            return False
        environment = self._context_of_broker(process.broker).environment
        return environment.read_broker(process.addr, {}, None, False).error is None

    def _restart_processes(self, state: RestartState) -> Iterator[EventRecord]:
        now_ms = self._clock.now_ms
        group_count = 0
        while not state.is_done:
            process = state.current_process
            if state.step == process.restart_steps[0] and state.boot is None:
                # The process restarted last must be healthy, and so must the next one.
                for checked_process in filter(None, (state.previous_process, process)):
                    self._require_health(checked_process)
            started_ms = now_ms()
            while not state.is_done and state.current_process == process:
                if state.step == "stop" and state.boot is None:
                    environment = self._context_of_broker(process.broker).environment
                    boot_ms = environment.read_broker(process.addr, {}, None, False).boot_ms
                    state = state._replace(boot=boot_ms)
                self._folder.state.save(state)
                yield events.StepBegan(
                    now_ms(), process.broker, process.broker_id, process.addr, state.step
                ).to_record()
                yield from self._run_step(state)
                state = state.advance_step()
            self._folder.state.save(state)
            seconds = (now_ms() - started_ms) // 1000
            yield events.Restarted(now_ms(), process.broker, process.broker_id, seconds).to_record()
            group_count += process.is_master
            if group_count == self._rules.pause_after and not state.is_done:
                yield events.Paused(now_ms(), tuple(list_remaining_groups(state))).to_record()
                return
        self._folder.state.delete()
        yield events.Finished(now_ms(), self._cluster, len(state.processes)).to_record()

    def _run_step(self, state: RestartState) -> Iterator[EventRecord]:
        process = state.current_process
        if state.step == "drain":
            yield from self._drain_broker(process)
        elif state.step == "undrain":
            yield from self._undrain_broker(process)
        elif state.step == "wait":
            yield from self._wait_for_health(process, state.boot)
        else:
            exit_code = self._run_command(state.step, process)
            if exit_code:
                raise DrainRefused(
                    f"the command of --{state.step} for {process_title(process)} failed with exit code "
                    f"{exit_code}; correct it, and run the command again to continue"
                )

    def _drain_broker(self, process: BrokerProcess) -> Iterator[EventRecord]:
        context = self._context_of_broker(process.broker)
        servers = context.environment.read_servers()
        checked = None
        if context.drain_folder.load() is None:
            try:
                checked = check_broker(context, servers, self._clock.now_ms())
            except DrainRefused as error:
                raise DrainRefused(f"{process.broker} was not stopped: {error}") from None
        unknown_servers: list[str] = []
        for record in DrainRun(
            context.drain_plan, context.environment, context.drain_folder, self._clock
        ).run_drain(checked, servers):
            unknown_servers = record["unknown"] if record["event"] == "safe" else unknown_servers
            yield record
        if unknown_servers and not context.drain_plan.allow_unreachable:
            raise DrainRefused(
                f"{process.broker} is drained, but not stopped: {', '.join(unknown_servers)} did not answer, "
                "or do not list it; run the command again to continue"
            )
        self._require_other_brokers(context)

    def _require_other_brokers(self, context: BrokerRestartContext) -> None:
        """Check again that other brokers take the messages: one may have stopped since the drain began."""
        saved = context.drain_folder.load()
        if context.drain_plan.force or saved is None:
            return
        servers = tuple(without_drain(s, saved.snapshot) for s in context.environment.read_servers())
        now_ms = self._clock.now_ms()
        risks = check_plan(
            context.drain_plan, servers, context.system_topics, context.ordered_topics, now_ms
        ).risks
        if risks:
            raise DrainRefused(
                f"{context.drain_plan.broker} is drained, but not stopped: "
                f"{'; '.join(risk.text for risk in risks)}; run the command again when the other "
                "brokers are healthy, or undo the drain with "
                f"`{quote_command('undrain', context.drain_plan.broker)}`"
            )

    def _undrain_broker(self, process: BrokerProcess) -> Iterator[EventRecord]:
        context = self._context_of_broker(process.broker)
        if context.drain_folder.load() is None:
            return
        last_record: EventRecord = {"event": ""}
        for last_record in UndoRun(
            process.broker, context.environment, context.drain_folder, self._clock
        ).run_undo():
            yield last_record
        if last_record["event"] != "undone":
            raise DrainRefused(
                f"{process.broker} is restarted, but does not accept writes as before: run "
                f"`{quote_command('undrain', process.broker)}`, then run the command again to continue"
            )

    def _wait_for_health(self, process: BrokerProcess, old_boot_ms: int | None) -> Iterator[EventRecord]:
        """Wait until every name server lists the process and its group is in sync."""
        steady_ms = self._clock.count_steadily()
        deadline_ms = steady_ms() + self._rules.patience_ms
        previous = reported = None
        while True:
            observation = self._observe_cluster(process.broker)
            lacking = self._list_lacking(process, old_boot_ms, observation, previous)
            if not lacking:
                return
            if steady_ms() >= deadline_ms:
                raise DrainRefused(
                    f"{process_title(process)} is not healthy after {self._rules.patience_ms // 1000} s "
                    f"(--patience): waiting for {events.join_conditions(lacking)}; run the command again to "
                    "continue"
                )
            if lacking != reported:
                yield events.Waiting(
                    self._clock.now_ms(), process.broker, process.broker_id, tuple(lacking)
                ).to_record()
            previous, reported = observation, lacking
            self._clock.pause_seconds(self._interval_seconds)

    def _require_health(self, process: BrokerProcess) -> None:
        """Refuse to go on unless the process is healthy. Slaves get one interval to catch up."""
        first_observation = observation = self._observe_cluster(process.broker)
        for is_last in (False, True):
            lacking = self._list_lacking(process, None, observation, first_observation)
            if not lacking:
                return
            if not is_last:
                self._clock.pause_seconds(self._interval_seconds)
                observation = self._observe_cluster(process.broker)
        raise DrainRefused(
            f"{process_title(process)} is not healthy, so the restart does not go on: waiting for "
            f"{events.join_conditions(lacking)}; run the command again when it is healthy"
        )

    def _observe_cluster(self, broker_name: str) -> ClusterObservation:
        environment = self._context_of_broker(broker_name).environment
        servers = environment.read_servers()
        counters = environment.read_broker(find_master_addr(servers), find_slave_addrs(servers), None, False)
        return ClusterObservation(self._clock.now_ms(), servers, counters)

    def _list_lacking(
        self,
        process: BrokerProcess,
        old_boot_ms: int | None,
        observation: ClusterObservation,
        previous: ClusterObservation | None,
    ) -> list[str]:
        """Return the missing conditions of the process. Slaves need the previous log of the master."""
        context = self._context_of_broker(process.broker)
        lacking = [
            f"{server.namesrv_addr} to answer" if server.error else f"{server.namesrv_addr} to list it"
            for server in observation.servers
            if not _is_process_known(server, process, context.drain_plan.allow_unreachable)
        ]
        counters = context.environment.read_broker(process.addr, {}, None, False)
        if counters.error is not None:
            lacking.append(f"an answer from {process.addr}")
        elif old_boot_ms is not None and counters.boot_ms == old_boot_ms:
            lacking.append(f"the old process at {process.addr} to end")
        if observation.counters.error is not None and not process.is_master:
            lacking.append("an answer from its master")
        master_end = (
            observation.counters.log_end
            if previous is None or previous.counters.log_end is None
            else previous.counters.log_end
        )
        return lacking + [
            f"the slave {slave.slave_addr} to be in sync"
            for slave in observation.counters.slaves
            if slave.log_end is None or master_end is None or slave.log_end < master_end
        ]


def without_drain(server: NameServerFacts, snapshot: QueueSnapshot) -> NameServerFacts:
    """Return a name server's facts with the broker's queues as before the drain."""
    saved_queues = snapshot.queues_by_server.get(server.namesrv_addr, {})
    undrained_topics = {
        topic: topic_facts._replace(own_queue=saved_queues.get(topic, topic_facts.own_queue))
        for topic, topic_facts in server.topics.items()
    }
    return server._replace(topics=undrained_topics)


def _is_process_known(server: NameServerFacts, process: BrokerProcess, allows_unreachable: bool) -> bool:
    if server.error is not None:
        return allows_unreachable
    return server.member_addrs.get(process.broker_id) == process.addr
