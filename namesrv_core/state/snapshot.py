"""The snapshot of a name server's tables, in two steps: a quick copy, and the event built from it.

The server takes the copy between two requests. Another thread can build the event later.
"""

from collections.abc import Mapping
from typing import NamedTuple

from namesrv_core.events import (
    AlikeTopics,
    ClusterNames,
    Group,
    Living,
    MappingInfo,
    Member,
    QueueData,
    Snapshot,
    TopicMappings,
)
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.placements import Queues
from namesrv_core.state.registration import broker_info

KvTables = Mapping[str, Mapping[str, str | None]]


class Copy(NamedTuple):
    """An immutable copy of the tables."""

    clusters: tuple[ClusterNames, ...]
    groups: tuple[Group, ...]
    live: tuple[Living, ...]
    topics: Mapping[str, Queues]
    mappings: tuple[TopicMappings, ...]
    kv: KvTables
    settings: Mapping[str, str]


def copy(state: NameServerState, now: int, kv: KvTables, settings: Mapping[str, str]) -> Copy:
    """Copy the tables. `kv_tables` and `settings` are the saved ones, and must not change after the call."""
    tables = state.tables
    return Copy(
        tuple(ClusterNames(cluster, tuple(names)) for cluster, names in tables.clusters.items()),
        tuple(
            Group(group.cluster, name, group.acting_master, group.zone, _members(group.addrs))
            for name, group in tables.groups.items()
        ),
        tuple(
            Living(*key, silent_millis=now - live.heard_at, info=info)
            for key, live in tables.live.items()
            if (info := broker_info(tables, key)) is not None
        ),
        {topic: placement.queues for topic, placement in tables.topics.items()},
        tuple(TopicMappings(topic, _mappings(found)) for topic, found in tables.mappings.items()),
        kv,
        settings,
    )


def _members(addrs: Mapping[int, str]) -> tuple[Member, ...]:
    return tuple(Member(number, addr) for number, addr in addrs.items())


def _mappings(found: Mapping[str | None, MappingInfo]) -> tuple[tuple[str | None, MappingInfo], ...]:
    return tuple(found.items())


def snapshot(copied: Copy, reason: str) -> Snapshot:
    """Build the event. It contains equal queues once, and groups topics with equal queues."""
    queues, routes = _alike(copied.topics)
    return Snapshot(
        reason,
        copied.clusters,
        copied.groups,
        copied.live,
        queues,
        routes,
        copied.mappings,
        copied.kv,
        copied.settings,
    )


def _alike(topics: Mapping[str, Queues]) -> tuple[tuple[QueueData, ...], tuple[AlikeTopics, ...]]:
    """Group by identity: `RouteTables` shares equal queues, and hashing all of them takes too long."""
    topics_at: dict[int, list[str]] = {}
    topics_of: dict[tuple[int, ...], list[str]] = {}
    places: dict[int, int] = {}
    queues: list[QueueData] = []
    for topic, on_brokers in topics.items():
        names = topics_at.get(id(on_brokers))
        if names is None:
            key = tuple(map(id, on_brokers.values()))
            names = topics_at[id(on_brokers)] = topics_of.setdefault(key, [])
            for queue in () if names else on_brokers.values():
                if places.setdefault(id(queue), len(queues)) == len(queues):
                    queues.append(queue)
        names.append(topic)
    alike = (AlikeTopics(tuple(names), tuple(places[one] for one in key)) for key, names in topics_of.items())
    return tuple(queues), tuple(alike)
