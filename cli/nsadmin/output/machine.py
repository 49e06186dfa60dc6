"""Rows for programs: JSON, JSON Lines, YAML, CSV, TSV, names and values. All columns, exact numbers."""

import json
from collections.abc import Callable, Mapping
from enum import IntEnum, IntFlag
from io import StringIO
from typing import Any

from nsadmin.output.rows import Rows


def _objects(rows: Rows) -> list[dict[str, Any]]:
    """An object for each row, with all columns as keys."""
    return [{name: row.get(name) for name in rows.columns} for row in rows.rows]


def as_json(rows: Rows) -> str:
    """An array of objects, in strict JSON."""
    return json.dumps(_objects(rows), indent=2, ensure_ascii=False, allow_nan=False)


def as_jsonl(rows: Rows) -> str:
    """An object on each line."""
    return "\n".join(_json(item) for item in _objects(rows))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def as_yaml(rows: Rows) -> str:
    """A list of maps."""
    import yaml

    # Through JSON, so that what is a number or a text there is one here.
    plain = json.loads(as_json(rows))
    return str(yaml.safe_dump(plain, allow_unicode=True, sort_keys=False, width=1000))


def as_csv(rows: Rows, headers: bool) -> str:
    """RFC 4180, but lines end as they do here; a null is empty, lists and maps are JSON."""
    import csv

    sink = StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    if headers:
        writer.writerow(rows.columns)
    writer.writerows([_field(row.get(name)) for name in rows.columns] for row in rows.rows)
    return sink.getvalue()


_TSV_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def as_tsv(rows: Rows, headers: bool) -> str:
    """Fields between tabs; tabs, line ends and backslashes inside of them are escaped."""
    lines = [rows.columns] if headers else []
    lines += [[_field(row.get(name)).translate(_TSV_ESCAPES) for name in rows.columns] for row in rows.rows]
    return "\n".join("\t".join(line) for line in lines)


def as_names(rows: Rows) -> str:
    """The first column alone, each value once."""
    return "\n".join(dict.fromkeys(_field(row.get(rows.columns[0])) for row in rows.rows))


def as_values(rows: Rows) -> str:
    """The fields alone, between tabs."""
    return as_tsv(rows, headers=False)


def _field(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (IntEnum, IntFlag)):
        return str(int(value))
    if isinstance(value, (bool, Mapping, list, tuple)):
        return _json(value)
    return str(value)


WRITERS: dict[str, Callable[[Rows, bool], str]] = {
    "json": lambda rows, headers: as_json(rows),
    "jsonl": lambda rows, headers: as_jsonl(rows),
    "yaml": lambda rows, headers: as_yaml(rows),
    "csv": as_csv,
    "tsv": as_tsv,
    "name": lambda rows, headers: as_names(rows),
    "value": lambda rows, headers: as_values(rows),
}
