"""The messages of a simulated broker. None is stored: each one is computed from its number on request. Pure.

A broker numbers its messages. Its topics take turns, and so do the queues of each topic. So the number of a
message follows from its queue offset, its commit log offset, its key or its id.
"""

import json
import struct
import zlib
from collections.abc import Iterator

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


def pull_messages(
    model: BrokerModel, header: broker_headers.PullMessage, now_ms: int
) -> tuple[int, bytes, ExtFields]:
    """Messages of one queue from an offset on; with a subscription `A || B` only those with such a tag.

    The answer is a code that says how to continue, messages with code 0, and ext fields.
    """
    topic, queue_id, queue_offset = header.topic or "", header.queue_id, header.queue_offset or 0
    queue_count = _require_queue_count(model, topic)
    if queue_id not in range(queue_count):
        raise RequestError(f"queueId[{queue_id}] is illegal, topic:[{topic}]", ResponseCode.INVALID_PARAMETER)
    min_offset = model.offsets.begin_offsets(topic, queue_count, now_ms)[queue_id]
    end = model.offsets.end_offsets(topic, queue_count, now_ms)[queue_id]
    if not min_offset <= queue_offset < end:
        code = ResponseCode.PULL_NOT_FOUND if queue_offset == end else ResponseCode.PULL_OFFSET_MOVED
        return code, b"", _offset_fields(min(max(queue_offset, min_offset), end), min_offset, end)
    last_offset = min(queue_offset + max(1, min(header.max_msg_nums, _MAX_PULL_COUNT)), end)
    wanted_tags = {tag.strip() for tag in (header.subscription or "*").split("||")}
    numbers = (
        model.offsets.number_of_queue_message(topic, queue_id, offset)
        for offset in range(queue_offset, last_offset)
    )
    messages = [encode_message(model, n, now_ms) for n in numbers if wanted_tags & {"*", "", _message_tag(n)}]
    code = ResponseCode.SUCCESS if messages else ResponseCode.PULL_RETRY_IMMEDIATELY
    return code, b"".join(messages), _offset_fields(last_offset, min_offset, end)


def _offset_fields(next_offset: int, min_offset: int, max_offset: int) -> ExtFields:
    numbers = {
        "nextBeginOffset": next_offset,
        "minOffset": min_offset,
        "maxOffset": max_offset,
        "suggestWhichBrokerId": 0,
    }
    return {name: str(value) for name, value in numbers.items()}


def _require_queue_count(model: BrokerModel, topic: str) -> int:
    if topic not in model.topic_table.configs:
        raise TopicNotExist(f"the topic[{topic}] not exist")
    return model.read_queue_count(topic)


def list_queue_entries(
    model: BrokerModel, topic: str, queue_id: int, first_index: int, count: int, now_ms: int
) -> tuple[int, int, list[tuple[int, int, str]]]:
    """The begin and the end of a queue, and up to `count` of its entries: their offsets, sizes and tags."""
    queue_count = _require_queue_count(model, topic)
    min_offset = model.offsets.begin_offsets(topic, queue_count, now_ms)[queue_id]
    end = model.offsets.end_offsets(topic, queue_count, now_ms)[queue_id]
    wanted = (
        range(first_index, min(first_index + count, end)) if min_offset <= first_index < end else range(0)
    )
    message_size = model.traffic.message_size
    numbers = (model.offsets.number_of_queue_message(topic, queue_id, o) for o in wanted)
    return (
        min_offset,
        end,
        [(number * message_size, message_size, _message_tag(number)) for number in numbers],
    )


def view_message(model: BrokerModel, header: broker_headers.ViewMessage, now_ms: int) -> bytes:
    physical_offset = header.offset or 0
    number, remainder = divmod(physical_offset, model.traffic.message_size)
    if remainder or not _is_stored(model, number, now_ms):
        raise RequestError(f"can not find message by the offset, {physical_offset}")
    return encode_message(model, number, now_ms)


def query_messages(
    model: BrokerModel, header: broker_headers.QueryMessage, now_ms: int
) -> tuple[bytes, ExtFields]:
    """The messages of a topic with a key or an id. Raises QueryNotFound if there is none."""
    topic, key = header.topic or "", header.key or ""
    find_numbers = _find_by_unique_id if header.unique_key_query else _find_by_key
    begin_ms, end_ms = header.begin_timestamp or 0, header.end_timestamp
    messages = [
        encode_message(model, number, now_ms)
        for number in find_numbers(model, topic, key)
        if _is_stored(model, number, now_ms)
        and begin_ms <= (stored_at_ms := model.traffic.stored_time_ms(number, now_ms))
        and (end_ms is None or stored_at_ms <= end_ms)
    ]
    if not messages:
        raise QueryNotFound("can not find message, maybe time range not correct")
    end = model.traffic.stored_bytes(now_ms)
    return b"".join(messages), {"indexLastUpdateTimestamp": str(now_ms), "indexLastUpdatePhyoffset": str(end)}


