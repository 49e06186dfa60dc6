"""The events of a name server: every function that changes its tables returns them as frozen records.

The journal, the metrics and the log receive the same events, so they cannot disagree. An event has no time:
the journal adds the time, the server and the request. A field name has the same type in every event.

docs/reference/journal.md and journal.schema.json publish the docstrings of events and of their parts.
"""

from collections.abc import Mapping

from namesrv_core.event_records import DEFAULT_BROKER_INFO as DEFAULT_BROKER_INFO
from namesrv_core.event_records import AlikeTopics as AlikeTopics
from namesrv_core.event_records import BrokerInfo as BrokerInfo
from namesrv_core.event_records import ClusterNames as ClusterNames
from namesrv_core.event_records import DataVersion as DataVersion
from namesrv_core.event_records import Event as Event
from namesrv_core.event_records import Group as Group
from namesrv_core.event_records import Living as Living
from namesrv_core.event_records import MappingChange as MappingChange
from namesrv_core.event_records import MappingInfo as MappingInfo
from namesrv_core.event_records import Member as Member
from namesrv_core.event_records import QueueData as QueueData
from namesrv_core.event_records import SettingChange as SettingChange
from namesrv_core.event_records import TopicChange as TopicChange
from namesrv_core.event_records import TopicChanges as TopicChanges
from namesrv_core.event_records import TopicLag as TopicLag
from namesrv_core.event_records import TopicMappings as TopicMappings
from namesrv_core.event_records import count_changed_topics as count_changed_topics
from namesrv_core.event_records import group_topic_changes as group_topic_changes
from namesrv_core.event_records import limit_topic_changes as limit_topic_changes
from namesrv_core.event_records import merge_topic_changes as merge_topic_changes

SCHEMA_VERSION = 1


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
    info: BrokerInfo | None = DEFAULT_BROKER_INFO


class BrokerChanged(Event):
    """A known broker registered with another data version, or with something else that was not known."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    topics: int
    enable_acting_master: bool = False
    zone_name: str | None = None
    info: BrokerInfo | None = DEFAULT_BROKER_INFO


class RegistrationRefused(Event):
    """A broker asked for a place that it did not get; what it said about its group counts all the same."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    reason: str
    enable_acting_master: bool = False
    zone_name: str | None = None


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


class HeartbeatGap(Event):
    """A broker was silent for three quarters of the time that it may be; that goes on, or is over."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    silent_millis: int
    resumed: bool


class BrokerUnregistered(Event):
    """A broker left: "unregistered" by a request, its "channel closed", or it "expired"."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    reason: str
    channel: int | None


class AddressForgotten(Event):
    """An address that held no place (any more) went: "unregistered", "channel closed" or "expired"."""

    cluster_name: str
    broker_addr: str
    reason: str


class TopicsChanged(Event):
    """Queues came, changed or went by a "registration", an "unregistration" or a "topic registration"."""

    broker_name: str
    reason: str
    changes: tuple[TopicChanges, ...]


class TopicDeleted(Event):
    """A topic was deleted by request, in one cluster, or without `cluster_name` in all."""

    topic: str
    cluster_name: str | None
    changes: tuple[TopicChanges, ...]


class MappingsChanged(Event):
    """The queues of static topics on a broker came, changed or went."""

    broker_name: str
    mapping_changes: tuple[MappingChange, ...]


class WritePermWiped(Event):
    """A broker's topics lost WRITE by request; `topics` counts those it has, changed or not."""

    broker_name: str
    topics: int
    changes: tuple[TopicChanges, ...]


class WritePermAdded(Event):
    """A broker's topics were made readable and writable by request."""

    broker_name: str
    topics: int
    changes: tuple[TopicChanges, ...]


class MinBrokerIdChanged(Event):
    """A group's smallest broker id is another one now; `recipients` are the addresses to be told."""

    broker_name: str
    min_broker_id: int
    min_broker_addr: str
    offline_broker_addr: str | None
    ha_broker_addr: str | None
    recipients: tuple[str, ...]


class KvPut(Event):
    """A value was written into the KV config; no `before`: there was nothing, or a null."""

    namespace: str
    key: str
    before: str | None
    value: str | None


class KvDeleted(Event):
    """A value was deleted from the KV config."""

    namespace: str
    key: str
    before: str | None


class SettingsChanged(Event):
    """Settings were changed by request."""

    setting_changes: tuple[SettingChange, ...]

    def has_setting(self, setting_key: str) -> bool:
        """Whether the setting with this key changed."""
        return any(setting_change.key == setting_key for setting_change in self.setting_changes)


class ServerStarted(Event):
    """A name server began, with empty tables and the KV config that it had kept."""

    version: str
    pid: int


class ServerReady(Event):
    """It listens at `address`, and answers questions about routes."""

    address: str


class ServerStopping(Event):
    """It ends in order; a journal that ends otherwise is that of a server that was killed."""

    reason: str


class ServerPaused(Event):
    """It could do nothing for `pause_millis`: stopped by a signal, starved, or asleep with its machine."""

    pause_millis: int


class Heartbeats(Event):
    """Proof of life: that many brokers are in the tables, and none was silent for longer than this one."""

    brokers: int
    longest_silence_millis: int | None
    broker_addr: str | None


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


class SnapshotMark(Event):
    """A snapshot would say what the latest one said: no event since has changed a table."""

    reason: str
    brokers: int


class EventsLost(Event):
    """That many events are missing here: the journal could not keep up. A snapshot follows."""

    lost: int


class JournalRepaired(Event):
    """A file that a killed server left ended in the middle of a record, which was cut off."""

    file: str
    cut_bytes: int


class JournalResumed(Event):
    """The journal could not be written for a while, and is written again."""

    error: str
    failing_millis: int


class CollectorStarted(Event):
    """A collector began to poll the name server; until a poll succeeds nobody knows its tables."""

    version: str
    pid: int
    interval_millis: int


class CollectorStopping(Event):
    """A collector ends in order; nobody looks at the name server from here on."""

    reason: str


class PollFailed(Event):
    """A poll did not get all answers, nor did those before it in a row: nobody knows the tables then."""

    error: str
    failed_polls: int


class PollRecovered(Event):
    """A poll got all answers, the first one after failures or a start: the tables are known again."""

    failed_polls: int
    failing_millis: int


class Polled(Event):
    """Proof of looking: that many polls since the last such record got all answers, and what there is."""

    polls: int
    brokers: int
    topics: int
    longest_poll_millis: int


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


class BrokerPollFailed(Event):
    """A broker did not tell its "runtime", its "groups" or a group's "lag": nobody knows them then."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    question: str
    error: str
    consumer_group: str | None = None


class BrokersPolled(Event):
    """Proof of looking: so many brokers and consumer groups were asked about, and how many told nothing."""

    brokers: int
    silent_brokers: int
    consumer_groups: int
    poll_millis: int
