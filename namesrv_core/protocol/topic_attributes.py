"""The attributes of topics that 5.5.0 brokers know, and the accepted values (TopicAttributes). Pure."""

from collections.abc import Sequence

VALUES_BY_ATTRIBUTE: dict[str, Sequence[str] | range] = {
    "message.type": (
        "UNSPECIFIED", "NORMAL", "FIFO", "DELAY", "TRANSACTION", "PRIORITY", "LITE", "MIXED",
    ),
    "queue.type": ("SimpleCQ", "BatchCQ"),
    "cleanup.policy": ("DELETE", "COMPACTION"),
    "reserve.time": range(-1, 1 << 63),
    "lite.topic.expiration": range(-1, 30 * 24 * 60 + 1),
}  # fmt: skip
"""Names, or whole numbers."""


def is_accepted(attribute: str, value: str) -> bool:
    """Whether a broker accepts the value; it decides itself about attributes that are not known here."""
    values = VALUES_BY_ATTRIBUTE.get(attribute)
    if not isinstance(values, range):
        return values is None or value in values
    try:
        return int(value) in values
    except ValueError:
        return False
