"""The export of a view's rows, as CSV or as text for the clipboard. Pure."""

import csv
import io
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from nsadmin.tui.views.view import View

FORMATS = (".svg", ".txt", ".csv")


def to_csv(view: View, rows: Sequence[Any]) -> str:
    """All columns of all rows, also hidden ones, but no columns without a title, such as sparklines."""
    columns = [column for column in view.columns if column.title]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.key for column in columns])
    for row in rows:
        writer.writerow([column.cell(row).text.strip() for column in columns])
    return out.getvalue()


def row_text(view: View, row: Any) -> str:
    """The cells of one row, separated by tabs."""
    return "\t".join(column.cell(row).text.strip() for column in view.columns if column.title)


def file_name(view: View, at: int) -> str:
    """A file name from the view's name and the current time."""
    return f"nsadmin-{view.name}-{datetime.fromtimestamp(at / 1000):%Y%m%d-%H%M%S}.svg"
