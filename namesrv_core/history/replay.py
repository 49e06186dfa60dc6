"""The replay of a journal: it rebuilds a name server's tables from a snapshot and the events after it.

It mirrors `state/` event by event, and knows only the contents of records.
"""

from collections.abc import Callable, Mapping
from typing import Any

from namesrv_core.events import (
    AddressForgotten,
    BrokerChanged,
    BrokerInfo,
    BrokerRegistered,
    BrokerUnregistered,
    CollectorStarted,
    CollectorStopping,
    Event,
    EventsLost,
    KvDeleted,
    KvPut,
    MappingInfo,
    MappingsChanged,
    PollFailed,
    PollRecovered,
    QueueData,
    RegistrationRefused,
    SettingsChanged,
    Snapshot,
    TopicDeleted,
    TopicsChanged,
    WritePermAdded,
    WritePermWiped,
)
from namesrv_core.history.records import InvalidRecordError, JournalRecord, event_of_record
from namesrv_core.history.subject_filter import ORDER_TOPIC_CONFIG


class ReplayedGroup:
    """The brokers of one name, by id."""

    __slots__ = ("broker_addrs", "cluster_name", "enable_acting_master", "zone_name")

    def __init__(self, cluster_name: str) -> None:
        self.cluster_name = cluster_name
        self.broker_addrs: dict[int, str] = {}
        self.enable_acting_master = False
        self.zone_name: str | None = None

    def comparable_contents(self) -> tuple[object, ...]:
        return self.cluster_name, self.broker_addrs, self.enable_acting_master, self.zone_name


