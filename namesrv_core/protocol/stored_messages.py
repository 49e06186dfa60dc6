"""The decoder of stored messages: brokers send records of their commit log unchanged, one after the other.

The result counts the bytes that could not be read. Upstream: MessageDecoder, CommitLog.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from namesrv_core.protocol.message_compression import (
    COMPRESSED_FLAG,
    MAX_INFLATED_BYTES,
    InflationError,
    inflate_body,
)
from namesrv_core.protocol.message_ids import build_offset_id, format_addr

MAGIC_V1 = 0xDAA320A7
MAGIC_V2 = 0xDAA320AB
"""A record whose topic has more than 127 bytes, so that its length takes two bytes."""
BORN_HOST_V6 = 0x10
STORE_HOST_V6 = 0x20
INNER_BATCH_FLAGS = 0xC0
"""Both bits are set in a record whose body is a batch of messages (a topic with queue type BatchCQ)."""

MAX_PROPERTY_BYTES = 32_767
"""The length of all properties takes two bytes (Short.MAX_VALUE)."""

KEYS_PROPERTY, TAGS_PROPERTY, UNIQUE_KEY_PROPERTY = "KEYS", "TAGS", "UNIQ_KEY"
_NAME_END, _VALUE_END = "\x01", "\x02"
_RECORD_HEAD = struct.Struct(">iIIiiqqiq")
"""Size, magic, CRC, queue id, flag, queue offset, physical offset, sysFlag, born timestamp."""
_INNER_HEAD = struct.Struct(">iiiii")
"""Size, magic, CRC, flag, body length. Magic and CRC are always 0."""
_MAX_INFLATION_RATIO = 16
"""All bodies of an answer inflate to at most this many times its size, and MAX_INFLATED_BYTES more."""
_MAX_INFLATED_MESSAGES = 1 << 16
"""The inner batches of an answer may have this many messages more than would fit into it uncompressed."""


class StoredMessage(NamedTuple):
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
        return self.properties.get(UNIQUE_KEY_PROPERTY) or self.offset_msg_id

    @property
    def keys(self) -> tuple[str, ...]:
        return split_keys(self.properties.get(KEYS_PROPERTY, ""))

    @property
    def tags(self) -> str | None:
        return self.properties.get(TAGS_PROPERTY)


def split_keys(text: str) -> tuple[str, ...]:
    """The keys of a message; as in Java, no other white space than the blank separates them."""
    return tuple(key for key in text.split(" ") if key)


class DecodedMessages(NamedTuple):
    """Messages in their order, and the number of bytes after them that could not be read."""

    messages: tuple[StoredMessage, ...]
    unread_bytes: int


def decode_messages(stored: bytes) -> DecodedMessages:
    """The messages of an answer's body. Each message of an inner batch is one of them.

    A small answer can inflate to gigabytes. Bodies beyond the limit for the whole answer stay as stored, and
    a batch that has too many messages is no record.
    """
    messages: list[StoredMessage] = []
    inflater = _BodyInflater(len(stored))
    max_messages = _MAX_INFLATED_MESSAGES + len(stored) // _INNER_HEAD.size
    position = 0
    while position < len(stored):
        try:
            message, end = _decode_record(stored, position, inflater)
            batch_messages = list(islice(_unwrap_inner_batch(message), max_messages - len(messages) + 1))
            if len(messages) + len(batch_messages) > max_messages:
                raise ValueError("too many messages in a batch")
            messages += batch_messages
        except (struct.error, ValueError, IndexError):
            break
        position = end
    return DecodedMessages(tuple(messages), len(stored) - position)


def parse_properties(data: bytes) -> dict[str, str]:
    """Names and values of properties, without those that lack a name or a value, as in Java."""
    properties = {}
    for text in data.decode("utf-8", "replace").split(_VALUE_END):
        name, _, value = text.partition(_NAME_END)
        if name and value:
            properties[name] = value
    return properties


def encode_properties(properties: Mapping[str, str]) -> str:
    """Properties as they are on the wire. Raises ValueError for a text that contains a separator."""
    for text in (*properties, *properties.values()):
        if _NAME_END in text or _VALUE_END in text:
            raise ValueError(f"a property cannot contain \\x01 or \\x02: {text!r}")
    return "".join(f"{n}{_NAME_END}{v}{_VALUE_END}" for n, v in properties.items() if n and v)


def encode_batch_message(body: bytes, properties: Mapping[str, str], flag: int) -> bytes:
    """One message in the body of a batch request (MessageDecoder#encodeMessage).

    Raises ValueError for a property that contains a separator, or properties that are too long.
    """
    data = encode_properties(properties).encode()
    require_short_properties(data)
    size = _INNER_HEAD.size + len(body) + 2 + len(data)
    inner_head = _INNER_HEAD.pack(size, 0, 0, flag, len(body))
    return b"".join((inner_head, body, len(data).to_bytes(2, "big"), data))


def require_short_properties(data: bytes) -> None:
    """Raise ValueError for encoded properties that no record can hold."""
    if len(data) > MAX_PROPERTY_BYTES:
        raise ValueError(f"the properties are longer than {MAX_PROPERTY_BYTES} bytes")


class _MessageFieldReader:
    """Reads the fields of a record one after the other, and never beyond its end."""

    def __init__(self, stored: bytes, position: int, end: int) -> None:
        self._stored_bytes, self._position, self._record_end = stored, position, end

    def take_bytes(self, count: int) -> bytes:
        if count < 0 or self._position + count > self._record_end:
            raise ValueError("a length beyond the end of the record")
        self._position += count
        return self._stored_bytes[self._position - count : self._position]

    def take_number(self, number_format: str) -> int:
        [number] = struct.unpack(f">{number_format}", self.take_bytes(struct.calcsize(f">{number_format}")))
        return int(number)


class _BodyInflater:
    """Inflates the bodies of one answer, up to a limit for all of them together."""

    def __init__(self, stored_size: int) -> None:
        self._bytes_left = MAX_INFLATED_BYTES + _MAX_INFLATION_RATIO * stored_size

    def inflate(self, body: bytes, sys_flag: int) -> tuple[bytes, str | None]:
        """The plain body, or the stored body and the reason why it cannot be inflated."""
        if not sys_flag & COMPRESSED_FLAG:
            return body, None
        if self._bytes_left <= 0:
            return body, ("not inflated: the messages before it in this answer already inflate to the limit")
        try:
            plain = inflate_body(body, sys_flag, self._bytes_left)
        except InflationError as error:
            # A body may fail only after it inflated to the limit of one body.
            self._bytes_left -= MAX_INFLATED_BYTES
            return body, str(error)
        self._bytes_left -= len(plain)
        return plain, None


def _decode_record(stored: bytes, start: int, inflater: _BodyInflater) -> tuple[StoredMessage, int]:
    """The record at `start` and its end. Raises ValueError or struct.error if there is no record."""
    (
        record_size,
        magic,
        body_crc,
        queue_id,
        flag,
        queue_offset,
        physical_offset,
        sys_flag,
        born_timestamp,
    ) = _RECORD_HEAD.unpack_from(stored, start)
    if (
        magic not in (MAGIC_V1, MAGIC_V2)
        or record_size < _RECORD_HEAD.size
        or start + record_size > len(stored)
    ):
        raise ValueError("not the start of a record")
    reader = _MessageFieldReader(stored, start + _RECORD_HEAD.size, start + record_size)
    born_ip = reader.take_bytes(16 if sys_flag & BORN_HOST_V6 else 4)
    born_port = reader.take_number("i")
    store_timestamp = reader.take_number("q")
    store_ip = reader.take_bytes(16 if sys_flag & STORE_HOST_V6 else 4)
    store_port = reader.take_number("i")
    reconsume_times, prepared = reader.take_number("i"), reader.take_number("q")
    body = reader.take_bytes(reader.take_number("i"))
    topic = reader.take_bytes(reader.take_number("B" if magic == MAGIC_V1 else "H"))
    properties = parse_properties(reader.take_bytes(reader.take_number("H")))
    crc_ok = None if body_crc == 0 else body_crc == zlib.crc32(body) & 0x7FFFFFFF
    plain, body_error = inflater.inflate(body, sys_flag)
    message = StoredMessage(
        topic.decode("utf-8", "replace"),
        queue_id,
        queue_offset,
        physical_offset,
        flag,
        sys_flag,
        born_timestamp,
        format_addr(born_ip, born_port),
        store_timestamp,
        format_addr(store_ip, store_port),
        reconsume_times,
        prepared,
        plain,
        body_error,
        crc_ok,
        properties,
        record_size,
        build_offset_id(store_ip, store_port, physical_offset),
    )
    return message, start + record_size


def _unwrap_inner_batch(batch: StoredMessage) -> Iterator[StoredMessage]:
    """The messages of an inner batch, whose offsets count up from the record's; otherwise the record."""
    if batch.sys_flag & INNER_BATCH_FLAGS != INNER_BATCH_FLAGS or batch.body_error is not None:
        yield batch
        return
    position, message_count = 0, 0
    while position < len(batch.body):
        inner_size, _, _, flag, body_length = _INNER_HEAD.unpack_from(batch.body, position)
        if inner_size < _INNER_HEAD.size:
            raise ValueError("an inner message without a length")
        reader = _MessageFieldReader(batch.body, position + _INNER_HEAD.size, position + inner_size)
        body = reader.take_bytes(body_length)
        properties = parse_properties(reader.take_bytes(reader.take_number("H")))
        yield batch._replace(
            queue_offset=batch.queue_offset + message_count,
            flag=flag,
            body=body,
            properties=properties,
            store_size=inner_size,
        )
        position, message_count = position + inner_size, message_count + 1
