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

    def has_setting(self, key: str) -> bool:
        """Whether the setting with this key changed."""
        return any(change.key == key for change in self.setting_changes)


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
