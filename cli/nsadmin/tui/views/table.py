"""The elements of a table: cells, columns, filter and sort order. Pure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Sequence
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

from nsadmin.tui.views.units import UNKNOWN_MARK

Row = TypeVar("Row")
Tone = str
"""The meaning of a cell, for which a theme has a style: "", dim, good, warn, bad, info, accent, strong,
spark, and the tones of bars. The text of a cell always repeats the meaning of its colour."""


class Cell(NamedTuple):
    text: str
    tone: Tone = ""


class Column(NamedTuple, Generic[Row]):
    """A column: its heading and width, what it means, and how to read it off a row.

    Rows are sorted by the value that `read` returns. None is unknown: shown as "–", and last in any order.
    `show` turns the value into a text, and `tone` may depend on it; or `cell` renders the row. `right` aligns
    to the right. On a narrow screen, columns with the highest `drop` are left out first. Changed cells
    `flash`. Columns that `grow` share the remaining width.
    """

    key: str
    heading: str
    width: int
    meaning: str
    read: Callable[[Row], Any]
    show: Callable[[Any], str] = str
    tone: Tone | Callable[[Any], Tone] = ""
    cell: Callable[[Row], Cell] | None = None
    right: bool = False
    drop: int = 0
    flash: bool = False
    grow: bool = False

    def render_cell(self, row: Row) -> Cell:
        if self.cell is not None:
            return self.cell(row)
        value = self.read(row)
        if value is None:
            return Cell(UNKNOWN_MARK, "dim")
        return Cell(self.show(value), self.tone(value) if callable(self.tone) else self.tone)


class InvalidFilterError(ValueError):
    """The filter is invalid. The text has the reason."""


class RowFilter:
    """A filter for rows: a part of the row's text, or /REGEX/. A ! at the start inverts it."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        filter_body = text.removeprefix("!")
        self._is_inverse = filter_body != text
        self._regex: re.Pattern[str] | None = None
        if filter_body.startswith("/") and len(filter_body) > 1:
            try:
                self._regex = re.compile(filter_body[1:].removesuffix("/"), re.I)
            except re.error as error:
                raise InvalidFilterError(f"{filter_body}: {error}") from None
        self._lower_part = filter_body.lower()

    def __bool__(self) -> bool:
        return bool(self._lower_part)

    def accepts_text(self, text: str) -> bool:
        if not self._lower_part:
            return True
        is_found = self._regex.search(text) if self._regex is not None else self._lower_part in text.lower()
        return bool(is_found) is not self._is_inverse


class SortOrder(NamedTuple):
    """The key of the sort column, and whether the greatest value comes first."""

    key: str
    descending: bool = False


def arrange_rows(
    rows: Sequence[Row],
    filter_text: Callable[[Row], str],
    row_filter: RowFilter,
    sort_column: Column[Row] | None,
    descending: bool,
) -> Sequence[Row]:
    """The rows that pass the filter, sorted by a column. The sort is stable."""
    passing = [row for row in rows if row_filter.accepts_text(filter_text(row))] if row_filter else rows
    if sort_column is None:
        return passing
    valued = [(sort_column.read(row), row) for row in passing]
    sortable = [pair for pair in valued if pair[0] is not None]
    sortable.sort(key=itemgetter(0), reverse=descending)
    return [row for _, row in sortable] + [row for value, row in valued if value is None]


def fit_columns(
    columns: Sequence[Column[Row]], width: int, gap_width: int = 1
) -> list[tuple[Column[Row], int]]:
    """The columns that fit into `width`, each with its width."""
    kept = list(columns)
    while len(kept) > 1 and sum(column.width + gap_width for column in kept) - gap_width > width:
        highest_rank = max(column.drop for column in kept)
        last_index = max(i for i, column in enumerate(kept) if column.drop == highest_rank)
        del kept[last_index]
    spare_width = max(width - sum(column.width + gap_width for column in kept) + gap_width, 0)
    growing = [column.key for column in kept if column.grow]
    extra_width, remaining_width = divmod(spare_width, len(growing)) if growing else (0, 0)
    return [
        (
            column,
            column.width
            + (extra_width + (remaining_width if column.key == growing[0] else 0) if column.grow else 0),
        )
        for column in kept
    ]


