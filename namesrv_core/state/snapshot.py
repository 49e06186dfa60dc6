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
    Member,
    QueueData,
    Snapshot,
    TopicMappings,
)
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.placements import BrokerQueues
from namesrv_core.state.registration import broker_info

KvTables = Mapping[str, Mapping[str, str | None]]


class TablesCopy(NamedTuple):
    clusters: tuple[ClusterNames, ...]
    groups: tuple[Group, ...]
    live: tuple[Living, ...]
    queues_by_topic: Mapping[str, BrokerQueues]
    mappings: tuple[TopicMappings, ...]
    kv: KvTables
    settings: Mapping[str, str]


def copy_tables(
    state: NameServerState, now_ms: int, kv_tables: KvTables, settings: Mapping[str, str]
) -> TablesCopy:
    """Copy the tables. `kv_tables` and `settings` are the saved ones, and must not change after the call."""
    tables = state.tables
    return TablesCopy(
        tuple(ClusterNames(name, tuple(names)) for name, names in tables.broker_names_by_cluster.items()),
        tuple(
            Group(
                group.cluster_name,
                name,
                group.enable_acting_master,
                group.zone_name,
                tuple(Member(*item) for item in group.broker_addrs.items()),
            )
            for name, group in tables.broker_groups.items()
        ),
        tuple(
            Living(*key, silent_millis=now_ms - broker.heard_at_ms, info=live)
            for key, broker in tables.live_brokers.items()
            if (live := broker_info(tables, key)) is not None
        ),
        {topic: placement.broker_queues for topic, placement in tables.placements_by_topic.items()},
        tuple(TopicMappings(topic, tuple(table.items())) for topic, table in tables.queue_mappings.items()),
        kv_tables,
        settings,
    )


def build_snapshot(tables: TablesCopy, reason: str) -> Snapshot:
    """Build the event. It contains equal queues once, and groups topics with equal queues."""
    distinct, topics = _group_alike_topics(tables.queues_by_topic)
    return Snapshot(
        reason,
        tables.clusters,
        tables.groups,
        tables.live,
        distinct,
        topics,
        tables.mappings,
        tables.kv,
        tables.settings,
    )


def _group_alike_topics(
    queues: Mapping[str, BrokerQueues],
) -> tuple[tuple[QueueData, ...], tuple[AlikeTopics, ...]]:
    """Group by identity: `RouteTables` shares equal queues, and hashing all of them takes too long."""
    topics: dict[int, list[str]] = {}
    topics_by_queues: dict[tuple[int, ...], list[str]] = {}
    places: dict[int, int] = {}
    distinct: list[QueueData] = []
    for topic, broker_queues in queues.items():
        names = topics.get(id(broker_queues))
        if names is None:
            identities = tuple(map(id, broker_queues.values()))
            names = topics[id(broker_queues)] = topics_by_queues.setdefault(identities, [])
            for queue in () if names else broker_queues.values():
                if places.setdefault(id(queue), len(distinct)) == len(distinct):
                    distinct.append(queue)
        names.append(topic)
    alike_topics = (AlikeTopics(tuple(t), tuple(places[i] for i in i)) for i, t in topics_by_queues.items())
    return tuple(distinct), tuple(alike_topics)
