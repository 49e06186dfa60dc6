"""MessageQueue, one queue of a topic on one broker, and the parser of tables keyed by queues."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from nsadmin.client.connection.json_object import JsonObject, to_list

T = TypeVar("T")


class MessageQueue(NamedTuple):
    """A queue of a topic on a broker. Queues sort like `MessageQueue#compareTo`."""

    topic: str
    broker_name: str
    queue_id: int


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
