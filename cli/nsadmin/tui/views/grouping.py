"""The groups of rows under headings, which can be folded. Pure."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from nsadmin.tui.views.table import Cell


class Heading(NamedTuple):
    """The heading of a group of rows: its name, a summary of its rows, and whether they are hidden."""

    name: str
    line: Sequence[Cell]
    is_folded: bool

    @property
    def key(self) -> str:
        return f"§ {self.name}"

    @property
    def cells(self) -> list[Cell]:
        sign = "▸" if self.is_folded else "▾"
        return [Cell(f"{sign} {self.name}  ", "accent"), *self.line]


def grouped(
    rows: Sequence[Any],
    group_of: Callable[[Any], str],
    told: Callable[[Sequence[Any]], Sequence[Cell]],
    folded: Collection[str],
) -> list[Any]:
    """Put rows under headings, in the order of each group's first row. Folded groups have no rows."""
    groups: dict[str, list[Any]] = {}
    for row in rows:
        groups.setdefault(group_of(row), []).append(row)
    found: list[Any] = []
    for name, members in groups.items():
        found.append(Heading(name, tuple(told(members)), name in folded))
        if name not in folded:
            found += members
    return found


def without_headings(rows: Sequence[Any]) -> list[Any]:
    return [row for row in rows if not isinstance(row, Heading)]
