"""Allocation: which client of a group gets which queues (`AllocateMessageQueueAveragely`)."""

from collections.abc import Sequence

from namesrv_core.protocol.codes import Perm
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.topic_routes import TopicRoute


def list_readable_queues(topic: str, route: TopicRoute) -> list[MessageQueue]:
    """The queues that clients share out, in the order they sort them: of a static topic the logical ones."""
    if route.logical_queues:
        return sorted(MessageQueue(topic, *name_and_id) for name_and_id in route.logical_queues)
    return sorted(
        MessageQueue(topic, queue_route.broker_name, queue_id)
        for queue_route in route.queues
        if queue_route.perm is not None and queue_route.perm & Perm.READ
        for queue_id in range(queue_route.read_queue_nums or 0)
    )


def allocate_averagely(
    sorted_queues: Sequence[MessageQueue], client_ids: Sequence[str]
) -> dict[str, list[MessageQueue]]:
    """Each client's queues, when every client reckons as Java's does by default; client ids in their order.

    Neighbours stay together, and the first clients get one queue more where it does not come out even.
    """
    queues_per_client, extra_queues = divmod(len(sorted_queues), len(client_ids))
    queues_by_client: dict[str, list[MessageQueue]] = {}
    begin_index = 0
    for client_index, client_id in enumerate(sorted(client_ids)):
        end_index = begin_index + queues_per_client + (1 if client_index < extra_queues else 0)
        queues_by_client[client_id] = list(sorted_queues[begin_index:end_index])
        begin_index = end_index
    return queues_by_client
