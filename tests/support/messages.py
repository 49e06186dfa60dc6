"""Stored messages by hand, written from the specification and sharing no code with what reads them."""

import struct
import zlib


def encode_message(
    body: bytes = b"hello",
    topic: str = "T",
    *,
    table: dict[str, str] | None = None,
    queue_id: int = 0,
    queue_offset: int = 0,
    physical: int = 0,
    sys_flag: int = 0,
    magic: int = 0xDAA320A7,
    crc: int | None = None,
    stored: int = 1_700_000_000_000,
    store_ip: bytes = b"\x7f\0\0\1",
    store_port: int = 20911,
    reconsume_times: int = 0,
) -> bytes:
    """One record; `crc` is computed unless given. The born host's address is the loopback's, its port 1."""
    born_ip = bytes(15) + b"\x01" if sys_flag & 0x10 else b"\x7f\0\0\1"
    name = topic.encode()
    properties = "".join(f"{key}\x01{value}\x02" for key, value in (table or {}).items()).encode()
    rest = b"".join(
        [
            struct.pack(">iiqqiq", queue_id, 0, queue_offset, physical, sys_flag, stored - 5),
            born_ip + struct.pack(">i", 1),
            struct.pack(">q", stored),
            store_ip + struct.pack(">i", store_port),
            struct.pack(">iq", reconsume_times, 0),
            struct.pack(">i", len(body)) + body,
            (struct.pack(">b", len(name)) if magic == 0xDAA320A7 else struct.pack(">h", len(name))) + name,
            struct.pack(">h", len(properties)) + properties,
        ]
    )
    checksum = zlib.crc32(body) & 0x7FFFFFFF if crc is None else crc
    return struct.pack(">iII", 12 + len(rest), magic, checksum) + rest
