"""Queues: one queue of a topic on one broker, and the tables that are keyed by it."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class MessageQueue(NamedTuple):
    """A queue, in the order in which clients sort them (`MessageQueue#compareTo`)."""

    topic: str
    broker_name: str
    queue_id: int


def queue_table(value: Any) -> dict[MessageQueue, Mapping[str, Any]]:
    """A map keyed by queues, as `json_object` gives it, in the order of the queues.

    ValueError, TypeError or KeyError for what is none.
    """
    pairs: Iterable[Any] = value.items() if isinstance(value, dict) else value or ()
    table = {
        MessageQueue(key["topic"], key["brokerName"], int(key.get("queueId", 0))): item for key, item in pairs
    }
    return dict(sorted(table.items()))
