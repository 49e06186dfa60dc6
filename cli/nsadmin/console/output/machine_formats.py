"""Rows for programs: JSON, JSON Lines, YAML, CSV, TSV, names and values. All columns, exact numbers.

No text of a server can look like another row or field: a line end in it is escaped, or stands between quotes.
"""

import json
import re
from collections.abc import Callable, Mapping
from enum import IntEnum, IntFlag
from typing import Any

from namesrv_core.printable_text import escape_unsafe
from nsadmin.console.output.result_rows import ResultRows


def _row_objects(rows: ResultRows) -> list[dict[str, Any]]:
    """Return an object for each row, with all columns as keys."""
    return [{column_name: row.get(column_name) for column_name in rows.columns} for row in rows.rows]


def as_json(rows: ResultRows) -> str:
    """Return an array of objects in strict JSON."""
    return json.dumps(_row_objects(rows), indent=2, ensure_ascii=False, allow_nan=False)


def as_jsonl(rows: ResultRows) -> str:
    """Return one JSON object per line."""
    return "\n".join(_compact_json(row_object) for row_object in _row_objects(rows))


def _compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def as_yaml(rows: ResultRows) -> str:
    """Return a YAML list of maps."""
    import yaml

    # The rows go through JSON, so that both formats agree about numbers and texts.
    plain_objects = json.loads(as_json(rows))
    return str(yaml.safe_dump(plain_objects, allow_unicode=True, sort_keys=False, width=1000))


def as_csv(rows: ResultRows, headers: bool) -> str:
    """Return CSV as in RFC 4180, but with line feeds. A null is empty; lists and maps are JSON."""
    return _write_csv(rows, headers, _field_text)


def as_spreadsheet(rows: ResultRows, headers: bool) -> str:
    """Return CSV without formulas: a spreadsheet would run `=cmd|...` when it opens the file."""
    return _write_csv(rows, headers, _spreadsheet_text)


def _write_csv(rows: ResultRows, headers: bool, cell_text: Callable[[object], str]) -> str:
    import csv

    csv_lines = _CsvLines()
    csv_writer = csv.writer(csv_lines)
    if headers:
        csv_writer.writerow(rows.columns)
    csv_writer.writerows(
        [cell_text(row.get(column_name)) for column_name in rows.columns] for row in rows.rows
    )
    return "".join(csv_lines.lines)


class _CsvLines:
    """Collects the rows of a CSV writer, with line feeds instead of the writer's CR LF.

    A writer with another line end would leave a carriage return without quotes, and readers end a row there.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, csv_line: str) -> None:
        self.lines.append(csv_line.removesuffix("\r\n") + "\n")


# Spreadsheets also treat the full-width forms of = + - @ as the start of a formula.
_FORMULA_START_PATTERN = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER_PATTERN = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def _spreadsheet_text(value: object) -> str:
    """Return the text of a field, with an apostrophe before a text that would be a formula."""
    field_text = _field_text(value)
    is_formula = (
        isinstance(value, str)
        and _FORMULA_START_PATTERN.match(field_text)
        and not _NUMBER_PATTERN.fullmatch(field_text)
    )
    return f"'{field_text}" if is_formula else field_text


# Python and other languages also end a line at the rare separators.
_LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_TSV_ESCAPES = str.maketrans(
    {"\\": "\\\\", "\t": "\\t", **{line_end: escape_unsafe(line_end) for line_end in _LINE_ENDS}}
)


def as_tsv(rows: ResultRows, headers: bool) -> str:
    """Return fields separated by tabs. Tabs, line ends and backslashes in fields are escaped."""
    field_lines = [rows.columns] if headers else []
    field_lines += [[_tsv_text(row.get(column_name)) for column_name in rows.columns] for row in rows.rows]
    return "\n".join("\t".join(field_line) for field_line in field_lines)


def _tsv_text(value: object) -> str:
    return _field_text(value).translate(_TSV_ESCAPES)


def as_names(rows: ResultRows) -> str:
    """Return the distinct values of the first column, with the escapes of TSV."""
    return "\n".join(dict.fromkeys(_tsv_text(row.get(rows.columns[0])) for row in rows.rows))


def as_values(rows: ResultRows) -> str:
    """Return the fields without headings, separated by tabs."""
    return as_tsv(rows, headers=False)


def _field_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (IntEnum, IntFlag)):
        return str(int(value))
    if isinstance(value, (bool, Mapping, list, tuple)):
        return _compact_json(value)
    return str(value)


def escape_cells(rows: ResultRows) -> ResultRows:
    """Return the rows with escaped texts, for a line format without escapes."""
    return rows._replace(
        rows=[
            {column_name: _escape_cell(cell_value) for column_name, cell_value in row.items()}
            for row in rows.rows
        ]
    )


def _escape_cell(cell_value: object) -> object:
    if isinstance(cell_value, str):
        return escape_unsafe(cell_value)
    if isinstance(cell_value, Mapping):
        return {_escape_cell(item_key): _escape_cell(item) for item_key, item in cell_value.items()}
    if isinstance(cell_value, (list, tuple)):
        return [_escape_cell(item) for item in cell_value]
    return cell_value


FORMAT_WRITERS: dict[str, Callable[[ResultRows, bool], str]] = {
    "json": lambda rows, headers: as_json(rows),
    "jsonl": lambda rows, headers: as_jsonl(rows),
    "yaml": lambda rows, headers: as_yaml(rows),
    "csv": as_csv,
    "spreadsheet": as_spreadsheet,
    "tsv": as_tsv,
    "name": lambda rows, headers: as_names(rows),
    "value": lambda rows, headers: as_values(rows),
}
