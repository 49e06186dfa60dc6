"""The events of a name server: every function that changes its tables returns them as frozen records.

The journal, the metrics and the log receive the same events, so they cannot disagree. An event has no time:
the journal adds the time, the server and the request. A field name has the same type in every event.

docs/reference/journal.md and journal.schema.json publish the docstrings of events and of their parts.
"""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import NamedTuple, NoReturn, dataclass_transform

SCHEMA_VERSION = 1


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


class BrokerRegistered(Event):
    """A broker joined its group: for the first time, again, or from a new address in place of `replaced`."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    topics: int
    replaced: str | None = None
    enable_acting_master: bool = False
    zone_name: str | None = None
    info: BrokerInfo | None = DEFAULT_BROKER_INFO


class BrokerChanged(Event):
    """A registered broker registered with a new data version or with other changed data."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    topics: int
    enable_acting_master: bool = False
    zone_name: str | None = None
    info: BrokerInfo | None = DEFAULT_BROKER_INFO


class RegistrationRefused(Event):
    """The name server refused a registration. It still applied the broker's report about its group."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    reason: str
    enable_acting_master: bool = False
    zone_name: str | None = None


class AddressConflict(Event):
    """A broker registered with a name and id of another address, or from the address of another broker name.

    The next event shows which of the two is registered now.
    """

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    holder_name: str
    holder_addr: str
    silent_millis: int | None


class HeartbeatGap(Event):
    """A broker sent no heartbeat for three quarters of its timeout. `resumed` says whether it is back."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    silent_millis: int
    resumed: bool


class BrokerUnregistered(Event):
    """A broker was removed: "unregistered" by a request, its "channel closed", or it "expired"."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    reason: str
    channel: int | None


class AddressForgotten(Event):
    """An address without a broker id was removed: "unregistered", "channel closed" or "expired"."""

    cluster_name: str
    broker_addr: str
    reason: str


class TopicsChanged(Event):
    """A "registration", "unregistration" or "topic registration" added, changed or removed queues."""

    broker_name: str
    reason: str
    changes: tuple[TopicChanges, ...]


class TopicDeleted(Event):
    """A request deleted a topic in one cluster, or in all clusters if `cluster_name` is absent."""

    topic: str
    cluster_name: str | None
    changes: tuple[TopicChanges, ...]


class MappingsChanged(Event):
    """Queue mappings of static topics on a broker were added, changed or removed."""

    broker_name: str
    mapping_changes: tuple[MappingChange, ...]


class WritePermWiped(Event):
    """A request removed WRITE from a broker's topics. `topics` counts all its topics, changed or not."""

    broker_name: str
    topics: int
    changes: tuple[TopicChanges, ...]


class WritePermAdded(Event):
    """A request made a broker's topics readable and writable. `topics` counts all its topics."""

    broker_name: str
    topics: int
    changes: tuple[TopicChanges, ...]


class MinBrokerIdChanged(Event):
    """The smallest broker id of a group changed. The name server notifies the `recipients`."""

    broker_name: str
    min_broker_id: int
    min_broker_addr: str
    offline_broker_addr: str | None
    ha_broker_addr: str | None
    recipients: tuple[str, ...]


class KvPut(Event):
    """A value was written to the KV config. `before` is absent if there was no value, or a null."""

    namespace: str
    key: str
    before: str | None
    value: str | None


class KvDeleted(Event):
    """A key was deleted from the KV config."""

    namespace: str
    key: str
    before: str | None


class SettingsChanged(Event):
    """A request changed settings."""

    setting_changes: tuple[SettingChange, ...]


class ServerStarted(Event):
    """A name server started, with empty tables and the saved KV config."""

    version: str
    pid: int


class ServerReady(Event):
    """The name server listens at `address` and answers route requests."""

    address: str


class ServerStopping(Event):
    """The name server shuts down in order. A journal without this last record belongs to a killed server."""

    reason: str


