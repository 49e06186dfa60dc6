"""BrokerFleet, many simulated brokers that start and stop together, built from a plan and a seed."""

import asyncio
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, product
from typing import NamedTuple

from namesrv_core.fleet.broker import HEARTBEAT_PERIOD_SECONDS, PRODUCER_PERIOD_SECONDS, SimulatedBroker
from namesrv_core.fleet.broker_model import BrokerSpec, PeerModels
from namesrv_core.fleet.topics import TopicConfigJson, make_topic_config
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_request
from namesrv_core.protocol.resource_names import DLQ_PREFIX, RETRY_PREFIX
from namesrv_core.state.kv_config import ORDER_TOPIC_CONFIG
from namesrv_core.transport.request_channel import RequestChannel

_TOPIC_NOUNS = (
    "orders", "payments", "inventory", "shipments", "invoices", "customers", "carts", "refunds", "prices",
    "coupons", "accounts", "sessions", "reviews", "searches", "emails", "sms", "clicks", "stock", "returns",
    "suppliers", "audit", "fraud", "loyalty", "tickets",
)  # fmt: skip
_TOPIC_EVENTS = ("", "-created", "-updated", "-cancelled", "-settled", "-delayed", "-archived")
_CONSUMER_GROUPS = ("billing", "warehouse", "analytics", "notifier", "search-indexer", "risk", "ledger")
_MESSAGE_TYPES = ("NORMAL", "NORMAL", "NORMAL", "FIFO", "DELAY", "TRANSACTION")
_QUEUE_COUNTS = (4, 8, 8, 8, 16)
READ_ONLY_TOPIC = "orders-history"
ORDERED_TOPIC = "orders"
PORT_STEP = 10
"""The distance between the ports of two brokers. The port after a broker's port is its replication port."""


class FleetPlan(NamedTuple):
    """The numbers of clusters, broker groups per cluster, brokers per group, and topics per cluster."""

    clusters: int = 2
    groups: int = 3
    replicas: int = 2
    topics: int = 40
    seed: int = 1

    def plan_brokers(self) -> list[BrokerSpec]:
        """The brokers of a plan, masters before slaves."""
        specs = [s for c in range(self.clusters) for s in self._plan_cluster(c)]
        return sorted(specs, key=lambda spec: spec.broker_id)

    def _plan_cluster(self, cluster_number: int) -> Iterator[BrokerSpec]:
        cluster_letters = _number_letters(cluster_number)
        cluster_name = f"cluster-{cluster_letters}"
        rng = random.Random(f"{self.seed} {cluster_name}")
        names = [f"broker-{cluster_letters}-{group_number}" for group_number in range(self.groups)]
        groups = {t: _choose_consumers(t, self.seed) for t in _choose_topic_names(self.topics, rng)}
        configs = _place_topics(groups, names, rng)
        for broker_name in names:
            seed = rng.getrandbits(32)
            topic_configs = (*configs[broker_name], *_list_group_topics(groups))
            reader_groups = {c["topicName"]: groups.get(c["topicName"], ()) for c in configs[broker_name]}
            for broker_id in range(self.replicas):
                yield BrokerSpec(cluster_name, broker_name, broker_id, topic_configs, reader_groups, seed)


def _number_letters(cluster_number: int) -> str:
    """Number with letters: a, b, ... z, ba, bb, ..."""
    higher_digits, last_digit = divmod(cluster_number, 26)
    return (_number_letters(higher_digits) if higher_digits else "") + chr(ord("a") + last_digit)