class JournalReplay:
    """Rebuilds tables from records. Pass the records in their order.

    `is_certain` says whether the tables are correct for the moment of the last record. They are uncertain
    before the first snapshot, and between lost events (or a gap in the sequence) and the next snapshot. They
    are also uncertain while a collector cannot poll the name server.
    """

    def __init__(self) -> None:
        self.is_complete = False
        self.is_observed = True
        self.last_seq: int | None = None
        self.last_time_ms: int | None = None
        self.broker_names_by_cluster: dict[str, dict[str, None]] = {}
        self.broker_groups: dict[str, ReplayedGroup] = {}
        self.live_infos: dict[tuple[str, str], BrokerInfo] = {}
        self.queues_by_topic: dict[str, dict[str, QueueData]] = {}
        self.queue_mappings: dict[str, dict[str | None, MappingInfo]] = {}
        self.kv_tables: dict[str, dict[str, str | None]] = {}
        self.settings: dict[str, str] = {}

    @property
    def is_certain(self) -> bool:
        return self.is_complete and self.is_observed

    def feed_record(self, record: JournalRecord) -> None:
        """Apply the next record. An unknown type changes no table. Raises InvalidRecordError."""
        if self.last_seq is not None and record.seq != self.last_seq + 1:
            self.is_complete = False
        self.last_seq, self.last_time_ms = record.seq, record.time_ms
        if record.event_type in _APPLIED_EVENT_NAMES:
            event = event_of_record(record)
            assert event is not None
            try:
                self.apply_event(event)
            except (LookupError, TypeError) as error:
                # A snapshot may name a place that it does not have.
                self.is_complete = False
                raise InvalidRecordError(f"{record.event_type} {record.seq}: {error}") from None

    def apply_event(self, event: Event) -> None:
        apply_step = _STEPS_BY_EVENT.get(type(event))
        if apply_step is not None:
            apply_step(self, event)

    def table_contents(self) -> Mapping[str, Any]:
        return {
            "clusters": {key: set(names) for key, names in self.broker_names_by_cluster.items()},
            "groups": {key: group.comparable_contents() for key, group in self.broker_groups.items()},
            "live": self.live_infos,
            "topics": self.queues_by_topic,
            "mappings": self.queue_mappings,
            "kv": self.kv_tables,
            "settings": self.settings,
        }

    def _restart_from_snapshot(self, event: Snapshot) -> None:
        self.is_complete = self.is_observed = True
        self.broker_names_by_cluster = {i.cluster_name: dict.fromkeys(i.broker_names) for i in event.clusters}
        self.broker_groups = {}
        for item in event.groups:
            group = self.broker_groups[item.broker_name] = ReplayedGroup(item.cluster_name)
            group.broker_addrs = {member.broker_id: member.broker_addr for member in item.members}
            group.enable_acting_master, group.zone_name = item.enable_acting_master, item.zone_name
        self.live_infos = {(item.cluster_name, item.broker_addr): item.info for item in event.live}
        self.queues_by_topic = {
            topic: {event.queues[place].broker_name: event.queues[place] for place in topics.places}
            for topics in event.routes
            for topic in topics.topics
        }
        self.queue_mappings = {item.topic: dict(item.mappings) for item in event.mappings}
        self.kv_tables = {namespace: dict(table) for namespace, table in event.kv.items()}
        self.settings = dict(event.settings)

    def _mark_incomplete(self, event: EventsLost) -> None:
        self.is_complete = False

    def _mark_unobserved(self, event: CollectorStarted | CollectorStopping | PollFailed) -> None:
        self.is_observed = False

    def _mark_observed(self, event: PollRecovered) -> None:
        self.is_observed = True

    def _register_broker(self, event: BrokerRegistered | BrokerChanged) -> None:
        group = self._join_group(event)
        group.broker_addrs[event.broker_id] = event.broker_addr
        if event.info is not None:
            self.live_infos[event.cluster_name, event.broker_addr] = event.info

    def _refuse_registration(self, event: RegistrationRefused) -> None:
        self._join_group(event)
        self.live_infos.pop((event.cluster_name, event.broker_addr), None)

    def _join_group(self, event: BrokerRegistered | BrokerChanged | RegistrationRefused) -> ReplayedGroup:
        """Update the group with a broker's registration. An address has only one place in a group."""
        self.broker_names_by_cluster.setdefault(event.cluster_name, {})[event.broker_name] = None
        group = self.broker_groups.setdefault(event.broker_name, ReplayedGroup(event.cluster_name))
        group.enable_acting_master, group.zone_name = event.enable_acting_master, event.zone_name
        for other in [b for b, a in group.broker_addrs.items() if a == event.broker_addr]:
            if other != event.broker_id:
                del group.broker_addrs[other]
        return group

    def _unregister_broker(self, event: BrokerUnregistered) -> None:
        self.live_infos.pop((event.cluster_name, event.broker_addr), None)
        group = self.broker_groups.get(event.broker_name)
        if group is None:
            return
        group.broker_addrs.pop(event.broker_id, None)
        if not group.broker_addrs:
            del self.broker_groups[event.broker_name]
            for cluster_name, names in list(self.broker_names_by_cluster.items()):
                names.pop(event.broker_name, None)
                if not names:
                    del self.broker_names_by_cluster[cluster_name]

    def _forget_address(self, event: AddressForgotten) -> None:
        self.live_infos.pop((event.cluster_name, event.broker_addr), None)

    def _change_topics(self, event: TopicsChanged | TopicDeleted | WritePermWiped | WritePermAdded) -> None:
        for group in event.changes:
            for topic in group.topics:
                self._change_topic(topic, group.before, group.after)

    def _change_topic(self, topic: str, before: QueueData | None, after: QueueData | None) -> None:
        if after is not None:
            self.queues_by_topic.setdefault(topic, {})[after.broker_name] = after
        elif before is not None:
            queues = self.queues_by_topic.get(topic, {})
            queues.pop(before.broker_name, None)
            if not queues:
                self.queues_by_topic.pop(topic, None)

    def _change_mappings(self, event: MappingsChanged) -> None:
        for change in event.mapping_changes:
            if change.after is not None:
                self.queue_mappings.setdefault(change.topic, {})[change.bname] = change.after
                continue
            mappings_by_broker = self.queue_mappings.get(change.topic, {})
            mappings_by_broker.pop(change.bname, None)
            if not mappings_by_broker:
                self.queue_mappings.pop(change.topic, None)

    def _put_kv_value(self, event: KvPut) -> None:
        self.kv_tables.setdefault(event.namespace, {})[event.key] = event.value

    def _delete_kv_key(self, event: KvDeleted) -> None:
        table = self.kv_tables.get(event.namespace, {})
        table.pop(event.key, None)
        # As the name server does.
        if not table and event.namespace != ORDER_TOPIC_CONFIG:
            self.kv_tables.pop(event.namespace, None)

    def _change_settings(self, event: SettingsChanged) -> None:
        for change in event.setting_changes:
            if change.after is None:
                self.settings.pop(change.key, None)
            else:
                self.settings[change.key] = change.after


_STEPS_BY_EVENT: dict[type[Event], Callable[[JournalReplay, Any], None]] = {
    Snapshot: JournalReplay._restart_from_snapshot,
    EventsLost: JournalReplay._mark_incomplete,
    BrokerRegistered: JournalReplay._register_broker,
    BrokerChanged: JournalReplay._register_broker,
    RegistrationRefused: JournalReplay._refuse_registration,
    BrokerUnregistered: JournalReplay._unregister_broker,
    AddressForgotten: JournalReplay._forget_address,
    TopicsChanged: JournalReplay._change_topics,
    TopicDeleted: JournalReplay._change_topics,
    WritePermWiped: JournalReplay._change_topics,
    WritePermAdded: JournalReplay._change_topics,
    MappingsChanged: JournalReplay._change_mappings,
    KvPut: JournalReplay._put_kv_value,
    KvDeleted: JournalReplay._delete_kv_key,
    SettingsChanged: JournalReplay._change_settings,
    CollectorStarted: JournalReplay._mark_unobserved,
    CollectorStopping: JournalReplay._mark_unobserved,
    PollFailed: JournalReplay._mark_unobserved,
    PollRecovered: JournalReplay._mark_observed,
}
_APPLIED_EVENT_NAMES = {kind.__name__ for kind in _STEPS_BY_EVENT}
