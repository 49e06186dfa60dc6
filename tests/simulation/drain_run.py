"""One simulated drain: an operator drains a broker, stops it, and undoes the drain, while faults happen.

The code of nsadmin is the real one. The operator does what a careful person does: run a failed or killed
command again, and believe what nsadmin says.
"""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.events import QueueData
from namesrv_core.fleet.topics import TopicConfigJson
from namesrv_core.protocol.codes import Perm, RequestCode
from nsadmin.client.connection.access_options import Access
from nsadmin.client.results import NotFound
from nsadmin.library.admin_client import AdminClient
from nsadmin.library.drain_procedure import prepare_drain, prepare_undo
from nsadmin.operations.drain import events
from nsadmin.operations.drain.events import describe_record
from nsadmin.operations.drain.runner import DrainPlan
from nsadmin.operations.drain.safety import SafetyRules
from nsadmin.operations.drain.state import load_drains
from nsadmin.operations.procedure_clock import ProcedureClock
from nsadmin.operations.run_folder import EventRecord, InvalidStateError
from tests.simulation.broker import HEARTBEAT_MS
from tests.simulation.cluster import BROKER, Cluster, plan_cluster
from tests.simulation.virtual_disk import ROOT
from tests.simulation.world import START_MS, Fault, InvariantBroken, ProcessKilled, World

STATE_HOME = Path(ROOT) / "nsadmin"
AUDIT_FILE = f"{ROOT}/audit/audit.jsonl"
USER_TOPICS = ("orders", "lone")
_MAX_ATTEMPTS = 8
_PATIENCE_MS = 15 * 60_000
"""After this time all faults end."""


class _Wishes(NamedTuple):
    """What the operator of a seed wants."""

    plan: DrainPlan
    stops_broker: bool
    warm_up_ms: int
    resume_ms: int
    gives_up: bool
    wiped_before: bool


def _make_wishes(random: Random) -> _Wishes:
    rules = SafetyRules(quiet_intervals=random.randint(1, 3))
    return _Wishes(
        DrainPlan(
            BROKER,
            rules,
            random.choice((2.0, 5.0, 10.0, 10.0)),
            durable=random.random() < 0.1,
            force=random.random() < 0.2,
            allow_unreachable=random.random() < 0.3,
            by="simulation",
        ),
        random.random() < 0.6,
        random.randint(1_000, 40_000),
        random.choice((1_000, 20_000, 200_000)),
        random.random() < 0.15,
        random.random() < 0.1,
    )


