"""Data quality: lines, quarantined and late lines, and gaps, per source and day, computed by DuckDB."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nsreport.dictionary.table_definitions import DATA_QUALITY_TABLE
from nsreport.presentation import report_reader

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_DAYS_JUDGED = 7

_QUERY_FILE = Path(__file__).with_name("data_quality.sql")

INPUTS_BY_VIEW = {
    "lines": ("bronze/lines", ("file", "server", "kind", "date", "ingestTime")),
    "events": ("silver/ns_event", ("sourceFile", "server")),
    "quarantine": ("silver/quarantine", ("file", "kind", "date")),
    "knowledge": ("silver/knowledge_interval", ("server", "known", "validFrom", "validTo")),
}
"""The views of the query: their tables and columns."""


class StoreQuality(NamedTuple):
    """The state of a store: ms since 1970 of the last line, shares of the last days, and unfinished days.

    `first_day` is the first day that was not forgotten; None: none was.
    """

    last_read_ms: int | None
    line_count: int
    quarantined_count: int
    late_count: int
    unfinished_days: int
    first_day: date | None


def render_query(input_names: Mapping[str, str]) -> str:
    """Return the query; `input_names` has the names of `lines`, `events`, `quarantine` and `knowledge`."""
    return _QUERY_FILE.read_text().format_map(input_names)


def select_data_quality(
    connection: "DuckDBPyConnection", output_folder: Path, day_range: report_reader.DayRange
) -> "DuckDBPyRelation":
    """Return a query for the rows of `data_quality`. Raises TableNotMadeError."""
    for view_name, (table_name, column_names) in INPUTS_BY_VIEW.items():
        _create_view(connection, output_folder, view_name, table_name, column_names, day_range.as_of)
    relation = connection.sql(render_query({view_name: view_name for view_name in INPUTS_BY_VIEW}))
    assert relation is not None
    return report_reader.limit_days(relation, day_range)


def _create_view(
    connection: "DuckDBPyConnection",
    output_folder: Path,
    view_name: str,
    table_name: str,
    column_names: tuple[str, ...],
    as_of: datetime | None,
) -> None:
    """Create a view of a table; columns that its files lack are null."""
    table_folder = report_reader.find_table_folder(output_folder, table_name)
    every_day = report_reader.DayRange(as_of=as_of)
    table_rows = report_reader.select_rows(table_folder, column_names, every_day, connection)
    present_columns = [] if table_rows is None else table_rows.columns
    column_list = ", ".join(
        f'"{name}"' if name in present_columns else f'null::{_NULL_TYPES.get(name, "varchar")} as "{name}"'
        for name in column_names
    )
    if table_rows is None:
        connection.execute(f"create view {view_name} as select {column_list} where false")
    else:
        table_rows.project(column_list).create(view_name)


_NULL_TYPES = {
    "date": "date",
    "ingestTime": "timestamp",
    "known": "boolean",
    "validFrom": "timestamp",
    "validTo": "timestamp",
}


def summarize_store(output_folder: Path) -> StoreQuality:
    """Return the state of a store, with the shares of its last seven days. Raises TableNotMadeError."""
    import duckdb

    column_names = [column.name for column in DATA_QUALITY_TABLE.columns]
    with duckdb.connect() as connection:
        relation = select_data_quality(connection, output_folder, report_reader.DayRange())
        rows = report_reader.fetch_rows(relation, column_names)
    read_times = [row["lastTs"] for row in rows if row["lastTs"] is not None]
    recent_days = sorted({row["date"] for row in rows})[-_DAYS_JUDGED:]
    recent_rows = [row for row in rows if row["date"] in recent_days]
    return StoreQuality(
        _to_epoch_ms(max(read_times)) if read_times else None,
        sum(row["lines"] for row in recent_rows),
        sum(row["quarantinedLines"] for row in recent_rows),
        sum(row["lateLines"] for row in recent_rows),
        report_reader.count_unfinished_days(output_folder),
        report_reader.read_first_day(output_folder),
    )


def _to_epoch_ms(moment: datetime) -> int:
    return round(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1000)
