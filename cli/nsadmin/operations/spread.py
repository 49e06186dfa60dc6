"""Spread of topics over the brokers of a cluster, and the changes that make it even. Pure."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nsadmin.client.registrations import Registrant
from nsadmin.client.results import NotFound
from nsadmin.operations.plans.records import Desired, Spec
from nsadmin.operations.plans.settings import complete
from nsadmin.operations.topic_kinds import is_of_users

Fields = Mapping[str, Any]
_QUEUES = ("readQueueNums", "writeQueueNums")


class Spread(NamedTuple):
    """A topic in a cluster: its complete config by broker, and the brokers that do not have it.

    `differing_settings` are the settings that differ between brokers. Static topics follow their own rules.
    """

    topic: str
    held: Mapping[str, Fields]
    missing: tuple[str, ...]
    differing: tuple[str, ...]
    is_static: bool = False

    @property
    def has_other_queues(self) -> bool:
        """Whether the brokers that have the topic have different numbers of queues."""
        return any(name in self.differing for name in _QUEUES)

    @property
    def is_even(self) -> bool:
        """Whether every broker has the topic, with the same number of queues."""
        return not self.missing and not self.has_other_queues

    @property
    def evened(self) -> dict[str, Fields]:
        """The config by broker with equal queues on all brokers. Other settings stay as they are."""
        most = {name: max(config[name] for config in self.held.values()) for name in _QUEUES}
        there = {name: {**config, **most} for name, config in self.held.items()}
        return {**there, **dict.fromkeys(self.missing, _most_common(list(there.values())))}


def spreads(
    brokers: Sequence[Registrant], own: frozenset[str], topics: Collection[str] | None = None
) -> Iterator[Spread]:
    """The spread of the given topics, or of every user topic, on the masters of one cluster, sorted by name.

    `own_topics` are the topics of RocketMQ and its brokers.

    Raises:
        NotFound: no broker has one of the given topics.
    """
    names = [broker.broker_name for broker in brokers]
    tables = {broker.broker_name: broker.topics for broker in brokers}
    static = {topic for broker in brokers for topic in broker.mappings}
    known = {topic for table in tables.values() for topic in table}
    wanted = sorted(topic for topic in known if is_of_users(topic, own)) if topics is None else sorted(topics)
    for topic in wanted:
        if topic not in known:
            raise NotFound(f"no broker has a topic {topic!r}")
        held = {name: complete("topic", table[topic]) for name, table in tables.items() if topic in table}
        missing = tuple(name for name in names if name not in held)
        yield Spread(topic, held, missing, _differing(list(held.values())), topic in static)


def plan(cluster: str, found: Sequence[Spread], brokers: Sequence[str]) -> Desired:
    """The desired cluster: each uneven topic on every broker, with its largest number of queues."""
    topics = {
        item.topic: Spec.of("topic", item.evened, brokers)
        for item in found
        if not item.is_even and not item.is_static
    }
    return Desired(cluster, topics)


def _differing(configs: Sequence[Fields]) -> tuple[str, ...]:
    first, *others = configs
    return tuple(key for key in first if any(other[key] != first[key] for other in others))


def _most_common(configs: Sequence[Fields]) -> Fields:
    counts = Counter(map(repr, configs))
    return max(configs, key=lambda config: counts[repr(config)])
