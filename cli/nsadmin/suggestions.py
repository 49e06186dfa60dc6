"""Likeness: which names somebody may have meant who typed one that is none, and how that is asked."""

from collections.abc import Iterable, Sequence


def find_similar_names(
    word: str, known_names: Iterable[str], min_ratio: float = 0.6, *, max_names: int = 3
) -> list[str]:
    """Up to `most` of these names that look like the word, in whatever case, the likest first.

    `least` is how much, from 0 to 1 (`difflib`'s ratio).
    """
    # Its import is as long as that of a module of commands, and few mistype.
    from difflib import get_close_matches

    names_by_lower = {known_name.lower(): known_name for known_name in known_names}
    return [
        names_by_lower[known_name]
        for known_name in get_close_matches(word.lower(), names_by_lower, max_names, min_ratio)
    ]


def did_you_mean(near_names: Sequence[str]) -> str:
    """The question that follows what is wrong: "did you mean a or b?"."""
    return f"did you mean {' or '.join(near_names)}?"
