"""The messages of a simulated broker: none is kept, each is made anew from its number when it is asked for.

A broker numbers what it stores; its topics take turns, and the queues of each topic. So a place in a queue, a
place in the commit log, a key and an id each lead back to the number. Pure.
"""

import json
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from namesrv_core.errors import QueryNotFound, RequestError, ResponseCode, TopicNotExist
from namesrv_core.fleet import clients
from namesrv_core.fleet.model import BrokerModel
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import MASTER_ID
from namesrv_core.protocol.command import ExtFields
from namesrv_core.protocol.message_ids import unique_key
from namesrv_core.protocol.messages import KEYS, MAGIC_V1, TAGS, UNIQUE_KEY, properties_text

_TAGS = ("created", "updated", "cancelled", "settled")
_AT_ONCE = 32
"""Messages that a broker gives at a time (maxMsgsNumBatch is twice that, for searches)."""
_FILLER = "Nobody ever sent this message. "
_ID = struct.Struct(">4sHiIH")


class Pulled(NamedTuple):
    """An answer to PULL_MESSAGE: a code that says how to go on, and messages with code 0."""

    code: int
    body: bytes
    ext: ExtFields


def pull(model: BrokerModel, wanted: broker_headers.PullMessage, now: int) -> Pulled:
    """Messages of one queue from an offset on; with a subscription `A || B` those that have such a tag."""
    topic, queue, at = wanted.topic or "", wanted.queue_id, wanted.queue_offset or 0
    queues = _queues(model, topic)
    if queue not in range(queues):
        raise RequestError(f"queueId[{queue}] is illegal, topic:[{topic}]", ResponseCode.INVALID_PARAMETER)
    low = model.offsets.begins(topic, queues, now)[queue]
    high = model.offsets.ends(topic, queues, now)[queue]
    if not low <= at < high:
        code = ResponseCode.PULL_NOT_FOUND if at == high else ResponseCode.PULL_OFFSET_MOVED
        return Pulled(code, b"", _progress(min(max(at, low), high), low, high))
    end = min(at + max(1, min(wanted.max_msg_nums, _AT_ONCE)), high)
    tags = {tag.strip() for tag in (wanted.subscription or "*").split("||")}
    numbers = (model.offsets.number(topic, queues, queue, offset) for offset in range(at, end))
    records = [record(model, number, now) for number in numbers if tags & {"*", "", _tag(number)}]
    code = ResponseCode.SUCCESS if records else ResponseCode.PULL_RETRY_IMMEDIATELY
    return Pulled(code, b"".join(records), _progress(end, low, high))


def _progress(following: int, low: int, high: int) -> ExtFields:
    fields = {"nextBeginOffset": following, "minOffset": low, "maxOffset": high, "suggestWhichBrokerId": 0}
    return {name: str(value) for name, value in fields.items()}


def _queues(model: BrokerModel, topic: str) -> int:
    if topic not in model.topics.configs:
        raise TopicNotExist(f"the topic[{topic}] not exist")
    return model.queues(topic)


class Entries(NamedTuple):
    """A queue has entries from `low` to before `high`; `found` are places (bytes), sizes and tags of some."""

    low: int
    high: int
    found: list[tuple[int, int, str]]


def entries(model: BrokerModel, topic: str, queue: int, index: int, count: int, now: int) -> Entries:
    """Up to `count` entries of a queue from `index` on."""
    queues = _queues(model, topic)
    low = model.offsets.begins(topic, queues, now)[queue]
    high = model.offsets.ends(topic, queues, now)[queue]
    wanted = range(index, min(index + count, high)) if low <= index < high else range(0)
    size = model.traffic.message_size
    numbers = (model.offsets.number(topic, queues, queue, offset) for offset in wanted)
    return Entries(low, high, [(number * size, size, _tag(number)) for number in numbers])


def view(model: BrokerModel, physical_offset: int, now: int) -> bytes:
    """The message at a place of the commit log."""
    number, rest = divmod(physical_offset, model.traffic.message_size)
    if rest or not _is_there(model, number, now):
        raise RequestError(f"can not find message by the offset, {physical_offset}")
    return record(model, number, now)


