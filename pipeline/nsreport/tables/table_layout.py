"""Table layout: names, partitions and order of tables, and how Spark writes rows accordingly."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pyspark.sql import DataFrame, DataFrameWriter
from pyspark.sql.types import StructType

from nsreport.runtime import session
from nsreport.tables.table_versions import TableFile

_PAGE_ROWS = 2000
"""Rows in a page of a sorted table. Readers skip whole pages."""


class TableSpec(NamedTuple):
    """A table: its name with its layer (`silver/ns_event`), its partition columns and its sort columns.

    Rows of a file are sorted by `order_columns`, so that a query for a few event types reads only the pages
    that contain them.
    """

    name: str
    partition_columns: tuple[str, ...] = ()
    order_columns: tuple[str, ...] = ()


class HeadRows(NamedTuple):
    """Rows with only their layout columns, and the function that expands them after partitioning and sorting.

    For wide tables it is much cheaper to move and sort rows in this form. `expand_rows` must keep the order
    of the rows and the partition columns.
    """

    head_rows: DataFrame
    expand_rows: Callable[[DataFrame], DataFrame]


class StagedRows(NamedTuple):
    """Rows in the files below a folder of a table, before a commit adds these files to the table."""

    folder_path: str
    files: Sequence[TableFile]
    schema: StructType


def write_rows(
    table: TableSpec, new_rows: DataFrame | HeadRows, folder_path: str, is_gathered: bool
) -> StructType:
    """Write rows to Parquet files in a new folder (a qualified path), and return their schema.

    Without `is_gathered` each task writes its own files: less work, but more files per partition.
    """
    head_rows = new_rows if isinstance(new_rows, HeadRows) else HeadRows(new_rows, _keep_rows)
    gathered_rows = head_rows.head_rows
    if table.partition_columns and is_gathered:
        gathered_rows = session.gather_rows(gathered_rows, table.partition_columns)
    whole_rows = head_rows.expand_rows(_sort_rows(table, gathered_rows))
    _open_writer(table, whole_rows).mode("append").partitionBy(*table.partition_columns).parquet(folder_path)
    return whole_rows.schema


def _keep_rows(table_rows: DataFrame) -> DataFrame:
    return table_rows


def _sort_rows(table: TableSpec, table_rows: DataFrame) -> DataFrame:
    # Sorting by the partition columns first lets each task write one folder after the other.
    return (
        table_rows.sortWithinPartitions(*table.partition_columns, *table.order_columns)
        if table.order_columns
        else table_rows
    )


def _open_writer(table: TableSpec, table_rows: DataFrame) -> DataFrameWriter:
    return (
        table_rows.write.option("parquet.page.row.count.limit", _PAGE_ROWS)
        if table.order_columns
        else table_rows.write
    )
