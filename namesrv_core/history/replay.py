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
from namesrv_core.history.records import Record, event_of


class GroupTable:
    """The brokers of one name, by id."""

    __slots__ = ("addrs", "cluster", "enable_acting_master", "zone_name")

    def __init__(self, cluster: str) -> None:
        self.cluster = cluster
        self.addrs: dict[int, str] = {}
        self.enable_acting_master = False
        self.zone_name: str | None = None

    def contents(self) -> tuple[object, ...]:
        return self.cluster, self.addrs, self.enable_acting_master, self.zone_name


class Replay:
    """Rebuilds tables from records. Pass the records in their order.

    `is_certain` says whether the tables are correct for the moment of the last record. They are uncertain
    before the first snapshot, and between lost events (or a gap in the sequence) and the next snapshot. They
    are also uncertain while a collector cannot poll the name server.
    """

    def __init__(self) -> None:
        self.is_whole = False
        self.is_seen = True
        self.seq: int | None = None
        self.time: int | None = None
        self.clusters: dict[str, dict[str, None]] = {}
        self.groups: dict[str, GroupTable] = {}
        self.live: dict[tuple[str, str], BrokerInfo] = {}
        self.topics: dict[str, dict[str, QueueData]] = {}
        self.mappings: dict[str, dict[str | None, MappingInfo]] = {}
        self.kv: dict[str, dict[str, str | None]] = {}
        self.settings: dict[str, str] = {}

    @property
    def is_certain(self) -> bool:
        return self.is_whole and self.is_seen

    def feed(self, record: Record) -> None:
        """Apply the next record. An unknown type changes no table. Raises InvalidRecordError."""
        if self.seq is not None and record.seq != self.seq + 1:
            self.is_whole = False
        self.seq, self.time = record.seq, record.time
        if record.type in _NAMES:
            event = event_of(record)
            assert event is not None
            self.apply(event)

    def apply(self, event: Event) -> None:
        """Apply an event to the tables."""
        step = _STEPS.get(type(event))
        if step is not None:
            step(self, event)

    def contents(self) -> Mapping[str, Any]:
        """All tables, for a comparison."""
        return {
            "clusters": {name: set(names) for name, names in self.clusters.items()},
            "groups": {name: group.contents() for name, group in self.groups.items()},
            "live": self.live,
            "topics": self.topics,
            "mappings": self.mappings,
            "kv": self.kv,
            "settings": self.settings,
        }

    def _restart(self, event: Snapshot) -> None:
        self.is_whole = self.is_seen = True
        self.clusters = {item.cluster_name: dict.fromkeys(item.broker_names) for item in event.clusters}
        self.groups = {}
        for item in event.groups:
            group = self.groups[item.broker_name] = GroupTable(item.cluster_name)
            group.addrs = {member.broker_id: member.broker_addr for member in item.members}
            group.enable_acting_master, group.zone_name = item.enable_acting_master, item.zone_name
        self.live = {(item.cluster_name, item.broker_addr): item.info for item in event.live}
        self.topics = {
            topic: {event.queues[place].broker_name: event.queues[place] for place in alike.places}
            for alike in event.routes
            for topic in alike.topics
        }
        self.mappings = {item.topic: dict(item.mappings) for item in event.mappings}
        self.kv = {namespace: dict(table) for namespace, table in event.kv.items()}
        self.settings = dict(event.settings)

    def _lose(self, event: EventsLost) -> None:
        self.is_whole = False

    def _look_away(self, event: CollectorStarted | CollectorStopping | PollFailed) -> None:
        self.is_seen = False

    def _look_again(self, event: PollRecovered) -> None:
        self.is_seen = True

    def _register(self, event: BrokerRegistered | BrokerChanged) -> None:
        group = self._join(event)
        group.addrs[event.broker_id] = event.broker_addr
        if event.info is not None:
            self.live[event.cluster_name, event.broker_addr] = event.info

    def _refuse(self, event: RegistrationRefused) -> None:
        self._join(event)
        self.live.pop((event.cluster_name, event.broker_addr), None)

    def _join(self, event: BrokerRegistered | BrokerChanged | RegistrationRefused) -> GroupTable:
        """Update the group with a broker's registration. An address has only one place in a group."""
        self.clusters.setdefault(event.cluster_name, {})[event.broker_name] = None
        group = self.groups.setdefault(event.broker_name, GroupTable(event.cluster_name))
        group.enable_acting_master, group.zone_name = event.enable_acting_master, event.zone_name
        for other in [number for number, addr in group.addrs.items() if addr == event.broker_addr]:
            if other != event.broker_id:
                del group.addrs[other]
        return group

    def _unregister(self, event: BrokerUnregistered) -> None:
        self.live.pop((event.cluster_name, event.broker_addr), None)
        group = self.groups.get(event.broker_name)
        if group is None:
            return
        group.addrs.pop(event.broker_id, None)
        if not group.addrs:
            del self.groups[event.broker_name]
            for cluster, names in list(self.clusters.items()):
                names.pop(event.broker_name, None)
                if not names:
                    del self.clusters[cluster]

    def _forget(self, event: AddressForgotten) -> None:
        self.live.pop((event.cluster_name, event.broker_addr), None)

    def _change_topics(self, event: TopicsChanged | TopicDeleted | WritePermWiped | WritePermAdded) -> None:
        for group in event.changes:
            for topic in group.topics:
                self._change_topic(topic, group.before, group.after)

    def _change_topic(self, topic: str, before: QueueData | None, after: QueueData | None) -> None:
        if after is not None:
            self.topics.setdefault(topic, {})[after.broker_name] = after
        elif before is not None:
            brokers = self.topics.get(topic, {})
            brokers.pop(before.broker_name, None)
            if not brokers:
                self.topics.pop(topic, None)

    def _change_mappings(self, event: MappingsChanged) -> None:
        for change in event.mapping_changes:
            if change.after is not None:
                self.mappings.setdefault(change.topic, {})[change.bname] = change.after
                continue
            mappings = self.mappings.get(change.topic, {})
            mappings.pop(change.bname, None)
            if not mappings:
                self.mappings.pop(change.topic, None)

    def _put(self, event: KvPut) -> None:
        self.kv.setdefault(event.namespace, {})[event.key] = event.value

    def _delete(self, event: KvDeleted) -> None:
        self.kv.get(event.namespace, {}).pop(event.key, None)

    def _set(self, event: SettingsChanged) -> None:
        for change in event.setting_changes:
            if change.after is None:
                self.settings.pop(change.key, None)
            else:
                self.settings[change.key] = change.after


_STEPS: dict[type[Event], Callable[[Replay, Any], None]] = {
    Snapshot: Replay._restart,
    EventsLost: Replay._lose,
    BrokerRegistered: Replay._register,
    BrokerChanged: Replay._register,
    RegistrationRefused: Replay._refuse,
    BrokerUnregistered: Replay._unregister,
    AddressForgotten: Replay._forget,
    TopicsChanged: Replay._change_topics,
    TopicDeleted: Replay._change_topics,
    WritePermWiped: Replay._change_topics,
    WritePermAdded: Replay._change_topics,
    MappingsChanged: Replay._change_mappings,
    KvPut: Replay._put,
    KvDeleted: Replay._delete,
    SettingsChanged: Replay._set,
    CollectorStarted: Replay._look_away,
    CollectorStopping: Replay._look_away,
    PollFailed: Replay._look_away,
    PollRecovered: Replay._look_again,
}
_NAMES = {kind.__name__ for kind in _STEPS}
