"""The compression of message bodies: deflates a body, and inflates a stored body by its sysFlag.

zlib is part of Python. LZ4 and ZSTD need a library each, which nsadmin[messages] installs.
"""

import zlib
from importlib import import_module
from typing import Any

COMPRESSED_FLAG = 0x1
_COMPRESSION_MASK = 0x700
_LZ4_TYPE, _ZSTD_TYPE, _ZLIB_TYPE = 1, 2, 3
_ZLIB_TYPES = (0, _ZLIB_TYPE)
"""Clients before 5.0 write 0."""
COMPRESSIONS = ("zlib", "lz4", "zstd")
"""The algorithms that clients since 4.9.4 use (CompressionType upstream)."""
MAX_INFLATED_BYTES = 64 * 1024 * 1024
"""Brokers accept messages of 4 MiB by default, so a body that inflates to much more is no message."""
_READING_TEXT = "compressed with {}: install the Python package {} to read it"
_SENDING_TEXT = "compression {0} needs the Python package {1}: install it"


class InflationError(ValueError):
    """A body cannot be inflated. The message gives the reason in one line."""


class MissingLibraryError(InflationError):
    """The library of an algorithm is not installed. The message gives the remedy in one line."""


def require_library(compression: str) -> None:
    """Raise MissingLibraryError if bodies cannot be deflated with this one of COMPRESSIONS."""
    deflate_body(b"", compression)


def deflate_body(body: bytes, compression: str) -> tuple[bytes, int]:
    """Return the body as clients since 4.9.4 send it, and its sysFlag: (body, 0) if it gets no smaller.

    `compression` is one of COMPRESSIONS. Raises MissingLibraryError.
    """
    if compression == "lz4":
        lz4 = _import_library("lz4.frame", _SENDING_TEXT.format(compression, "lz4"))
        # Java clients cannot read linked blocks (LZ4FrameInputStream).
        deflated, compression_type = lz4.compress(body, block_linked=False), _LZ4_TYPE
    elif compression == "zstd":
        zstd = _import_library("zstandard", _SENDING_TEXT.format(compression, "zstandard"))
        deflated, compression_type = zstd.ZstdCompressor().compress(body), _ZSTD_TYPE
    else:
        deflated, compression_type = zlib.compress(body), _ZLIB_TYPE
    if len(deflated) >= len(body):
        return body, 0
    return deflated, COMPRESSED_FLAG | compression_type << 8


def inflate_body(body: bytes, sys_flag: int, max_bytes: int | None = None) -> bytes:
    """Inflate the body of a message with this sysFlag. Raises InflationError if that is impossible.

    A body must inflate to less than `max_bytes`, by default MAX_INFLATED_BYTES.
    """
    if not sys_flag & COMPRESSED_FLAG:
        return body
    compression = (sys_flag & _COMPRESSION_MASK) >> 8
    max_bytes = min(max_bytes or MAX_INFLATED_BYTES, MAX_INFLATED_BYTES)
    if compression in _ZLIB_TYPES:
        return _inflate_zlib(body, max_bytes)
    if compression == _LZ4_TYPE:
        return _inflate_lz4(body, max_bytes)
    if compression == _ZSTD_TYPE:
        return _inflate_zstd(body, max_bytes)
    raise InflationError(f"unknown compression type ({compression})")


def _inflate_zlib(body: bytes, max_bytes: int) -> bytes:
    inflater = zlib.decompressobj()
    try:
        plain = inflater.decompress(body, max_bytes)
    except zlib.error as error:
        raise InflationError(f"corrupt zlib data ({error})") from error
    return _require_complete("zlib", plain, inflater.eof, max_bytes)


def _inflate_lz4(body: bytes, max_bytes: int) -> bytes:
    inflater = _import_library("lz4.frame", _READING_TEXT.format("LZ4", "lz4")).LZ4FrameDecompressor()
    try:
        plain: bytes = inflater.decompress(body, max_bytes)
    except RuntimeError as error:
        raise InflationError(f"corrupt LZ4 data ({error})") from error
    return _require_complete("LZ4", plain, inflater.eof, max_bytes)


def _inflate_zstd(body: bytes, max_bytes: int) -> bytes:
    zstd = _import_library("zstandard", _READING_TEXT.format("ZSTD", "zstandard"))
    try:
        with zstd.ZstdDecompressor().stream_reader(body) as reader:
            plain: bytes = reader.read(max_bytes + 1)
    except zstd.ZstdError as error:
        raise InflationError(f"corrupt ZSTD data ({error})") from error
    return _require_complete("ZSTD", plain, bool(plain) or not body, max_bytes)


def _require_complete(algorithm_name: str, plain: bytes, is_at_end: bool, max_bytes: int) -> bytes:
    if len(plain) >= max_bytes:
        raise InflationError(f"{algorithm_name} data that inflates to more than {max_bytes} bytes")
    if not is_at_end:
        raise InflationError(f"incomplete {algorithm_name} data")
    return plain


def _import_library(module_name: str, missing: str) -> Any:
    try:
        return import_module(module_name)
    except ImportError:
        raise MissingLibraryError(missing) from None
