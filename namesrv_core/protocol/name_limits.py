"""The limit of names: topics, brokers, clusters, zones, addresses and filter servers.

The default is 255 bytes. 5.5.0 has no longer names: a topic of users has 127 characters, a group 120, and
so the longest topic, `%RETRY%GROUP_TOPIC`, has 255 (TopicValidator, KeyBuilder).
"""

from namesrv_core.errors import OverLimit
from namesrv_core.printable_text import escape_unsafe

DEFAULT_NAME_BYTES = 255
# Older brokers accept groups of 255 characters. If their retry topics were refused, a consumer with such a
# group could keep its broker from registering.
_COMPOSED_TOPIC_PREFIXES = ("%RETRY%", "%DLQ%")
_MAX_CHARACTER_BYTES = 4
_SHOWN_CHARACTERS = 40


def check_name(name_kind: str, name: str | None, max_bytes: int) -> None:
    """Raise OverLimit if the name is longer than `max_bytes` in UTF-8."""
    if name is None or len(name) * _MAX_CHARACTER_BYTES <= max_bytes:
        return
    name_bytes = len(name) if name.isascii() else len(name.encode("utf-8", "replace"))
    if name_bytes > max_bytes:
        raise OverLimit(
            "maxNameBytes",
            f'a {name_kind} name of {name_bytes} bytes ("{escape_unsafe(name[:_SHOWN_CHARACTERS])}...") '
            f"instead of at most {max_bytes}",
        )


def check_topic_name(topic: str | None, max_bytes: int) -> None:
    """Like `check_name`. The topics of old brokers for retries and dead letters may be twice as long."""
    if topic is None or len(topic) * _MAX_CHARACTER_BYTES <= max_bytes:
        return
    check_name("topic", topic, max_bytes * 2 if topic.startswith(_COMPOSED_TOPIC_PREFIXES) else max_bytes)
