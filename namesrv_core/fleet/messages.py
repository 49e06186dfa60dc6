"""The messages of a simulated broker. None is stored: each one is computed from its number on request. Pure.

A broker numbers its messages. Its topics take turns, and so do the queues of each topic. So the number of a
message follows from its queue offset, its commit log offset, its key or its id.
"""

import json
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from namesrv_core.errors import QueryNotFound, RequestError, ResponseCode, TopicNotExist
from namesrv_core.fleet import clients
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from namesrv_core.protocol.command import ExtFields
from namesrv_core.protocol.message_ids import build_unique_key
from namesrv_core.protocol.stored_messages import (
    KEYS_PROPERTY,
    MAGIC_V1,
    TAGS_PROPERTY,
    UNIQUE_KEY_PROPERTY,
    encode_properties,
)

_MESSAGE_TAGS = ("created", "updated", "cancelled", "settled")
_MAX_PULL_COUNT = 32
"""The most messages in an answer (maxMsgsNumBatch, for searches, is twice that)."""
_FILLER_TEXT = "Nobody ever sent this message. "
_UNIQUE_ID_LAYOUT = struct.Struct(">4sHiIH")


class PullResponse(NamedTuple):
    """An answer to PULL_MESSAGE: a code that says how to continue, and with code 0 messages."""

    response_code: int
    message_bytes: bytes
    ext_fields: ExtFields


def pull_messages(
    broker_model: BrokerModel, request_header: broker_headers.PullMessage, now_ms: int
) -> PullResponse:
    """Messages of one queue from an offset on; with a subscription `A || B` only those with such a tag."""
    topic, queue_id, queue_offset = (
        request_header.topic or "",
        request_header.queue_id,
        request_header.queue_offset or 0,
    )
    queue_count = _require_queue_count(broker_model, topic)
    if queue_id not in range(queue_count):
        raise RequestError(f"queueId[{queue_id}] is illegal, topic:[{topic}]", ResponseCode.INVALID_PARAMETER)
    min_offset = broker_model.offsets.begin_offsets(topic, queue_count, now_ms)[queue_id]
    end_offset = broker_model.offsets.end_offsets(topic, queue_count, now_ms)[queue_id]
    if not min_offset <= queue_offset < end_offset:
        response_code = (
            ResponseCode.PULL_NOT_FOUND if queue_offset == end_offset else ResponseCode.PULL_OFFSET_MOVED
        )
        return PullResponse(
            response_code,
            b"",
            _offset_fields(min(max(queue_offset, min_offset), end_offset), min_offset, end_offset),
        )
    last_offset = min(queue_offset + max(1, min(request_header.max_msg_nums, _MAX_PULL_COUNT)), end_offset)
    wanted_tags = {tag.strip() for tag in (request_header.subscription or "*").split("||")}
    message_numbers = (
        broker_model.offsets.number_of_queue_message(topic, queue_count, queue_id, offset)
        for offset in range(queue_offset, last_offset)
    )
    encoded_messages = [
        encode_message(broker_model, message_number, now_ms)
        for message_number in message_numbers
        if wanted_tags & {"*", "", _message_tag(message_number)}
    ]
    response_code = ResponseCode.SUCCESS if encoded_messages else ResponseCode.PULL_RETRY_IMMEDIATELY
    return PullResponse(
        response_code, b"".join(encoded_messages), _offset_fields(last_offset, min_offset, end_offset)
    )


def _offset_fields(next_offset: int, min_offset: int, max_offset: int) -> ExtFields:
    numbers_by_field = {
        "nextBeginOffset": next_offset,
        "minOffset": min_offset,
        "maxOffset": max_offset,
        "suggestWhichBrokerId": 0,
    }
    return {field_name: str(field_value) for field_name, field_value in numbers_by_field.items()}


def _require_queue_count(broker_model: BrokerModel, topic: str) -> int:
    if topic not in broker_model.topic_table.configs:
        raise TopicNotExist(f"the topic[{topic}] not exist")
    return broker_model.read_queue_count(topic)


