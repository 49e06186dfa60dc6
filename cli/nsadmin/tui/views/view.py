"""The base class of all views: a table of rows or a drawing, with its detail queries and links. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from nsadmin.tui.model import Model, Silence
from nsadmin.tui.questions import Question
from nsadmin.tui.views.table import Cell, Column, Sort

Line = Sequence[Cell]


def clipped(lines: list[Line], height: int) -> list[Line]:
    """The lines that fit. If some do not fit, the last line has their number."""
    if len(lines) <= height:
        return lines
    return [*lines[: height - 1], [Cell(f"  … {len(lines) - height + 1} lines more", "dim")]]


class About(NamedTuple):
    """The objects that a row concerns, as arguments for commands.

    `RowAction` reads these fields by name, from its `required_fields` and `excluded_fields`.
    """

    broker_name: str | None = None
    broker_addr: str | None = None
    cluster: str | None = None
    topic: str | None = None
    group: str | None = None
    namespace: str | None = None
    key: str | None = None
    value: str | None = None
    name_server: str | None = None


class View:
    """A view. `view_name` is its name for `:` and in file names. `view_title` is shown above it.

    `grouping_key` is the key of the column by which its rows can be grouped.

    A view stores only the object that it shows. It builds its rows from the model each time.
    """

    name: ClassVar[str] = ""
    columns: Sequence[Column] = ()
    grouping: str | None = None
    sort: Sort | None = None
    is_drawing = False
    empty = "nothing here"

    @property
    def title(self) -> str:
        return self.name

    def items(self, model: Model) -> Sequence[Any]:
        """All rows, before they are filtered and sorted."""
        return ()

    def key(self, item: Any) -> str:
        """A key that identifies a row, and stays the same after the next poll."""
        return str(item)

    def text(self, item: Any) -> str:
        """The text of a row to which filters apply."""
        return " ".join(column.cell(item).text for column in self.columns)

    def about(self, item: Any) -> About:
        return About()

    def told(self, items: Sequence[Any]) -> Line:
        """The summary of a group of rows, for its heading."""
        return [Cell(f"{len(items)} rows", "dim")]

    def enter(self, item: Any) -> View | None:
        """The view that Enter opens, or None."""
        return None

    def tabs(self) -> Sequence[View]:
        """All tabs of the same object, including this view."""
        return ()

    def questions(self, model: Model, visible: Sequence[Any], current: Any | None) -> list[Question]:
        """The detail queries that this view needs, in addition to the polls of all servers."""
        return []

    def headline(self, model: Model) -> Line:
        """The line above the table."""
        return ()

    def silence(self, model: Model) -> Silence | None:
        """The silence of the servers that report these rows, or None. Rows are dimmed during a silence."""
        return None

    def nothing(self, model: Model) -> str:
        """The text in the place of rows. It says "unknown" if the servers are silent."""
        silence = self.silence(model)
        return self.empty if silence is None else f"unknown: {silence.why}"

    def draw(self, model: Model, width: int, height: int) -> list[Line]:
        """The lines of a drawing."""
        return []

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *(value for value in vars(self).values() if isinstance(value, str))))
