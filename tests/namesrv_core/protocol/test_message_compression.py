"""Bodies: each way to compress, and what cannot be inflated."""

import sys
import zlib

import lz4.frame  # type: ignore[import-untyped]
import pytest
import zstandard

from namesrv_core.protocol import message_compression
from namesrv_core.protocol.message_compression import (
    COMPRESSIONS,
    InflationError,
    MissingLibraryError,
    deflate_body,
    inflate_body,
    require_library,
)

TEXT = b"hello \xe4\xb8\xad " * 1000
ZLIB, ZLIB_4X, LZ4, ZSTD = 0x301, 0x001, 0x101, 0x201
WAYS = {
    ZLIB: zlib.compress(TEXT),
    ZLIB_4X: zlib.compress(TEXT),
    LZ4: lz4.frame.compress(TEXT),
    ZSTD: zstandard.ZstdCompressor(write_content_size=False).compress(TEXT),
}


@pytest.mark.parametrize("flag", WAYS, ids=hex)
def test_a_body_is_inflated_by_its_flag(flag: int) -> None:
    assert inflate_body(WAYS[flag], flag) == TEXT


def test_a_plain_body_stays_whatever_it_begins_with() -> None:
    assert inflate_body(WAYS[ZLIB], 0x300) == WAYS[ZLIB]


@pytest.mark.parametrize("flag", WAYS, ids=hex)
def test_what_is_corrupt_or_cut_is_told(flag: int) -> None:
    with pytest.raises(InflationError, match="corrupt"):
        inflate_body(b"garbage that is no frame", flag)
    with pytest.raises(InflationError, match=r"(incomplete|corrupt)"):
        inflate_body(WAYS[flag][:20], flag)


@pytest.mark.parametrize("flag", WAYS, ids=hex)
def test_nothing_is_inflated_without_end(flag: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_compression, "MAX_INFLATED_BYTES", 100)
    with pytest.raises(InflationError, match="inflates to more than 100 bytes"):
        inflate_body(WAYS[flag], flag)


def test_an_unknown_way_is_told() -> None:
    with pytest.raises(InflationError, match=r"unknown compression type \(5\)"):
        inflate_body(b"", 0x501)


@pytest.mark.parametrize(("flag", "module", "way"), [(LZ4, "lz4.frame", "LZ4"), (ZSTD, "zstandard", "ZSTD")])
def test_a_library_that_is_missing_is_named(
    flag: int, module: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InflationError, match=f"compressed with {way}: install the Python package"):
        inflate_body(WAYS[flag], flag)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_deflated_body_names_its_compression(compression: str) -> None:
    body, flag = deflate_body(TEXT, compression)
    assert flag == {"zlib": ZLIB, "lz4": LZ4, "zstd": ZSTD}[compression]
    assert (inflate_body(body, flag), len(body) < len(TEXT)) == (TEXT, True)
    assert deflate_body(b"short", compression) == (b"short", 0)


def test_blocks_of_lz4_are_independent_because_java_reads_no_others() -> None:
    body, _ = deflate_body(TEXT, "lz4")
    assert lz4.frame.get_frame_info(body)["block_linked"] is False


@pytest.mark.parametrize(("compression", "module"), [("lz4", "lz4.frame"), ("zstd", "zstandard")])
def test_a_library_that_is_missing_to_send_is_named(
    compression: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_library(compression)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        MissingLibraryError, match=f"compression {compression} needs the Python package .*: install it"
    ):
        require_library(compression)
