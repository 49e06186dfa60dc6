"""One simulated rolling restart of the whole cluster, while faults happen."""

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import ClassVar, cast

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.operations.drain import events as drain_events
from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.drain.runner import DrainPlan, DrainRefused
from nsadmin.operations.drain.safety import SafetyRules
from nsadmin.operations.drain.state import load_drains, open_drain
from nsadmin.operations.restart import events
from nsadmin.operations.restart.runner import BrokerRestartContext, RestartRules, RollingRestart
from nsadmin.operations.restart.state import BrokerProcess, load_restarts, open_restart
from nsadmin.operations.run_folder import EventRecord, InvalidStateError
from tests.simulation.broker import CLUSTER, HEARTBEAT_MS
from tests.simulation.cluster import FAULT_KINDS
from tests.simulation.operated_run import STATE_HOME, OperatedRun
from tests.simulation.world import Fault, InvariantBroken

_PATIENCE_MS = 20 * 60_000
"""After this time all faults end."""


class RestartRun(OperatedRun):
    """A run of one seed. The commands that stop and start brokers may fail or take their time."""

    # A topic that only one broker takes is refused, until somebody spreads it.
    fault_kinds: ClassVar = tuple(
        kind
        for kind in FAULT_KINDS
        if kind not in ("create topic", "delete topic", "add by other", "wipe by other", "undrain by other")
    )

    def __init__(self, seed: int, faults: list[Fault]) -> None:
        super().__init__(seed, faults)
        random = self.random
        self._rules = SafetyRules(quiet_intervals=random.randint(1, 3))
        self._interval = random.choice((2.0, 5.0, 10.0))
        self._allows_unreachable = random.random() < 0.2
        self._failing_commands = random.choice((0, 0, 1))
        self._command_ms = random.choice((100, 4_000, 40_000))
        self._boots_before: dict[str, int] = {}

    def run(self) -> None:
        self.start_cluster()
        self.begin_faults()
        self.note_before()
        self._boots_before = {addr: broker.boot_ms for addr, broker in self.cluster.brokers.items()}
        self.repeat_command(f"rollingRestart {CLUSTER}", self._restart, lambda error: False)
        self._require_restarted()

    def end_faults(self) -> None:
        """Also end what other operators have closed: a restart waits for it."""
        for broker in self.cluster.masters if not self.have_faults_ended else ():
            broker.model.topic_table.advance_version(self.world.true_ms)
        super().end_faults()

    def _restart(self) -> bool:
        admin = self.make_admin()
        addrs = {group.broker_name: group.broker_addrs for group in admin.clusters.get_info().broker_groups}
        saved = open_restart(STATE_HOME, CLUSTER).state.load()
        lacks_slave = self.cluster.plan.has_slave and not any(1 in members for members in addrs.values())
        if saved is None and (lacks_slave or len(addrs) < len(self.cluster.masters)):
            raise DrainRefused("the operator waits until the name server lists all brokers")

        def read_context(name: str) -> BrokerRestartContext:
            environment = ClusterEnvironment(admin, name)
            master_addr = addrs.get(name, {}).get(MASTER_BROKER_ID) or ""
            plan = DrainPlan(
                name,
                self._rules,
                self._interval,
                # A topic of one broker cannot be written during the restart of this broker.
                force=self.cluster.plan.has_lone_topic,
                allow_unreachable=self._allows_unreachable,
                by="simulation",
            )
            return BrokerRestartContext(
                environment,
                open_drain(STATE_HOME, CLUSTER, name),
                plan,
                environment.read_system_topics(master_addr, CLUSTER),
                frozenset(),
            )

        restart = RollingRestart(
            CLUSTER,
            RestartRules(patience_ms=300_000),
            read_context,
            self._run_command,
            open_restart(STATE_HOME, CLUSTER),
            self.clock,
        )
        with closing(cast(Generator[EventRecord], restart.run_restart(addrs))) as records:
            return self._follow(records)

    def _follow(self, records: Iterator[EventRecord]) -> bool:
        """Read the events of a restart. Return whether it has finished."""
        began_ms, last_event = self.world.true_ms, ""
        for record in records:
            last_event = record["event"]
            if last_event == "safe":
                self.unknown_servers = tuple(record["unknown"])
            if last_event != "progress":
                text = events.describe_record(record) or drain_events.describe_record(record)
                self.world.tell(f"nsadmin: {text}")
            if self.world.true_ms - began_ms > _PATIENCE_MS:
                self.end_faults()
            if self.world.true_ms - began_ms > 3 * _PATIENCE_MS:
                raise InvariantBroken(f"the restart does not end: {record}")
        return last_event == "finished"

    def _run_command(self, step: str, process: BrokerProcess) -> int:
        """The operator's command for a step; it stops or starts a process."""
        world, broker = self.world, self.cluster.brokers[process.addr]
        world.take_step(f"command {step}")
        world.tell(f"the command of --{step} for {broker.title} begins")
        if step == "stop":
            if process.is_master and broker.is_up:
                self.require_no_writers(broker)
                self._require_other_master(process)
            if self._failing_commands:
                self._failing_commands -= 1
                return 1
            if broker.is_up:
                broker.stop(is_abrupt=False)
        elif not broker.is_up:
            broker.start(HEARTBEAT_MS)
        world.pass_time(self._command_ms)
        return 0

    # What must hold

    def _require_other_master(self, process: BrokerProcess) -> None:
        """The other master runs, unless a fault has just ended it, or the operator passed --force."""
        for broker in () if self.cluster.plan.has_lone_topic else self.cluster.masters:
            gone_ms = self.world.true_ms - self.cluster.other_closed_ms
            if broker.addr != process.addr and not broker.is_up and gone_ms > 1_000:
                raise InvariantBroken(f"{process.broker} is stopped, although {broker.title} does not run")

    def _require_restarted(self) -> None:
        """Each process was restarted, nothing is saved any more, and the routes are as before."""
        self.end_faults()
        self.world.begin_process()
        for saved in (*load_drains(STATE_HOME), *load_restarts(STATE_HOME)):
            if isinstance(saved, InvalidStateError):
                raise InvariantBroken(f"a saved run cannot be read: {saved}")
            raise InvariantBroken(f"the restart has finished, and {saved.folder.path} has a run")
        for addr, broker in self.cluster.brokers.items():
            if broker.boot_ms == self._boots_before[addr]:
                raise InvariantBroken(f"the restart has finished, and {broker.title} was not restarted")
        for broker in self.cluster.masters:
            self.require_restored(broker)
