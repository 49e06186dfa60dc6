"""Kinds of topics by name: user topics, and topics that brokers keep for consumer groups. Pure."""

from collections.abc import Iterable, Set

from nsadmin.client.groups import is_system
from nsadmin.client.topics import SYSTEM_PREFIX

RETRY_PREFIX, DLQ_PREFIX = "%RETRY%", "%DLQ%"


def group_of(topic: str, groups: Set[str]) -> str | None:
    """The group of a retry or dead letter topic, preferably one of `known_groups`; None for other topics.

    Popped messages have retry topics of their own: the group's name, "_" or (since 5.3) "+", and the topic's.
    """
    for prefix in (RETRY_PREFIX, DLQ_PREFIX):
        if topic.startswith(prefix):
            rest = topic.removeprefix(prefix)
            ends = (at for at, letter in enumerate(rest) if letter in "_+")
            return next((name for name in (rest, *(rest[:end] for end in ends)) if name in groups), rest)
    return None


def of_vanished_groups(topics: Iterable[str], groups: Set[str]) -> dict[str, str]:
    """The retry and dead letter topics whose group no longer exists, with that group.

    `known_groups` must hold the groups of all brokers. System groups never count as vanished.
    """
    found = {topic: group_of(topic, groups) for topic in topics}
    return {
        topic: group
        for topic, group in found.items()
        if group is not None and group not in groups and not is_system(group)
    }


def is_of_users(topic: str, own: frozenset[str]) -> bool:
    """Whether users created the topic, other than by consuming.

    `own_topics` are the topics of RocketMQ and its brokers.
    """
    return (
        topic not in own
        and not topic.lower().startswith(SYSTEM_PREFIX)
        and not topic.startswith((RETRY_PREFIX, DLQ_PREFIX))
    )
