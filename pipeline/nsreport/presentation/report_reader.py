"""Report reader: reads the tables of a run with DuckDB, without Spark."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nsreport.dictionary.former_names import FORMER_COLUMNS, find_former_table, find_present_table
from nsreport.reports.catalogue import REPORTS_BY_NAME

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

ReportRow = dict[str, Any]
_LOG_FOLDER, _FORMER_SCHEMA_FILE = "_delta_log", "_schema.json"
_URL_PATTERN = re.compile(r"[a-z][a-z0-9]+:/")
"""The start of a URL, such as s3a://bucket, after `Path` has merged its slashes."""


class TableNotMadeError(Exception):
    """The table does not exist; the text says how to make it."""


class DayRange(NamedTuple):
    """The days to read, both ends included; None: no bound.

    `as_of` is the time whose version of a table is read; None: the newest version.
    """

    first_day: date | None = None
    last_day: date | None = None
    as_of: datetime | None = None


def read_report(
    output_folder: Path,
    report_name: str,
    day_range: DayRange = DayRange(),  # noqa: B008 - it is immutable
) -> list[ReportRow]:
    """Read the rows of a report that `report run` made, sorted by its columns. Raises TableNotMadeError."""
    report = REPORTS_BY_NAME.get(report_name)
    if report is None:
        raise TableNotMadeError(f'unknown report "{report_name}": use one of {", ".join(REPORTS_BY_NAME)}')
    return read_rows(output_folder / "gold" / report_name, list(report.columns), day_range)


def count_quarantined_lines(output_folder: Path, as_of: datetime | None = None) -> tuple[int, int]:
    """Return the number of lines in quarantine and the number of all lines. Raises TableNotMadeError."""
    line_count = _count_rows(output_folder / "bronze" / "lines", as_of)
    return _count_rows(output_folder / "silver" / "quarantine", as_of), line_count


def count_unfinished_days(output_folder: Path) -> int:
    """Return the number of days with lines that some table does not contain yet."""
    from nsreport.tables import table_versions

    return len(table_versions.list_due_days(_open_table(output_folder / table_versions.LINES_TABLE)))


def read_first_day(output_folder: Path) -> date | None:
    """Return the first day that the tables still have; None if no run has forgotten any."""
    from nsreport.tables import table_versions

    first_day = table_versions.read_first_day(_open_table(output_folder / table_versions.LINES_TABLE))
    return None if first_day == table_versions.NO_DAY else first_day


def render_read_options(parquet_file: str) -> str:
    """Return the options of DuckDB for the files of a table, of which this is one."""
    # Without a type, DuckDB reads the cluster name 007 as a number, and a date that is always null as text.
    types = {"cluster": "varchar", "endDate": "date"}
    hive_types = ", ".join(f"'{name}': {types[name]}" for name in types if f"/{name}=" in parquet_file)
    type_option = f", hive_types = {{{hive_types}}}" if hive_types else ""
    return f"hive_partitioning = true, union_by_name = true{type_option}"


def fetch_rows(relation: "DuckDBPyRelation | None", column_names: Sequence[str]) -> list[ReportRow]:
    """Fetch the rows of a query; columns that it lacks are null."""
    if relation is None:
        return []
    return [
        dict.fromkeys(column_names) | dict(zip(relation.columns, row_values, strict=True))
        for row_values in relation.fetchall()
    ]


def find_table_folder(output_folder: Path, table_name: str) -> Path:
    """Return the folder of a table; the former one if no run has renamed it yet."""
    table_folder, former_name = output_folder / table_name, find_former_table(table_name)
    if former_name is None or has_table(table_folder):
        return table_folder
    former_folder = output_folder / former_name
    return former_folder if has_table(former_folder) else table_folder


def has_table(table_folder: Path) -> bool:
    """Whether a folder has a table, of this release or of the previous one."""
    return any((table_folder / name).exists() for name in (_LOG_FOLDER, _FORMER_SCHEMA_FILE))


def read_rows(
    table_folder: Path,
    column_names: Sequence[str],
    day_range: DayRange = DayRange(),  # noqa: B008 - it is immutable
) -> list[ReportRow]:
    """Read the rows of a table, sorted by its columns from left to right; times are datetimes in UTC."""
    return fetch_rows(select_rows(table_folder, column_names, day_range), column_names)


