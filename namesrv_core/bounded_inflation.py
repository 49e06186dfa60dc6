"""Decompression with a limit on the output: without one, a file of 96 KB inflates to 3 GB.

Rule: data inflates to at most FREE_BYTES plus MAX_RATIO times its compressed size. Journals and logs reach
ratios of 10 to 50.
"""

import zlib
from typing import NamedTuple

FREE_BYTES = 64 * 1024 * 1024
MAX_RATIO = 200
# The decompressor itself has no limit, and one byte of zstd becomes up to 32 KB.
_ZSTD_PIECE_BYTES = 1 << 10
_ZLIB_PIECE_BYTES = 1 << 12


class InflatedData(NamedTuple):
    """The content of one zstd frame or gzip member, which took `compressed_bytes` of the input.

    If `problem_text` is not None, the content is only the part before the damage, or up to the limit. A
    corrupt zstd frame has no content, because its checksum is at its end.
    """

    content: bytes
    compressed_bytes: int
    problem_text: str | None


def max_inflated_bytes(compressed_bytes: int) -> int:
    return FREE_BYTES + MAX_RATIO * compressed_bytes


def inflate_zstd_frame(data: bytes | memoryview, max_bytes: int) -> InflatedData:
    # Imported late, because this costs 10 ms and few commands decompress something.
    import zstandard

    inflater = zstandard.ZstdDecompressor().decompressobj()
    parts: list[bytes] = []
    size, offset = 0, 0
    problem: str | None = None
    while offset < len(data) and not inflater.eof and problem is None:
        piece = data[offset : offset + _ZSTD_PIECE_BYTES]
        try:
            part = inflater.decompress(piece)
        except zstandard.ZstdError as error:
            problem, parts = str(error), []
            break
        offset += len(piece)
        parts.append(part[: max_bytes - size])
        size += len(part)
        if size > max_bytes:
            problem = _describe_limit(max_bytes)
    if problem is None and not inflater.eof:
        problem = "incomplete data"
    return InflatedData(b"".join(parts), offset - len(inflater.unused_data), problem)


def inflate_gzip_member(data: bytes | memoryview, max_bytes: int) -> InflatedData:
    """Inflate the first member of the data. A damaged byte makes at most 4 KiB of the input unreadable."""
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    parts, size, offset = [], 0, 0
    problem: str | None = None
    while offset < len(data) and not inflater.eof and problem is None:
        piece = data[offset : offset + _ZLIB_PIECE_BYTES]
        try:
            # Allow one byte more than the limit: a max_length of 0 would mean no limit.
            part = inflater.decompress(piece, max_bytes + 1 - size)
        except zlib.error as error:
            problem = str(error)
            break
        offset += len(piece)
        parts.append(part[: max_bytes - size])
        size += len(part)
        if size > max_bytes:
            problem = _describe_limit(max_bytes)
    if problem is None and not inflater.eof:
        problem = "incomplete data"
    return InflatedData(b"".join(parts), offset - len(inflater.unused_data), problem)


def _describe_limit(max_bytes: int) -> str:
    return f"the data inflates to more than {max_bytes} bytes"
