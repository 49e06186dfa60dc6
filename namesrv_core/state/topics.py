"""Requests that delete or register a single topic, independent of the registrations of brokers."""

from collections.abc import Iterable

from namesrv_core.events import QueueData, TopicChange, TopicDeleted, TopicsChanged, group_topic_changes
from namesrv_core.state.route_tables import RouteTables


def delete_topic(tables: RouteTables, topic: str | None, cluster_name: str | None) -> list[TopicDeleted]:
    """Delete a topic's queues in one cluster, or without a cluster in all. An unknown topic is no error."""
    if topic is None:
        return []
    names = list(
        tables.broker_names_by_cluster.get(cluster_name, {})
        if cluster_name
        else tables.queues_of_topic(topic)
    )
    changes = group_topic_changes(tables.drop_queue(topic, name) for name in names)
    if not changes:
        return []
    tables.generation += 1
    return [TopicDeleted(topic, cluster_name or None, changes)]


def register_topic_queues(
    tables: RouteTables, topic: str | None, queues: Iterable[QueueData]
) -> list[TopicsChanged]:
    """Store the queues of a topic, with their permissions, up to the first unknown broker.

    Store nothing for a new topic if a broker is unknown (`RouteInfoManager#registerTopic`).
    """
    queues = list(queues)
    known = [queue for queue in queues if queue.broker_name in tables.broker_groups]
    if topic is None or (topic not in tables.placements_by_topic and len(known) < len(queues)):
        return []
    changes: dict[str, TopicChange] = {}
    for queue in queues:
        if queue.broker_name not in tables.broker_groups:
            break
        change = tables.set_queue(topic, queue)
        if change is not None:
            changes[queue.broker_name] = change
    if changes:
        tables.generation += 1
    return [TopicsChanged(n, "topic registration", group_topic_changes([c])) for n, c in changes.items()]