def select_rows(
    table_folder: Path,
    column_names: Sequence[str],
    day_range: DayRange,
    connection: "DuckDBPyConnection | None" = None,
) -> "DuckDBPyRelation | None":
    """Return a query for the rows of a table, sorted by its columns, or None if it has no rows.

    A column that the previous release named differently gets its present name. Columns that the files lack
    are left out. Raises TableNotMadeError.
    """
    import duckdb

    parquet_files = list_parquet_files(table_folder, day_range.as_of)
    if not parquet_files:
        return None
    options = render_read_options(parquet_files[0])
    query = f"from read_parquet($files, {options})"
    relation = (connection or duckdb).sql(query, params={"files": parquet_files})
    assert relation is not None
    if "date" in column_names:
        relation = limit_days(relation, day_range)
    stored_names = _find_stored_names(table_folder, relation.columns)
    column_list = [
        f'"{stored_names[column_name]}" as "{column_name}"'
        for column_name in column_names
        if column_name in stored_names
    ]
    return relation.project(", ".join(column_list)).order(", ".join(map(str, range(1, len(column_list) + 1))))


def limit_days(relation: "DuckDBPyRelation", day_range: DayRange) -> "DuckDBPyRelation":
    """Keep the rows of these days; rows without a day stay."""
    if "date" in relation.columns:
        for bound_day, comparison_sign in ((day_range.first_day, ">="), (day_range.last_day, "<=")):
            if bound_day is not None:
                relation = relation.filter(f"\"date\" {comparison_sign} DATE '{bound_day.isoformat()}'")
    return relation


def _find_stored_names(table_folder: Path, stored_columns: Sequence[str]) -> dict[str, str]:
    """Return the names that columns have in the files, by their present names."""
    folder_name = f"{table_folder.parent.name}/{table_folder.name}"
    present_names = FORMER_COLUMNS.get(find_present_table(folder_name), {})
    # If some files have the former name and others the present one, the present one wins.
    former_first = sorted(stored_columns, key=lambda stored_name: stored_name not in present_names)
    return {present_names.get(stored_name, stored_name): stored_name for stored_name in former_first}


def _count_rows(table_folder: Path, as_of: datetime | None) -> int:
    import duckdb

    parquet_files = list_parquet_files(table_folder, as_of)
    if not parquet_files:
        return 0
    [(row_count,)] = duckdb.read_parquet(parquet_files).count("*").fetchall()
    return int(row_count)


def list_parquet_files(table_folder: Path, as_of: datetime | None = None) -> list[str]:
    """Return the files of the newest version of a table, or that of a time. Raises TableNotMadeError."""
    from nsreport.tables import table_versions

    delta_table = _open_table(table_folder, as_of)
    if delta_table is not None:
        return sorted(
            str(table_folder / table_file.path) for table_file in table_versions.list_files(delta_table)
        )
    if as_of is not None and has_table(table_folder):
        raise TableNotMadeError(
            f"table {table_folder} did not exist at {as_of.isoformat()}: use a later --as-of"
        )
    # A table of the previous release, which the next run migrates, has no versions.
    if not (table_folder / _FORMER_SCHEMA_FILE).exists():
        if _URL_PATTERN.match(str(table_folder)):
            raise TableNotMadeError(
                f'cannot read "{table_folder}": copy the tables to a local folder, and pass it with --dir'
            )
        raise TableNotMadeError(
            f"no table {table_folder}: pass the folder of the reports with --dir, or make them with nsadmin "
            "report run --input JOURNALS --dir DIR"
        )
    return sorted(str(parquet_file) for parquet_file in table_folder.rglob("*.parquet"))


def _open_table(table_folder: Path, as_of: datetime | None = None) -> "DeltaTable | None":
    """Open a table; None if it has no versions. delta-rs would look for the host of a URL on the network."""
    from nsreport.tables import table_versions

    has_versions = (table_folder / _LOG_FOLDER).exists()
    return table_versions.open_table(str(table_folder), as_of) if has_versions else None


def to_json_value(cell_value: Any) -> Any:
    """Convert a value for JSON: times become text (ISO 8601, UTC)."""
    if isinstance(cell_value, datetime):
        return cell_value.isoformat(timespec="milliseconds") + "Z"
    if isinstance(cell_value, date):
        return cell_value.isoformat()
    if isinstance(cell_value, Mapping):
        return {str(item_key): to_json_value(item_value) for item_key, item_value in cell_value.items()}
    if isinstance(cell_value, (list, tuple)):
        return [to_json_value(item_value) for item_value in cell_value]
    return cell_value
