"""The elements of a table: cells, columns, filter and sort order. Pure."""

import re
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

Tone = str
"""The meaning of a cell, for which a theme has a style: "", dim, good, warn, bad, info, accent, strong,
spark, and the tones of bars. The text of a cell always repeats the meaning of its colour."""


class Cell(NamedTuple):
    text: str
    tone: Tone = ""


class Column(NamedTuple):
    """A column. `sort_value` returns the value to sort a row by; None means unknown and comes last.

    `render_cell` returns the cell of a row. On narrow screens, columns with the highest `drop_rank` are left
    out first. Cells flash after a change if `flashes_changes` is set. Columns with `grows_to_fit` share the
    remaining width.
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
    """The filter is invalid. The text has the reason."""


class Filter:
    """A filter for rows: a part of the row's text, or /REGEX/. A ! at the start inverts it."""

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
    """The key of the sort column, and whether the greatest value comes first."""

    key: str
    descending: bool = False


def arranged(
    items: Sequence[Any], text: Callable[[Any], str], chosen: Filter, column: Column | None, descending: bool
) -> Sequence[Any]:
    """The rows that pass the filter, sorted by a column. The sort is stable."""
    passing = [item for item in items if chosen.passes(text(item))] if chosen else items
    if column is None:
        return passing
    valued = [(column.value(item), item) for item in passing]
    known = [each for each in valued if each[0] is not None]
    known.sort(key=itemgetter(0), reverse=descending)
    return [item for _, item in known] + [item for value, item in valued if value is None]


def fitted(columns: Sequence[Column], width: int, gap: int = 1) -> list[tuple[Column, int]]:
    """The columns that fit into `width`, each with its width."""
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
    """Whether a column has numbers, which are first sorted in descending order."""
    return any(column.right for column in columns if column.key == key)


def placed(text: str, width: int, right: bool) -> str:
    """Align a text in its column. A text that is too long ends with "…"."""
    if len(text) > width:
        return text[: max(width - 1, 0)] + "…" if width else ""
    return text.rjust(width) if right else text.ljust(width)


def plain(text: str) -> str:
    """Escape unprintable characters in a server's text: they could control the terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
