"""View: what a screen is: a table of items or a drawing, what it wants to know, where Enter leads. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from nsadmin.tui.model import Model, Silence
from nsadmin.tui.questions import Question
from nsadmin.tui.views.table import Cell, Column, Sort

Line = Sequence[Cell]


def clipped(lines: list[Line], height: int) -> list[Line]:
    """As many lines as there is room for; the last one says that there are more."""
    if len(lines) <= height:
        return lines
    return [*lines[: height - 1], [Cell(f"  … {len(lines) - height + 1} lines more", "dim")]]


class About(NamedTuple):
    """What a row is about, for whoever acts on it: names, as commands take them."""

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
    """A screen. `name` is what `:` and the file of preferences call it; `title` stands above it.

    `grouping` is the key of the column by which its rows can be put under headings.

    A view has no state but what it is about: rows come from the model each time.
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
        """The rows, before filter and order."""
        return ()

    def key(self, item: Any) -> str:
        """What tells a row from others, also in the next poll."""
        return str(item)

    def text(self, item: Any) -> str:
        """What a filter looks at."""
        return " ".join(column.cell(item).text for column in self.columns)

    def about(self, item: Any) -> About:
        return About()

    def told(self, items: Sequence[Any]) -> Line:
        """What stands in the heading of these items, behind the name of their group."""
        return [Cell(f"{len(items)} rows", "dim")]

    def enter(self, item: Any) -> View | None:
        """Where Enter leads."""
        return None

    def tabs(self) -> Sequence[View]:
        """The views of the same thing, this one among them."""
        return ()

    def questions(self, model: Model, visible: Sequence[Any], current: Any | None) -> list[Question]:
        """What has to be asked for this screen, beside what is always looked at."""
        return []

    def headline(self, model: Model) -> Line:
        """A line above the table."""
        return ()

    def silence(self, model: Model) -> Silence | None:
        """That nobody tells any more what it shows, which is drawn as old then; None while somebody does."""
        return None

    def nothing(self, model: Model) -> str:
        """What stands in the place of rows: that there are none only where somebody says so."""
        silence = self.silence(model)
        return self.empty if silence is None else f"unknown: {silence.why}"

    def draw(self, model: Model, width: int, height: int) -> list[Line]:
        """The lines of a drawing."""
        return []

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *(value for value in vars(self).values() if isinstance(value, str))))
