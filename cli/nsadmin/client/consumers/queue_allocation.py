"""The allocation of queues to the clients of a group (`AllocateMessageQueueAveragely`)."""

from collections.abc import Sequence

from namesrv_core.protocol.codes import Perm
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.topic_routes import TopicRoute, list_read_queues


def list_readable_queues(topic: str, route: TopicRoute) -> list[MessageQueue]:
    """Return the queues that clients divide among themselves, in the clients' sort order.

    For a static topic these are the logical queues.
    """
    if logical_queues := route.list_logical_queues():
        return [MessageQueue(topic, *name_and_id) for name_and_id in logical_queues]
    readable_routes = [
        r._replace(logical_queues=None) for r in route.queues if r.perm is not None and r.perm & Perm.READ
    ]
    return sorted(
        MessageQueue(topic, queue_route.broker_name, queue_id)
        for queue_route, queue_id in list_read_queues(readable_routes)
    )


def allocate_averagely(
    sorted_queues: Sequence[MessageQueue], client_ids: Sequence[str]
) -> dict[str, list[MessageQueue]]:
    """Allocate queues to clients like Java's default strategy.

    Each client gets consecutive queues. If the division leaves a remainder, the first clients get one more.
    """
    queues_per_client, extra_queues = divmod(len(sorted_queues), len(client_ids))
    queues_by_client: dict[str, list[MessageQueue]] = {}
    begin_index = 0
    for client_index, client_id in enumerate(sorted(client_ids)):
        end_index = begin_index + queues_per_client + (1 if client_index < extra_queues else 0)
        queues_by_client[client_id] = list(sorted_queues[begin_index:end_index])
        begin_index = end_index
    return queues_by_client
