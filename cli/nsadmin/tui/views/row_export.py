"""The export of a view's rows, as CSV or as text for the clipboard. Pure."""

import csv
import io
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from nsadmin.tui.views.base_view import View
from nsadmin.tui.views.table import Column, escape_unprintable

FILE_SUFFIXES = (".svg", ".txt", ".csv")


def rows_to_csv(view: View, rows: Sequence[Any]) -> str:
    """All columns of all rows, also hidden ones, but no columns without a title, such as sparklines."""
    columns = [column for column in view.columns if column.title]
    csv_text = io.StringIO()
    csv_writer = csv.writer(csv_text, lineterminator="\n")
    csv_writer.writerow([column.key for column in columns])
    for row in rows:
        csv_writer.writerow([_cell_text(column, row) for column in columns])
    return csv_text.getvalue()


def format_row(view: View, row: Any) -> str:
    """The cells of one row, separated by tabs."""
    return "\t".join(_cell_text(column, row) for column in view.columns if column.title)


def _cell_text(column: Column[Any], row: Any) -> str:
    """The text as the screen shows it: a line end in a name would run what is pasted into a shell."""
    return escape_unprintable(column.render_cell(row).text.strip())


def suggest_file_name(view: View, now_ms: int) -> str:
    """A file name from the view's name and the current time."""
    return f"nsadmin-{view.view_name}-{datetime.fromtimestamp(now_ms / 1000):%Y%m%d-%H%M%S}.svg"
