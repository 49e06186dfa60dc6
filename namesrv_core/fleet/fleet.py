"""Fleet: many brokers that are started and stopped together, laid out by a plan and a seed."""

import asyncio
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, product
from typing import NamedTuple

from namesrv_core.fleet.broker import PERIOD, Broker
from namesrv_core.fleet.model import BrokerSpec
from namesrv_core.fleet.topics import DLQ_PREFIX, RETRY_PREFIX, Config, topic_config

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
        consumers = _consumers(_topic_names(self.topics, chance), chance)
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


def _consumers(topics: Sequence[str], chance: random.Random) -> dict[str, tuple[str, ...]]:
    return {topic: tuple(sorted(chance.sample(_SERVICES, chance.randrange(4)))) for topic in topics}


def _placed(
    topics: Mapping[str, object], brokers: Sequence[str], chance: random.Random
) -> dict[str, list[Config]]:
    """Where each topic lives: on every broker of its cluster, one in six on a single one."""
    placed: dict[str, list[Config]] = {name: [] for name in brokers}
    for number, topic in zip(count(), topics):
        kind = {"message.type": chance.choice(_KINDS)}
        config = topic_config(topic, chance.choice(_QUEUES), 4 if topic == READ_ONLY_TOPIC else 6, kind)
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


class Fleet:
    """The brokers of a plan, on free ports of this machine."""

    def __init__(self, plan: FleetPlan, name_servers: Sequence[str], *, period: float = PERIOD) -> None:
        self.brokers = [Broker(spec, name_servers, period=period) for spec in plan.specs()]

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
