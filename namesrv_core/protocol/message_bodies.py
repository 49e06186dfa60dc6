"""The compression of message bodies: inflates a stored body with the algorithm that its sysFlag names.

zlib is part of Python. LZ4 and ZSTD need a library each, which nsadmin[messages] installs.
"""

import zlib
from importlib import import_module
from typing import Any

COMPRESSED = 0x1
_COMPRESSION = 0x700
_LZ4, _ZSTD = 1, 2
_ZLIB = (0, 3)
"""Clients before 5.0 write 0."""
MAX_INFLATED = 64 * 1024 * 1024
"""Brokers accept messages of 4 MiB by default, so a body that inflates to much more is no message."""


class CannotInflate(ValueError):
    """A body cannot be inflated. The message gives the reason in one line."""


def inflated(body: bytes, sys_flag: int) -> bytes:
    """Inflate the body of a message with this sysFlag. Raises InflationError if that is impossible."""
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
