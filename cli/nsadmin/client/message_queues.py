"""MessageQueue, a queue of a topic on a broker; tables keyed by queues; how clients share out queues."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from namesrv_core.protocol.codes import Perm
from nsadmin.client.connection.json_object import JsonObject, to_list
from nsadmin.client.topic_routes import TopicRoute, list_read_queues

T = TypeVar("T")


class MessageQueue(NamedTuple):
    """A queue of a topic on a broker. Queues sort like `MessageQueue#compareTo`."""

    topic: str
    broker_name: str
    queue_id: int


def describe_offsets(begin_offset: int, end_offset: int) -> str:
    """What a queue has instead of a missing offset."""
    if begin_offset < end_offset:
        return f"the queue has offsets {begin_offset} to {end_offset - 1}"
    return "the queue is empty"


def parse_queue_table(json_table: object, read_value: Callable[[object, str], T]) -> dict[MessageQueue, T]:
    """Parse a map keyed by queues."""
    pairs: Iterable[object] = (
        json_table.items() if isinstance(json_table, dict) else to_list(json_table, "a map")
    )
    items_by_queue: dict[MessageQueue, T] = {}
    for pair in pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise ValueError("a map keyed by queues is a list of other things")
        key = JsonObject(pair[0], "a queue")
        queue = MessageQueue(key.text("topic"), key.text("brokerName"), key.integer("queueId", 0))
        items_by_queue[queue] = read_value(pair[1], f"queue {queue.queue_id}")
    return dict(sorted(items_by_queue.items(), key=lambda item: item[0]))


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
