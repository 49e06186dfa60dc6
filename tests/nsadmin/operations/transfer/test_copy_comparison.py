"""The messages of a queue beside their copies: what is missing, repeated, changed, or in another order."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsadmin.operations.transfer.copy_comparison import ComparedQueue, QueueComparison


def compare(offsets: Sequence[int], copies: Sequence[tuple[int, int]]) -> ComparedQueue:
    comparison = QueueComparison()
    for offset in offsets:
        comparison.add_source(offset, offset * 7)
    for offset, content_hash in copies:
        comparison.add_copy(offset, content_hash)
    return comparison.compare()


def copies_of(*offsets: int) -> list[tuple[int, int]]:
    return [(offset, offset * 7) for offset in offsets]


@pytest.mark.parametrize(
    ("copies", "missing", "duplicates", "changed", "misplaced", "unmatched", "is_equal"),
    [
        (copies_of(1, 2, 3, 5), (), 0, 0, 0, 0, True),
        (copies_of(1, 2, 3, 2, 3, 5), (), 2, 0, 0, 0, True),
        (copies_of(1, 5), ((2, 4),), 0, 0, 0, 0, False),
        (copies_of(2, 1, 3, 5), (), 0, 0, 1, 0, False),
        ([*copies_of(1, 2, 3), (5, 0)], (), 0, 1, 0, 0, False),
        (copies_of(0, 1, 2, 3, 4, 5), (), 0, 0, 0, 2, True),
        ([], ((1, 4), (5, 6)), 0, 0, 0, 0, False),
    ],
)
def test_each_difference_is_counted(
    copies: list[tuple[int, int]],
    missing: tuple[tuple[int, int], ...],
    duplicates: int,
    changed: int,
    misplaced: int,
    unmatched: int,
    is_equal: bool,
) -> None:
    compared = compare([1, 2, 3, 5], copies)
    assert compared.missing.ranges == missing
    assert (compared.duplicate_count, compared.changed_count) == (duplicates, changed)
    assert (compared.misplaced_count, compared.unmatched_count) == (misplaced, unmatched)
    assert (compared.copy_count, compared.is_equal) == (len(copies), is_equal)


@given(st.lists(st.integers(0, 20)), st.sets(st.integers(0, 20)))
def test_the_counts_add_up(copies: list[int], sources: set[int]) -> None:
    compared = compare(sorted(sources), copies_of(*copies))
    distinct = len(sources) - len(compared.missing)
    assert compared.copy_count == distinct + compared.duplicate_count + compared.unmatched_count
    assert len(compared.missing) == len(sources - set(copies))
