"""MessageQueue, one queue of a topic on one broker, and the parser of tables keyed by queues."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class MessageQueue(NamedTuple):
    """A queue of a topic on a broker. Queues sort like `MessageQueue#compareTo`."""

    topic: str
    broker_name: str
    queue_id: int


def parse_queue_table(json_table: Any) -> dict[MessageQueue, Mapping[str, Any]]:
    """Parse a map keyed by queues.

    Args:
        json_table: The map, as `parse_json_object` returns it: a dict, or a list of [key, value] pairs.

    Returns:
        Queue to value, in the order of queues.

    Raises:
        ValueError, TypeError, KeyError: The value is not such a map.
    """
    key_value_pairs: Iterable[Any] = json_table.items() if isinstance(json_table, dict) else json_table or ()
    items_by_queue = {
        MessageQueue(
            queue_key["topic"], queue_key["brokerName"], int(queue_key.get("queueId", 0))
        ): queue_item
        for queue_key, queue_item in key_value_pairs
    }
    return dict(sorted(items_by_queue.items()))
