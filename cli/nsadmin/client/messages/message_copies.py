"""Copies of stored messages: what a copy keeps, and how copies are sent in the order of their queues."""

import zlib
from collections.abc import Mapping, Sequence

from namesrv_core.protocol.message_compression import COMPRESSED_FLAG
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client.messages.message_delivery import drop_fate_properties
from nsadmin.client.messages.message_sender import (
    MessageSender,
    OutgoingMessage,
    SendQueue,
    SentMessage,
    is_stored_unsafely,
)
from nsadmin.client.results import ServerResult

_COMPRESSION_FLAGS = COMPRESSED_FLAG | 0x700
"""The bits of a sysFlag that say how the body is compressed."""


def build_copy(
    message: StoredMessage, send_queue: SendQueue, more_properties: Mapping[str, str] = {}
) -> OutgoingMessage:
    """Build a copy of a message, with its body, keys, tag, properties, unique key, flag and born time.

    It is a usual message, which consumers get at once: neither delayed nor half of a transaction.
    """
    properties = {**drop_fate_properties(message.properties), "WAIT": "true", **more_properties}
    body, sys_flag = compress_again(message)
    return OutgoingMessage(send_queue, body, properties, sys_flag, message.flag, message.born_timestamp)


def compress_again(message: StoredMessage) -> tuple[bytes, int]:
    """Return the body to send, and its sysFlag. The body of a compressed message is compressed again."""
    if not message.sys_flag & COMPRESSED_FLAG:
        return message.body, 0
    if message.body_error is not None:
        return message.body, message.sys_flag & _COMPRESSION_FLAGS
    # Brokers limit the size as it is sent. Type 0 is zlib, which every release can read.
    return zlib.compress(message.body), COMPRESSED_FLAG


def send_in_order(
    message_sender: MessageSender, outgoing_messages: Sequence[OutgoingMessage]
) -> list[ServerResult[SentMessage] | None]:
    """Send messages so that each queue stores its messages in their order (SEND_MESSAGE_V2, 310).

    All queues get their next message at once. After a failure, a queue gets no further message.
    """
    waiting_indexes: dict[SendQueue, list[int]] = {}
    for index in reversed(range(len(outgoing_messages))):
        waiting_indexes.setdefault(outgoing_messages[index].send_queue, []).append(index)
    results: list[ServerResult[SentMessage] | None] = [None] * len(outgoing_messages)
    while waiting_indexes:
        next_indexes = [queue_indexes.pop() for queue_indexes in waiting_indexes.values()]
        sent_results = message_sender.send_patiently([outgoing_messages[index] for index in next_indexes])
        for index, result in zip(next_indexes, sent_results, strict=True):
            results[index] = result
            send_queue = outgoing_messages[index].send_queue
            has_failed = result.error is not None and not is_stored_unsafely(result.error)
            if has_failed or not waiting_indexes[send_queue]:
                del waiting_indexes[send_queue]
    return results