class QueueEntryRange(NamedTuple):
    """The entries of a queue: offsets from `low` to before `high`; `found` has offsets, sizes and tags."""

    min_offset: int
    end_offset: int
    entry_tuples: list[tuple[int, int, str]]


def list_queue_entries(
    broker_model: BrokerModel, topic: str, queue_id: int, first_index: int, entry_count: int, now_ms: int
) -> QueueEntryRange:
    """List up to `count` entries of a queue, from `index` on."""
    queue_count = _require_queue_count(broker_model, topic)
    min_offset = broker_model.offsets.begin_offsets(topic, queue_count, now_ms)[queue_id]
    end_offset = broker_model.offsets.end_offsets(topic, queue_count, now_ms)[queue_id]
    wanted_offsets = (
        range(first_index, min(first_index + entry_count, end_offset))
        if min_offset <= first_index < end_offset
        else range(0)
    )
    message_size = broker_model.traffic.message_size
    message_numbers = (
        broker_model.offsets.number_of_queue_message(topic, queue_count, queue_id, offset)
        for offset in wanted_offsets
    )
    return QueueEntryRange(
        min_offset,
        end_offset,
        [
            (message_number * message_size, message_size, _message_tag(message_number))
            for message_number in message_numbers
        ],
    )


def view_message(broker_model: BrokerModel, physical_offset: int, now_ms: int) -> bytes:
    """The message at an offset of the commit log."""
    message_number, byte_remainder = divmod(physical_offset, broker_model.traffic.message_size)
    if byte_remainder or not _is_stored(broker_model, message_number, now_ms):
        raise RequestError(f"can not find message by the offset, {physical_offset}")
    return encode_message(broker_model, message_number, now_ms)


def query_messages(
    broker_model: BrokerModel, request_header: broker_headers.QueryMessage, now_ms: int
) -> tuple[bytes, ExtFields]:
    """The messages of a topic with a key or an id. Raises QueryNotFound if there is none."""
    topic, message_key = request_header.topic or "", request_header.key or ""
    find_numbers = _find_by_unique_id if request_header.unique_key_query else _find_by_key
    begin_ms, end_ms = request_header.begin_timestamp or 0, request_header.end_timestamp
    encoded_messages = [
        encode_message(broker_model, message_number, now_ms)
        for message_number in find_numbers(broker_model, topic, message_key)
        if _is_stored(broker_model, message_number, now_ms)
        and begin_ms <= (stored_at_ms := broker_model.traffic.stored_time_ms(message_number, now_ms))
        and (end_ms is None or stored_at_ms <= end_ms)
    ]
    if not encoded_messages:
        raise QueryNotFound("can not find message, maybe time range not correct")
    log_end = broker_model.traffic.stored_bytes(now_ms)
    return b"".join(encoded_messages), {
        "indexLastUpdateTimestamp": str(now_ms),
        "indexLastUpdatePhyoffset": str(log_end),
    }


def _find_by_key(broker_model: BrokerModel, topic: str, message_key: str) -> Iterator[int]:
    """Find messages by key, which is the topic and a count, as in payments-4711."""
    key_topic, _, count_text = message_key.rpartition("-")
    if (
        key_topic == topic
        and broker_model.offsets.has_traffic(topic)
        and count_text.isascii()
        and count_text.isdigit()
    ):
        yield broker_model.offsets.number_of_topic_message(topic, int(count_text))


def _find_by_unique_id(broker_model: BrokerModel, topic: str, msg_id: str) -> Iterator[int]:
    try:
        _, _, _, low_bits, high_bits = _UNIQUE_ID_LAYOUT.unpack(bytes.fromhex(msg_id))
    except (ValueError, struct.error):
        return
    message_number = high_bits << 32 | low_bits
    if (
        broker_model.offsets.topic_of_message(message_number) == topic
        and _make_unique_id(broker_model, topic, message_number) == msg_id
    ):
        yield message_number