def is_numeric_column(columns: Sequence[Column[Any]], key: str) -> bool:
    """Whether a column has numbers, which are first sorted in descending order."""
    return any(column.right for column in columns if column.key == key)


def align_text(text: str, width: int, is_right_aligned: bool) -> str:
    """Align a text in its column. A text that is too long ends with "…"."""
    if len(text) > width:
        return text[: max(width - 1, 0)] + "…" if width else ""
    return text.rjust(width) if is_right_aligned else text.ljust(width)


def escape_unprintable(text: str) -> str:
    """Escape unprintable characters in a server's text: they could control the terminal."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


class Heading(NamedTuple):
    """The heading of a group of rows: its name, a summary of its rows, and whether they are hidden."""

    group_name: str
    summary_line: Sequence[Cell]
    is_folded: bool

    @property
    def row_key(self) -> str:
        return f"§ {self.group_name}"

    @property
    def render_cells(self) -> list[Cell]:
        fold_sign = "▸" if self.is_folded else "▾"
        return [Cell(f"{fold_sign} {self.group_name}  ", "accent"), *self.summary_line]


def group_rows(
    rows: Sequence[Any],
    group_of: Callable[[Any], str],
    summarize_rows: Callable[[Sequence[Any]], Sequence[Cell]],
    folded_groups: Collection[str],
) -> list[Any]:
    """Put rows under headings, in the order of each group's first row. Folded groups have no rows."""
    rows_by_group: dict[str, list[Any]] = {}
    for row in rows:
        rows_by_group.setdefault(group_of(row), []).append(row)
    grouped_rows: list[Any] = []
    for group, member_rows in rows_by_group.items():
        grouped_rows.append(Heading(group, tuple(summarize_rows(member_rows)), group in folded_groups))
        if group not in folded_groups:
            grouped_rows += member_rows
    return grouped_rows


def without_headings(rows: Sequence[Any]) -> list[Any]:
    return [row for row in rows if not isinstance(row, Heading)]


_LABEL_WIDTH = 14
_MIN_FACT_WIDTH = 39
"""Facts are drawn side by side if each gets this width."""


def draw_row_facts(columns: Sequence[Column[Any]], row: Any, width: int) -> list[Sequence[Cell]]:
    """The titled columns of a row, one per line, or side by side on a wide screen. Long texts are wrapped."""
    facts = [(column.heading, column.render_cell(row)) for column in columns if column.heading]
    facts_per_line = max(width // _MIN_FACT_WIDTH, 1)
    fact_width = width // facts_per_line
    lines: list[Sequence[Cell]] = []
    waiting: list[Cell] = []
    for title, cell in facts:
        text_parts = textwrap.wrap(cell.text.strip(), max(width - _LABEL_WIDTH - 2, 10)) or [""]
        label = Cell(f"  {title.lower():<{_LABEL_WIDTH - 2}}", "dim")
        if len(text_parts) > 1 or len(text_parts[0]) > fact_width - _LABEL_WIDTH - 1:
            lines += [waiting] if waiting else []
            lines += [
                [label if part_index == 0 else Cell(" " * _LABEL_WIDTH), Cell(text_part, cell.tone)]
                for part_index, text_part in enumerate(text_parts)
            ]
            waiting = []
            continue
        waiting += [label, Cell(text_parts[0].ljust(fact_width - _LABEL_WIDTH), cell.tone)]
        if len(waiting) == 2 * facts_per_line:
            lines.append(waiting)
            waiting = []
    return [*lines, waiting] if waiting else lines