def _find_by_key(model: BrokerModel, topic: str, key: str) -> Iterator[int]:
    """Find messages by key, which is the topic and a count, as in payments-4711."""
    key_topic, _, count = key.rpartition("-")
    if key_topic == topic and model.offsets.has_traffic(topic) and count.isascii() and count.isdigit():
        yield model.offsets.number_of_topic_message(topic, int(count))


def _find_by_unique_id(model: BrokerModel, topic: str, msg_id: str) -> Iterator[int]:
    try:
        _, _, _, low_bits, high_bits = _UNIQUE_ID_LAYOUT.unpack(bytes.fromhex(msg_id))
    except (ValueError, struct.error):
        return
    number = high_bits << 32 | low_bits
    if model.offsets.topic_of_message(number) == topic and _make_unique_id(model, topic, number) == msg_id:
        yield number


def _is_stored(model: BrokerModel, number: int, now_ms: int) -> bool:
    """Whether the message was stored, is not deleted, and its topic still exists."""
    is_retained = model.traffic.deleted_count(now_ms) <= number < model.traffic.stored_count(now_ms)
    return is_retained and model.offsets.topic_of_message(number) in model.topic_table.configs


def encode_message(model: BrokerModel, number: int, now_ms: int) -> bytes:
    """Encode the message as in the commit log, with about the usual message size of this broker."""
    topic = model.offsets.topic_of_message(number)
    queue_id, queue_offset = model.offsets.place_in_queue(number)
    stored_at_ms = model.traffic.stored_time_ms(number, now_ms)
    properties = {
        KEYS_PROPERTY: f"{topic}-{model.offsets.index_in_topic(number)}",
        UNIQUE_KEY_PROPERTY: _make_unique_id(model, topic, number),
        "CLUSTER": model.spec.cluster_name,
        TAGS_PROPERTY: _message_tag(number),
        "WAIT": "true",
    }
    topic_bytes, data = topic.encode(), encode_properties(properties).encode()
    body = _message_body(properties, number, model.traffic.message_size - 91 - len(topic_bytes) - len(data))
    master = model.peer_models.get((model.spec.broker_name, MASTER_BROKER_ID), model)
    physical_offset = number * model.traffic.message_size
    tail = b"".join(
        [
            struct.pack(">iiqqiq", queue_id, 0, queue_offset, physical_offset, 0, stored_at_ms - 2),
            _encode_address(_message_producer(model, topic, number).client_addr),
            struct.pack(">q", stored_at_ms),
            _encode_address(master.broker_addr),
            struct.pack(">iqi", 0, 0, len(body)),
            body,
            struct.pack(">b", len(topic_bytes)) + topic_bytes,
            struct.pack(">h", len(data)) + data,
        ]
    )
    return struct.pack(">iII", 12 + len(tail), MAGIC_V1, zlib.crc32(body) & 0x7FFFFFFF) + tail


def _message_body(properties: dict[str, str], number: int, body_size: int) -> bytes:
    fields = {
        "id": properties[KEYS_PROPERTY],
        "event": properties[TAGS_PROPERTY],
        "amount": number * 7919 % 100_000 / 100,
    }
    empty_body = json.dumps({**fields, "note": ""})
    filler = (_FILLER_TEXT * (max(body_size, 0) // len(_FILLER_TEXT) + 1))[
        : max(body_size - len(empty_body), 0)
    ]
    return json.dumps({**fields, "note": filler}).encode()


def _message_tag(number: int) -> str:
    return _MESSAGE_TAGS[zlib.crc32(number.to_bytes(8)) % len(_MESSAGE_TAGS)]


def _message_producer(model: BrokerModel, topic: str, number: int) -> clients.SimulatedClient:
    producers = clients.producers_of_topic(model, topic)
    return producers[number % len(producers)]


def _make_unique_id(model: BrokerModel, topic: str, number: int) -> str:
    """The unique key of the message. It has the broker where Java puts the class loader."""
    host = _encode_address(_message_producer(model, topic, number).client_addr)[:4]
    digest = zlib.crc32(model.spec.broker_name.encode()) >> 1
    return build_unique_key(host, 4000 + number % 2, digest, number & 0xFFFFFFFF, number >> 32)


def _encode_address(addr: str) -> bytes:
    """Encode an address such as "10.0.0.1:1000" as in records."""
    host, _, port = addr.rpartition(":")
    return bytes(map(int, host.split("."))) + struct.pack(">i", int(port))