def query(model: BrokerModel, wanted: broker_headers.QueryMessage, now: int) -> tuple[bytes, ExtFields]:
    """The messages of a topic with a key, or with an id; QueryNotFound where there is none."""
    topic, key = wanted.topic or "", wanted.key or ""
    find = _by_id if wanted.unique_key_query else _by_key
    since, until = wanted.begin_timestamp or 0, wanted.end_timestamp
    found = [
        record(model, number, now)
        for number in find(model, topic, key)
        if _is_there(model, number, now)
        and since <= (stored := model.traffic.stored_time(number, now))
        and (until is None or stored <= until)
    ]
    if not found:
        raise QueryNotFound("can not find message, maybe time range not correct")
    end = model.traffic.stored_bytes(now)
    return b"".join(found), {"indexLastUpdateTimestamp": str(now), "indexLastUpdatePhyoffset": str(end)}


def _by_key(model: BrokerModel, topic: str, key: str) -> Iterator[int]:
    """A key is the topic and a count, as in payments-4711."""
    name, _, count = key.rpartition("-")
    if name == topic and model.offsets.counts(topic) and count.isascii() and count.isdigit():
        yield model.offsets.nth(topic, int(count))


def _by_id(model: BrokerModel, topic: str, msg_id: str) -> Iterator[int]:
    try:
        _, _, _, low, high = _ID.unpack(bytes.fromhex(msg_id))
    except (ValueError, struct.error):
        return
    number = high << 32 | low
    if model.offsets.topic_of(number) == topic and _unique_id(model, topic, number) == msg_id:
        yield number


def _is_there(model: BrokerModel, number: int, now: int) -> bool:
    """Whether it was stored, is not deleted, and its topic is still here."""
    stored = model.traffic.deleted(now) <= number < model.traffic.stored(now)
    return stored and model.offsets.topic_of(number) in model.topics.configs


def record(model: BrokerModel, number: int, now: int) -> bytes:
    """The message as the commit log has it, about as long as this broker's messages are."""
    topic = model.offsets.topic_of(number)
    queue, offset = model.offsets.place(number, model.queues(topic))
    stored = model.traffic.stored_time(number, now)
    table = {
        KEYS: f"{topic}-{model.offsets.count_of(number)}",
        UNIQUE_KEY: _unique_id(model, topic, number),
        "CLUSTER": model.spec.cluster_name,
        TAGS: _tag(number),
        "WAIT": "true",
    }
    name, properties = topic.encode(), properties_text(table).encode()
    body = _body(table, number, model.traffic.message_size - 91 - len(name) - len(properties))
    master = model.peers.get((model.spec.broker_name, MASTER_ID), model)
    physical = number * model.traffic.message_size
    rest = b"".join(
        [
            struct.pack(">iiqqiq", queue, 0, offset, physical, 0, stored - 2),
            _address(_producer(model, topic, number).addr),
            struct.pack(">q", stored),
            _address(master.broker_addr),
            struct.pack(">iqi", 0, 0, len(body)),
            body,
            struct.pack(">b", len(name)) + name,
            struct.pack(">h", len(properties)) + properties,
        ]
    )
    return struct.pack(">iII", 12 + len(rest), MAGIC_V1, zlib.crc32(body) & 0x7FFFFFFF) + rest


def _body(table: dict[str, str], number: int, room: int) -> bytes:
    fields = {"id": table[KEYS], "event": table[TAGS], "amount": number * 7919 % 100_000 / 100}
    text = json.dumps({**fields, "note": ""})
    filler = (_FILLER * (max(room, 0) // len(_FILLER) + 1))[: max(room - len(text), 0)]
    return json.dumps({**fields, "note": filler}).encode()


def _tag(number: int) -> str:
    return _TAGS[zlib.crc32(number.to_bytes(8)) % len(_TAGS)]


def _producer(model: BrokerModel, topic: str, number: int) -> clients.Client:
    makers = clients.producers_of(model, topic)
    return makers[number % len(makers)]


def _unique_id(model: BrokerModel, topic: str, number: int) -> str:
    """What the producer calls it: the broker stands where a real one has its class loader."""
    address = _address(_producer(model, topic, number).addr)[:4]
    broker = zlib.crc32(model.spec.broker_name.encode()) >> 1
    return unique_key(address, 4000 + number % 2, broker, number & 0xFFFFFFFF, number >> 32)


def _address(addr: str) -> bytes:
    """ "10.0.0.1:1000" as it stands in records."""
    host, _, port = addr.rpartition(":")
    return bytes(map(int, host.split("."))) + struct.pack(">i", int(port))
