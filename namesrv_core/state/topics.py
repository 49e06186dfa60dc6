"""Topics that are deleted or registered by themselves, beside the registrations of their brokers."""

from collections.abc import Iterable

from namesrv_core.events import QueueData, TopicChange, TopicDeleted, TopicsChanged, alike
from namesrv_core.state.tables import RouteTables


def delete(tables: RouteTables, topic: str | None, cluster: str | None) -> list[TopicDeleted]:
    """Drop a topic's queues in one cluster, or in all where none is named; an unknown topic is no error."""
    if topic is None:
        return []
    names = list(tables.clusters.get(cluster, {}) if cluster else tables.queues_of(topic))
    altered = alike(tables.drop_queue(topic, name) for name in names)
    if not altered:
        return []
    tables.generation += 1
    return [TopicDeleted(topic, cluster or None, altered)]


def register(tables: RouteTables, topic: str | None, queues: Iterable[QueueData]) -> list[TopicsChanged]:
    """Store a topic's queues as they are given, permissions included, up to the first unknown broker.

    For a topic that is new, an unknown broker means that nothing is stored
    (`RouteInfoManager#registerTopic`).
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
