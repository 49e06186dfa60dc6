"""The cluster of a simulation, built from a seed, and the faults that can happen to it."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import NamedTuple

from namesrv_core.fleet.broker_model import BrokerSpec
from namesrv_core.fleet.topics import TopicConfigJson, make_topic_config
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_request
from tests.simulation.broker import CLUSTER, HEARTBEAT_MS, SimulatedBroker
from tests.simulation.name_server import OTHER_CHANNEL, SimulatedNameServer
from tests.simulation.network import Network
from tests.simulation.producer import Producer
from tests.simulation.world import START_MS, Fault, World

BROKER = "broker-a"
"""The broker that procedures drain."""


class ClusterPlan(NamedTuple):
    """The cluster of a seed. `old_servers` answer as 4.9.7."""

    name_servers: int
    old_servers: frozenset[int]
    has_slave: bool
    has_lone_topic: bool
    producers: int
    has_slow_producer: bool


def plan_cluster(random: Random) -> ClusterPlan:
    name_servers = random.choice((1, 2, 2, 3))
    return ClusterPlan(
        name_servers,
        frozenset(i for i in range(name_servers) if random.random() < 0.15),
        random.random() < 0.25,
        random.random() < 0.1,
        random.randint(1, 4),
        random.random() < 0.15,
    )


class Cluster:
    """Name servers, the brokers `broker-a` and `broker-b`, and producers of the topics of both."""

    def __init__(
        self,
        world: World,
        plan: ClusterPlan,
        master_class: type[SimulatedBroker] = SimulatedBroker,
        more_topics: tuple[TopicConfigJson, ...] = (),
    ) -> None:
        self.world = world
        self._master_class = master_class
        self.plan = plan
        self.name_servers = {
            addr: SimulatedNameServer(world, addr, is_old=i in plan.old_servers)
            for i, addr in ((i, f"10.0.0.{i + 1}:9876") for i in range(plan.name_servers))
        }
        shared = (make_topic_config("orders", 4), make_topic_config("history", 4, perm=4), *more_topics)
        lone = (make_topic_config("lone", 2),) if plan.has_lone_topic else ()
        self.drained = self._make_broker(BROKER, 0, 1, (*shared, *lone))
        self.other = self._make_broker("broker-b", 0, 2, shared)
        self.masters = (self.drained, self.other)
        self.brokers = {b.addr: b for b in self.masters}
        if plan.has_slave:
            slave = self._make_broker(BROKER, 1, 3, (*shared, *lone), self.drained)
            self.brokers[slave.addr] = slave
        self.other_closed_ms = world.true_ms
        self.undrain_by_other: Callable[[], None] = lambda: None
        self.network = Network(world, self.name_servers, self.brokers)
        masters = {b.spec.broker_name: b for b in self.masters}
        topics = ("orders", "lone") if plan.has_lone_topic else ("orders",)
        self.producers = [
            Producer(
                world,
                topics[i % len(topics)],
                list(self.name_servers.values()),
                masters,
                world.random.choice((1_000, 5_000, 25_000)),
            )
            for i in range(plan.producers)
        ]
        if plan.has_slow_producer:
            self.producers.append(
                Producer(world, "orders", list(self.name_servers.values()), masters, 400, 90_000)
            )

    def _make_broker(
        self,
        name: str,
        broker_id: int,
        host: int,
        topics: tuple[TopicConfigJson, ...],
        master: SimulatedBroker | None = None,
    ) -> SimulatedBroker:
        spec = BrokerSpec(CLUSTER, name, broker_id, topics)
        broker_class = self._master_class if master is None else SimulatedBroker
        return broker_class(self.world, spec, f"10.0.1.{host}:10911", self.name_servers, master)

    def start(self) -> None:
        for server in self.name_servers.values():
            server.start()
        for broker in self.brokers.values():
            broker.start(self.world.random.randint(1, HEARTBEAT_MS))
        for producer in self.producers:
            producer.start()

    def heal(self) -> None:
        """End all troubles: every process runs, and reaches every other one."""
        self.network.next_trouble = None
        for server in self.name_servers.values():
            server.is_cut = False
            server.cut_brokers.clear()
            if not server.is_up:
                server.start()
            if server.is_frozen:
                server.thaw()
        for broker in self.brokers.values():
            broker.is_stale = broker.is_frozen = False
            if not broker.is_up:
                broker.start(HEARTBEAT_MS)

    # Faults

    def plan_fault(self, fault: Fault) -> None:
        self.world.plan_fault(fault, lambda: _FAULT_ACTIONS[fault.kind](self, fault))

    def server_of(self, fault: Fault) -> SimulatedNameServer:
        servers = list(self.name_servers.values())
        return servers[fault.target % len(servers)]

    def restore_after(self, fault: Fault, longest_seconds: float, action: Callable[[], None]) -> None:
        self.world.call_after(round(fault.amount**2 * longest_seconds * 1000) + 500, action)


def _trouble(cluster: Cluster, fault: Fault) -> None:
    cluster.network.next_trouble = fault.kind, fault.amount
    cluster.world.tell(f"FAULT: the next request meets: {fault.kind}")


def _restart_name_server(cluster: Cluster, fault: Fault) -> None:
    server = cluster.server_of(fault)
    if server.is_up:
        server.stop()
        cluster.world.tell(f"FAULT: {server.addr} is killed")

        def start() -> None:
            if not server.is_up:
                server.start()
                cluster.world.tell(f"{server.addr} starts again, without brokers")

        cluster.restore_after(fault, 120, start)


def _freeze_name_server(cluster: Cluster, fault: Fault) -> None:
    server = cluster.server_of(fault)
    if server.is_up and not server.is_frozen:
        server.is_frozen = True
        cluster.world.tell(f"FAULT: {server.addr} is frozen")

        def thaw() -> None:
            if server.is_frozen:
                cluster.world.tell(f"{server.addr} continues")
                server.thaw()

        cluster.restore_after(fault, 60, thaw)


def _cut_name_server(cluster: Cluster, fault: Fault) -> None:
    server = cluster.server_of(fault)
    server.is_cut = True
    cluster.world.tell(f"FAULT: nsadmin cannot reach {server.addr}")

    def heal() -> None:
        if server.is_cut:
            server.is_cut = False
            cluster.world.tell(f"nsadmin reaches {server.addr} again")

    cluster.restore_after(fault, 240, heal)


def _cut_broker(cluster: Cluster, fault: Fault) -> None:
    server, broker = cluster.server_of(fault), cluster.drained
    server.cut_brokers.add(broker.addr)
    cluster.world.tell(f"FAULT: {broker.title} cannot reach {server.addr}")

    def heal() -> None:
        if broker.addr in server.cut_brokers:
            server.cut_brokers.discard(broker.addr)
            cluster.world.tell(f"{broker.title} reaches {server.addr} again")

    cluster.restore_after(fault, 400, heal)


def _restart_broker(cluster: Cluster, fault: Fault) -> None:
    broker = list(cluster.brokers.values())[fault.target % len(cluster.brokers)]
    if broker.is_up:
        is_abrupt = fault.amount < 0.5
        cluster.world.tell(f"FAULT: {broker.title} is {'killed' if is_abrupt else 'stopped'}")
        cluster.other_closed_ms = cluster.world.true_ms
        broker.stop(is_abrupt=is_abrupt)

        def start() -> None:
            if not broker.is_up:
                broker.start(HEARTBEAT_MS)
                cluster.world.tell(f"{broker.title} starts again")

        cluster.restore_after(fault, 90, start)


def _freeze_broker(cluster: Cluster, fault: Fault) -> None:
    broker = list(cluster.brokers.values())[fault.target % len(cluster.brokers)]
    if broker.is_up and not broker.is_frozen:
        broker.is_frozen = True
        cluster.world.tell(f"FAULT: {broker.title} is frozen")

        def thaw() -> None:
            if broker.is_frozen:
                broker.is_frozen = False
                cluster.world.tell(f"{broker.title} continues")
                if broker.is_up:
                    broker.register_topics()

        cluster.restore_after(fault, 200, thaw)


def _create_topic(cluster: Cluster, fault: Fault) -> None:
    cluster.world.tell(f"FAULT: a topic is created on {BROKER}")
    config = make_topic_config(f"new-{fault.target}", 2)
    if cluster.drained.is_up:
        cluster.drained.change_topic(config)

    def spread() -> None:
        cluster.world.tell("the topic is created on broker-b, too")
        if cluster.other.is_up:
            cluster.other.change_topic(config)

    if fault.amount < 0.8:
        cluster.restore_after(fault, 60, spread)


def _change_topic(cluster: Cluster, fault: Fault) -> None:
    cluster.world.tell(f"FAULT: the topic orders of {BROKER} gets other queues")
    if cluster.drained.is_up:
        cluster.drained.change_topic(make_topic_config("orders", 4 + fault.target % 4))


def _delete_topic(cluster: Cluster, fault: Fault) -> None:
    topic = "history" if fault.target % 2 else "orders"
    # Name servers refuse a broker with one topic (`RouteInfoManager#registerBroker`): real ones have more.
    if len(cluster.drained.model.topic_table.configs) <= 2:
        return
    cluster.world.tell(f"FAULT: the topic {topic} of {BROKER} is deleted")
    cluster.drained.delete_topic(topic)
    for server in cluster.name_servers.values():
        if server.is_up and not server.is_frozen:
            server.handle(build_request(RequestCode.DELETE_TOPIC_IN_NAMESRV, {"topic": topic}), OTHER_CHANNEL)


def _register_again(cluster: Cluster, fault: Fault) -> None:
    """The order flag of a retry topic flips: a new version, and the next registration opens all topics."""
    cluster.world.tell(f"FAULT: {BROKER} registers all its topics with a new version")
    cluster.drained.model.topic_table.advance_version(cluster.world.true_ms)
    if cluster.drained.is_up:
        cluster.drained.register_topics()


def _change_permission(code: RequestCode) -> "Callable[[Cluster, Fault], None]":
    def send(cluster: Cluster, fault: Fault) -> None:
        name = BROKER if fault.amount < 0.5 else "broker-b"
        server = cluster.server_of(fault)
        cluster.other_closed_ms = cluster.world.true_ms
        cluster.world.tell(f"FAULT: another operator sends {code.name} for {name} to {server.addr}")
        if server.is_up and not server.is_frozen:
            request: RemotingCommand = build_request(code, {"brokerName": name})
            server.handle(request, OTHER_CHANNEL)

    return send


def _stale_slave(cluster: Cluster, fault: Fault) -> None:
    for broker in cluster.brokers.values():
        if broker.master is not None:
            broker.is_stale = True
            cluster.world.tell(f"FAULT: {broker.title} no longer copies from its master")
            cluster.restore_after(fault, 200, partial(setattr, broker, "is_stale", False))


def _undrain_by_other(cluster: Cluster, fault: Fault) -> None:
    cluster.world.tell(f"FAULT: another operator runs `nsadmin undrain {BROKER}`")
    cluster.undrain_by_other()


def _kill(cluster: Cluster, fault: Fault) -> None:
    cluster.world.kill_process()


def _lose_power(cluster: Cluster, fault: Fault) -> None:
    cluster.world.lose_power()


def _fill_disk(cluster: Cluster, fault: Fault) -> None:
    world = cluster.world
    world.tell("FAULT: the disk is full")
    world.free_file_steps = fault.target % 3
    cluster.restore_after(fault, 60, lambda: setattr(world, "free_file_steps", None))


def _step_clock(cluster: Cluster, fault: Fault) -> None:
    step_ms = round((fault.amount - 0.5) * 7_200_000)
    cluster.world.clock_error_ms += step_ms
    cluster.world.tell(f"FAULT: the clock of nsadmin's machine jumps by {step_ms / 1000:+,.0f} s")


_FAULT_ACTIONS: dict[str, Callable[[Cluster, Fault], None]] = {
    "lose request": _trouble,
    "lose answer": _trouble,
    "refuse request": _trouble,
    "delay request": _trouble,
    "delay answer": _trouble,
    "deliver late": _trouble,
    "cut connection": _trouble,
    "restart name server": _restart_name_server,
    "freeze name server": _freeze_name_server,
    "cut name server": _cut_name_server,
    "cut broker": _cut_broker,
    "restart broker": _restart_broker,
    "freeze broker": _freeze_broker,
    "create topic": _create_topic,
    "change topic": _change_topic,
    "delete topic": _delete_topic,
    "register again": _register_again,
    "wipe by other": _change_permission(RequestCode.WIPE_WRITE_PERM_OF_BROKER),
    "add by other": _change_permission(RequestCode.ADD_WRITE_PERM_OF_BROKER),
    "stale slave": _stale_slave,
    "undrain by other": _undrain_by_other,
    "kill nsadmin": _kill,
    "lose power": _lose_power,
    "fill disk": _fill_disk,
    "step clock": _step_clock,
}
FAULT_KINDS = tuple(_FAULT_ACTIONS)


def plan_faults(random: Random, kinds: tuple[str, ...], step_count: int) -> list[Fault]:
    """The faults of a schedule, most of them before one of so many steps, some at a time."""
    faults = []
    for _ in range(random.choice((0, 1, 1, 2, 2, 3, 4))):
        kind = random.choice(kinds)
        is_timed = random.random() < 0.4 and _FAULT_ACTIONS[kind] is not _trouble
        faults.append(
            Fault(
                kind,
                1 + int(step_count * random.random() ** 1.3),
                random.randrange(1_000, 200_000) if is_timed else None,
                random.randrange(12),
                random.random(),
            )
        )
    return faults


__all__ = ["BROKER", "CLUSTER", "START_MS", "Cluster", "ClusterPlan"]
