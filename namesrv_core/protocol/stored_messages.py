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


def split_keys(keys_text: str) -> tuple[str, ...]:
    """The keys of a message; as in Java, no other white space than the blank separates them."""
    return tuple(key for key in keys_text.split(" ") if key)


class DecodedMessages(NamedTuple):
    """Messages in their order, and the number of bytes after them that could not be read."""

    messages: tuple[StoredMessage, ...]
    unread_bytes: int


def decode_messages(stored_bytes: bytes) -> DecodedMessages:
    """The messages of an answer's body. Each message of an inner batch is one of them.

    A small answer can inflate to gigabytes. Bodies beyond the limit for the whole answer stay as stored, and
    a batch that has too many messages is no record.
    """
    messages: list[StoredMessage] = []
    body_inflater = _BodyInflater(len(stored_bytes))
    max_messages = _MAX_INFLATED_MESSAGES + len(stored_bytes) // _INNER_HEAD.size
    position = 0
    while position < len(stored_bytes):
        try:
            stored_message, record_end = _decode_record(stored_bytes, position, body_inflater)
            batch_messages = list(
                islice(_unwrap_inner_batch(stored_message), max_messages - len(messages) + 1)
            )
            if len(messages) + len(batch_messages) > max_messages:
                raise ValueError("too many messages in a batch")
            messages += batch_messages
        except (struct.error, ValueError, IndexError):
            break
        position = record_end
    return DecodedMessages(tuple(messages), len(stored_bytes) - position)


def parse_properties(property_bytes: bytes) -> dict[str, str]:
    """Names and values of properties, without those that lack a name or a value, as in Java."""
    property_table = {}
    for property_text in property_bytes.decode("utf-8", "replace").split(_VALUE_END):
        property_name, _, property_value = property_text.partition(_NAME_END)
        if property_name and property_value:
            property_table[property_name] = property_value
    return property_table


def encode_properties(property_table: Mapping[str, str]) -> str:
    """Properties as they are on the wire. Raises ValueError for a text that contains a separator."""
    for property_text in (*property_table, *property_table.values()):
        if _NAME_END in property_text or _VALUE_END in property_text:
            raise ValueError(f"a property cannot contain \\x01 or \\x02: {property_text!r}")
    return "".join(
        f"{property_name}{_NAME_END}{property_value}{_VALUE_END}"
        for property_name, property_value in property_table.items()
        if property_name and property_value
    )


def encode_batch_message(body: bytes, property_table: Mapping[str, str], flag: int) -> bytes:
    """One message in the body of a batch request (MessageDecoder#encodeMessage).

    Raises ValueError for a property that contains a separator, or properties that are too long.
    """
    property_bytes = encode_properties(property_table).encode()
    require_short_properties(property_bytes)
    size = _INNER_HEAD.size + len(body) + 2 + len(property_bytes)
    inner_head = _INNER_HEAD.pack(size, 0, 0, flag, len(body))
    return b"".join((inner_head, body, len(property_bytes).to_bytes(2, "big"), property_bytes))


def require_short_properties(property_bytes: bytes) -> None:
    """Raise ValueError for encoded properties that no record can hold."""
    if len(property_bytes) > MAX_PROPERTY_BYTES:
        raise ValueError(f"the properties are longer than {MAX_PROPERTY_BYTES} bytes")


class _MessageFieldReader:
    """Reads the fields of a record one after the other, and never beyond its end."""

    def __init__(self, stored_bytes: bytes, position: int, record_end: int) -> None:
        self._stored_bytes, self._position, self._record_end = stored_bytes, position, record_end

    def take_bytes(self, byte_count: int) -> bytes:
        if byte_count < 0 or self._position + byte_count > self._record_end:
            raise ValueError("a length beyond the end of the record")
        self._position += byte_count
        return self._stored_bytes[self._position - byte_count : self._position]

    def take_number(self, number_format: str) -> int:
        [parsed_number] = struct.unpack(
            f">{number_format}", self.take_bytes(struct.calcsize(f">{number_format}"))
        )
        return int(parsed_number)


