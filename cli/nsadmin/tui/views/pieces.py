"""Pieces: what one line of a table shows, as texts and tones: equal pieces need not be drawn again. Pure."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from nsadmin.tui.views.grouping import Heading
from nsadmin.tui.views.table import Column, Sort, Tone, placed, plain

Fitted = Sequence[tuple[Column, int]]


class Pieces(NamedTuple):
    """`ground` is the tone below all of the line; each text has a tone, and whether it flashes."""

    ground: Tone
    texts: tuple[tuple[str, Tone, bool], ...]


class Standing(NamedTuple):
    """How a row stands among the others, and whether what it shows is an old word."""

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
    """The names of columns; the one that rows are sorted by has a sign."""
    texts: list[tuple[str, Tone, bool]] = [(" ", "head", False)]
    for column, room in columns:
        is_chosen = sorted_by is not None and column.key == sorted_by.key
        sign = ("▼" if sorted_by and sorted_by.descending else "▲") if is_chosen else ""
        text = placed(column.title + sign, room, column.right)
        texts.append((text + " " * gap, "headChosen" if is_chosen else "head", False))
    return Pieces("head", tuple(texts))


def row(columns: Fitted, gap: int, item: Any, flashing: Collection[str], standing: Standing) -> Pieces:
    """The cells of an item; `flashing` are keys of columns."""
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
    """A line of its own, over all columns."""
    ground = standing.ground if standing.is_chosen else "panel"
    return Pieces(ground, (standing.mark, *((plain(cell.text), cell.tone, False) for cell in item.cells)))


def said(text: str) -> Pieces:
    """A line that is no row."""
    return Pieces("base", ((text, "dim", False),))
