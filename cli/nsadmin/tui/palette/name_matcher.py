"""The fuzzy match of a query and a name: the letters of the query, in order, in the name. Pure.

Textual's matcher tries all combinations of positions. That takes seconds for long names with repeated
letters, so this one reads a name once.
"""

from collections.abc import Iterable, Sequence
from heapq import nlargest
from itertools import pairwise
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class NameMatch(NamedTuple):
    """A match. A greater score is better. `positions` are the indexes of the matching letters."""

    score: float
    positions: Sequence[int]


def match_name(query: str, name: str) -> NameMatch | None:
    """Match a query, without regard to case and blanks; None if the name lacks a letter."""
    query_letters, lower_name = query.lower().replace(" ", ""), name.lower()
    if len(lower_name) != len(name):
        # A letter such as İ becomes two, and positions would be wrong.
        lower_name = name
    part_start = _find_part(query_letters, lower_name, name)
    if part_start is not None:
        positions: list[int] = list(range(part_start, part_start + len(query_letters)))
    else:
        positions = []
        name_index = -1
        for letter in query_letters:
            name_index = lower_name.find(letter, name_index + 1)
            if name_index < 0:
                return None
            positions.append(name_index)
    return NameMatch(_score_positions(positions, name), positions)


def _find_part(query_letters: str, lower_name: str, name: str) -> int | None:
    """The start of the query within the name, at the start of a word if there is one."""
    first_start = part_start = lower_name.find(query_letters)
    while part_start >= 0:
        if _is_word_start(name, part_start):
            return part_start
        part_start = lower_name.find(query_letters, part_start + 1)
    return None if first_start < 0 else first_start


def _is_word_start(name: str, index: int) -> bool:
    if index == 0 or not name[index - 1].isalnum():
        return True
    return name[index].isupper() and name[index - 1].islower()


def _score_positions(positions: Sequence[int], name: str) -> float:
    """Letters at the start of words and letters in a row count more; of equal names the shorter one wins."""
    if not positions:
        return 0.0
    word_starts = sum(_is_word_start(name, position) for position in positions)
    neighbour_count = sum(position == previous + 1 for previous, position in pairwise(positions))
    start_bonus = 4.0 if positions[0] == 0 else 0.0
    return 2.0 * word_starts + 3.0 * neighbour_count + start_bonus + len(positions) / len(name)


def find_best_names(
    query: str, named_items: Iterable[tuple[str, T]], max_count: int
) -> list[tuple[NameMatch, str, T]]:
    """The items whose names match best, best first. Equal matches keep their order."""
    found = ((match_name(query, name), name, item) for name, item in named_items)
    matches = ((match, name, item) for match, name, item in found if match is not None)
    return nlargest(max_count, matches, key=lambda match: match[0].score)
