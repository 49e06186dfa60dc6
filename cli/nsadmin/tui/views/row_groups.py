"""The groups of rows under headings, which can be folded. Pure."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from nsadmin.tui.views.table import Cell


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