class DrainRun:
    """A run of one seed. `run` raises InvariantBroken."""

    def __init__(self, seed: int, faults: list[Fault]) -> None:
        random = Random(f"drain {seed}")
        self.world = World(seed)
        self.cluster = Cluster(self.world, plan_cluster(random))
        self.wishes = _make_wishes(random)
        self._faults = faults
        self._queues_before: list[dict[str, dict[str, QueueData]]] = []
        self._own_before: dict[str, object] = {}
        self._is_safe = False
        self._unknown_servers: tuple[str, ...] = ()
        self._observed_since_ms = 0
        self._ended_faults = False
        self._may_differ = False

    def run(self) -> None:
        os.environ["NSADMIN_AUDIT"] = AUDIT_FILE
        world, cluster, wishes = self.world, self.cluster, self.wishes
        cluster.start()
        world.pass_time(wishes.warm_up_ms)
        if wishes.wiped_before:
            self._wipe_before()
        for fault in self._faults:
            cluster.plan_fault(fault)
        self._note_before()
        cluster.network.before_first_change = self._note_before
        if not wishes.plan.force:
            cluster.network.after_change = self._require_writable
        if self._repeat("drain", self._drain):
            self._use_safety()
        self._repeat("undrain", self._undrain)
        self._require_as_before()

    def _wipe_before(self) -> None:
        from namesrv_core.protocol.command import build_request
        from tests.simulation.name_server import OTHER_CHANNEL

        server = next(iter(self.cluster.name_servers.values()))
        request = build_request(RequestCode.WIPE_WRITE_PERM_OF_BROKER, {"brokerName": BROKER})
        server.handle(request, OTHER_CHANNEL)
        self.world.tell(f"another operator has closed {BROKER} on {server.addr} before")

    def _note_before(self) -> None:
        servers = self.cluster.name_servers
        self._queues_before.append(
            {addr: server.queues_of(BROKER) for addr, server in servers.items() if server.is_up}
        )
        self._own_before = dict(self.cluster.drained.model.topic_table.configs)

    # The operator

    def _repeat(self, name: str, command: Callable[[], bool]) -> bool:
        """Run a command until it succeeds, or the operator gives up. Return whether it succeeded."""
        world = self.world
        for attempt in range(_MAX_ATTEMPTS):
            if attempt == _MAX_ATTEMPTS - 3:
                self._end_faults()
            world.begin_process()
            self._is_safe = False
            world.tell(f"$ nsadmin {name} {BROKER}")
            try:
                return command()
            except ProcessKilled:
                pass
            except (RocketMQError, OSError) as error:
                world.tell(f"nsadmin: {name}: {error}")
                if name == "drain" and self._is_refusal(error):
                    return False
            if name == "drain" and self.wishes.gives_up:
                return False
            world.pass_time(self.wishes.resume_ms)
        raise InvariantBroken(f"{name} does not succeed, although all faults have ended")

    def _is_refusal(self, error: BaseException) -> bool:
        return "without a writable queue" in str(error) or "without a master" in str(error)

    def _end_faults(self) -> None:
        if not self._ended_faults:
            self._ended_faults = True
            self.world.tell("all faults end")
            self.world.end_faults()
            self.cluster.heal()
            self.world.pass_time(2 * HEARTBEAT_MS + 5_000)

    def _make_admin(self) -> AdminClient:
        return AdminClient(self.cluster.name_servers, pool=self.cluster.network.pool, access=Access())

    @property
    def _clock(self) -> ProcedureClock:
        world = self.world
        return ProcedureClock(lambda: world.clock_ms, world.pause_seconds, lambda: world.true_ms / 1000)

    def _drain(self) -> bool:
        world, plan = self.world, self.wishes.plan
        if self.wishes.stops_broker:
            plan = plan._replace(then=self._stop_broker)
        prepared = prepare_drain(self._make_admin(), plan, STATE_HOME, world.clock_ms, is_dry_run=False)
        if prepared.risks and not plan.force:
            self._require_true_risks(prepared.risks)
            raise RocketMQError("; ".join(risk.text for risk in prepared.risks))
        began_ms = world.true_ms
        for record in prepared.run_events(self._clock):
            self._hear(record)
            if world.true_ms - began_ms > _PATIENCE_MS:
                self._end_faults()
            if world.true_ms - began_ms > 3 * _PATIENCE_MS:
                raise InvariantBroken(f"the drain does not end: {describe_record(record)}")
        return self._is_safe

    def _hear(self, record: EventRecord) -> None:
        """Read an event of the drain, as the operator does, and check it."""
        event_name = record["event"]
        if event_name == "progress":
            return
        self.world.tell(f"nsadmin: {describe_record(record)}")
        if event_name == "snapshotTaken":
            self._note_before()
        elif event_name == "safe":
            self._is_safe = True
            self._unknown_servers = tuple(record["unknown"])
            self._require_no_writers()
        elif event_name in ("unsafe", "reopened"):
            self._is_safe = False

    def _stop_broker(self, master_addr: str) -> events.CommandEnded:
        world, broker = self.world, self.cluster.drained
        if master_addr != broker.addr:
            raise InvariantBroken(f"--then got the address {master_addr}, and the master is {broker.addr}")
        self._require_no_writers()
        world.tell(f"--then stops {BROKER}")
        broker.stop(is_abrupt=False)
        return events.CommandEnded(world.clock_ms, "stop", 0)

    def _use_safety(self) -> None:
        """The broker may be stopped now; later it starts again."""
        broker = self.cluster.drained
        if self.wishes.stops_broker and not broker.is_up:
            self.world.pass_time(45_000)
            if not broker.is_up:
                broker.start(HEARTBEAT_MS)
                self.world.tell(f"{BROKER} starts again")

    def _undrain(self) -> bool:
        try:
            prepared = prepare_undo(self._make_admin(), BROKER, STATE_HOME)
        except NotFound:
            return True
        last_event = ""
        for record in prepared.run_events(self._clock):
            self.world.tell(f"nsadmin: {describe_record(record)}")
            last_event = record["event"]
        if last_event != "undone" and self._ended_faults and self.cluster.plan.old_servers:
            # A registration of the broker cannot restore each topic of a 4.x name server; nsadmin names them.
            self._may_differ = True
            return True
        if last_event != "undone":
            raise RocketMQError("not everything is as before: the drain stays saved")
        if not self._ended_faults:
            self._require_restored()
        return True

    # What must hold

    def _require_no_writers(self) -> None:
        """No producer has a route by which it may still write to the broker.

        What a registration opened after the last look of nsadmin is left out, and so are producers of name
        servers whose routes nsadmin calls unknown.
        """
        seen_ms = self.cluster.network.last_look_ms
        for producer in self.cluster.producers:
            route = producer.route
            if (
                route is not None
                and producer.may_write_to(BROKER)
                and route.namesrv_addr not in self._unknown_servers
                and route.read_ms < seen_ms
            ):
                raise InvariantBroken(
                    f"safe to stop, but a producer of {producer.topic} may write to {BROKER}: it read the "
                    f"route from {route.namesrv_addr} {(self.world.true_ms - route.read_ms) / 1000:.1f} s ago"
                )

    def _require_writable(self, addr: str, code: int) -> None:
        """No change takes the last writable queue of a topic, unless it was lost only a moment ago."""
        server = self.cluster.name_servers.get(addr)
        if server is None or code != RequestCode.WIPE_WRITE_PERM_OF_BROKER:
            return
        queues, other_queues = server.queues_of(BROKER), server.queues_of("broker-b")
        for topic in USER_TOPICS:
            other = other_queues.get(topic)
            if topic in queues and not (other and other.perm & Perm.WRITE):
                closed_ms = self.world.true_ms - self.cluster.other_closed_ms
                if queues[topic].perm | Perm.WRITE and closed_ms > 1_000:
                    raise InvariantBroken(
                        f"without --force, {topic} lost its last writable queue on {addr}: broker-b is not "
                        f"writable for {closed_ms / 1000:.1f} s"
                    )

    def _require_true_risks(self, risks: object) -> None:
        """A drain is refused only for what is there."""

    def _require_restored(self) -> None:
        """Each name server has what it would have without the drain, or what it had before the drain."""
        if self._may_differ:
            return
        own_now = self.cluster.drained.model.topic_table.configs
        for addr, server in self.cluster.name_servers.items():
            if not server.is_up or server.is_frozen:
                continue
            shadow = server.queues_of(BROKER, in_shadow=True)
            queues = server.queues_of(BROKER)
            for topic in {*shadow, *queues}:
                accepted = [shadow.get(topic)]
                if (own := own_now.get(topic)) != self._own_before.get(topic):
                    accepted.append(own and _queue_of(own))
                else:
                    accepted += [before[addr].get(topic) for before in self._queues_before if addr in before]
                if queues.get(topic) not in accepted:
                    raise InvariantBroken(
                        f"the drain is undone, but {topic} of {BROKER} on {addr} is "
                        f"{_describe_queue(queues.get(topic))}, and it would be "
                        f"{' or '.join(map(_describe_queue, accepted))}"
                    )

    def _require_as_before(self) -> None:
        """In the end, without faults, no drain is left, and nothing closes the topics again."""
        self._end_faults()
        self.world.begin_process()
        for saved in load_drains(STATE_HOME):
            if isinstance(saved, InvalidStateError):
                raise InvariantBroken(f"a saved drain cannot be read: {saved}")
            if not self._may_differ:
                self._repeat("undrain", self._undrain)
        self.world.pass_time(HEARTBEAT_MS)
        self._require_restored()


def _queue_of(config: TopicConfigJson) -> QueueData:
    fields = ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag")
    return QueueData(BROKER, *(config[name] for name in fields))


def _describe_queue(queue: QueueData | None) -> str:
    if queue is None:
        return "missing"
    can_write = "rw" if queue.perm & Perm.WRITE else "r-"
    return f"{can_write} {queue.read_queue_nums}/{queue.write_queue_nums}"
