"""The two ids of a message: the offset id (where it is stored) and the unique key (given by its producer).

Both are 16 bytes in upper-case hex, or 28 bytes with an IPv6 address. Upstream: MessageDecoder,
MessageClientIDSetter.
"""

import struct
from typing import NamedTuple

_OFFSET_ID_TAIL = struct.Struct(">iq")  # port, physical offset
_UNIQUE_KEY_TAIL = struct.Struct(">HiIH")  # pid, class loader, milliseconds of the month, counter
_TAIL_BYTES = 12
_ID_LENGTHS = (4 + _TAIL_BYTES, 16 + _TAIL_BYTES)


class OffsetId(NamedTuple):
    """Where a message is stored: the broker's own idea of its address, and the position in the commit log."""

    broker_addr: str
    physical_offset: int


class UniqueKey(NamedTuple):
    """The producer of a message, and `month_millis`: ms since the month began in the producer's time zone."""

    producer_host: str
    producer_pid: int
    month_millis: int
    message_counter: int


def format_host(address_bytes: bytes) -> str:
    if len(address_bytes) == 4:
        return ".".join(map(str, address_bytes))
    from ipaddress import IPv6Address

    return str(IPv6Address(address_bytes))


def format_addr(address_bytes: bytes, port: int) -> str:
    """Write an address as "10.0.0.1:10911" or "[fd00::1]:10911"."""
    host = format_host(address_bytes)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def build_offset_id(address_bytes: bytes, port: int, physical_offset: int) -> str:
    return (address_bytes + _OFFSET_ID_TAIL.pack(port, physical_offset)).hex().upper()


def build_unique_key(
    address_bytes: bytes, pid: int, loader_hash: int, month_millis: int, counter: int
) -> str:
    """The unique key of a message. It has only the low 16 bits of the pid and of the counter."""
    tail = _UNIQUE_KEY_TAIL.pack(pid & 0xFFFF, loader_hash, month_millis & 0xFFFFFFFF, counter & 0xFFFF)
    return (address_bytes + tail).hex().upper()


def parse_message_id(id_text: str) -> OffsetId | UniqueKey | None:
    """Parse an id. Return None for any other text: producers may give their messages any id.

    A unique key has the pid where an offset id has the port, so an id without a valid port is a unique key.
    """
    try:
        data = bytes.fromhex(id_text) if id_text.isalnum() else b""
    except ValueError:
        return None
    if len(data) not in _ID_LENGTHS:
        return None
    port, physical_offset = _OFFSET_ID_TAIL.unpack(data[-_TAIL_BYTES:])
    if 0 < port < 65536 and physical_offset >= 0:
        return OffsetId(format_addr(data[:-_TAIL_BYTES], port), physical_offset)
    pid, _, month_millis, counter = _UNIQUE_KEY_TAIL.unpack(data[-_TAIL_BYTES:])
    return UniqueKey(format_host(data[:-_TAIL_BYTES]), pid, month_millis, counter)
