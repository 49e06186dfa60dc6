"""Bodies of stored messages as their producers meant them: inflated by what the sysFlag says.

zlib is always there; LZ4 and ZSTD need a library each, which come with nsadmin[messages].
"""

import zlib
from importlib import import_module
from typing import Any

COMPRESSED = 0x1
_COMPRESSION = 0x700
_LZ4, _ZSTD = 1, 2
_ZLIB = (0, 3)
"""0 is what clients before 5.0 write."""
MAX_INFLATED = 64 * 1024 * 1024
"""Brokers take 4 MiB unless told otherwise; what claims to be much more is no message."""


class CannotInflate(ValueError):
    """Why a body cannot be shown as its producer meant it, in one line."""


def inflated(body: bytes, sys_flag: int) -> bytes:
    """The body of a message with this sysFlag; CannotInflate where that cannot be had."""
    if not sys_flag & COMPRESSED:
        return body
    kind = (sys_flag & _COMPRESSION) >> 8
    if kind in _ZLIB:
        return _inflate_zlib(body)
    if kind == _LZ4:
        return _inflate_lz4(body)
    if kind == _ZSTD:
        return _inflate_zstd(body)
    raise CannotInflate(f"compressed in a way that nobody knows ({kind})")


def _inflate_zlib(body: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        plain = inflater.decompress(body, MAX_INFLATED)
    except zlib.error as error:
        raise CannotInflate(f"compressed with zlib, but corrupt ({error})") from error
    return _whole("zlib", plain, inflater.eof)


def _inflate_lz4(body: bytes) -> bytes:
    inflater = _library("lz4.frame", "LZ4").LZ4FrameDecompressor()
    try:
        plain: bytes = inflater.decompress(body, MAX_INFLATED)
    except RuntimeError as error:
        raise CannotInflate(f"compressed with LZ4, but corrupt ({error})") from error
    return _whole("LZ4", plain, inflater.eof)


def _inflate_zstd(body: bytes) -> bytes:
    library = _library("zstandard", "ZSTD")
    try:
        with library.ZstdDecompressor().stream_reader(body) as reader:
            plain: bytes = reader.read(MAX_INFLATED + 1)
    except library.ZstdError as error:
        raise CannotInflate(f"compressed with ZSTD, but corrupt ({error})") from error
    return _whole("ZSTD", plain, bool(plain) or not body)


def _whole(way: str, plain: bytes, at_end: bool) -> bytes:
    if len(plain) >= MAX_INFLATED:
        raise CannotInflate(f"compressed with {way}, and longer than {MAX_INFLATED} bytes when inflated")
    if not at_end:
        raise CannotInflate(f"compressed with {way}, but cut")
    return plain


def _library(module: str, way: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise CannotInflate(
            f"compressed with {way}, which needs one library more: pip install 'nsadmin[messages]'"
        ) from None
