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
    """The limit for data of this compressed size."""
    return FREE_BYTES + MAX_RATIO * compressed_bytes


def inflate_zstd_frame(compressed_data: bytes | memoryview, max_bytes: int) -> InflatedData:
    """Inflate the first frame of the data."""
    # Imported late, because this costs 10 ms and few commands decompress something.
    import zstandard

    frame_inflater = zstandard.ZstdDecompressor().decompressobj()
    inflated_parts: list[bytes] = []
    inflated_bytes, read_offset = 0, 0
    problem_text: str | None = None
    while read_offset < len(compressed_data) and not frame_inflater.eof and problem_text is None:
        compressed_piece = compressed_data[read_offset : read_offset + _ZSTD_PIECE_BYTES]
        try:
            inflated_part = frame_inflater.decompress(compressed_piece)
        except zstandard.ZstdError as error:
            problem_text, inflated_parts = str(error), []
            break
        read_offset += len(compressed_piece)
        inflated_parts.append(inflated_part[: max_bytes - inflated_bytes])
        inflated_bytes += len(inflated_part)
        if inflated_bytes > max_bytes:
            problem_text = _describe_limit(max_bytes)
    if problem_text is None and not frame_inflater.eof:
        problem_text = "incomplete data"
    return InflatedData(b"".join(inflated_parts), read_offset - len(frame_inflater.unused_data), problem_text)


def inflate_gzip_member(compressed_data: bytes | memoryview, max_bytes: int) -> InflatedData:
    """Inflate the first member of the data. A damaged byte makes at most 4 KiB of the input unreadable."""
    member_inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    inflated_parts, inflated_bytes, read_offset = [], 0, 0
    problem_text: str | None = None
    while read_offset < len(compressed_data) and not member_inflater.eof and problem_text is None:
        compressed_piece = compressed_data[read_offset : read_offset + _ZLIB_PIECE_BYTES]
        try:
            # Allow one byte more than the limit: a max_length of 0 would mean no limit.
            inflated_part = member_inflater.decompress(compressed_piece, max_bytes + 1 - inflated_bytes)
        except zlib.error as error:
            problem_text = str(error)
            break
        read_offset += len(compressed_piece)
        inflated_parts.append(inflated_part[: max_bytes - inflated_bytes])
        inflated_bytes += len(inflated_part)
        if inflated_bytes > max_bytes:
            problem_text = _describe_limit(max_bytes)
    if problem_text is None and not member_inflater.eof:
        problem_text = "incomplete data"
    return InflatedData(
        b"".join(inflated_parts), read_offset - len(member_inflater.unused_data), problem_text
    )


def _describe_limit(max_bytes: int) -> str:
    return f"the data inflates to more than {max_bytes} bytes"
