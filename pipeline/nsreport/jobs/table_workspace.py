"""Table workspace: the tables of a run. Small ones stay in memory for the tables that are made from them."""

import threading
import time
from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col
from pyspark.sql.types import StructField, StructType

from nsreport.reports.table_catalogue import find_table
from nsreport.runtime import local_rows, progress
from nsreport.runtime.local_rows import MAX_LOCAL_ROWS
from nsreport.tables.table_layout import TableSpec, find_day_column, reaches
from nsreport.tables.table_store import TableStore
from nsreport.tables.table_versions import DayTest


class TableResult(NamedTuple):
    """The figures of a finished table: rows read, rows written or added, and seconds."""

    table_name: str
    rows_in: int
    rows_out: int
    elapsed_seconds: float


ResultListener = Callable[[TableResult], None]


class TableWorkspace:
    """Reads and replaces tables, also from several threads. Passes each `TableResult` to `report_result`."""

    def __init__(self, spark: SparkSession, table_store: TableStore, report_result: ResultListener) -> None:
        self.spark = spark
        self.table_store = table_store
        self.report_result = report_result
        self._local_tables: dict[str, DataFrame] = {}
        self._row_counts: dict[tuple[str, date | None], int] = {}
        self._counts_lock = threading.Lock()

    def forget_tables(self) -> None:
        """Forget the rows in memory and the counts: the next reader reads the tables in the store."""
        self._local_tables.clear()
        self._row_counts.clear()

    def find_table(self, table: TableSpec, first_day: date | None = None) -> DataFrame | None:
        """Return the rows of a table, all or those that `reaches` a day; None if it was never written."""
        local_table = self._local_tables.get(table.name)
        if local_table is None:
            return self.table_store.read_table(table, None if first_day is None else reaches(first_day))
        day_column = find_day_column(table)
        if first_day is None or day_column is None:
            return local_table
        return local_table.where(col(day_column).isNull() | (col(day_column) >= first_day))

    def read_table(self, table: TableSpec, first_day: date | None = None) -> DataFrame:
        table_rows = self.find_table(table, first_day)
        assert table_rows is not None, table
        return table_rows

    def read_days(self, table: TableSpec, wanted_days: Sequence[date]) -> DataFrame:
        local_table = self._local_tables.get(table.name)
        if local_table is not None:
            return local_table.where(col("date").isin(list(wanted_days)))
        table_rows = self.table_store.read_table(table, set(wanted_days).__contains__)
        assert table_rows is not None, table
        return table_rows

    def count_rows(self, table: TableSpec, first_day: date | None = None) -> int:
        """Return the row count of a table, all rows or those that `reaches` a day, and remember it."""
        key = table.name, first_day
        with self._counts_lock:
            if key not in self._row_counts:
                is_wanted = None if first_day is None else reaches(first_day)
                self._row_counts[key] = self.table_store.count_rows(table, is_wanted)
            return self._row_counts[key]

    def replace_table(
        self,
        table: TableSpec,
        table_rows: DataFrame,
        input_row_count: int,
        is_replaced: DayTest | None = None,
        recipe: str = "",
    ) -> int:
        """Replace the rows of a table, or of some of its days; return the number of new rows.

        A query that Spark knows to be empty starts no job.
        """
        progress.describe_jobs(self.spark, table.name)
        began_seconds = time.monotonic()
        if local_rows.is_known_empty(table_rows):
            row_count = 0
            table_schema = _describe_schema(table.name, table_rows.schema)
            self.table_store.clear_rows(table, table_schema, is_replaced, recipe)
        else:
            described_rows = add_column_metadata(table.name, table_rows)
            row_count = self.table_store.replace_rows(table, described_rows, is_replaced, recipe)
        self._local_tables.pop(table.name, None)
        with self._counts_lock:
            for key in [key for key in self._row_counts if key[0] == table.name]:
                del self._row_counts[key]
            if is_replaced is None:
                self._row_counts[table.name, None] = row_count
        self.report_result(
            TableResult(table.name, input_row_count, row_count, time.monotonic() - began_seconds)
        )
        return row_count

    def replace_small_table(
        self, table: TableSpec, table_rows: DataFrame, input_row_count: int, recipe: str = ""
    ) -> int:
        """Replace all rows of a table that has few rows, and keep them in memory; return their number."""
        progress.describe_jobs(self.spark, table.name)
        if not local_rows.is_known_empty(table_rows):
            table_schema = _describe_schema(table.name, table_rows.schema)
            table_rows = local_rows.collect_locally(table_rows, table_schema)
        row_count = self.replace_table(table, table_rows, input_row_count, recipe=recipe)
        self._local_tables[table.name] = (
            table_rows if row_count else local_rows.build_empty_rows(self.spark, table_rows.schema)
        )
        return row_count

    def load_small_table(self, table: TableSpec) -> None:
        """Keep the rows of a table in memory, if there are few."""
        row_count = self.count_rows(table)
        if row_count <= MAX_LOCAL_ROWS and table.name not in self._local_tables:
            stored_rows = self.read_table(table)
            self._local_tables[table.name] = (
                local_rows.collect_locally(stored_rows)
                if row_count
                else local_rows.build_empty_rows(self.spark, stored_rows.schema)
            )

    def make_empty_table(self, table: TableSpec, table_schema: StructType) -> None:
        """Make a table without rows, if it was never written."""
        if self.table_store.read_table(table) is None:
            self.replace_table(table, local_rows.build_empty_rows(self.spark, table_schema), 0)


def add_column_metadata(table_name: str, table_rows: DataFrame) -> DataFrame:
    """Add `comment` and `unit` to the columns; Spark keeps them in the footer of each Parquet file."""
    described_schema = _describe_schema(table_name, table_rows.schema)
    if described_schema == table_rows.schema:
        return table_rows
    return table_rows.select(
        *(
            col(field.name).alias(field.name, metadata=field.metadata) if field.metadata else col(field.name)
            for field in described_schema
        )
    )


def _describe_schema(table_name: str, table_schema: StructType) -> StructType:
    """Add `comment` and `unit` to the columns of a schema."""
    table = find_table(table_name)
    metadata = {
        column.name: {"comment": column.meaning} | ({"unit": column.unit} if column.unit else {})
        for column in (table.columns if table is not None else ())
    }
    return StructType(
        [
            StructField(field.name, field.dataType, field.nullable, metadata[field.name])
            if field.name in metadata
            else field
            for field in table_schema
        ]
    )
