"""The names that brokers accept for new topics and groups: one table for all checks. Pure.

They are those of 5.5.0 (TopicValidator). 4.9.7 also limits topics of retries and dead letters to 127
characters. Before 5.4 brokers accepted longer groups, so one that exists may have up to 255 characters.
"""

import re

from namesrv_core.printable_text import escape_unsafe

NAME_PATTERN = "[%|a-zA-Z0-9_-]+"
MAX_TOPIC_LENGTH = 127
MAX_GROUP_LENGTH = 120
MAX_OLD_NAME_LENGTH = 255
"""The limit of retry and dead-letter topics, and of groups that were created before 5.4."""
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


def topic_file_pattern() -> str:
    """Return the regular expression of valid topics, for files and their JSON Schema."""
    name_character = NAME_PATTERN.removesuffix("+")
    composed_names = (
        f"{prefix}{name_character}{{0,{MAX_OLD_NAME_LENGTH - len(prefix)}}}"
        for prefix in GROUP_TOPIC_PREFIXES
    )
    return f"(?:{'|'.join(composed_names)}|{name_character}{{1,{MAX_TOPIC_LENGTH}}})"


def old_group_pattern() -> str:
    """Return the regular expression of groups that can exist, for files and their JSON Schema."""
    return f"{NAME_PATTERN.removesuffix('+')}{{1,{MAX_OLD_NAME_LENGTH}}}"


TOPIC_NAME_TEXT = f"{_ALLOWED_CHARACTERS}, at most {MAX_TOPIC_LENGTH} characters"
OLD_GROUP_TEXT = f"{_ALLOWED_CHARACTERS}, at most {MAX_OLD_NAME_LENGTH} characters"
