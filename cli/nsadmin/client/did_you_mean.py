"""Finds names that are similar to a mistyped one, and words the suggestion."""

from collections.abc import Collection, Iterable, Sequence
from heapq import nlargest

MIN_RATIO = 0.6
"""The least similarity of names, from 0 to 1 (`difflib`'s ratio)."""
_MAX_COMPARED = 1000


def find_similar_names(
    word: str, known_names: Iterable[str], min_ratio: float = MIN_RATIO, *, max_names: int = 3
) -> list[str]:
    """Return up to `max_names` names that are similar to the word in any case, the most similar first.

    `min_ratio` is the least similarity, from 0 to 1 (`difflib`'s ratio).
    """
    # Imported late: it takes as long to load as a command module, and few names are mistyped.
    from difflib import get_close_matches

    lower_word = word.lower()
    names_by_lower = {known_name.lower(): known_name for known_name in known_names}
    candidates = _select_likely(lower_word, names_by_lower)
    return [names_by_lower[name] for name in get_close_matches(lower_word, candidates, max_names, min_ratio)]


def _select_likely(word: str, names: Collection[str]) -> Collection[str]:
    """The names that share most pairs of letters with the word: comparing 60,000 names would take seconds."""
    if len(names) <= _MAX_COMPARED:
        return names
    pairs = {word[index : index + 2] for index in range(len(word) - 1)}
    return nlargest(
        _MAX_COMPARED, names, key=lambda n: (sum(pair in n for pair in pairs), -abs(len(n) - len(word)))
    )


def did_you_mean(near_names: Sequence[str]) -> str:
    """Return the question: did you mean "a" or "b"?"""
    quoted_names = [f'"{near_name}"' for near_name in near_names]
    return f"did you mean {' or '.join(quoted_names)}?"
