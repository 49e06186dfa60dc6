"""Names: which ones brokers accept for new topics and groups, and how long names of peers may be. Pure.

The accepted names are those of 5.5.0 (TopicValidator). 4.9.7 also limits topics of retries and dead letters
to 127 characters. Older brokers accepted more, such as "test.test1": a name that exists may be any.
"""

import re

from namesrv_core.errors import OverLimit
from namesrv_core.printable_text import escape_unsafe

NAME_PATTERN = "[%|a-zA-Z0-9_-]+"
MAX_TOPIC_LENGTH = 127
MAX_GROUP_LENGTH = 120
MAX_OLD_NAME_LENGTH = 255
"""The limit of retry and dead-letter topics, and of names that older brokers accepted."""
EXISTING_NAME_PATTERN = f".{{1,{MAX_OLD_NAME_LENGTH}}}"
"""Names that can exist, for files and their JSON Schema."""
RETRY_PREFIX, DLQ_PREFIX = GROUP_TOPIC_PREFIXES = ("%RETRY%", "%DLQ%")
_ALLOWED_CHARACTERS = "letters, digits and % | _ -"


def max_topic_length(topic: str) -> int:
    return MAX_OLD_NAME_LENGTH if topic.startswith(GROUP_TOPIC_PREFIXES) else MAX_TOPIC_LENGTH


def find_topic_name_problem(topic: str) -> str | None:
    """Say why no broker creates a topic of this name; None if it is a valid one."""
    return _find_problem(topic, "topic", max_topic_length(topic))


def find_group_name_problem(group: str) -> str | None:
    """Say why a broker of 5.4 or later does not create a group of this name; None if it is a valid one."""
    return _find_problem(group, "group", MAX_GROUP_LENGTH)


def _find_problem(name: str, kind_label: str, max_length: int) -> str | None:
    if re.fullmatch(NAME_PATTERN, name) and len(name) <= max_length:
        return None
    return (
        f'invalid {kind_label} name "{escape_unsafe(name)}": '
        f"use {_ALLOWED_CHARACTERS}, at most {max_length} characters"
    )


DEFAULT_NAME_BYTES = 255
"""The limit of names of topics, brokers, clusters, zones, addresses and filter servers.

5.5.0 has no longer names: a topic of users has 127 characters, a group 120, and so the longest topic,
`%RETRY%GROUP_TOPIC`, has 255 (TopicValidator, KeyBuilder).
"""
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
    # Older brokers accept groups of 255 characters. If their retry topics were refused, a consumer with such
    # a group could keep its broker from registering.
    check_name("topic", topic, max_bytes * 2 if topic.startswith(GROUP_TOPIC_PREFIXES) else max_bytes)
