"""Table reader: reads any table of a store by its definition, stored or computed."""

from pathlib import Path
from typing import TYPE_CHECKING

from nsreport.dictionary.table_definitions import DATA_QUALITY_TABLE, TableDefinition
from nsreport.presentation import data_quality, report_reader
from nsreport.presentation.report_reader import DayRange, ReportRow

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


def read_table(
    output_folder: Path,
    table: TableDefinition,
    day_range: DayRange = DayRange(),  # noqa: B008 - it is immutable
) -> list[ReportRow]:
    """Read the rows of any table of a run, sorted by its columns. Raises TableNotMadeError."""
    import duckdb

    column_names = [column.name for column in table.columns]
    with duckdb.connect() as connection:
        return report_reader.fetch_rows(
            select_table(connection, output_folder, table, day_range), column_names
        )


def select_table(
    connection: "DuckDBPyConnection", output_folder: Path, table: TableDefinition, day_range: DayRange
) -> "DuckDBPyRelation | None":
    """Return a query for the rows of any table, or None if it has no rows. Raises TableNotMadeError."""
    if table.name == DATA_QUALITY_TABLE.name:
        return data_quality.select_data_quality(connection, output_folder, day_range)
    column_names = [column.name for column in table.columns]
    return report_reader.select_rows(
        report_reader.find_table_folder(output_folder, table.name), column_names, day_range, connection
    )
