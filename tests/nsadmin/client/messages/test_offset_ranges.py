"""Sets of offsets."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from nsadmin.client.messages.offset_ranges import OffsetRanges

RANGES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 8)).map(lambda pair: (pair[0], sum(pair))))


@given(RANGES)
def test_ranges_hold_the_same_offsets_as_a_set(ranges: list[tuple[int, int]]) -> None:
    expected = {offset for begin, end in ranges for offset in range(begin, end)}
    offset_ranges = OffsetRanges(ranges)
    assert {offset for offset in range(70) if offset in offset_ranges} == expected
    assert len(offset_ranges) == len(expected)
    assert offset_ranges.last_offset == max(expected, default=None)
    assert offset_ranges.count_between(5, 40) == len(expected & set(range(5, 40)))
    for offset in range(70):
        assert offset_ranges.skip_known(offset) == next(n for n in range(offset, 99) if n not in expected)


@given(RANGES)
def test_ranges_never_touch_each_other(ranges: list[tuple[int, int]]) -> None:
    merged_ranges = OffsetRanges(ranges).ranges
    assert all(left[1] < right[0] for left, right in itertools.pairwise(merged_ranges))
    assert OffsetRanges(merged_ranges).ranges == merged_ranges


def test_single_offsets_become_ranges() -> None:
    offset_ranges = OffsetRanges()
    offset_ranges.add_offsets([3, 1, 2, 7])
    assert offset_ranges.ranges == ((1, 4), (7, 8))
