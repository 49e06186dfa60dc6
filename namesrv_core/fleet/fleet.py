"""Fleet: many brokers that are started and stopped together, laid out by a plan and a seed."""

import asyncio
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, product
from typing import NamedTuple

from namesrv_core.fleet.broker import PERIOD, PRODUCER_PERIOD, Broker
from namesrv_core.fleet.model import BrokerSpec, Peers
from namesrv_core.fleet.topics import DLQ_PREFIX, RETRY_PREFIX, Config, topic_config
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import request
from namesrv_core.state.kv import ORDER_TOPIC_CONFIG
from namesrv_core.transport.channel import Channel

_NOUNS = (
    "orders", "payments", "inventory", "shipments", "invoices", "customers", "carts", "refunds", "prices",
    "coupons", "accounts", "sessions", "reviews", "searches", "emails", "sms", "clicks", "stock", "returns",
    "suppliers", "audit", "fraud", "loyalty", "tickets",
)  # fmt: skip
_EVENTS = ("", "-created", "-updated", "-cancelled", "-settled", "-delayed", "-archived")
_SERVICES = ("billing", "warehouse", "analytics", "notifier", "search-indexer", "risk", "ledger")
_KINDS = ("NORMAL", "NORMAL", "NORMAL", "FIFO", "DELAY", "TRANSACTION")
_QUEUES = (4, 8, 8, 8, 16)
READ_ONLY_TOPIC = "orders-history"
ORDERED_TOPIC = "orders"
PORT_STEP = 10
"""Ports from one broker to the next; the one behind a broker's own is for its replication."""


class FleetPlan(NamedTuple):
    """So many clusters of so many broker groups, each a master and its slaves; `topics` for each cluster."""

    clusters: int = 2
    groups: int = 3
    replicas: int = 2
    topics: int = 40
    seed: int = 1

    def specs(self) -> list[BrokerSpec]:
        """Every broker of the plan, masters before slaves."""
        found = [spec for number in range(self.clusters) for spec in self._cluster(number)]
        return sorted(found, key=lambda spec: spec.broker_id)

    def _cluster(self, number: int) -> Iterator[BrokerSpec]:
        letters = _letters(number)
        cluster = f"cluster-{letters}"
        chance = random.Random(f"{self.seed} {cluster}")
        names = [f"broker-{letters}-{group}" for group in range(self.groups)]
        consumers = {topic: _consumers(topic, self.seed) for topic in _topic_names(self.topics, chance)}
        placed = _placed(consumers, names, chance)
        for name in names:
            seed = chance.getrandbits(32)
            configs = (*placed[name], *_group_topics(consumers))
            groups = {config["topicName"]: consumers.get(config["topicName"], ()) for config in placed[name]}
            for broker_id in range(self.replicas):
                yield BrokerSpec(cluster, name, broker_id, configs, groups, seed)


def _letters(number: int) -> str:
    """a, b, ... z, ba, bb, ..."""
    rest, last = divmod(number, 26)
    return (_letters(rest) if rest else "") + chr(ord("a") + last)


def _topic_names(number: int, chance: random.Random) -> list[str]:
    """The plain nouns first, so that clusters have topics in common; then events as chance has it."""
    bank = [f"{noun}{event}" for event, noun in product(_EVENTS[1:], _NOUNS)]
    chance.shuffle(bank)
    names = [READ_ONLY_TOPIC, *_NOUNS[: max(number // 2, 1)], *bank]
    names += [f"events-{extra}" for extra in range(number - len(names))]
    return names[:number]


def _consumers(topic: str, seed: int) -> tuple[str, ...]:
    """Who reads a topic: the same in every cluster, as clients read from all brokers of a route."""
    chance = random.Random(f"{seed} consumers of {topic}")
    return tuple(sorted(chance.sample(_SERVICES, chance.randrange(4))))


def _placed(
    topics: Mapping[str, object], brokers: Sequence[str], chance: random.Random
) -> dict[str, list[Config]]:
    """Where each topic lives: on every broker of its cluster, one in six on a single one."""
    placed: dict[str, list[Config]] = {name: [] for name in brokers}
    for number, topic in zip(count(), topics):
        kind = {"message.type": chance.choice(_KINDS)}
        perm, order = 4 if topic == READ_ONLY_TOPIC else 6, topic == ORDERED_TOPIC
        config = topic_config(topic, chance.choice(_QUEUES), perm, kind, order=order)
        homes = [chance.choice(brokers)] if number % 6 == 5 else brokers
        for name in homes:
            placed[name].append(config)
    return placed


def _group_topics(consumers: Mapping[str, Sequence[str]]) -> Iterator[Config]:
    """The retry topics of all groups, and the dead letters of the first."""
    groups = sorted({group for names in consumers.values() for group in names})
    for group in groups:
        yield topic_config(f"{RETRY_PREFIX}{group}", 1)
    for group in groups[:1]:
        yield topic_config(f"{DLQ_PREFIX}{group}", 1)


def order_confs(specs: Iterable[BrokerSpec]) -> dict[str, str]:
    """The order configuration of each ordered topic: its brokers and how many queues each has."""
    queues: dict[str, list[str]] = {}
    for spec in (spec for spec in specs if spec.is_master):
        for config in spec.topics:
            if config["order"]:
                place = f"{spec.broker_name}:{config['writeQueueNums']}"
                queues.setdefault(config["topicName"], []).append(place)
    return {topic: ";".join(places) for topic, places in queues.items()}


async def write_order_confs(specs: Iterable[BrokerSpec], name_servers: Iterable[str]) -> None:
    """Put them into the KV config of every name server, as whoever made the topics would have."""
    confs = order_confs(specs)
    for channel in map(Channel, name_servers):
        try:
            for topic, conf in confs.items():
                ext = {"namespace": ORDER_TOPIC_CONFIG, "key": topic, "value": conf}
                await channel.request(request(RequestCode.PUT_KV_CONFIG, ext))
        finally:
            channel.close()


class Fleet:
    """The brokers of a plan, on free ports of this machine, or from `port` on with PORT_STEP between them."""

    def __init__(
        self,
        plan: FleetPlan,
        name_servers: Sequence[str],
        *,
        period: float = PERIOD,
        producer_period: float = PRODUCER_PERIOD,
        port: int = 0,
    ) -> None:
        peers: Peers = {}
        self.brokers = [
            Broker(
                spec,
                name_servers,
                period=period,
                producer_period=producer_period,
                port=port and port + at * PORT_STEP,
                peers=peers,
            )
            for at, spec in enumerate(plan.specs())
        ]

    async def start(self) -> None:
        """Masters first, so that slaves find them."""
        for is_master in (True, False):
            await asyncio.gather(*(b.start() for b in self.brokers if b.spec.is_master is is_master))

    async def leave(self, patience: float = 1.0) -> None:
        """All say goodbye at once; whoever is not done within `patience` seconds dies."""
        try:
            async with asyncio.timeout(patience):
                await asyncio.gather(*(broker.leave() for broker in self.brokers))
        except TimeoutError:
            self.die()

    def die(self) -> None:
        for broker in self.brokers:
            broker.die()
