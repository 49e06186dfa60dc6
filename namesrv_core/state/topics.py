"""Requests that delete or register a single topic, independent of the registrations of brokers."""

from collections.abc import Iterable

from namesrv_core.events import QueueData, TopicChange, TopicDeleted, TopicsChanged, group_topic_changes
from namesrv_core.state.route_tables import RouteTables


def delete_topic(tables: RouteTables, topic: str | None, cluster_name: str | None) -> list[TopicDeleted]:
    """Delete a topic's queues in one cluster, or without a cluster in all. An unknown topic is no error."""
    if topic is None:
        return []
    broker_names = list(
        tables.broker_names_by_cluster.get(cluster_name, {})
        if cluster_name
        else tables.queues_of_topic(topic)
    )
    topic_changes = group_topic_changes(tables.drop_queue(topic, broker_name) for broker_name in broker_names)
    if not topic_changes:
        return []
    tables.generation += 1
    return [TopicDeleted(topic, cluster_name or None, topic_changes)]


def register_topic_queues(
    tables: RouteTables, topic: str | None, queue_datas: Iterable[QueueData]
) -> list[TopicsChanged]:
    """Store the queues of a topic, with their permissions, up to the first unknown broker.

    Store nothing for a new topic if a broker is unknown (`RouteInfoManager#registerTopic`).
    """
    queue_datas = list(queue_datas)
    known_queues = [
        queue_data for queue_data in queue_datas if queue_data.broker_name in tables.broker_groups
    ]
    if topic is None or (topic not in tables.placements_by_topic and len(known_queues) < len(queue_datas)):
        return []
    changes_by_broker: dict[str, TopicChange] = {}
    for queue_data in queue_datas:
        if queue_data.broker_name not in tables.broker_groups:
            break
        topic_change = tables.set_queue(topic, queue_data)
        if topic_change is not None:
            changes_by_broker[queue_data.broker_name] = topic_change
    if changes_by_broker:
        tables.generation += 1
    return [
        TopicsChanged(broker_name, "topic registration", group_topic_changes([topic_change]))
        for broker_name, topic_change in changes_by_broker.items()
    ]
