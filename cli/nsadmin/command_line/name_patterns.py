"""Several names in one argument: "a,b" and patterns such as "test-*"."""

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from nsadmin.client import NotFound
from nsadmin.command_line.argument_values import parse_name_list

_WILDCARDS = frozenset("*?[")


def expand_names(noun: str, text: str, list_names: Callable[[], Iterable[str]]) -> list[str]:
    """The names that a list of names and patterns means. Topics of groups only match patterns with a %."""
    words = parse_name_list(noun.split()[-1].upper(), text)
    known = sorted(list_names()) if not _WILDCARDS.isdisjoint(text) else []
    expanded: dict[str, None] = {}
    for word in words:
        found = [word]
        if not _WILDCARDS.isdisjoint(word):
            found = [n for n in known if fnmatchcase(n, word) and n.startswith("%") == word.startswith("%")]
            if not found:
                raise NotFound(f'no {noun} matches "{word}"')
        expanded |= dict.fromkeys(found)
    return list(expanded)
