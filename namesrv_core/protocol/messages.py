"""The decoder of stored messages: brokers send records of their commit log unchanged, one after the other.

The result counts the bytes that could not be read. Upstream: MessageDecoder, CommitLog.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from namesrv_core.protocol.message_bodies import CannotInflate, inflated
from namesrv_core.protocol.message_ids import addr_text, offset_id

MAGIC_V1 = 0xDAA320A7
MAGIC_V2 = 0xDAA320AB
"""A record whose topic has more than 127 bytes, so that its length takes two bytes."""
BORN_HOST_V6 = 0x10
STORE_HOST_V6 = 0x20
INNER_BATCH = 0xC0
"""Both bits are set in a record whose body is a batch of messages (a topic with queue type BatchCQ)."""

KEYS, TAGS, UNIQUE_KEY = "KEYS", "TAGS", "UNIQ_KEY"
_NAME_END, _VALUE_END = "\x01", "\x02"
_HEAD = struct.Struct(">iIIiiqqiq")
"""Size, magic, CRC, queue id, flag, queue offset, physical offset, sysFlag, born timestamp."""
_INNER_HEAD = struct.Struct(">iiiii")
"""Size, magic, CRC, flag, body length. Magic and CRC are always 0."""


class Message(NamedTuple):
    """A message as a broker stores it.

    Timestamps are in ms since 1970: `born_timestamp` by the producer's clock, `store_timestamp` by the
    broker's. Hosts are "host:port". `body` is inflated; if that failed, it is as stored and `body_error` says
    why. `crc_ok` is None if no checksum is stored. `store_size` is the size of the whole record in bytes.
    """

    topic: str
    queue_id: int
    queue_offset: int
    physical_offset: int
    flag: int
    sys_flag: int
    born_timestamp: int
    born_host: str
    store_timestamp: int
    store_host: str
    reconsume_times: int
    prepared_transaction_offset: int
    body: bytes
    body_error: str | None
    crc_ok: bool | None
    properties: dict[str, str]
    store_size: int
    offset_msg_id: str

    @property
    def msg_id(self) -> str:
        """The unique key of its producer. Without one it is the offset id, as in Java."""
        return self.properties.get(UNIQUE_KEY) or self.offset_msg_id

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self.properties.get(KEYS, "").split())

    @property
    def tags(self) -> str | None:
        return self.properties.get(TAGS)


class Decoded(NamedTuple):
    """Messages in their order, and the number of bytes after them that could not be read."""

    messages: tuple[Message, ...]
    left_over: int


def decode_messages(data: bytes) -> Decoded:
    """The messages of an answer's body. Each message of an inner batch is one of them."""
    messages: list[Message] = []
    at = 0
    while at < len(data):
        try:
            record, end = _record(data, at)
            messages += _unwrapped(record)
        except (struct.error, ValueError, IndexError):
            break
        at = end
    return Decoded(tuple(messages), len(data) - at)


def properties(raw: bytes) -> dict[str, str]:
    """Names and values of properties, without those that lack a name or a value, as in Java."""
    table = {}
    for item in raw.decode("utf-8", "replace").split(_VALUE_END):
        name, _, value = item.partition(_NAME_END)
        if name and value:
            table[name] = value
    return table


def properties_text(table: Mapping[str, str]) -> str:
    """Properties as they are on the wire. Raises ValueError for a text that contains a separator."""
    for text in (*table, *table.values()):
        if _NAME_END in text or _VALUE_END in text:
            raise ValueError(f"a property cannot have \\x01 or \\x02 in it: {text!r}")
    return "".join(f"{name}{_NAME_END}{value}{_VALUE_END}" for name, value in table.items() if name and value)


class _Reader:
    """Reads the fields of a record one after the other, and never beyond its end."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self._data, self._at, self._end = data, at, end

    def take(self, length: int) -> bytes:
        if length < 0 or self._at + length > self._end:
            raise ValueError("a length that goes beyond the end of its record")
        self._at += length
        return self._data[self._at - length : self._at]

    def number(self, form: str) -> int:
        [number] = struct.unpack(f">{form}", self.take(struct.calcsize(f">{form}")))
        return int(number)


def _record(data: bytes, at: int) -> tuple[Message, int]:
    """The record at `record_start` and its end. Raises ValueError or struct.error if there is no record."""
    size, magic, crc, queue_id, flag, queue_offset, physical, sys_flag, born = _HEAD.unpack_from(data, at)
    if magic not in (MAGIC_V1, MAGIC_V2) or size < _HEAD.size or at + size > len(data):
        raise ValueError("no record begins here")
    fields = _Reader(data, at + _HEAD.size, at + size)
    born_ip = fields.take(16 if sys_flag & BORN_HOST_V6 else 4)
    born_port = fields.number("i")
    stored = fields.number("q")
    store_ip = fields.take(16 if sys_flag & STORE_HOST_V6 else 4)
    store_port = fields.number("i")
    reconsume_times, prepared = fields.number("i"), fields.number("q")
    body = fields.take(fields.number("i"))
    topic = fields.take(fields.number("B" if magic == MAGIC_V1 else "H"))
    table = properties(fields.take(fields.number("H")))
    crc_ok = None if crc == 0 else crc == zlib.crc32(body) & 0x7FFFFFFF
    plain, error = _plain(body, sys_flag)
    message = Message(
        topic.decode("utf-8", "replace"),
        queue_id,
        queue_offset,
        physical,
        flag,
        sys_flag,
        born,
        addr_text(born_ip, born_port),
        stored,
        addr_text(store_ip, store_port),
        reconsume_times,
        prepared,
        plain,
        error,
        crc_ok,
        table,
        size,
        offset_id(store_ip, store_port, physical),
    )
    return message, at + size


def _plain(body: bytes, sys_flag: int) -> tuple[bytes, str | None]:
    try:
        return inflated(body, sys_flag), None
    except CannotInflate as error:
        return body, str(error)


def _unwrapped(record: Message) -> Iterator[Message]:
    """The messages of an inner batch, whose offsets count up from the record's; otherwise the record."""
    if record.sys_flag & INNER_BATCH != INNER_BATCH or record.body_error is not None:
        yield record
        return
    at, count = 0, 0
    while at < len(record.body):
        size, _, _, flag, length = _INNER_HEAD.unpack_from(record.body, at)
        if size < _INNER_HEAD.size:
            raise ValueError("an inner message without a length")
        fields = _Reader(record.body, at + _INNER_HEAD.size, at + size)
        body = fields.take(length)
        table = properties(fields.take(fields.number("H")))
        yield record._replace(
            queue_offset=record.queue_offset + count, flag=flag, body=body, properties=table, store_size=size
        )
        at, count = at + size, count + 1
