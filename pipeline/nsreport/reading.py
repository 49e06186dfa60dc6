"""Report reader: reads the tables of a run with DuckDB, without Spark."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

from nsreport.reports.catalogue import REPORTS

Row = dict[str, Any]


class NotMade(Exception):
    """The table does not exist; the text says how to make it."""


class Days(NamedTuple):
    """The days to read, both ends included; None: no bound."""

    first: date | None = None
    last: date | None = None


def report(folder: Path, name: str, days: Days = Days()) -> list[Row]:  # noqa: B008 - it is immutable
    """Read the rows of a report that `report run` made, sorted by its columns. Raises TableNotMadeError."""
    found = REPORTS.get(name)
    if found is None:
        raise NotMade(f"there is no report {name}; there are: {', '.join(REPORTS)}")
    return rows(folder / "gold" / name, list(found.columns), days)


def quarantined(folder: Path) -> tuple[int, int]:
    """Return the number of lines in quarantine and the number of all lines. Raises TableNotMadeError."""
    lines = sum(_count(folder / "bronze" / "lines"))
    return sum(_count(folder / "silver" / "quarantine")), lines


def rows(table: Path, columns: Sequence[str], days: Days = Days()) -> list[Row]:  # noqa: B008
    """Read the rows of a table, sorted by its columns from left to right; times are datetimes in UTC."""
    import duckdb

    files = _files(table)
    if not files:
        return []
    # Without this hint DuckDB reads the cluster name 007 as a number.
    named = ", hive_types={'cluster': VARCHAR}" if "/cluster=" in files[0] else ""
    query = f"from read_parquet($files, hive_partitioning=true, union_by_name=true{named})"
    relation = duckdb.from_query(query, params={"files": files})
    assert relation is not None
    there = [name for name in columns if name in relation.columns]
    if "date" in there:
        for day, sign in ((days.first, ">="), (days.last, "<=")):
            if day is not None:
                relation = relation.filter(f"\"date\" {sign} DATE '{day.isoformat()}'")
    listed = ", ".join(f'"{name}"' for name in there)
    found = relation.project(listed).order(", ".join(map(str, range(1, len(there) + 1)))).fetchall()
    return [dict.fromkeys(columns) | dict(zip(there, row, strict=True)) for row in found]


def _count(table: Path) -> list[int]:
    import duckdb

    files = _files(table)
    return [row[0] for row in duckdb.read_parquet(files).count("*").fetchall()] if files else []


def _files(table: Path) -> list[str]:
    if not (table / "_schema.json").exists():
        raise NotMade(f"{table}: no such table was made; make it with: nsadmin report run --output DIR")
    return sorted(str(file) for file in table.rglob("*.parquet"))


def plain(value: Any) -> Any:
    """Convert a value for JSON: times become text (ISO 8601, UTC)."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds") + "Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
