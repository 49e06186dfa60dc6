"""Deriving: which events lead from the tables that were known to those that a poll saw. Pure.

Between two polls only the net change is known, and nothing of who did it: what cannot be known is left out.
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
    alike,
)
from namesrv_core.history.replay import Replay
from namesrv_core.state import snapshot
from nsadmin.client.tables import Queues
from nsadmin.operations.collector.polling import Seen

K = TypeVar("K")
V = TypeVar("V")

REASON = "poll"
"""Of whatever has to have a reason: that it is so is all that a poll can tell."""


def derive(known: Replay, seen: Seen) -> list[Event]:
    """The events, in order; `known` has what was seen afterwards.

    What no events lead to (name servers that contradict themselves) is told as a snapshot.
    """
    found: list[Event] = []
    for event in chain(
        _brokers(known, seen),
        _topics(known, seen),
        _mappings(known, seen),
        _kv(known, seen),
        _settings(known, seen),
    ):
        known.apply(event)
        found.append(event)
    if not _agree(known, seen):
        groups = tuple(seen.listed.groups.values())
        clusters = tuple(ClusterNames(name, tuple(names)) for name, names in seen.listed.clusters.items())
        told = taken(known, REASON, clusters, groups)
        known.apply(told)
        found.append(told)
    return found


def taken(
    known: Replay,
    reason: str,
    clusters: tuple[ClusterNames, ...] | None = None,
    groups: tuple[Group, ...] | None = None,
) -> Snapshot:
    """A snapshot of what is known, perhaps with other clusters and groups."""
    same: dict[QueueData, QueueData] = {}
    copied = snapshot.Copy(
        tuple(ClusterNames(name, tuple(names)) for name, names in known.clusters.items())
        if clusters is None
        else clusters,
        tuple(group_of(known, name) for name in known.groups) if groups is None else groups,
        (),
        {
            topic: {name: same.setdefault(queue, queue) for name, queue in brokers.items()}
            for topic, brokers in known.topics.items()
        },
        tuple(TopicMappings(topic, tuple(found.items())) for topic, found in known.mappings.items()),
        known.kv,
        known.settings,
    )
    return snapshot.snapshot(copied, reason)


def group_of(known: Replay, name: str) -> Group:
    """A group as a poll would see it."""
    group = known.groups[name]
    members = tuple(Member(*pair) for pair in sorted(group.addrs.items()))
    return Group(group.cluster, name, group.enable_acting_master, group.zone_name, members)


def _listing(clusters: Mapping[str, Collection[str]], name: str) -> set[str]:
    return {cluster for cluster, names in clusters.items() if name in names}


def _agree(known: Replay, seen: Seen) -> bool:
    return {name: group_of(known, name) for name in known.groups} == dict(seen.listed.groups) and {
        cluster: set(names) for cluster, names in known.clusters.items()
    } == {cluster: set(names) for cluster, names in seen.listed.clusters.items()}


# Brokers


def _brokers(known: Replay, seen: Seen) -> Iterator[Event]:
    groups, clusters = seen.listed.groups, seen.listed.clusters
    differing = [
        name
        for name in {**known.groups, **groups}
        if name not in known.groups
        or group_of(known, name) != groups.get(name)
        or _listing(known.clusters, name) != _listing(clusters, name)
    ]
    counts = _topic_counts(known, seen) if differing else {}
    for name in differing:
        group = groups.get(name)
        if group is None or _has_moved(known, name, group, _listing(clusters, name)):
            yield from _departures(known, name)
        if group is not None:
            yield from _arrivals(known, group, _listing(clusters, name), counts.get(name, 0))


def _has_moved(known: Replay, name: str, group: Group, listing: set[str]) -> bool:
    """Whether it left a cluster, which no other event tells than that all its brokers went."""
    if name not in known.groups:
        return False
    return known.groups[name].cluster != group.cluster_name or bool(_listing(known.clusters, name) - listing)


def _departures(known: Replay, name: str) -> Iterator[Event]:
    group = known.groups[name]
    for broker_id, addr in sorted(group.addrs.items()):
        yield BrokerUnregistered(group.cluster, name, broker_id, addr, REASON, None)


def _arrivals(known: Replay, group: Group, listing: set[str], topics: int) -> Iterator[Event]:
    """Members that came, came from another address, or went; then what else is new of the group."""
    name, acting, zone = group.broker_name, group.enable_acting_master, group.zone_name
    for member in group.members:
        before = known.groups[name].addrs.get(member.broker_id) if name in known.groups else None
        if before != member.broker_addr:
            yield BrokerRegistered(group.cluster_name, name, *member, topics, before, acting, zone, info=None)
    for gone in sorted(known.groups[name].addrs.keys() - {member.broker_id for member in group.members}):
        addr = known.groups[name].addrs[gone]
        yield BrokerUnregistered(group.cluster_name, name, gone, addr, REASON, None)
    first = group.members[0]
    if (known.groups[name].enable_acting_master, known.groups[name].zone_name) != (acting, zone):
        yield BrokerChanged(group.cluster_name, name, *first, topics, acting, zone, info=None)
    for cluster in sorted(listing - _listing(known.clusters, name)):
        yield BrokerChanged(cluster, name, *first, topics, acting, zone, info=None)


def _topic_counts(known: Replay, seen: Seen) -> dict[str, int]:
    """How many topics each broker has now."""
    counts: dict[str, int] = {}
    for topic in seen.listed.topics:
        found = seen.changed.get(topic)
        for name in known.topics.get(topic, ()) if found is None else found.queues:
            counts[name] = counts.get(name, 0) + 1
    return counts


# Topics


def _topics(known: Replay, seen: Seen) -> Iterator[Event]:
    changes: dict[str, list[TopicChange]] = {}
    for topic, after in _after(known.topics, seen, lambda found: found.queues):
        before = known.topics.get(topic, {})
        for name in {**before, **after}:
            if before.get(name) != after.get(name):
                changes.setdefault(name, []).append(TopicChange(topic, before.get(name), after.get(name)))
    for name, found in changes.items():
        yield TopicsChanged(name, REASON, alike(found))


def _mappings(known: Replay, seen: Seen) -> Iterator[Event]:
    changes: dict[str, list[MappingChange]] = {}
    for topic, after in _after(known.mappings, seen, lambda found: found.mappings):
        before = known.mappings.get(topic, {})
        for name in {**before, **after}:
            if before.get(name) != after.get(name):
                change = MappingChange(topic, name, before.get(name), after.get(name))
                changes.setdefault(name or "", []).append(change)
    for broker_name, found in changes.items():
        yield MappingsChanged(broker_name, tuple(found))


def _after(
    known: Iterable[str], seen: Seen, part: Callable[[Queues], Mapping[K, V]]
) -> Iterator[tuple[str, Mapping[K, V]]]:
    """Topics that may differ, with what they have now; those that are listed no more have nothing."""
    listed = set(seen.listed.topics)
    for topic in [topic for topic in known if topic not in listed]:
        yield topic, {}
    for topic, found in seen.changed.items():
        yield topic, part(found)


# KV config and settings


def _kv(known: Replay, seen: Seen) -> Iterator[Event]:
    for namespace in {**known.kv, **seen.listed.kv}:
        before, after = dict(known.kv.get(namespace, {})), seen.listed.kv.get(namespace, {})
        for key in before.keys() - after.keys():
            yield KvDeleted(namespace, key, before[key])
        for key, value in after.items():
            if key not in before or before[key] != value:
                yield KvPut(namespace, key, before.get(key), value)


def _settings(known: Replay, seen: Seen) -> Iterator[Event]:
    before, after = known.settings, seen.listed.settings
    changes = tuple(
        SettingChange(key, before.get(key), after.get(key))
        for key in {**before, **after}
        if before.get(key) != after.get(key)
    )
    if changes:
        yield SettingsChanged(changes)
