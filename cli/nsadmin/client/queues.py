"""MessageQueue, one queue of a topic on one broker, and the parser of tables keyed by queues."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class MessageQueue(NamedTuple):
    """A queue of a topic on a broker. Queues sort like `MessageQueue#compareTo`."""

    topic: str
    broker_name: str
    queue_id: int


def queue_table(value: Any) -> dict[MessageQueue, Mapping[str, Any]]:
    """Parse a map keyed by queues.

    Args:
        json_table: The map, as `parse_json_object` returns it: a dict, or a list of [key, value] pairs.

    Returns:
        Queue to value, in the order of queues.

    Raises:
        ValueError, TypeError, KeyError: The value is not such a map.
    """
    pairs: Iterable[Any] = value.items() if isinstance(value, dict) else value or ()
    table = {
        MessageQueue(key["topic"], key["brokerName"], int(key.get("queueId", 0))): item for key, item in pairs
    }
    return dict(sorted(table.items()))