def _is_stored(broker_model: BrokerModel, message_number: int, now_ms: int) -> bool:
    """Whether the message was stored, is not deleted, and its topic still exists."""
    is_retained = (
        broker_model.traffic.deleted_count(now_ms)
        <= message_number
        < broker_model.traffic.stored_count(now_ms)
    )
    return (
        is_retained
        and broker_model.offsets.topic_of_message(message_number) in broker_model.topic_table.configs
    )


def encode_message(broker_model: BrokerModel, message_number: int, now_ms: int) -> bytes:
    """Encode the message as in the commit log, with about the usual message size of this broker."""
    topic = broker_model.offsets.topic_of_message(message_number)
    queue_id, queue_offset = broker_model.offsets.place_in_queue(
        message_number, broker_model.read_queue_count(topic)
    )
    stored_at_ms = broker_model.traffic.stored_time_ms(message_number, now_ms)
    message_properties = {
        KEYS_PROPERTY: f"{topic}-{broker_model.offsets.index_in_topic(message_number)}",
        UNIQUE_KEY_PROPERTY: _make_unique_id(broker_model, topic, message_number),
        "CLUSTER": broker_model.spec.cluster_name,
        TAGS_PROPERTY: _message_tag(message_number),
        "WAIT": "true",
    }
    topic_bytes, property_bytes = topic.encode(), encode_properties(message_properties).encode()
    body_bytes = _message_body(
        message_properties,
        message_number,
        broker_model.traffic.message_size - 91 - len(topic_bytes) - len(property_bytes),
    )
    master_model = broker_model.peer_models.get(
        (broker_model.spec.broker_name, MASTER_BROKER_ID), broker_model
    )
    physical_offset = message_number * broker_model.traffic.message_size
    record_tail = b"".join(
        [
            struct.pack(">iiqqiq", queue_id, 0, queue_offset, physical_offset, 0, stored_at_ms - 2),
            _encode_address(_message_producer(broker_model, topic, message_number).client_addr),
            struct.pack(">q", stored_at_ms),
            _encode_address(master_model.broker_addr),
            struct.pack(">iqi", 0, 0, len(body_bytes)),
            body_bytes,
            struct.pack(">b", len(topic_bytes)) + topic_bytes,
            struct.pack(">h", len(property_bytes)) + property_bytes,
        ]
    )
    return (
        struct.pack(">iII", 12 + len(record_tail), MAGIC_V1, zlib.crc32(body_bytes) & 0x7FFFFFFF)
        + record_tail
    )


def _message_body(message_properties: dict[str, str], message_number: int, body_size: int) -> bytes:
    body_fields = {
        "id": message_properties[KEYS_PROPERTY],
        "event": message_properties[TAGS_PROPERTY],
        "amount": message_number * 7919 % 100_000 / 100,
    }
    empty_body = json.dumps({**body_fields, "note": ""})
    filler_text = (_FILLER_TEXT * (max(body_size, 0) // len(_FILLER_TEXT) + 1))[
        : max(body_size - len(empty_body), 0)
    ]
    return json.dumps({**body_fields, "note": filler_text}).encode()


def _message_tag(message_number: int) -> str:
    return _MESSAGE_TAGS[zlib.crc32(message_number.to_bytes(8)) % len(_MESSAGE_TAGS)]


def _message_producer(broker_model: BrokerModel, topic: str, message_number: int) -> clients.SimulatedClient:
    topic_producers = clients.producers_of_topic(broker_model, topic)
    return topic_producers[message_number % len(topic_producers)]


def _make_unique_id(broker_model: BrokerModel, topic: str, message_number: int) -> str:
    """The unique key of the message. It has the broker where Java puts the class loader."""
    host_bytes = _encode_address(_message_producer(broker_model, topic, message_number).client_addr)[:4]
    broker_hash = zlib.crc32(broker_model.spec.broker_name.encode()) >> 1
    return build_unique_key(
        host_bytes, 4000 + message_number % 2, broker_hash, message_number & 0xFFFFFFFF, message_number >> 32
    )


def _encode_address(socket_addr: str) -> bytes:
    """Encode an address such as "10.0.0.1:1000" as in records."""
    host, _, port = socket_addr.rpartition(":")
    return bytes(map(int, host.split("."))) + struct.pack(">i", int(port))