def _choose_topic_names(topic_count: int, rng: random.Random) -> list[str]:
    """Choose plain nouns first, so that clusters share topics; then random event names."""
    topics = [f"{noun}{suffix}" for suffix, noun in product(_TOPIC_EVENTS[1:], _TOPIC_NOUNS)]
    rng.shuffle(topics)
    names = [READ_ONLY_TOPIC, *_TOPIC_NOUNS[: max(topic_count // 2, 1)], *topics]
    names += [f"events-{topic_number}" for topic_number in range(topic_count - len(names))]
    return names[:topic_count]


def _choose_consumers(topic: str, seed: int) -> tuple[str, ...]:
    """Choose the groups of a topic: the same in all clusters, as clients read from all brokers of a route."""
    rng = random.Random(f"{seed} consumers of {topic}")
    return tuple(sorted(rng.sample(_CONSUMER_GROUPS, rng.randrange(4))))


def _place_topics(
    topic_names: Mapping[str, object], broker_names: Sequence[str], rng: random.Random
) -> dict[str, list[TopicConfigJson]]:
    """Place each topic on all brokers of its cluster, and one in six on a single broker."""
    configs: dict[str, list[TopicConfigJson]] = {name: [] for name in broker_names}
    for topic_number, topic in zip(count(), topic_names):
        attributes = {"message.type": rng.choice(_MESSAGE_TYPES)}
        perm, is_ordered = 4 if topic == READ_ONLY_TOPIC else 6, topic == ORDERED_TOPIC
        config = make_topic_config(topic, rng.choice(_QUEUE_COUNTS), perm, attributes, is_ordered=is_ordered)
        homes = [rng.choice(broker_names)] if topic_number % 6 == 5 else broker_names
        for broker_name in homes:
            configs[broker_name].append(config)
    return configs


def _list_group_topics(groups_by_topic: Mapping[str, Sequence[str]]) -> Iterator[TopicConfigJson]:
    """The retry topics of all groups, and the dead-letter topic of the first group."""
    groups = sorted({group for groups in groups_by_topic.values() for group in groups})
    for group in groups:
        yield make_topic_config(f"{RETRY_PREFIX}{group}", 1)
    for group in groups[:1]:
        yield make_topic_config(f"{DLQ_PREFIX}{group}", 1)


def build_order_confs(specs: Iterable[BrokerSpec]) -> dict[str, str]:
    places: dict[str, list[str]] = {}
    for spec in (spec for spec in specs if spec.is_master):
        for config in spec.topic_configs:
            if config["order"]:
                queues = f"{spec.broker_name}:{config['writeQueueNums']}"
                places.setdefault(config["topicName"], []).append(queues)
    return {topic: ";".join(places) for topic, places in places.items()}


async def write_order_confs(specs: Iterable[BrokerSpec], namesrv_addrs: Iterable[str]) -> None:
    """Write the order configurations to the KV config of every name server, as mqadmin does."""
    confs = build_order_confs(specs)
    for channel in map(RequestChannel, namesrv_addrs):
        try:
            for topic, order_conf in confs.items():
                ext_fields = {"namespace": ORDER_TOPIC_CONFIG, "key": topic, "value": order_conf}
                await channel.send_request(build_request(RequestCode.PUT_KV_CONFIG, ext_fields))
        finally:
            channel.close()


class BrokerFleet:
    """The brokers of a plan, on free ports of this machine, or on ports from `port` in steps of PORT_STEP."""

    def __init__(
        self,
        fleet_plan: FleetPlan,
        namesrv_addrs: Sequence[str],
        *,
        heartbeat_period: float = HEARTBEAT_PERIOD_SECONDS,
        producer_period: float = PRODUCER_PERIOD_SECONDS,
        first_port: int = 0,
    ) -> None:
        peers: PeerModels = {}
        self.brokers = [
            SimulatedBroker(
                spec,
                namesrv_addrs,
                heartbeat_period=heartbeat_period,
                producer_period=producer_period,
                port=first_port and first_port + broker_index * PORT_STEP,
                peer_models=peers,
            )
            for broker_index, spec in enumerate(fleet_plan.plan_brokers())
        ]

    async def start(self) -> None:
        """Start masters first, so that slaves find them."""
        for is_master in (True, False):
            await asyncio.gather(*(b.start() for b in self.brokers if b.spec.is_master is is_master))

    async def leave_cluster(self, patience_seconds: float = 1.0) -> None:
        """Unregister all brokers at once. Kill those that need more than `patience` seconds."""
        try:
            async with asyncio.timeout(patience_seconds):
                await asyncio.gather(*(broker.leave_cluster() for broker in self.brokers))
        except TimeoutError:
            self.die_abruptly()

    def die_abruptly(self) -> None:
        for broker in self.brokers:
            broker.die_abruptly()
