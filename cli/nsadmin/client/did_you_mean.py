"""Finds names that are similar to a mistyped one, and words the suggestion."""

from collections.abc import Collection, Iterable, Sequence
from heapq import nlargest

MAX_SHOWN = 3
MIN_RATIO = 0.6
"""The least similarity of names, from 0 to 1 (`difflib`'s ratio)."""
_MAX_COMPARED = 1000


def find_similar_names(
    word: str,
    known_names: Iterable[str],
    min_ratio: float = MIN_RATIO,
    *,
    max_names: int = MAX_SHOWN,
    with_ties: bool = False,
) -> list[str]:
    """Return up to `max_names` names that are similar to the word in any case, the most similar first.

    Equally similar names are sorted. With `with_ties`, so are those that are as similar as the last one:
    `did_you_mean` counts them. `min_ratio` is the least similarity, from 0 to 1 (`difflib`'s ratio).
    """
    # Imported late: it takes as long to load as a command module, and few names are mistyped.
    from difflib import SequenceMatcher

    lower_word = word.lower()
    names_by_lower = {known_name.lower(): known_name for known_name in known_names}
    # Not get_close_matches, which returns the last ones of equally similar names.
    matcher = SequenceMatcher(b=lower_word)
    similar_names = list[tuple[float, str]]()
    for name in _select_likely(lower_word, names_by_lower):
        matcher.set_seq1(name)
        bounds = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
        if all(bound() >= min_ratio for bound in bounds):
            similar_names.append((-matcher.ratio(), name))
    similar_names.sort()
    if with_ties and len(similar_names) > max_names:
        max_names = sum(ratio <= similar_names[max_names - 1][0] for ratio, _ in similar_names)
    return [names_by_lower[name] for _, name in similar_names[:max_names]]


def _select_likely(word: str, names: Collection[str]) -> Collection[str]:
    """The names that share most pairs of letters with the word: comparing 60,000 names would take seconds."""
    if len(names) <= _MAX_COMPARED:
        return names
    pairs = {word[index : index + 2] for index in range(len(word) - 1)}
    return nlargest(
        _MAX_COMPARED, names, key=lambda n: (sum(pair in n for pair in pairs), -abs(len(n) - len(word)))
    )


def did_you_mean(near_names: Sequence[str]) -> str:
    """Return the question: did you mean "a" or "b"? More than three names are counted."""
    quoted_names = [f'"{near_name}"' for near_name in near_names[:MAX_SHOWN]]
    if len(near_names) > MAX_SHOWN:
        quoted_names.append(f"{len(near_names) - MAX_SHOWN} more")
    return f"did you mean {' or '.join(quoted_names)}?"
