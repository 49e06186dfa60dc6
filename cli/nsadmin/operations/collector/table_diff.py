"""Derives the events that lead from the known tables of a name server to those of a poll. Pure.

Polls show only the net change, and not its author. Events omit facts that a poll cannot show.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import TypeVar

from namesrv_core.events import (
    BrokerChanged,
    BrokerRegistered,
    BrokerUnregistered,
    ClusterNames,
    Event,
    Group,
    KvDeleted,
    KvPut,
    MappingChange,
    MappingsChanged,
    Member,
    QueueData,
    SettingChange,
    SettingsChanged,
    Snapshot,
    TopicChange,
    TopicMappings,
    TopicsChanged,
    group_topic_changes,
)
from namesrv_core.history.replay import JournalReplay
from namesrv_core.state import snapshot
from nsadmin.client.name_servers.name_server_tables import TopicQueues
from nsadmin.operations.collector.name_server_poller import PollObservation

K = TypeVar("K")
V = TypeVar("V")

POLL_REASON = "poll"
"""The reason in events that need one: a poll cannot show any other."""


def derive_events(known: JournalReplay, poll: PollObservation) -> list[Event]:
    """Return the events in order, and apply them to `known`.

    If no events lead to the polled tables, because the name server contradicts itself, a snapshot follows.
    """
    derived_events: list[Event] = []
    for derived_event in chain(
        _diff_brokers(known, poll),
        _diff_topics(known, poll),
        _diff_mappings(known, poll),
        _diff_kv(known, poll),
        _diff_settings(known, poll),
    ):
        known.apply_event(derived_event)
        derived_events.append(derived_event)
    if not _is_as_polled(known, poll):
        polled_groups = tuple(poll.server_listing.groups.values())
        polled_clusters = tuple(
            ClusterNames(n, tuple(names)) for n, names in poll.server_listing.clusters.items()
        )
        snapshot_event = build_snapshot(known, POLL_REASON, polled_clusters, polled_groups)
        known.apply_event(snapshot_event)
        derived_events.append(snapshot_event)
    return derived_events


def build_snapshot(
    known: JournalReplay,
    snapshot_reason: str,
    polled_clusters: tuple[ClusterNames, ...] | None = None,
    polled_groups: tuple[Group, ...] | None = None,
) -> Snapshot:
    """Return a snapshot of the known tables. Given clusters and groups replace the known ones."""
    shared_queues: dict[QueueData, QueueData] = {}
    tables_copy = snapshot.TablesCopy(
        tuple(ClusterNames(n, tuple(names)) for n, names in known.broker_names_by_cluster.items())
        if polled_clusters is None
        else polled_clusters,
        tuple(build_group(known, entry_name) for entry_name in known.broker_groups)
        if polled_groups is None
        else polled_groups,
        (),
        {
            topic: {n: shared_queues.setdefault(d, d) for n, d in queues_by_broker.items()}
            for topic, queues_by_broker in known.queues_by_topic.items()
        },
        tuple(
            TopicMappings(topic, tuple(topic_mappings.items()))
            for topic, topic_mappings in known.queue_mappings.items()
        ),
        known.kv_tables,
        known.settings,
    )
    return snapshot.build_snapshot(tables_copy, snapshot_reason)


def build_group(known: JournalReplay, broker_name: str) -> Group:
    """Return a known group in the form that a poll returns."""
    known_group = known.broker_groups[broker_name]
    group_members = tuple(Member(*id_and_addr) for id_and_addr in sorted(known_group.broker_addrs.items()))
    return Group(
        known_group.cluster_name,
        broker_name,
        known_group.enable_acting_master,
        known_group.zone_name,
        group_members,
    )


def _clusters_listing(names_by_cluster: Mapping[str, Collection[str]], broker_name: str) -> set[str]:
    return {name for name, names in names_by_cluster.items() if broker_name in names}


def _is_as_polled(known: JournalReplay, poll: PollObservation) -> bool:
    return {broker_name: build_group(known, broker_name) for broker_name in known.broker_groups} == dict(
        poll.server_listing.groups
    ) and {n: set(names) for n, names in known.broker_names_by_cluster.items()} == {
        n: set(names) for n, names in poll.server_listing.clusters.items()
    }


# Brokers


def _diff_brokers(known: JournalReplay, poll: PollObservation) -> Iterator[Event]:
    polled_groups, polled_clusters = (poll.server_listing.groups, poll.server_listing.clusters)
    differing_names = [
        n
        for n in {**known.broker_groups, **polled_groups}
        if n not in known.broker_groups
        or build_group(known, n) != polled_groups.get(n)
        or _clusters_listing(known.broker_names_by_cluster, n) != _clusters_listing(polled_clusters, n)
    ]
    topic_counts = _count_topics(known, poll) if differing_names else {}
    for broker_name in differing_names:
        polled = polled_groups.get(broker_name)
        if polled is None or _has_moved(
            known, broker_name, polled, _clusters_listing(polled_clusters, broker_name)
        ):
            yield from _list_departures(known, broker_name)
        if polled is not None:
            yield from _list_arrivals(
                known,
                polled,
                _clusters_listing(polled_clusters, broker_name),
                topic_counts.get(broker_name, 0),
            )


def _has_moved(known: JournalReplay, broker_name: str, polled: Group, listing_clusters: set[str]) -> bool:
    """Whether the group left a cluster. Only BrokerUnregistered events of all its brokers express that."""
    if broker_name not in known.broker_groups:
        return False
    return known.broker_groups[broker_name].cluster_name != polled.cluster_name or bool(
        _clusters_listing(known.broker_names_by_cluster, broker_name) - listing_clusters
    )


def _list_departures(known: JournalReplay, broker_name: str) -> Iterator[Event]:
    group = known.broker_groups[broker_name]
    for broker_id, broker_addr in sorted(group.broker_addrs.items()):
        yield BrokerUnregistered(group.cluster_name, broker_name, broker_id, broker_addr, POLL_REASON, None)


def _list_arrivals(
    known: JournalReplay, polled: Group, listing_clusters: set[str], topic_count: int
) -> Iterator[Event]:
    """Yield the members that are new, moved or gone; then the other changes of the group."""
    broker_name = polled.broker_name
    acting_master = polled.enable_acting_master
    zone_name = polled.zone_name
    for group_member in polled.members:
        addr_before = (
            known.broker_groups[broker_name].broker_addrs.get(group_member.broker_id)
            if broker_name in known.broker_groups
            else None
        )
        if addr_before != group_member.broker_addr:
            yield BrokerRegistered(
                polled.cluster_name,
                broker_name,
                *group_member,
                topic_count,
                addr_before,
                acting_master,
                zone_name,
                info=None,
            )
    for gone_id in sorted(
        known.broker_groups[broker_name].broker_addrs.keys()
        - {group_member.broker_id for group_member in polled.members}
    ):
        broker_addr = known.broker_groups[broker_name].broker_addrs[gone_id]
        yield BrokerUnregistered(polled.cluster_name, broker_name, gone_id, broker_addr, POLL_REASON, None)
    first_member = polled.members[0]
    if (
        known.broker_groups[broker_name].enable_acting_master,
        known.broker_groups[broker_name].zone_name,
    ) != (acting_master, zone_name):
        yield BrokerChanged(
            polled.cluster_name, broker_name, *first_member, topic_count, acting_master, zone_name, info=None
        )
    for cluster_name in sorted(
        listing_clusters - _clusters_listing(known.broker_names_by_cluster, broker_name)
    ):
        yield BrokerChanged(
            cluster_name, broker_name, *first_member, topic_count, acting_master, zone_name, info=None
        )


def _count_topics(known: JournalReplay, poll: PollObservation) -> dict[str, int]:
    """Count the topics of each broker after the poll."""
    topic_counts: dict[str, int] = {}
    for topic in poll.server_listing.topics:
        changed_queues = poll.changed_queues.get(topic)
        for broker_name in (
            known.queues_by_topic.get(topic, ()) if changed_queues is None else changed_queues.queues
        ):
            topic_counts[broker_name] = topic_counts.get(broker_name, 0) + 1
    return topic_counts


# Topics


def _diff_topics(known: JournalReplay, poll: PollObservation) -> Iterator[Event]:
    changes_by_broker: dict[str, list[TopicChange]] = {}
    for topic, queues_after in _list_changed_topics(
        known.queues_by_topic, poll, lambda changed_entry: changed_entry.queues
    ):
        queues_before = known.queues_by_topic.get(topic, {})
        for broker_name in {**queues_before, **queues_after}:
            if queues_before.get(broker_name) != queues_after.get(broker_name):
                changes_by_broker.setdefault(broker_name, []).append(
                    TopicChange(topic, queues_before.get(broker_name), queues_after.get(broker_name))
                )
    for broker_name, changed_entry in changes_by_broker.items():
        yield TopicsChanged(broker_name, POLL_REASON, group_topic_changes(changed_entry))


def _diff_mappings(known: JournalReplay, poll: PollObservation) -> Iterator[Event]:
    changes_by_broker: dict[str, list[MappingChange]] = {}
    for topic, mappings_after in _list_changed_topics(
        known.queue_mappings, poll, lambda changed_entry: changed_entry.mappings
    ):
        mappings_before = known.queue_mappings.get(topic, {})
        for key in {**mappings_before, **mappings_after}:
            if mappings_before.get(key) != mappings_after.get(key):
                mapping_change = MappingChange(topic, key, mappings_before.get(key), mappings_after.get(key))
                changes_by_broker.setdefault(key or "", []).append(mapping_change)
    for broker_name, changed_entry in changes_by_broker.items():
        yield MappingsChanged(broker_name, tuple(changed_entry))


def _list_changed_topics(
    known_topics: Iterable[str], poll: PollObservation, select_part: Callable[[TopicQueues], Mapping[K, V]]
) -> Iterator[tuple[str, Mapping[K, V]]]:
    """Yield the topics that may differ with their new values. Topics that are gone have none."""
    listed_topics = set(poll.server_listing.topics)
    for topic in [topic for topic in known_topics if topic not in listed_topics]:
        yield topic, {}
    for topic, topic_queues in poll.changed_queues.items():
        yield topic, select_part(topic_queues)


# KV config and settings


def _diff_kv(known: JournalReplay, poll: PollObservation) -> Iterator[Event]:
    for namespace in {**known.kv_tables, **poll.server_listing.kv}:
        values_before = dict(known.kv_tables.get(namespace, {}))
        values_after = poll.server_listing.kv.get(namespace, {})
        for kv_key in values_before.keys() - values_after.keys():
            yield KvDeleted(namespace, kv_key, values_before[kv_key])
        for kv_key, kv_value in values_after.items():
            if kv_key not in values_before or values_before[kv_key] != kv_value:
                yield KvPut(namespace, kv_key, values_before.get(kv_key), kv_value)


def _diff_settings(known: JournalReplay, poll: PollObservation) -> Iterator[Event]:
    settings_before, settings_after = known.settings, poll.server_listing.settings
    setting_changes = tuple(
        SettingChange(setting_key, settings_before.get(setting_key), settings_after.get(setting_key))
        for setting_key in {**settings_before, **settings_after}
        if settings_before.get(setting_key) != settings_after.get(setting_key)
    )
    if setting_changes:
        yield SettingsChanged(setting_changes)
