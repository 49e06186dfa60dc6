"""The details of one row, beside a table or in a tab: all columns, also those that do not fit. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from nsadmin.tui.views.table import Cell, Column

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
