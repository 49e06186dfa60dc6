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
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.placements import BrokerQueues
from namesrv_core.state.registration_events import broker_info

KvTables = Mapping[str, Mapping[str, str | None]]


class TablesCopy(NamedTuple):
    """An immutable copy of the tables."""

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
        tuple(
            ClusterNames(cluster_name, tuple(broker_names))
            for cluster_name, broker_names in tables.broker_names_by_cluster.items()
        ),
        tuple(
            Group(
                broker_group.cluster_name,
                broker_name,
                broker_group.enable_acting_master,
                broker_group.zone_name,
                _build_members(broker_group.broker_addrs),
            )
            for broker_name, broker_group in tables.broker_groups.items()
        ),
        tuple(
            Living(*live_key, silent_millis=now_ms - live_broker.heard_at_ms, info=live_info)
            for live_key, live_broker in tables.live_brokers.items()
            if (live_info := broker_info(tables, live_key)) is not None
        ),
        {topic: placement.broker_queues for topic, placement in tables.placements_by_topic.items()},
        tuple(
            TopicMappings(topic, _mapping_items(mappings_by_broker))
            for topic, mappings_by_broker in tables.queue_mappings.items()
        ),
        kv_tables,
        settings,
    )


def _build_members(broker_addrs: Mapping[int, str]) -> tuple[Member, ...]:
    return tuple(Member(broker_id, broker_addr) for broker_id, broker_addr in broker_addrs.items())


def _mapping_items(
    mappings_by_broker: Mapping[str | None, MappingInfo],
) -> tuple[tuple[str | None, MappingInfo], ...]:
    return tuple(mappings_by_broker.items())


def build_snapshot(tables_copy: TablesCopy, reason: str) -> Snapshot:
    """Build the event. It contains equal queues once, and groups topics with equal queues."""
    distinct_queues, alike_topics = _group_alike_topics(tables_copy.queues_by_topic)
    return Snapshot(
        reason,
        tables_copy.clusters,
        tables_copy.groups,
        tables_copy.live,
        distinct_queues,
        alike_topics,
        tables_copy.mappings,
        tables_copy.kv,
        tables_copy.settings,
    )


def _group_alike_topics(
    queues_by_topic: Mapping[str, BrokerQueues],
) -> tuple[tuple[QueueData, ...], tuple[AlikeTopics, ...]]:
    """Group by identity: `RouteTables` shares equal queues, and hashing all of them takes too long."""
    topics_by_identity: dict[int, list[str]] = {}
    topics_by_queues: dict[tuple[int, ...], list[str]] = {}
    places_by_identity: dict[int, int] = {}
    distinct_queues: list[QueueData] = []
    for topic, broker_queues in queues_by_topic.items():
        topic_names = topics_by_identity.get(id(broker_queues))
        if topic_names is None:
            queue_identities = tuple(map(id, broker_queues.values()))
            topic_names = topics_by_identity[id(broker_queues)] = topics_by_queues.setdefault(
                queue_identities, []
            )
            for queue_data in () if topic_names else broker_queues.values():
                if places_by_identity.setdefault(id(queue_data), len(distinct_queues)) == len(
                    distinct_queues
                ):
                    distinct_queues.append(queue_data)
        topic_names.append(topic)
    alike_topics = (
        AlikeTopics(
            tuple(topic_names),
            tuple(places_by_identity[queue_identity] for queue_identity in queue_identities),
        )
        for queue_identities, topic_names in topics_by_queues.items()
    )
    return tuple(distinct_queues), tuple(alike_topics)
