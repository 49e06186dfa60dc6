"""The base of all events and the records inside them. `namesrv_core.events` exports them all.

docs/reference/journal.md and journal.schema.json publish the docstrings of these records.
"""

from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple, NoReturn, dataclass_transform


@dataclass_transform(frozen_default=True)
class Event:
    """Base class of all events: an immutable record of the fields that its class annotates.

    Raises TypeError for missing or unknown fields. Events are not dataclasses: Python compiles seven
    functions for each dataclass at startup. For all events, that took a third of the name server's startup
    time and half a megabyte.
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        kind = type(self)
        names = kind.__annotations__
        values = dict(zip(names, args, strict=False)) | kwargs
        surplus = len(args) + len(kwargs) - len(values)
        if len(values) < len(names):
            values = {name: default for name, default in vars(kind).items() if name in names} | values
        if surplus or values.keys() != names.keys():
            wrong = sorted(values.keys() ^ names.keys()) or ["too many values"]
            raise TypeError(f"{kind.__name__}: missing or unknown fields: {', '.join(wrong)}")
        vars(self).update(values)

    def __setattr__(self, name: str, value: object = None) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed")

    __delattr__ = __setattr__

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), frozenset(vars(self).items())))

    def __repr__(self) -> str:
        texts = (f"{name}={getattr(self, name)!r}" for name in type(self).__annotations__)
        return f"{type(self).__name__}({', '.join(texts)})"


class QueueData(NamedTuple):
    """A topic's queues on one broker group."""

    broker_name: str
    read_queue_nums: int
    write_queue_nums: int
    perm: int
    topic_sys_flag: int = 0


class TopicChange(NamedTuple):
    """A change of one topic's queues on one broker group. `before` is None if added, `after` if removed."""

    topic: str
    before: QueueData | None
    after: QueueData | None


class TopicChanges(NamedTuple):
    """Topics with the same change on one broker group. `before` is absent if added, `after` if removed."""

    topics: tuple[str, ...]
    before: QueueData | None
    after: QueueData | None


def group_topic_changes(changes: Iterable[TopicChange | None]) -> tuple[TopicChanges, ...]:
    """Group the topics with the same change, and skip every None."""
    return merge_topic_changes(TopicChanges((c.topic,), *c[1:]) for c in changes if c is not None)


def merge_topic_changes(changes: Iterable[TopicChanges]) -> tuple[TopicChanges, ...]:
    """Merge the groups of topics with the same change."""
    topics_by_change: dict[tuple[QueueData | None, QueueData | None], list[tuple[str, ...]]] = {}
    for group in changes:
        topics_by_change.setdefault(group[1:], []).append(group.topics)
    return tuple(TopicChanges(tuple(chain(*t)), *b) for b, t in topics_by_change.items())


def count_changed_topics(changes: Iterable[TopicChanges]) -> int:
    """The number of topics that changed."""
    return sum(len(group.topics) for group in changes)


def limit_topic_changes(changes: Iterable[TopicChanges], topic_limit: int) -> tuple[TopicChanges, ...]:
    """The first `topic_limit` topics of these changes."""
    kept = []
    for group in changes:
        if topic_limit > 0:
            kept.append(group._replace(topics=group.topics[:topic_limit]))
            topic_limit -= len(group.topics)
    return tuple(kept)


class DataVersion(NamedTuple):
    """The version of a broker's topics. Two versions are equal only if all three parts are."""

    counter: int | None = 0
    state_version: int = 0
    timestamp: int = 0

    def to_json(self) -> dict[str, object]:
        return {"counter": self.counter, "stateVersion": self.state_version, "timestamp": self.timestamp}


class MappingInfo(NamedTuple):
    """The queues of a static topic on one broker (`TopicQueueMappingInfo`)."""

    topic: str | None = None
    scope: str | None = "__global__"
    total_queues: int = 0
    bname: str | None = None
    epoch: int = 0
    dirty: bool = False
    curr_id_map: tuple[tuple[int, int], ...] = ()


class MappingChange(NamedTuple):
    """A changed queue mapping of a static topic. `before` is absent if added, `after` if removed."""

    topic: str
    bname: str | None
    before: MappingInfo | None
    after: MappingInfo | None


class SettingChange(NamedTuple):
    """A changed setting, as in the configuration file. `before` is absent if added, `after` if removed."""

    key: str
    before: str | None
    after: str | None


class BrokerInfo(NamedTuple):
    """The data of a live broker address (`BrokerLiveInfo`)."""

    ha_server_addr: str | None = None
    heartbeat_timeout_millis: int = 120_000
    data_version: DataVersion | None = None
    filter_servers: tuple[str | None, ...] = ()


DEFAULT_BROKER_INFO = BrokerInfo()
"""The record of a broker that reports nothing about itself."""


class ClusterNames(NamedTuple):
    """The broker names of a cluster."""

    cluster_name: str
    broker_names: tuple[str, ...]


class Member(NamedTuple):
    broker_id: int
    broker_addr: str


class Group(NamedTuple):
    """The brokers with the same name (`BrokerData`)."""

    cluster_name: str
    broker_name: str
    enable_acting_master: bool
    zone_name: str | None
    members: tuple[Member, ...]


class Living(NamedTuple):
    """A live broker address in a cluster, and the time since its last heartbeat."""

    cluster_name: str
    broker_addr: str
    silent_millis: int
    info: BrokerInfo


class AlikeTopics(NamedTuple):
    """Topics with the same queues on the same brokers. `places` are indexes into the snapshot's `queues`."""

    topics: tuple[str, ...]
    places: tuple[int, ...]


class TopicMappings(NamedTuple):
    """The queue mappings of a static topic, by broker name."""

    topic: str
    mappings: tuple[tuple[str | None, MappingInfo], ...]


class TopicLag(NamedTuple):
    """The lag of a consumer group on one topic of one broker. Offsets are sums over its queues.

    `consumer_offset`, `lag` and `inflight` do not include the `uncommitted_queues`, where the group has never
    committed an offset. They are absent if all queues are uncommitted. `lag` is also absent for a group that
    broadcasts, and lacks queues whose consumer offset is beyond their end. `inflight` counts messages that
    were delivered and not acknowledged (5.1 and later). `consumed_time` is the store time of the last
    consumed message, in the queue with a lag that is furthest behind in time.
    """

    topic: str
    queue_count: int
    uncommitted_queues: int
    broker_offset: int
    consumer_offset: int | None = None
    lag: int | None = None
    inflight: int | None = None
    consumed_time: int | None = None
