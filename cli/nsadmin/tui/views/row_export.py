"""The export of a view's rows, as CSV or as text for the clipboard. Pure."""

import csv
import io
import json
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from nsadmin.tui.views.base_view import View
from nsadmin.tui.views.table import Column, escape_unprintable

_BAR_LETTERS = frozenset("▏▎▍▌▋▊▉█")
_LEADING_SIGN = re.compile(r"^[^\w\s%/.:-]+ (?=\w)")
"""The sign before the word of a state, such as ● or ⊘."""
FILE_SUFFIXES = (".svg", ".txt", ".csv", ".jsonl")


def rows_to_csv(view: View, rows: Sequence[Any]) -> str:
    """All columns of all rows, also hidden ones, but no columns without a title, such as sparklines."""
    columns = [column for column in view.columns if column.heading]
    csv_text = io.StringIO()
    csv_writer = csv.writer(csv_text, lineterminator="\n")
    csv_writer.writerow([column.key for column in columns])
    for row in rows:
        csv_writer.writerow([_export_cell(column, row) for column in columns])
    return csv_text.getvalue()


def rows_to_jsonl(view: View, rows: Sequence[Any]) -> str:
    """A line of JSON for each row, with the columns of `rows_to_csv`. Numbers are numbers."""
    columns = [column for column in view.columns if column.heading]
    records = ({column.key: _export_value(column, row) for column in columns} for row in rows)
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def format_row(view: View, row: Any) -> str:
    """The cells of one row, separated by tabs."""
    return "\t".join(_export_cell(column, row) for column in view.columns if column.heading)


def _export_cell(column: Column[Any], row: Any) -> str:
    """A raw number of a numeric column, else the text without its sign.

    Unprintable characters are escaped: a line end in a name would run a pasted command in a shell.
    """
    value = _export_value(column, row)
    if isinstance(value, str):
        return value
    return "" if value is None else _format_number(value)


def _export_value(column: Column[Any], row: Any) -> str | float | None:
    text, value = column.render_cell(row).text.strip(), column.read(row)
    is_number = column.right and "/" not in text
    if is_number or _BAR_LETTERS.intersection(text):
        return value if isinstance(value, int | float) else None
    return escape_unprintable(_LEADING_SIGN.sub("", text))


def _format_number(number: float) -> str:
    return str(int(number)) if number == int(number) else str(round(number, 6))


def suggest_file_name(view: View, now_ms: int) -> str:
    """A file name from the view's name and the current time. Messages are usually saved themselves."""
    file_suffix = ".svg" if view.message_query is None else ".jsonl"
    return f"nsadmin-{view.name}-{datetime.fromtimestamp(now_ms / 1000):%Y%m%d-%H%M%S}{file_suffix}"
