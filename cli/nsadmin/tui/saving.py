"""Saving: the rows of a view as CSV or as a text to paste. Pure."""

import csv
import io
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from nsadmin.tui.views.view import View

FORMATS = (".svg", ".txt", ".csv")


def to_csv(view: View, rows: Sequence[Any]) -> str:
    """All columns of all rows, also those that had no room; what only draws is left out."""
    columns = [column for column in view.columns if column.title]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.key for column in columns])
    for row in rows:
        writer.writerow([column.cell(row).text.strip() for column in columns])
    return out.getvalue()


def row_text(view: View, row: Any) -> str:
    """One row, its cells apart by tabs."""
    return "\t".join(column.cell(row).text.strip() for column in view.columns if column.title)


def file_name(view: View, at: int) -> str:
    """A name for now."""
    return f"nsadmin-{view.name}-{datetime.fromtimestamp(at / 1000):%Y%m%d-%H%M%S}.svg"
