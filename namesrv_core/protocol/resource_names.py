"""The names that brokers accept for new topics and groups: one table for all checks. Pure.

They are those of 5.5.0 (TopicValidator). 4.9.7 also limits topics of retries and dead letters to 127
characters. Older brokers accepted more, such as "test.test1": a name that exists may be any.
"""

import re

from namesrv_core.printable_text import escape_unsafe

NAME_PATTERN = "[%|a-zA-Z0-9_-]+"
MAX_TOPIC_LENGTH = 127
MAX_GROUP_LENGTH = 120
MAX_OLD_NAME_LENGTH = 255
"""The limit of retry and dead-letter topics, and of names that older brokers accepted."""
EXISTING_NAME_PATTERN = f".{{1,{MAX_OLD_NAME_LENGTH}}}"
"""Names that can exist, for files and their JSON Schema."""
GROUP_TOPIC_PREFIXES = ("%RETRY%", "%DLQ%")
_ALLOWED_CHARACTERS = "letters, digits and % | _ -"


def max_topic_length(topic: str) -> int:
    """Return the limit of a topic's name in characters: topics of retries and dead letters may be longer."""
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
