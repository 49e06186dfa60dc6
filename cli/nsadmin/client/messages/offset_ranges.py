"""OffsetRanges, a set of queue offsets that is small while most offsets follow each other. Pure."""

from bisect import bisect_right
from collections.abc import Iterable


class OffsetRanges:
    """A set of offsets, kept as ranges.

    Args:
        ranges: Pairs of (first offset, offset after the last one).
    """

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self._ranges: list[tuple[int, int]] = []
        for begin_offset, end_offset in ranges:
            self.add_range(begin_offset, end_offset)

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The ranges in ascending order: pairs of (first offset, offset after the last one)."""
        return tuple(self._ranges)

    def add_range(self, begin_offset: int, end_offset: int) -> None:
        """Add all offsets of a range; `end_offset` is the one after the last."""
        if end_offset <= begin_offset:
            return
        first_index = bisect_right(self._ranges, (begin_offset,))
        if first_index and self._ranges[first_index - 1][1] >= begin_offset:
            first_index -= 1
        last_index = first_index
        while last_index < len(self._ranges) and self._ranges[last_index][0] <= end_offset:
            begin_offset = min(begin_offset, self._ranges[last_index][0])
            end_offset = max(end_offset, self._ranges[last_index][1])
            last_index += 1
        self._ranges[first_index:last_index] = [(begin_offset, end_offset)]

    def add_offsets(self, offsets: Iterable[int]) -> None:
        """Add offsets."""
        for offset in offsets:
            self.add_range(offset, offset + 1)

    def skip_known(self, offset: int) -> int:
        """Return the first offset from here on that is not in the set."""
        range_index = bisect_right(self._ranges, (offset + 1,)) - 1
        if range_index >= 0 and offset < self._ranges[range_index][1]:
            return self._ranges[range_index][1]
        return offset

    def count_between(self, begin_offset: int, end_offset: int) -> int:
        """Return how many offsets of a range are in the set; `end_offset` is the one after the last."""
        return sum(max(0, min(end, end_offset) - max(begin, begin_offset)) for begin, end in self._ranges)

    def __contains__(self, offset: int) -> bool:
        return self.skip_known(offset) != offset

    def __len__(self) -> int:
        return sum(end_offset - begin_offset for begin_offset, end_offset in self._ranges)

    @property
    def last_offset(self) -> int | None:
        """The highest offset; None for an empty set."""
        return self._ranges[-1][1] - 1 if self._ranges else None
