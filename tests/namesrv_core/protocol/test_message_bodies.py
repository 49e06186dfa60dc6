"""Bodies: each way to compress, and what cannot be inflated."""

import sys
import zlib

import lz4.frame  # type: ignore[import-untyped]
import pytest
import zstandard

from namesrv_core.protocol import message_bodies
from namesrv_core.protocol.message_bodies import CannotInflate, inflated

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
    assert inflated(WAYS[flag], flag) == TEXT


def test_a_plain_body_stays_whatever_it_begins_with() -> None:
    assert inflated(WAYS[ZLIB], 0x300) == WAYS[ZLIB]


@pytest.mark.parametrize("flag", WAYS, ids=hex)
def test_what_is_corrupt_or_cut_is_told(flag: int) -> None:
    with pytest.raises(CannotInflate, match="but corrupt"):
        inflated(b"garbage that is no frame", flag)
    with pytest.raises(CannotInflate, match=r"but (cut|corrupt)"):
        inflated(WAYS[flag][:20], flag)


@pytest.mark.parametrize("flag", WAYS, ids=hex)
def test_nothing_is_inflated_without_end(flag: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_bodies, "MAX_INFLATED", 100)
    with pytest.raises(CannotInflate, match="longer than 100 bytes"):
        inflated(WAYS[flag], flag)


def test_an_unknown_way_is_told() -> None:
    with pytest.raises(CannotInflate, match=r"nobody knows \(5\)"):
        inflated(b"", 0x501)


@pytest.mark.parametrize(("flag", "module", "way"), [(LZ4, "lz4.frame", "LZ4"), (ZSTD, "zstandard", "ZSTD")])
def test_a_library_that_is_missing_is_named(
    flag: int, module: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(CannotInflate, match=rf"{way}, which needs .* pip install 'nsadmin\[messages\]'"):
        inflated(WAYS[flag], flag)
