"""One simulated drain: an operator drains a broker, stops it, and undoes the drain, while faults happen."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from random import Random
from typing import cast

from namesrv_core.errors import RocketMQError
from namesrv_core.events import QueueData
from namesrv_core.protocol.codes import Perm, RequestCode
from namesrv_core.protocol.command import build_request
from nsadmin.client.results import NotFound
from nsadmin.library.drain_procedure import prepare_drain, prepare_undo
from nsadmin.operations.drain import events
from nsadmin.operations.drain.runner import DrainPlan
from nsadmin.operations.drain.safety import SafetyRules
from nsadmin.operations.drain.state import load_drains
from nsadmin.operations.inventory.keeper import OFF_VARIABLE, InventoryKeeper
from nsadmin.operations.run_folder import EventRecord, InvalidStateError
from tests.simulation.broker import HEARTBEAT_MS
from tests.simulation.cluster import BROKER
from tests.simulation.name_server import OTHER_CHANNEL
from tests.simulation.operated_run import STATE_HOME, OperatedRun
from tests.simulation.world import Fault, InvariantBroken

NO_INVENTORY = InventoryKeeper(str, environment={OFF_VARIABLE: "off"})
_PATIENCE_MS = 15 * 60_000
"""After this time all faults end."""


class DrainRun(OperatedRun):
    """A run of one seed. `run` raises InvariantBroken."""

    def __init__(self, seed: int, faults: list[Fault]) -> None:
        super().__init__(seed, faults)
        random = self.random
        self.plan = DrainPlan(
            BROKER,
            SafetyRules(quiet_intervals=random.randint(1, 3)),
            random.choice((2.0, 5.0, 10.0, 10.0)),
            durable=random.random() < 0.1,
            force=random.random() < 0.2,
            allow_unreachable=random.random() < 0.3,
            by="simulation",
        )
        if random.random() < 0.6:
            self.plan = self.plan._replace(then=self._stop_broker)
        self._gives_up = random.random() < 0.15
        self._is_wiped_before = random.random() < 0.1
        # Drawn apart, so that the seeds of planted faults keep their schedules.
        self._has_cut_producer = Random(f"producer cut from name servers {seed}").random() < 0.1
        self._is_safe = self._is_draining = False
        self._may_differ = False

    def run(self) -> None:
        self.start_cluster()
        if self._is_wiped_before:
            self._wipe_before()
        self.cluster.undrain_by_other = self._undrain_by_other
        self.begin_faults()
        if self._has_cut_producer:
            self._cut_producer()
        self.note_before()
        self.cluster.network.before_first_change = self.note_before
        if not self.plan.force:
            self.cluster.network.before_change = self._require_writable
        if self.repeat_command(f"drain {BROKER}", self._drain, self._stops_draining):
            self._use_safety()
        self.cluster.network.before_change = lambda addr, code: None
        self.repeat_command(f"undrain {BROKER}", self._undrain, lambda error: False)
        self._require_as_before()

    def _cut_producer(self) -> None:
        """A busy producer loses its connections to name servers, and keeps its route for a while."""
        producer = self.cluster.producers[0]
        producer.is_cut, producer.send_ms = True, 500
        self.world.tell(f"a producer of {producer.topic} reaches no name server")
        self.world.call_after(
            self.random.randint(20_000, 400_000), lambda: setattr(producer, "is_cut", False)
        )

    def _wipe_before(self) -> None:
        server = next(iter(self.cluster.name_servers.values()))
        request = build_request(RequestCode.WIPE_WRITE_PERM_OF_BROKER, {"brokerName": BROKER})
        server.handle(request, OTHER_CHANNEL)
        self.world.tell(f"another operator has closed {BROKER} on {server.addr} before")

    # The commands of the operator

    def _stops_draining(self, error: BaseException) -> bool:
        return self._gives_up or "would be left without" in str(error)

    def _drain(self) -> bool:
        world = self.world
        self._is_safe = False
        prepared = prepare_drain(
            self.make_admin(), self.plan, STATE_HOME, world.clock_ms, NO_INVENTORY, is_dry_run=False
        )
        if prepared.risks and not self.plan.force:
            raise RocketMQError("; ".join(risk.text for risk in prepared.risks))
        for server in prepared.servers if prepared.saved_state is None and not self.plan.force else ():
            topic = None if server.error else self._find_lone_topic(server.namesrv_addr)
            if topic and server.is_registered:
                raise InvariantBroken(f"the check found no risk, and only {BROKER} takes {topic}")
        with closing(cast(Generator[EventRecord], prepared.run_events(self.clock))) as records:
            try:
                self._follow(records)
            finally:
                self._is_draining = False
        return self._is_safe

    def _follow(self, records: Iterator[EventRecord]) -> None:
        """Read the events of a drain until it ends, or the operator gives up."""
        world, began_ms = self.world, self.world.true_ms
        for record in records:
            self._is_draining = True
            self._hear(record)
            if world.true_ms - began_ms > _PATIENCE_MS:
                self.end_faults()
            if self.have_faults_ended and any(
                "another broker that takes" in t for t in record.get("waitingFor", ())
            ):
                # Another operator has closed broker-b for good. nsadmin says so.
                raise RocketMQError("the operator gives up: topics would be left without a writable queue")
            if world.true_ms - began_ms > 3 * _PATIENCE_MS:
                raise InvariantBroken(f"the drain does not end: {events.describe_record(record)}")

    def _hear(self, record: EventRecord) -> None:
        """Read an event of the drain, as the operator does, and check it."""
        event_name = record["event"]
        if event_name == "progress":
            return
        self.world.tell(f"nsadmin: {events.describe_record(record)}")
        if event_name == "snapshotTaken":
            self.note_before()
        elif event_name == "safe":
            self._is_safe = True
            self.unknown_servers = tuple(record["unknown"])
            self.require_no_writers(self.cluster.drained)
        elif event_name in ("unsafe", "reopened"):
            self._is_safe = False

    def _stop_broker(self, master_addr: str) -> events.CommandEnded:
        broker = self.cluster.drained
        if master_addr != broker.addr:
            raise InvariantBroken(f"--then got the address {master_addr}, and the master is {broker.addr}")
        self.require_no_writers(broker)
        self.world.tell(f"--then stops {BROKER}")
        broker.stop(is_abrupt=False)
        return events.CommandEnded(self.world.clock_ms, "stop", 0)

    def _use_safety(self) -> None:
        """The broker may be stopped now; later it starts again."""
        broker = self.cluster.drained
        if self.plan.then is not None and not broker.is_up:
            self.world.pass_time(45_000)
            if not broker.is_up:
                broker.start(HEARTBEAT_MS)
                self.world.tell(f"{BROKER} starts again")

    def _undrain(self) -> bool:
        try:
            prepared = prepare_undo(self.make_admin(), BROKER, STATE_HOME)
        except NotFound:
            return True
        last_event = ""
        for record in prepared.run_events(self.clock):
            self.world.tell(f"nsadmin: {events.describe_record(record)}")
            last_event = record["event"]
        if last_event != "undone" and self.have_faults_ended and self.cluster.plan.old_servers:
            # A registration of the broker cannot restore each topic of a 4.x name server; nsadmin names them.
            self._require_not_opened()
            self._may_differ = True
            return True
        if last_event != "undone":
            raise RocketMQError("not everything is as before: the drain stays saved")
        if not self.have_faults_ended:
            self.require_restored(self.cluster.drained)
        return True

    def _undrain_by_other(self) -> None:
        """Another process on the same machine undoes the drain: refused while a process runs it."""
        world = self.world
        before = world.is_quiet, world.is_process_alive
        world.is_quiet = world.is_process_alive = True
        try:
            records = list(prepare_undo(self.make_admin(), BROKER, STATE_HOME).run_events(self.clock))
        except (RocketMQError, OSError) as error:
            world.tell(f"the other nsadmin: {error}")
        else:
            world.tell(f"the other nsadmin: {events.describe_record(records[-1])}")
            if self._is_draining and before[1]:
                raise InvariantBroken("another process undid the drain that this process runs")
        finally:
            world.is_quiet, world.is_process_alive = before

    # What must hold

    def _require_writable(self, addr: str, code: int) -> None:
        """No change takes the last writable queue of a topic."""
        if code == RequestCode.WIPE_WRITE_PERM_OF_BROKER and (topic := self._find_lone_topic(addr)):
            raise InvariantBroken(f"without --force, {topic} loses its last writable queue on {addr}")

    def _find_lone_topic(self, addr: str) -> str | None:
        """A topic that only the broker takes, unless that has changed since nsadmin began to look."""
        server, cluster = self.cluster.name_servers.get(addr), self.cluster
        looked_ms = min(cluster.network.observed_ms, self.world.true_ms - 1_000)
        if server is None or max(cluster.other_closed_ms, server.registered_ms) >= looked_ms:
            return None
        others = {t for t, queue in server.queues_of("broker-b").items() if queue.perm & Perm.WRITE}
        own = {t for t, queue in server.queues_of(BROKER).items() if queue.perm & Perm.WRITE}
        return min(own - others - {BROKER}, default=None)

    def _require_not_opened(self) -> None:
        """Undrain did not open a name server where all topics were closed before."""
        for addr, server in self.cluster.name_servers.items():
            known = [before[addr, BROKER] for before in self.queues_before if (addr, BROKER) in before]
            was_closed = known and not any(map(_has_writable, known))
            configs = self.cluster.drained.model.topic_table.configs
            is_unchanged = all(before[BROKER] == configs for before in self.own_before)
            if was_closed and is_unchanged and _has_writable(server.queues_of(BROKER)):
                raise InvariantBroken(f"the drain is undone, and {BROKER} is open on {addr} as never before")

    def _require_as_before(self) -> None:
        """In the end, without faults, no drain is left, and nothing closes the topics again."""
        self.end_faults()
        self.world.begin_process()
        for saved in load_drains(STATE_HOME):
            if isinstance(saved, InvalidStateError):
                raise InvariantBroken(f"a saved drain cannot be read: {saved}")
            if not self._may_differ:
                self.repeat_command(f"undrain {BROKER}", self._undrain, lambda error: False)
        self.world.pass_time(HEARTBEAT_MS)
        if not self._may_differ:
            self.require_restored(self.cluster.drained)
        permission = self.cluster.drained.model.properties.broker_permission
        if permission != Perm.READ | Perm.WRITE:
            raise InvariantBroken(f"the drain is undone, and brokerPermission of {BROKER} is {permission}")


def _has_writable(queues: Mapping[str, QueueData]) -> bool:
    return any(queue.perm & Perm.WRITE for queue in queues.values())
