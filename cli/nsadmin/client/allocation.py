"""Allocation: which client of a group gets which queues (`AllocateMessageQueueAveragely`)."""

from collections.abc import Sequence

from namesrv_core.protocol.codes import Perm
from nsadmin.client.queues import MessageQueue
from nsadmin.client.routes import TopicRoute


def readable_queues(topic: str, route: TopicRoute) -> list[MessageQueue]:
    """The queues that clients share out, in the order they sort them: of a static topic the logical ones."""
    if route.logical:
        return sorted(MessageQueue(topic, *place) for place in route.logical)
    return sorted(
        MessageQueue(topic, queue.broker_name, queue_id)
        for queue in route.queues
        if queue.perm is not None and queue.perm & Perm.READ
        for queue_id in range(queue.read_queue_nums or 0)
    )


def averagely(queues: Sequence[MessageQueue], client_ids: Sequence[str]) -> dict[str, list[MessageQueue]]:
    """Each client's queues, when every client reckons as Java's does by default; client ids in their order.

    Neighbours stay together, and the first clients get one queue more where it does not come out even.
    """
    size, more = divmod(len(queues), len(client_ids))
    shares: dict[str, list[MessageQueue]] = {}
    begin = 0
    for at, client_id in enumerate(sorted(client_ids)):
        end = begin + size + (1 if at < more else 0)
        shares[client_id] = list(queues[begin:end])
        begin = end
    return shares
