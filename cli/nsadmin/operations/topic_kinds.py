"""Kinds of topics by name: user topics, and topics that brokers keep for consumer groups. Pure."""

from collections.abc import Iterable, Sequence, Set

from namesrv_core.protocol.resource_names import GROUP_TOPIC_PREFIXES, RETRY_PREFIX
from nsadmin.client.consumers.groups import is_system_group
from nsadmin.client.topics.topics import SYSTEM_TOPIC_PREFIX
from nsadmin.console.phrases import abbreviate_names


def group_of_topic(topic: str, known_groups: Set[str]) -> str | None:
    """The group of a retry or dead letter topic, preferably one of `known_groups`; None for other topics.

    Popped messages have separate retry topics: the group's name, "_" or (since 5.3) "+", and the topic's.
    """
    for topic_prefix in GROUP_TOPIC_PREFIXES:
        if topic.startswith(topic_prefix):
            bare_name = topic.removeprefix(topic_prefix)
            separator_positions = (position for position, letter in enumerate(bare_name) if letter in "_+")
            return next(
                (
                    name
                    for name in (bare_name, *(bare_name[:end] for end in separator_positions))
                    if name in known_groups
                ),
                bare_name,
            )
    return None


def find_groups_with_retries(topics: Set[str]) -> set[str]:
    """The users' groups that have a retry topic; one that pops messages has another one for each topic."""
    names = {topic.removeprefix(RETRY_PREFIX) for topic in topics if topic.startswith(RETRY_PREFIX)}
    return {
        name
        for name in names
        if not is_system_group(name)
        and not any(
            letter in "_+" and name[:end] in names and name[end + 1 :] in topics
            for end, letter in enumerate(name)
        )
    }


def find_topics_of_vanished_groups(topics: Iterable[str], known_groups: Set[str]) -> dict[str, str]:
    """The retry and dead letter topics whose group no longer exists, with that group.

    `known_groups` must hold the groups of all brokers. System groups never count as vanished.
    """
    groups_by_topic = {topic: group_of_topic(topic, known_groups) for topic in topics}
    return {
        topic: group
        for topic, group in groups_by_topic.items()
        if group is not None and group not in known_groups and not is_system_group(group)
    }


def describe_moved_keys(topics: Sequence[str], kind: str) -> str:
    """Say that topics do not keep their order while their number of write queues changes.

    `kind` says why they have an order: "ordered", or "FIFO" for their message type.
    """
    verb = "is" if len(topics) == 1 else "are"
    return (
        f"{abbreviate_names(topics, 3)} {verb} {kind}: another number of queues moves keys to other "
        "queues, so the order of the messages of a key is not kept across the change"
    )


def is_user_topic(topic: str, own_topics: frozenset[str]) -> bool:
    """Whether users created the topic, other than by consuming.

    `own_topics` are the topics of RocketMQ and its brokers.
    """
    return (
        topic not in own_topics
        and not topic.lower().startswith(SYSTEM_TOPIC_PREFIX)
        and not topic.startswith(GROUP_TOPIC_PREFIXES)
    )
