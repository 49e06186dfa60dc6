"""Table layout: names, partitions and order of tables, and how Spark writes rows accordingly."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from nsreport.runtime import session
from nsreport.tables.table_versions import DAY_COLUMNS, DayTest, TableFile


class TableSpec(NamedTuple):
    """A table: its name with its layer (`silver/ns_event`), its partition columns and its sort columns.

    Rows of a file are sorted by `order_columns`, so that a query for a few event types reads only the pages
    that contain them. Before they are written, the rows of a partition are brought together. For a table that
    `is_pregathered`, the function that builds it does this, with smaller rows.
    """

    name: str
    partition_columns: tuple[str, ...] = ()
    order_columns: tuple[str, ...] = ()
    is_pregathered: bool = False


def find_day_column(table: TableSpec) -> str | None:
    """Return the column by whose day the files of a table are apart; None if they are not."""
    return next((column for column in table.partition_columns if column in DAY_COLUMNS), None)


def reaches(first_day: date) -> DayTest:
    """Whether a row has this day or a later one, or lasts."""
    return lambda day: day is None or day >= first_day


class StagedRows(NamedTuple):
    """Rows in the files below a folder of a table, before a commit adds these files to the table."""

    folder_path: str
    files: Sequence[TableFile]
    schema: StructType


def write_rows(table: TableSpec, new_rows: DataFrame, folder_path: str, is_gathered: bool) -> StructType:
    """Write rows to Parquet files in a new folder (a qualified path), and return their schema.

    Without `is_gathered` each task writes its own files: less work, but more files per partition.
    """
    if table.partition_columns and is_gathered and not table.is_pregathered:
        new_rows = session.gather_rows(new_rows, table.partition_columns)
    sorted_rows = _sort_rows(table, new_rows)
    sorted_rows.write.mode("append").partitionBy(*table.partition_columns).parquet(folder_path)
    return new_rows.schema


def _sort_rows(table: TableSpec, table_rows: DataFrame) -> DataFrame:
    # Sorting by the partition columns first lets each task write one folder after the other.
    return (
        table_rows.sortWithinPartitions(*table.partition_columns, *table.order_columns)
        if table.order_columns
        else table_rows
    )
