"""Rows for programs: JSON, JSON Lines, YAML, CSV, TSV, names and values. All columns, exact numbers."""

import json
from collections.abc import Callable, Mapping
from enum import IntEnum, IntFlag
from io import StringIO
from typing import Any

from nsadmin.output.result_rows import ResultRows


def _row_objects(rows: ResultRows) -> list[dict[str, Any]]:
    """An object for each row, with all columns as keys."""
    return [{column_name: row.get(column_name) for column_name in rows.columns} for row in rows.rows]


def as_json(rows: ResultRows) -> str:
    """An array of objects, in strict JSON."""
    return json.dumps(_row_objects(rows), indent=2, ensure_ascii=False, allow_nan=False)


def as_jsonl(rows: ResultRows) -> str:
    """An object on each line."""
    return "\n".join(_compact_json(row_object) for row_object in _row_objects(rows))


def _compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def as_yaml(rows: ResultRows) -> str:
    """A list of maps."""
    import yaml

    # Through JSON, so that what is a number or a text there is one here.
    plain_objects = json.loads(as_json(rows))
    return str(yaml.safe_dump(plain_objects, allow_unicode=True, sort_keys=False, width=1000))


def as_csv(rows: ResultRows, headers: bool) -> str:
    """RFC 4180, but lines end as they do here; a null is empty, lists and maps are JSON."""
    import csv

    text_buffer = StringIO()
    csv_writer = csv.writer(text_buffer, lineterminator="\n")
    if headers:
        csv_writer.writerow(rows.columns)
    csv_writer.writerows(
        [_field_text(row.get(column_name)) for column_name in rows.columns] for row in rows.rows
    )
    return text_buffer.getvalue()


_TSV_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def as_tsv(rows: ResultRows, headers: bool) -> str:
    """Fields between tabs; tabs, line ends and backslashes inside of them are escaped."""
    field_lines = [rows.columns] if headers else []
    field_lines += [
        [_field_text(row.get(column_name)).translate(_TSV_ESCAPES) for column_name in rows.columns]
        for row in rows.rows
    ]
    return "\n".join("\t".join(field_line) for field_line in field_lines)


def as_names(rows: ResultRows) -> str:
    """The first column alone, each value once."""
    return "\n".join(dict.fromkeys(_field_text(row.get(rows.columns[0])) for row in rows.rows))


def as_values(rows: ResultRows) -> str:
    """The fields alone, between tabs."""
    return as_tsv(rows, headers=False)


def _field_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (IntEnum, IntFlag)):
        return str(int(value))
    if isinstance(value, (bool, Mapping, list, tuple)):
        return _compact_json(value)
    return str(value)


FORMAT_WRITERS: dict[str, Callable[[ResultRows, bool], str]] = {
    "json": lambda rows, headers: as_json(rows),
    "jsonl": lambda rows, headers: as_jsonl(rows),
    "yaml": lambda rows, headers: as_yaml(rows),
    "csv": as_csv,
    "tsv": as_tsv,
    "name": lambda rows, headers: as_names(rows),
    "value": lambda rows, headers: as_values(rows),
}
