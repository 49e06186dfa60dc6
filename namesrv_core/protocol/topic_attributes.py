"""The attributes of topics that 5.5.0 brokers know, and the accepted values (TopicAttributes). Pure."""

from collections.abc import Mapping, Sequence

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
UNCHANGEABLE = ("queue.type", "cleanup.policy")
"""A broker sets them only when it creates the topic."""


def is_accepted(attribute: str, value: str) -> bool:
    """Whether a broker accepts the value; it decides itself about attributes that are not known here."""
    values = VALUES_BY_ATTRIBUTE.get(attribute)
    if not isinstance(values, range):
        return values is None or value in values
    try:
        return int(value) in values
    except ValueError:
        return False


def sign_changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """The differences in the form that brokers expect: +NAME or -NAME."""
    added = {f"+{name}": value for name, value in after.items() if before.get(name) != value}
    return added | {f"-{name}": "" for name in before.keys() - after.keys()}