class _BodyInflater:
    """Inflates the bodies of one answer, up to a limit for all of them together."""

    def __init__(self, stored_size: int) -> None:
        self._bytes_left = MAX_INFLATED_BYTES + _MAX_INFLATION_RATIO * stored_size

    def inflate(self, stored_body: bytes, sys_flag: int) -> tuple[bytes, str | None]:
        """The plain body, or the stored body and the reason why it cannot be inflated."""
        if not sys_flag & COMPRESSED_FLAG:
            return stored_body, None
        if self._bytes_left <= 0:
            return stored_body, (
                "not inflated: the messages before it in this answer already inflate to the limit"
            )
        try:
            plain_body = inflate_body(stored_body, sys_flag, self._bytes_left)
        except InflationError as error:
            # A body may fail only after it inflated to the limit of one body.
            self._bytes_left -= MAX_INFLATED_BYTES
            return stored_body, str(error)
        self._bytes_left -= len(plain_body)
        return plain_body, None


def _decode_record(
    stored_bytes: bytes, record_start: int, body_inflater: _BodyInflater
) -> tuple[StoredMessage, int]:
    """The record at `record_start` and its end. Raises ValueError or struct.error if there is no record."""
    (
        record_size,
        magic_code,
        body_crc,
        queue_id,
        flag,
        queue_offset,
        physical_offset,
        sys_flag,
        born_timestamp,
    ) = _RECORD_HEAD.unpack_from(stored_bytes, record_start)
    if (
        magic_code not in (MAGIC_V1, MAGIC_V2)
        or record_size < _RECORD_HEAD.size
        or record_start + record_size > len(stored_bytes)
    ):
        raise ValueError("not the start of a record")
    field_reader = _MessageFieldReader(
        stored_bytes, record_start + _RECORD_HEAD.size, record_start + record_size
    )
    born_ip = field_reader.take_bytes(16 if sys_flag & BORN_HOST_V6 else 4)
    born_port = field_reader.take_number("i")
    store_timestamp = field_reader.take_number("q")
    store_ip = field_reader.take_bytes(16 if sys_flag & STORE_HOST_V6 else 4)
    store_port = field_reader.take_number("i")
    reconsume_times, prepared_offset = field_reader.take_number("i"), field_reader.take_number("q")
    stored_body = field_reader.take_bytes(field_reader.take_number("i"))
    topic_bytes = field_reader.take_bytes(field_reader.take_number("B" if magic_code == MAGIC_V1 else "H"))
    property_table = parse_properties(field_reader.take_bytes(field_reader.take_number("H")))
    crc_ok = None if body_crc == 0 else body_crc == zlib.crc32(stored_body) & 0x7FFFFFFF
    plain_body, body_error = body_inflater.inflate(stored_body, sys_flag)
    stored_message = StoredMessage(
        topic_bytes.decode("utf-8", "replace"),
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
        prepared_offset,
        plain_body,
        body_error,
        crc_ok,
        property_table,
        record_size,
        build_offset_id(store_ip, store_port, physical_offset),
    )
    return stored_message, record_start + record_size


def _unwrap_inner_batch(batch_message: StoredMessage) -> Iterator[StoredMessage]:
    """The messages of an inner batch, whose offsets count up from the record's; otherwise the record."""
    if (
        batch_message.sys_flag & INNER_BATCH_FLAGS != INNER_BATCH_FLAGS
        or batch_message.body_error is not None
    ):
        yield batch_message
        return
    position, message_count = 0, 0
    while position < len(batch_message.body):
        inner_size, _, _, flag, body_length = _INNER_HEAD.unpack_from(batch_message.body, position)
        if inner_size < _INNER_HEAD.size:
            raise ValueError("an inner message without a length")
        field_reader = _MessageFieldReader(
            batch_message.body, position + _INNER_HEAD.size, position + inner_size
        )
        inner_body = field_reader.take_bytes(body_length)
        property_table = parse_properties(field_reader.take_bytes(field_reader.take_number("H")))
        yield batch_message._replace(
            queue_offset=batch_message.queue_offset + message_count,
            flag=flag,
            body=inner_body,
            properties=property_table,
            store_size=inner_size,
        )
        position, message_count = position + inner_size, message_count + 1
