"""Copies of messages: the properties that name a copy's source, and a hash of what a copy must keep. Pure.

Rule: a copy names its source itself, so the target queue is the record of what was copied.
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
    """Return the source that a message names; None if it is no copy."""
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
    """Return the properties that name the source of a copy.

    A delay has no effect any more, and becomes NSADMIN_SOURCE_DELAY.
    """
    return {
        CLUSTER_PROPERTY: source_queue.cluster_name,
        BROKER_PROPERTY: source_queue.broker_name,
        TOPIC_PROPERTY: source_queue.topic,
        QUEUE_PROPERTY: str(source_queue.queue_id),
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
    """Return a 64-bit hash of what a copy keeps: body, flag, keys, tag and the application's properties."""
    digest = blake2b(message.body, digest_size=8)
    for name, value in sorted(drop_fate_properties(message.properties).items()):
        if name.startswith(SOURCE_PREFIX):
            continue
        # Brokers refuse these bytes in properties, so they separate safely.
        digest.update(f"\x01{name}\x02{value}".encode("utf-8", "surrogatepass"))
    digest.update(b"\x03%d" % message.flag)
    return int.from_bytes(digest.digest(), "big")
