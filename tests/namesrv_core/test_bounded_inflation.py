"""What is compressed is inflated to a limit, and its damage is told."""

import gzip
from collections.abc import Callable

import pytest
import zstandard

from namesrv_core import bounded_inflation
from namesrv_core.bounded_inflation import InflatedData, inflate_gzip_member, inflate_zstd_frame

Inflate = Callable[[bytes | memoryview, int], InflatedData]
WAYS: list[tuple[Inflate, Callable[[bytes], bytes]]] = [
    (inflate_zstd_frame, zstandard.compress),
    (inflate_gzip_member, gzip.compress),
]
WAY_NAMES = ["zstd", "gzip"]
TEXT = bytes(range(256)) * 100


@pytest.mark.parametrize(("inflate", "compress"), WAYS, ids=WAY_NAMES)
@pytest.mark.parametrize("size", [0, 1, 1024, 10_000_000])
def test_the_first_part_is_inflated_and_the_next_is_found(
    inflate: Inflate, compress: Callable[[bytes], bytes], size: int
) -> None:
    packed = compress(b"a" * size)
    for more in (b"", compress(TEXT), b"garbage"):
        assert inflate(memoryview(packed + more), size) == InflatedData(b"a" * size, len(packed), None)


@pytest.mark.parametrize(("inflate", "compress"), WAYS, ids=WAY_NAMES)
def test_the_limit_is_kept_to_the_byte(inflate: Inflate, compress: Callable[[bytes], bytes]) -> None:
    packed = compress(TEXT)
    assert inflate(packed, len(TEXT)).problem_text is None
    for limit in (0, 1, len(TEXT) - 1):
        cut = inflate(packed, limit)
        assert (cut.content, cut.problem_text) == (
            TEXT[:limit],
            f"the data inflates to more than {limit} bytes",
        )


@pytest.mark.parametrize(("inflate", "compress"), WAYS, ids=WAY_NAMES)
def test_what_is_cut_or_corrupt_is_told(inflate: Inflate, compress: Callable[[bytes], bytes]) -> None:
    packed = compress(TEXT)
    cut = inflate(packed[:-1], len(TEXT))
    assert (cut.compressed_bytes, cut.problem_text) == (len(packed) - 1, "incomplete data")
    assert inflate(b"", 9) == InflatedData(b"", 0, "incomplete data")
    garbage = inflate(b"no frame at all", 9)
    assert garbage.content == b""
    assert garbage.problem_text not in (None, "incomplete data")


def test_the_limit_grows_with_what_is_compressed() -> None:
    assert bounded_inflation.max_inflated_bytes(96 * 1024) < 100 * 1024 * 1024
    assert bounded_inflation.max_inflated_bytes(1 << 30) > 100 * (1 << 30)
