"""Requests that delete or register a single topic, independent of the registrations of brokers."""

from collections.abc import Iterable

from namesrv_core.events import QueueData, TopicChange, TopicDeleted, TopicsChanged, alike
from namesrv_core.state.tables import RouteTables


def delete(tables: RouteTables, topic: str | None, cluster: str | None) -> list[TopicDeleted]:
    """Delete a topic's queues in one cluster, or without a cluster in all. An unknown topic is no error."""
    if topic is None:
        return []
    names = list(tables.clusters.get(cluster, {}) if cluster else tables.queues_of(topic))
    altered = alike(tables.drop_queue(topic, name) for name in names)
    if not altered:
        return []
    tables.generation += 1
    return [TopicDeleted(topic, cluster or None, altered)]


def register(tables: RouteTables, topic: str | None, queues: Iterable[QueueData]) -> list[TopicsChanged]:
    """Store the queues of a topic, with their permissions, up to the first unknown broker.

    Store nothing for a new topic if a broker is unknown (`RouteInfoManager#registerTopic`).
    """
    queues = list(queues)
    known = [queue for queue in queues if queue.broker_name in tables.groups]
    if topic is None or (topic not in tables.topics and len(known) < len(queues)):
        return []
    found: dict[str, TopicChange] = {}
    for queue in queues:
        if queue.broker_name not in tables.groups:
            break
        change = tables.set_queue(topic, queue)
        if change is not None:
            found[queue.broker_name] = change
    if found:
        tables.generation += 1
    return [TopicsChanged(name, "topic registration", alike([change])) for name, change in found.items()]
