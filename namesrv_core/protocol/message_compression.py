"""The compression of message bodies: inflates a stored body with the algorithm that its sysFlag names.

zlib is part of Python. LZ4 and ZSTD need a library each, which nsadmin[messages] installs.
"""

import zlib
from importlib import import_module
from typing import Any

COMPRESSED_FLAG = 0x1
_COMPRESSION_MASK = 0x700
_LZ4_TYPE, _ZSTD_TYPE = 1, 2
_ZLIB_TYPES = (0, 3)
"""Clients before 5.0 write 0."""
MAX_INFLATED_BYTES = 64 * 1024 * 1024
"""Brokers accept messages of 4 MiB by default, so a body that inflates to much more is no message."""


class InflationError(ValueError):
    """A body cannot be inflated. The message gives the reason in one line."""


def inflate_body(stored_body: bytes, sys_flag: int) -> bytes:
    """Inflate the body of a message with this sysFlag. Raises InflationError if that is impossible."""
    if not sys_flag & COMPRESSED_FLAG:
        return stored_body
    compression_type = (sys_flag & _COMPRESSION_MASK) >> 8
    if compression_type in _ZLIB_TYPES:
        return _inflate_zlib(stored_body)
    if compression_type == _LZ4_TYPE:
        return _inflate_lz4(stored_body)
    if compression_type == _ZSTD_TYPE:
        return _inflate_zstd(stored_body)
    raise InflationError(f"unknown compression type ({compression_type})")


def _inflate_zlib(stored_body: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        plain_body = inflater.decompress(stored_body, MAX_INFLATED_BYTES)
    except zlib.error as error:
        raise InflationError(f"corrupt zlib data ({error})") from error
    return _require_complete("zlib", plain_body, inflater.eof)


def _inflate_lz4(stored_body: bytes) -> bytes:
    inflater = _import_library("lz4.frame", "LZ4").LZ4FrameDecompressor()
    try:
        plain_body: bytes = inflater.decompress(stored_body, MAX_INFLATED_BYTES)
    except RuntimeError as error:
        raise InflationError(f"corrupt LZ4 data ({error})") from error
    return _require_complete("LZ4", plain_body, inflater.eof)


def _inflate_zstd(stored_body: bytes) -> bytes:
    zstd_library = _import_library("zstandard", "ZSTD")
    try:
        with zstd_library.ZstdDecompressor().stream_reader(stored_body) as zstd_reader:
            plain_body: bytes = zstd_reader.read(MAX_INFLATED_BYTES + 1)
    except zstd_library.ZstdError as error:
        raise InflationError(f"corrupt ZSTD data ({error})") from error
    return _require_complete("ZSTD", plain_body, bool(plain_body) or not stored_body)


def _require_complete(algorithm_name: str, plain_body: bytes, is_at_end: bool) -> bytes:
    if len(plain_body) >= MAX_INFLATED_BYTES:
        raise InflationError(f"{algorithm_name} data that inflates to more than {MAX_INFLATED_BYTES} bytes")
    if not is_at_end:
        raise InflationError(f"incomplete {algorithm_name} data")
    return plain_body


def _import_library(module_name: str, algorithm_name: str) -> Any:
    try:
        return import_module(module_name)
    except ImportError:
        raise InflationError(
            f"compressed with {algorithm_name}: to read it, pip install 'nsadmin[messages]'"
        ) from None
