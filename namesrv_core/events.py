"""What can happen to a name server: frozen records, returned by whatever changes its tables.

Journal, metrics and log are fed the same records, so they cannot disagree. Times are not in here: whoever
is fed adds when, on which server and on whose request. A field's name has the same type in every event.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from namesrv_core.parts import UNTOLD as UNTOLD
from namesrv_core.parts import AlikeTopics as AlikeTopics
from namesrv_core.parts import BrokerInfo as BrokerInfo
from namesrv_core.parts import ClusterNames as ClusterNames
from namesrv_core.parts import DataVersion as DataVersion
from namesrv_core.parts import Group as Group
from namesrv_core.parts import Living as Living
from namesrv_core.parts import MappingChange as MappingChange
from namesrv_core.parts import MappingInfo as MappingInfo
from namesrv_core.parts import Member as Member
from namesrv_core.parts import QueueData as QueueData
from namesrv_core.parts import SettingChange as SettingChange
from namesrv_core.parts import TopicChange as TopicChange
from namesrv_core.parts import TopicChanges as TopicChanges
from namesrv_core.parts import TopicLag as TopicLag
from namesrv_core.parts import TopicMappings as TopicMappings
from namesrv_core.parts import alike as alike
from namesrv_core.parts import count_topics as count_topics
from namesrv_core.parts import first_topics as first_topics
from namesrv_core.parts import merged as merged

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""


@dataclass(frozen=True, slots=True)
class BrokerRegistered(Event):
    """A broker took its place in its group: new, back again, or from another address (`replaced`)."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    topics: int
    replaced: str | None = None
    enable_acting_master: bool = False
    zone_name: str | None = None
    info: BrokerInfo | None = UNTOLD


@dataclass(frozen=True, slots=True)
class BrokerChanged(Event):
    """A known broker registered with another data version, or with something else that was not known."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    topics: int
    enable_acting_master: bool = False
    zone_name: str | None = None
    info: BrokerInfo | None = UNTOLD


@dataclass(frozen=True, slots=True)
class RegistrationRefused(Event):
    """A broker asked for a place that it did not get; what it said about its group counts all the same."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    reason: str
    enable_acting_master: bool = False
    zone_name: str | None = None


@dataclass(frozen=True, slots=True)
class AddressConflict(Event):
    """A broker asked for a place that another address holds, or came with the address of another name.

    Who has the place now, the next event tells.
    """

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    holder_name: str
    holder_addr: str
    silent_millis: int | None


@dataclass(frozen=True, slots=True)
class HeartbeatGap(Event):
    """A broker was silent for three quarters of the time that it may be; that goes on, or is over."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    silent_millis: int
    resumed: bool


@dataclass(frozen=True, slots=True)
class BrokerUnregistered(Event):
    """A broker left: "unregistered" by a request, its "channel closed", or it "expired"."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    reason: str
    channel: int | None


@dataclass(frozen=True, slots=True)
class AddressForgotten(Event):
    """An address that held no place (any more) went: "unregistered", "channel closed" or "expired"."""

    cluster_name: str
    broker_addr: str
    reason: str


@dataclass(frozen=True, slots=True)
class TopicsChanged(Event):
    """Queues came, changed or went by a "registration", an "unregistration" or a "topic registration"."""

    broker_name: str
    reason: str
    changes: tuple[TopicChanges, ...]


@dataclass(frozen=True, slots=True)
class TopicDeleted(Event):
    """A topic was deleted by request, in one cluster, or without `cluster_name` in all."""

    topic: str
    cluster_name: str | None
    changes: tuple[TopicChanges, ...]


@dataclass(frozen=True, slots=True)
class MappingsChanged(Event):
    """The queues of static topics on a broker came, changed or went."""

    broker_name: str
    mapping_changes: tuple[MappingChange, ...]


@dataclass(frozen=True, slots=True)
class WritePermWiped(Event):
    """A broker's topics lost WRITE by request; `topics` counts those it has, changed or not."""

    broker_name: str
    topics: int
    changes: tuple[TopicChanges, ...]


@dataclass(frozen=True, slots=True)
class WritePermAdded(Event):
    """A broker's topics were made readable and writable by request."""

    broker_name: str
    topics: int
    changes: tuple[TopicChanges, ...]


