"""Copies of messages: the properties that name a source, and a hash of the content to keep. Pure.

Rule: a copy names its source itself, so the target queue is the record of what was copied. The copies of
`transfer messages` and of `messages import` use the same properties; a file does not know its cluster.
"""

from hashlib import blake2b
from typing import NamedTuple

from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client.messages.bulk_sender import DELAY_PROPERTIES
from nsadmin.client.messages.message_delivery import drop_fate_properties

SOURCE_PREFIX = "NSADMIN_SOURCE_"
CLUSTER_PROPERTY = f"{SOURCE_PREFIX}CLUSTER"
BROKER_PROPERTY = f"{SOURCE_PREFIX}BROKER"
TOPIC_PROPERTY = f"{SOURCE_PREFIX}TOPIC"
QUEUE_PROPERTY = f"{SOURCE_PREFIX}QUEUE"
OFFSET_PROPERTY = f"{SOURCE_PREFIX}OFFSET"
STORE_TIME_PROPERTY = f"{SOURCE_PREFIX}STORE_TIME"
BORN_TIME_PROPERTY = f"{SOURCE_PREFIX}BORN_TIME"
"""The producer's time: a batch of RocketMQ has one time for all its messages."""
FIRST_STORE_TIME_PROPERTY = "NSADMIN_STORE_TIME"
"""The store time of the original, in copies that were imported before imports named their source."""


class SourceQueue(NamedTuple):
    """A queue that is copied."""

    cluster_name: str
    broker_name: str
    topic: str
    queue_id: int


class SourcePlace(NamedTuple):
    """The message that a copy was made from; `store_ms` is when the source stored it, in ms since 1970."""

    queue: SourceQueue
    offset: int
    store_ms: int


def find_source(message: StoredMessage) -> SourcePlace | None:
    """Return the source that a message names; None if it is not a copy."""
    properties = message.properties
    try:
        return SourcePlace(
            SourceQueue(
                properties[CLUSTER_PROPERTY],
                properties[BROKER_PROPERTY],
                properties[TOPIC_PROPERTY],
                int(properties[QUEUE_PROPERTY]),
            ),
            int(properties[OFFSET_PROPERTY]),
            int(properties[STORE_TIME_PROPERTY]),
        )
    except (KeyError, ValueError):
        return None


def build_source_properties(message: StoredMessage, source_queue: SourceQueue) -> dict[str, str]:
    """Return the properties that name the source of a copy, in place of those of a source before it.

    Args:
        message: The original.
        source_queue: Its queue.
    """
    return {
        CLUSTER_PROPERTY: source_queue.cluster_name,
        BROKER_PROPERTY: source_queue.broker_name,
        **_describe_original(message, source_queue.topic, source_queue.queue_id),
    }


def keep_first_source(message: StoredMessage, broker_name: str | None) -> dict[str, str]:
    """Return the properties that name the source of an imported message.

    Args:
        message: The message of a file.
        broker_name: The broker that stored it; None if the file does not say it.

    Returns:
        The properties; {} for a copy, which names the first source already, and for a message that no broker
        stored.
    """
    is_copy = any(name.startswith(SOURCE_PREFIX) for name in message.properties)
    if is_copy or FIRST_STORE_TIME_PROPERTY in message.properties or not message.store_timestamp:
        return {}
    broker = {} if broker_name is None else {BROKER_PROPERTY: broker_name}
    return {**broker, **_describe_original(message, message.topic, message.queue_id)}


def _describe_original(message: StoredMessage, topic: str, queue_id: int) -> dict[str, str]:
    """A delay has no effect any more, and becomes NSADMIN_SOURCE_DELAY."""
    return {
        TOPIC_PROPERTY: topic,
        QUEUE_PROPERTY: str(queue_id),
        OFFSET_PROPERTY: str(message.queue_offset),
        STORE_TIME_PROPERTY: str(message.store_timestamp),
        BORN_TIME_PROPERTY: str(message.born_timestamp),
        **{
            SOURCE_PREFIX + name: value
            for name, value in message.properties.items()
            if name in DELAY_PROPERTIES
        },
    }


def hash_content(message: StoredMessage) -> int:
    """Return a 64-bit hash of the content to keep: body, flag, keys, tag, properties of the application."""
    digest = blake2b(message.body, digest_size=8)
    for name, value in sorted(drop_fate_properties(message.properties).items()):
        if name.startswith(SOURCE_PREFIX):
            continue
        # Brokers refuse these bytes in properties, so they separate safely.
        digest.update(f"\x01{name}\x02{value}".encode("utf-8", "surrogatepass"))
    digest.update(b"\x03%d" % message.flag)
    return int.from_bytes(digest.digest(), "big")
