"""Reads figures of many names in batches until a deadline; the next pass begins with those left over."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class RollingResult(NamedTuple):
    """Whether every name was read, and whether the server stopped answering."""

    is_complete: bool
    is_silent: bool


def read_rolling(
    names: Iterable[str],
    earlier_rows: Mapping[str, T],
    read_batch: Callable[[Sequence[str]], Mapping[str, T] | None],
    has_time: Callable[[], bool],
    batch_size: int,
) -> tuple[dict[str, T], RollingResult]:
    """Read the rows of each name. A name that is not read in time keeps its earlier rows.

    `read_batch` returns the rows of the names that exist, or None if the server does not answer. In the
    result, the oldest rows come first: the next call reads them first.
    """
    name_set = set(names)
    ordered_names = [name for name in name_set if name not in earlier_rows]
    ordered_names.sort()
    ordered_names += [name for name in earlier_rows if name in name_set]
    new_rows: dict[str, T] = {}
    read_count = 0
    is_silent = False
    while read_count < len(ordered_names) and has_time():
        name_batch = ordered_names[read_count : read_count + batch_size]
        batch_rows = read_batch(name_batch)
        if batch_rows is None:
            is_silent = True
            break
        new_rows.update(batch_rows)
        read_count += len(name_batch)
    left_rows = {name: earlier_rows[name] for name in ordered_names[read_count:] if name in earlier_rows}
    return {**left_rows, **new_rows}, RollingResult(read_count == len(ordered_names), is_silent)
