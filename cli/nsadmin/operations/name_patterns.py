"""Patterns such as "test-*" among names."""

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from nsadmin.client import NotFound

_WILDCARDS = frozenset("*?")
"""Without "[", with which an IPv6 address begins."""


def is_pattern(word: str) -> bool:
    return not _WILDCARDS.isdisjoint(word)


def expand_patterns(noun: str, words: Iterable[str], list_names: Callable[[], Iterable[str]]) -> list[str]:
    """The names that names and patterns mean. Topics of groups only match patterns with a %."""
    words = list(words)
    known = sorted(list_names()) if any(map(is_pattern, words)) else []
    expanded: dict[str, None] = {}
    for word in words:
        found = [word]
        if is_pattern(word):
            found = [n for n in known if fnmatchcase(n, word) and n.startswith("%") == word.startswith("%")]
            if not found:
                raise NotFound(f'no {noun} matches "{word}"')
        expanded |= dict.fromkeys(found)
    return list(expanded)
