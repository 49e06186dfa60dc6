"""Likeness: which names somebody may have meant who typed one that is none, and how that is asked."""

from collections.abc import Iterable, Sequence


def like(word: str, names: Iterable[str], least: float = 0.6, *, most: int = 3) -> list[str]:
    """Up to `most` of these names that look like the word, in whatever case, the likest first.

    `least` is how much, from 0 to 1 (`difflib`'s ratio).
    """
    # Its import is as long as that of a module of commands, and few mistype.
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in names}
    return [by_lower[name] for name in get_close_matches(word.lower(), by_lower, most, least)]


def meant(near: Sequence[str]) -> str:
    """The question that follows what is wrong: "did you mean a or b?"."""
    return f"did you mean {' or '.join(near)}?"
