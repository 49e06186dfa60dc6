"""The two ids of a message, which look alike: where it is stored, and what its producer called it.

Both are upper-case hex of 16 bytes, or of 28 with an IPv6 address. Upstream: MessageDecoder,
MessageClientIDSetter.
"""

import struct
from typing import NamedTuple

_STORED_AT = struct.Struct(">iq")  # port, physical offset
_MADE_BY = struct.Struct(">HiIH")  # pid, class loader, milliseconds of the month, counter
_REST = 12
_LENGTHS = (4 + _REST, 16 + _REST)


class OffsetId(NamedTuple):
    """Where a message is stored: the broker's address as it knows it itself, and the commit-log position."""

    addr: str
    physical_offset: int


class UniqueKey(NamedTuple):
    """Who made a message, and when: `millis` since the month began in the producer's time zone."""

    host: str
    pid: int
    millis: int
    counter: int


def host_text(address: bytes) -> str:
    """An IP address of 4 or 16 bytes as it is written."""
    if len(address) == 4:
        return ".".join(map(str, address))
    from ipaddress import IPv6Address

    return str(IPv6Address(address))


def addr_text(address: bytes, port: int) -> str:
    """ "10.0.0.1:10911" or "[fd00::1]:10911"."""
    host = host_text(address)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def offset_id(address: bytes, port: int, physical_offset: int) -> str:
    return (address + _STORED_AT.pack(port, physical_offset)).hex().upper()


def unique_key(address: bytes, pid: int, loader: int, millis: int, counter: int) -> str:
    """What a producer calls a message: of the pid and the counter only the low 16 bits count."""
    made_by = _MADE_BY.pack(pid & 0xFFFF, loader, millis & 0xFFFFFFFF, counter & 0xFFFF)
    return (address + made_by).hex().upper()


def parse_id(text: str) -> OffsetId | UniqueKey | None:
    """What an id says; None for a text that is neither, as producers may call their messages anything.

    A unique key has its pid where the other has its port: what cannot be a port is a unique key.
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