@dataclass(frozen=True, slots=True)
class MinBrokerIdChanged(Event):
    """A group's smallest broker id is another one now; `recipients` are the addresses to be told."""

    broker_name: str
    min_broker_id: int
    min_broker_addr: str
    offline_broker_addr: str | None
    ha_broker_addr: str | None
    recipients: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KvPut(Event):
    """A value was written into the KV config; no `before`: there was nothing, or a null."""

    namespace: str
    key: str
    before: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class KvDeleted(Event):
    """A value was deleted from the KV config."""

    namespace: str
    key: str
    before: str | None


@dataclass(frozen=True, slots=True)
class SettingsChanged(Event):
    """Settings were changed by request."""

    setting_changes: tuple[SettingChange, ...]


@dataclass(frozen=True, slots=True)
class ServerStarted(Event):
    """A name server began, with empty tables and the KV config that it had kept."""

    version: str
    pid: int


@dataclass(frozen=True, slots=True)
class ServerReady(Event):
    """It listens at `address`, and answers questions about routes."""

    address: str


@dataclass(frozen=True, slots=True)
class ServerStopping(Event):
    """It ends in order; a journal that ends otherwise is that of a server that was killed."""

    reason: str


@dataclass(frozen=True, slots=True)
class ServerPaused(Event):
    """It could do nothing for `pause_millis`: stopped by a signal, starved, or asleep with its machine."""

    pause_millis: int


@dataclass(frozen=True, slots=True)
class Heartbeats(Event):
    """Proof of life: that many brokers are in the tables, and none was silent for longer than this one."""

    brokers: int
    longest_silence_millis: int | None
    broker_addr: str | None


@dataclass(frozen=True, slots=True)
class Snapshot(Event):
    """All tables, taken because of a `reason`: "start", "roll", "interval", "request", "loss" or "poll"."""

    reason: str
    clusters: tuple[ClusterNames, ...]
    groups: tuple[Group, ...]
    live: tuple[Living, ...]
    queues: tuple[QueueData, ...]
    routes: tuple[AlikeTopics, ...]
    mappings: tuple[TopicMappings, ...]
    kv: Mapping[str, Mapping[str, str | None]]
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SnapshotMark(Event):
    """A snapshot would say what the latest one said: no event since has changed a table."""

    reason: str
    brokers: int


@dataclass(frozen=True, slots=True)
class EventsLost(Event):
    """That many events are missing here: the journal could not keep up. A snapshot follows."""

    lost: int


@dataclass(frozen=True, slots=True)
class JournalRepaired(Event):
    """A file that a killed server left ended in the middle of a record, which was cut off."""

    file: str
    cut_bytes: int


@dataclass(frozen=True, slots=True)
class JournalResumed(Event):
    """The journal could not be written for a while, and is written again."""

    error: str
    failing_millis: int


@dataclass(frozen=True, slots=True)
class CollectorStarted(Event):
    """A collector began to poll the name server; until a poll succeeds nobody knows its tables."""

    version: str
    pid: int
    interval_millis: int


@dataclass(frozen=True, slots=True)
class CollectorStopping(Event):
    """A collector ends in order; nobody looks at the name server from here on."""

    reason: str


@dataclass(frozen=True, slots=True)
class PollFailed(Event):
    """A poll did not get all answers, nor did those before it in a row: nobody knows the tables then."""

    error: str
    failed_polls: int


@dataclass(frozen=True, slots=True)
class PollRecovered(Event):
    """A poll got all answers, the first one after failures or a start: the tables are known again."""

    failed_polls: int
    failing_millis: int


@dataclass(frozen=True, slots=True)
class Polled(Event):
    """Proof of looking: that many polls since the last such record got all answers, and what there is."""

    polls: int
    brokers: int
    topics: int
    longest_poll_millis: int


@dataclass(frozen=True, slots=True)
class BrokerRuntime(Event):
    """What a broker told a collector of itself; what its release does not tell is left out."""

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


@dataclass(frozen=True, slots=True)
class ConsumerLag(Event):
    """How far a consumer group is behind on a broker; one that is where it was is told once an hour.

    A group that has anything left to consume is told each time.
    """

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    consumer_group: str
    lags: tuple[TopicLag, ...]


@dataclass(frozen=True, slots=True)
class BrokerPollFailed(Event):
    """A broker did not tell its "runtime", its "groups" or a group's "lag": nobody knows them then."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    question: str
    error: str
    consumer_group: str | None = None


@dataclass(frozen=True, slots=True)
class BrokersPolled(Event):
    """Proof of looking: so many brokers and consumer groups were asked about, and how many told nothing."""

    brokers: int
    silent_brokers: int
    consumer_groups: int
    poll_millis: int
