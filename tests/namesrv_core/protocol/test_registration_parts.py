"""Inflating a compressed registration: in small steps, each of which says first what it will take."""

import random
import zlib
from collections.abc import Generator
from itertools import pairwise

import pytest

from namesrv_core.errors import OverLimit
from namesrv_core.protocol.registration_parts import inflate_in_steps

STEP = 1 << 16


def inflated(steps: Generator[int, None, bytes]) -> tuple[list[int], bytes]:
    """What each step announced, and the result."""
    announced: list[int] = []
    try:
        while True:
            announced.append(next(steps))
    except StopIteration as ended:
        result: bytes = ended.value
        return announced, result


@pytest.mark.parametrize("size", [0, 1, STEP - 1, STEP, STEP + 1, 3 * STEP, 1 << 23])
@pytest.mark.parametrize("is_random", [False, True])
def test_a_body_is_inflated_in_steps_of_a_bounded_size(size: int, is_random: bool) -> None:
    content = random.Random(size).randbytes(size) if is_random else bytes(size)
    announced, result = inflated(inflate_in_steps(zlib.compress(content), 1 << 30))
    assert result == content
    assert announced[0] == STEP
    assert all(0 <= after - before <= STEP for before, after in pairwise(announced))
    assert len(content) <= announced[-1] <= len(content) + STEP


def test_what_comes_behind_the_end_is_not_read() -> None:
    assert inflated(inflate_in_steps(zlib.compress(b"all") + b"more", 3))[1] == b"all"


@pytest.mark.parametrize("size", [STEP - 1, STEP, 3 * STEP])
def test_no_more_is_inflated_than_the_limit_allows(size: int) -> None:
    body = zlib.compress(bytes(size))
    assert len(inflated(inflate_in_steps(body, size))[1]) == size
    announced: list[int] = []
    steps = inflate_in_steps(zlib.compress(bytes(1 << 23)), size)
    with pytest.raises(OverLimit):
        announced.extend(steps)
    assert announced[-1] == size + 1


@pytest.mark.parametrize("size", [10, STEP, 1 << 20])
def test_a_cut_body_is_no_body(size: int) -> None:
    body = zlib.compress(random.Random(size).randbytes(size))
    for kept in (0, 1, len(body) // 2, len(body) - 1):
        with pytest.raises(ValueError, match="cut"):
            inflated(inflate_in_steps(body[:kept], 1 << 30))
    with pytest.raises(ValueError, match="cut"):
        inflated(inflate_in_steps(zlib.compress(bytes(size))[:-1], 1 << 30))