class ServerPaused(Event):
    """The process did not run for `pause_millis`: stopped by a signal, starved of CPU, or suspended."""

    pause_millis: int


class Heartbeats(Event):
    """Written every minute: the number of live brokers, and the broker with the longest silence."""

    brokers: int
    longest_silence_millis: int | None
    broker_addr: str | None


class Snapshot(Event):
    """All tables. `reason` is "start", "roll", "interval", "request", "loss" or "poll"."""

    reason: str
    clusters: tuple[ClusterNames, ...]
    groups: tuple[Group, ...]
    live: tuple[Living, ...]
    queues: tuple[QueueData, ...]
    routes: tuple[AlikeTopics, ...]
    mappings: tuple[TopicMappings, ...]
    kv: Mapping[str, Mapping[str, str | None]]
    settings: Mapping[str, str]


class SnapshotMark(Event):
    """Replaces a snapshot that would repeat the latest one: no event since then changed a table."""

    reason: str
    brokers: int


class EventsLost(Event):
    """Events are missing here because the journal could not keep up. A snapshot follows."""

    lost: int


class JournalRepaired(Event):
    """The server cut off an incomplete last record, which a killed server had left in a file."""

    file: str
    cut_bytes: int


class JournalResumed(Event):
    """The journal is written again after a time of failed writes."""

    error: str
    failing_millis: int


class CollectorStarted(Event):
    """A collector started to poll the name server. The tables are unknown until a poll succeeds."""

    version: str
    pid: int
    interval_millis: int


class CollectorStopping(Event):
    """A collector shuts down in order. The tables are unknown from here on."""

    reason: str


class PollFailed(Event):
    """A poll did not get all answers. The tables are unknown until PollRecovered."""

    error: str
    failed_polls: int


class PollRecovered(Event):
    """A poll got all answers, for the first time after failures or a start. The tables are known again."""

    failed_polls: int
    failing_millis: int


class Polled(Event):
    """Written every minute: the successful polls since the last such record, and the size of the tables."""

    polls: int
    brokers: int
    topics: int
    longest_poll_millis: int


class BrokerRuntime(Event):
    """The runtime figures that a broker reported to a collector. Figures that it lacks are absent."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    broker_version: str | None = None
    boot_time: int | None = None
    broker_active: bool | None = None
    put_tps: float | None = None
    get_tps: float | None = None
    put_total: int | None = None
    get_total: int | None = None
    commit_log_disk_ratio: float | None = None
    commit_log_min_offset: int | None = None
    commit_log_max_offset: int | None = None
    dispatch_behind_bytes: int | None = None
    send_queue_size: int | None = None
    send_queue_wait_millis: int | None = None
    pull_queue_size: int | None = None
    page_cache_lock_millis: int | None = None
    earliest_message_time: int | None = None


class ConsumerLag(Event):
    """The lag of a consumer group on a broker.

    A group with a lag has a record in each round. A group without a lag that has not moved has one per hour.
    """

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    consumer_group: str
    lags: tuple[TopicLag, ...]


class BrokerPollFailed(Event):
    """A broker did not report its "runtime", its "groups" or a group's "lag". These figures are unknown."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    question: str
    error: str
    consumer_group: str | None = None


class BrokersPolled(Event):
    """Written after each round: the brokers and consumer groups polled, and the brokers that failed."""

    brokers: int
    silent_brokers: int
    consumer_groups: int
    poll_millis: int


EVENT_TYPES_BY_NAME: dict[str, type[Event]] = {
    name: kind for name, kind in list(globals().items()) if isinstance(kind, type) and Event in kind.__bases__
}
"""All event classes by name. The name is the `type` of a record."""


def to_camel_case(name: str) -> str:
    """The name of a field in a record: broker_name becomes brokerName."""
    first_word, *words = name.split("_")
    return first_word + "".join(word.capitalize() for word in words)
