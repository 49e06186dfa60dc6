"""The two ids of a message: the offset id (where it is stored) and the unique key (given by its producer).

Both are 16 bytes in upper-case hex, or 28 bytes with an IPv6 address. Upstream: MessageDecoder,
MessageClientIDSetter.
"""

import struct
from typing import NamedTuple

_STORED_AT = struct.Struct(">iq")  # port, physical offset
_MADE_BY = struct.Struct(">HiIH")  # pid, class loader, milliseconds of the month, counter
_REST = 12
_LENGTHS = (4 + _REST, 16 + _REST)


class OffsetId(NamedTuple):
    """Where a message is stored: the broker's own idea of its address, and the position in the commit log."""

    addr: str
    physical_offset: int


class UniqueKey(NamedTuple):
    """The producer of a message, and `month_millis`: ms since the month began in the producer's time zone."""

    host: str
    pid: int
    millis: int
    counter: int


def host_text(address: bytes) -> str:
    """Write an IP address of 4 or 16 bytes as text."""
    if len(address) == 4:
        return ".".join(map(str, address))
    from ipaddress import IPv6Address

    return str(IPv6Address(address))


def addr_text(address: bytes, port: int) -> str:
    """Write an address as "10.0.0.1:10911" or "[fd00::1]:10911"."""
    host = host_text(address)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def offset_id(address: bytes, port: int, physical_offset: int) -> str:
    return (address + _STORED_AT.pack(port, physical_offset)).hex().upper()


def unique_key(address: bytes, pid: int, loader: int, millis: int, counter: int) -> str:
    """The unique key of a message. It has only the low 16 bits of the pid and of the counter."""
    made_by = _MADE_BY.pack(pid & 0xFFFF, loader, millis & 0xFFFFFFFF, counter & 0xFFFF)
    return (address + made_by).hex().upper()


def parse_id(text: str) -> OffsetId | UniqueKey | None:
    """Parse an id. Return None for any other text: producers may give their messages any id.

    A unique key has the pid where an offset id has the port, so an id without a valid port is a unique key.
    """
    try:
        raw = bytes.fromhex(text) if text.isalnum() else b""
    except ValueError:
        return None
    if len(raw) not in _LENGTHS:
        return None
    port, offset = _STORED_AT.unpack(raw[-_REST:])
    if 0 < port < 65536 and offset >= 0:
        return OffsetId(addr_text(raw[:-_REST], port), offset)
    pid, _, millis, counter = _MADE_BY.unpack(raw[-_REST:])
    return UniqueKey(host_text(raw[:-_REST]), pid, millis, counter)
