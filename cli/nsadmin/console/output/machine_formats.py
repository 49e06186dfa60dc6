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
    """An object for each row, with all columns as keys."""
    return [{c: row.get(c) for c in rows.columns} for row in rows.rows]


def as_json(rows: ResultRows) -> str:
    """Return an array of objects in strict JSON."""
    return json.dumps(_row_objects(rows), indent=2, ensure_ascii=False, allow_nan=False)


def as_jsonl(rows: ResultRows) -> str:
    """Return one JSON object per line."""
    return "\n".join(map(_compact_json, _row_objects(rows)))


def _compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def as_yaml(rows: ResultRows) -> str:
    """Return a YAML list of maps."""
    import yaml

    # The rows go through JSON, so that both formats agree about numbers and texts.
    plain_objects = json.loads(as_json(rows))
    return str(yaml.safe_dump(plain_objects, allow_unicode=True, sort_keys=False, width=1000))


def as_csv(rows: ResultRows, headers: bool) -> str:
    """Return CSV as in RFC 4180, but with line feeds. A null is empty, a list is a,b, and a map is JSON."""
    return _write_csv(rows, headers, _field_text)


def as_spreadsheet(rows: ResultRows, headers: bool) -> str:
    """Return CSV without formulas: a spreadsheet would run `=cmd|...` when it opens the file."""
    return _write_csv(rows, headers, _spreadsheet_text)


def _write_csv(rows: ResultRows, headers: bool, cell_text: Callable[[object], str]) -> str:
    import csv

    lines = _CsvLines()
    writer = csv.writer(lines)
    if headers:
        writer.writerow(rows.columns)
    writer.writerows([cell_text(row.get(c)) for c in rows.columns] for row in rows.rows)
    return "".join(lines.lines)


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
    """The text of a field, with an apostrophe before a text that would be a formula."""
    text = _field_text(value)
    is_formula = (
        isinstance(value, (str, list, tuple))
        and _FORMULA_START_PATTERN.match(text)
        and not _NUMBER_PATTERN.fullmatch(text)
    )
    return f"'{text}" if is_formula else text


# Python and other languages also end a line at the rare separators.
_LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_TSV_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", **{c: escape_unsafe(c) for c in _LINE_ENDS}})


def as_tsv(rows: ResultRows, headers: bool) -> str:
    """Return fields separated by tabs. Tabs, line ends and backslashes in fields are escaped."""
    lines = [rows.columns] if headers else []
    lines += [[_tsv_text(row.get(c)) for c in rows.columns] for row in rows.rows]
    return "\n".join(map("\t".join, lines))


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
    if isinstance(value, (list, tuple)):
        return ",".join(map(_field_text, value))
    if isinstance(value, (bool, Mapping)):
        return _compact_json(value)
    return str(value)


def escape_cells(rows: ResultRows) -> ResultRows:
    """The rows with escaped texts, for a line format without escapes."""
    return rows._replace(rows=[{c: _escape_cell(value) for c, value in row.items()} for row in rows.rows])


def _escape_cell(value: object) -> object:
    if isinstance(value, str):
        return escape_unsafe(value)
    if isinstance(value, Mapping):
        return {_escape_cell(key): _escape_cell(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_escape_cell(item) for item in value]
    return value


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
