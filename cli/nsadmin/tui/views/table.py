"""Tables: columns, cells, and which rows of a view are shown in which order. Pure."""

import re
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

Tone = str
"""What a cell means, for which a theme has a style: "", dim, good, warn, bad, info, accent, strong, spark,
and those of bars. What it says with a colour it always says in letters or signs, too."""


class Cell(NamedTuple):
    text: str
    tone: Tone = ""


class Column(NamedTuple):
    """`value` is what it is sorted by (None: not known, comes last), `cell` what is shown of an item.

    Where a screen is too narrow for all, those with the highest `rank` are left out first. `flashes` is
    whether a change of it is worth a glance. `grows` takes the room that nobody needs.
    """

    key: str
    title: str
    width: int
    value: Callable[[Any], Any]
    cell: Callable[[Any], Cell]
    right: bool = False
    rank: int = 0
    flashes: bool = False
    grows: bool = False
    help: str = ""


class BadFilter(ValueError):
    """A filter that cannot be read; the text says why."""


class Filter:
    """`text` as typed: a part of a row's text, /REGEX/, or one of these behind a ! for the other rows."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        body = text.removeprefix("!")
        self._inverse = body != text
        self._regex: re.Pattern[str] | None = None
        if body.startswith("/") and len(body) > 1:
            try:
                self._regex = re.compile(body[1:].removesuffix("/"), re.I)
            except re.error as error:
                raise BadFilter(f"{body}: {error}") from None
        self._part = body.lower()

    def __bool__(self) -> bool:
        return bool(self._part)

    def passes(self, text: str) -> bool:
        if not self._part:
            return True
        found = self._regex.search(text) if self._regex is not None else self._part in text.lower()
        return bool(found) is not self._inverse


class Sort(NamedTuple):
    """By which column, and whether the greatest comes first."""

    key: str
    descending: bool = False


def arranged(
    items: Sequence[Any], text: Callable[[Any], str], chosen: Filter, column: Column | None, descending: bool
) -> Sequence[Any]:
    """The items that pass, in order; those of equal value stay as they came."""
    passing = [item for item in items if chosen.passes(text(item))] if chosen else items
    if column is None:
        return passing
    valued = [(column.value(item), item) for item in passing]
    known = [each for each in valued if each[0] is not None]
    known.sort(key=itemgetter(0), reverse=descending)
    return [item for _, item in known] + [item for value, item in valued if value is None]


def fitted(columns: Sequence[Column], width: int, gap: int = 1) -> list[tuple[Column, int]]:
    """The columns that fit into `width`, in order, with the width of each."""
    kept = list(columns)
    while len(kept) > 1 and sum(column.width + gap for column in kept) - gap > width:
        most = max(column.rank for column in kept)
        last = max(at for at, column in enumerate(kept) if column.rank == most)
        del kept[last]
    spare = max(width - sum(column.width + gap for column in kept) + gap, 0)
    growing = [column.key for column in kept if column.grows]
    each, rest = divmod(spare, len(growing)) if growing else (0, 0)
    return [
        (
            column,
            column.width + (each + (rest if column.key == growing[0] else 0) if column.grows else 0),
        )
        for column in kept
    ]


def is_figure(columns: Sequence[Column], key: str) -> bool:
    """Of figures one wants the greatest first."""
    return any(column.right for column in columns if column.key == key)


def placed(text: str, width: int, right: bool) -> str:
    """A text in its column: cut where it is too long, with a mark."""
    if len(text) > width:
        return text[: max(width - 1, 0)] + "…" if width else ""
    return text.rjust(width) if right else text.ljust(width)


def plain(text: str) -> str:
    """A text of a server's, without what would move the cursor."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
