"""The texts and tones of one line of a table. The grid redraws a line only if its pieces differ. Pure."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from nsadmin.tui.views.grouping import Heading
from nsadmin.tui.views.table import Column, Sort, Tone, placed, plain

Fitted = Sequence[tuple[Column, int]]


class Pieces(NamedTuple):
    """The pieces of a line: (text, tone, whether it flashes). `base_tone` is the background of the line."""

    ground: Tone
    texts: tuple[tuple[str, Tone, bool], ...]


class Standing(NamedTuple):
    """The state of a row that changes its look. `is_old` means that no server reports it any more."""

    is_odd: bool = False
    is_chosen: bool = False
    has_focus: bool = False
    is_old: bool = False

    @property
    def ground(self) -> Tone:
        return "cursor" if self.is_chosen and self.has_focus else "odd" if self.is_odd else "base"

    @property
    def mark(self) -> tuple[str, Tone, bool]:
        return ("▌" if self.is_chosen else " ", "mark", False)


def head(columns: Fitted, gap: int, sorted_by: Sort | None) -> Pieces:
    """The titles of the columns. An arrow marks the sort column."""
    texts: list[tuple[str, Tone, bool]] = [(" ", "head", False)]
    for column, room in columns:
        is_chosen = sorted_by is not None and column.key == sorted_by.key
        sign = ("▼" if sorted_by and sorted_by.descending else "▲") if is_chosen else ""
        text = placed(column.title + sign, room, column.right)
        texts.append((text + " " * gap, "headChosen" if is_chosen else "head", False))
    return Pieces("head", tuple(texts))


def row(columns: Fitted, gap: int, item: Any, flashing: Collection[str], standing: Standing) -> Pieces:
    """The cells of a row. `flashing_keys` are keys of columns."""
    shown = [(column, room, column.cell(item)) for column, room in columns]
    return Pieces(
        standing.ground,
        (
            standing.mark,
            *(
                (
                    placed(plain(cell.text), room, column.right) + " " * gap,
                    "dim" if standing.is_old else cell.tone,
                    column.key in flashing,
                )
                for column, room, cell in shown
            ),
        ),
    )


def heading(item: Heading, standing: Standing) -> Pieces:
    """The heading of a group, across all columns."""
    ground = standing.ground if standing.is_chosen else "panel"
    return Pieces(ground, (standing.mark, *((plain(cell.text), cell.tone, False) for cell in item.cells)))


def said(text: str) -> Pieces:
    """A line with a message in the place of rows."""
    return Pieces("base", ((text, "dim", False),))
