"""The attributes of topics and groups that 5.5 brokers know, and the accepted values. Pure.

Upstream they are in TopicAttributes and SubscriptionGroupAttributes.
"""

from collections.abc import Mapping, Sequence

_COUNTS = range(-1, 1 << 63)
_FLAGS = ("true", "false")
AcceptedValues = Mapping[str, Sequence[str] | range]
"""Words or whole numbers by attribute; () accepts any text."""
TOPIC_ATTRIBUTES: AcceptedValues = {
    "message.type": (
        "UNSPECIFIED", "NORMAL", "FIFO", "DELAY", "TRANSACTION", "PRIORITY", "LITE", "MIXED",
    ),
    "queue.type": ("SimpleCQ", "BatchCQ"),
    "cleanup.policy": ("DELETE", "COMPACTION"),
    "reserve.time": _COUNTS,
    "lite.topic.expiration": range(-1, 30 * 24 * 60 + 1),
}  # fmt: skip
GROUP_ATTRIBUTES: AcceptedValues = {
    "priority.factor": range(101),
    "lite.bind.topic": (),
    "lite.sub.model": ("Shared", "Exclusive"),
    "lite.sub.reset.offset.exclusive": _FLAGS,
    "lite.sub.reset.offset.unsubscribe": _FLAGS,
    "lite.sub.client.quota": _COUNTS,
    "lite.sub.client.max.event.cnt": range(10, 1 << 63),
    "lite.sub.wildcard": (),
}
ATTRIBUTES_BY_KIND = {"topic": TOPIC_ATTRIBUTES, "group": GROUP_ATTRIBUTES}
UNCHANGEABLE = ("queue.type", "cleanup.policy")
"""A broker sets them only when it creates the topic."""


def is_accepted(values: Sequence[str] | range, value: str) -> bool:
    if not isinstance(values, range):
        # Only true and false have lower case here, and brokers ignore theirs.
        return not values or value in values or value.lower() in values
    try:
        return int(value) in values
    except ValueError:
        return False


def find_refusal(kind: str, before: Mapping[str, str] | None, after: Mapping[str, str]) -> str | None:
    """Why brokers refuse new attributes of a topic or group; None if they do not, or only they know.

    `before` is None for a new one.
    """
    known = ATTRIBUTES_BY_KIND[kind]
    for signed_key, value in sign_changes(before or {}, after).items():
        attribute = signed_key[1:]
        if attribute not in known:
            continue
        if before is not None and attribute in UNCHANGEABLE:
            return f'a broker sets "{attribute}" only when it creates the topic'
        values = known[attribute]
        if signed_key[0] == "+" and not is_accepted(values, value):
            accepted = f"{values[0]} to {values[-1]}" if isinstance(values, range) else ", ".join(values)
            return f'invalid value "{value}" of {attribute}: use {accepted}'
    return None


def parse_changes(text: str | None) -> dict[str, str]:
    """Split "+a=1,-b" into values by signed key: {"+a": "1", "-b": ""}. Raises ValueError without a sign."""
    values_by_key = {}
    for part in filter(None, map(str.strip, (text or "").split(","))):
        key, has_value, value = part.partition("=")
        name = key.lstrip("+-")
        if key != (f"+{name}" if value else f"-{name}") or not name or (has_value and not value):
            advice = f"+{name}={value}" if value else f"+{name or 'NAME'}=VALUE or -{name or 'NAME'}"
            raise ValueError(f'invalid attribute "{part}": write {advice}')
        values_by_key[key] = value
    return values_by_key


def format_changes(values_by_key: Mapping[str, str]) -> str:
    """Write values by signed key as parse_changes reads them: "+a=1,-b"."""
    return ",".join(f"{key}={value}" if key[0] == "+" else key for key, value in values_by_key.items())


def apply_changes(before: Mapping[str, str], signed_changes: Mapping[str, str]) -> dict[str, str]:
    """The attributes after changes by signed key, as a broker merges them."""
    added = {key[1:]: value for key, value in signed_changes.items() if key[0] == "+"}
    return {key: value for key, value in before.items() if f"-{key}" not in signed_changes} | added


def sign_changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """The differences in the form that brokers expect: +NAME or -NAME."""
    added = {f"+{name}": value for name, value in after.items() if before.get(name) != value}
    return added | {f"-{name}": "" for name in before.keys() - after.keys()}
