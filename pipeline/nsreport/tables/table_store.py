"""Table store: the Delta tables of a run. Only this module and `table_migration` write them.

Spark writes Parquet files to a new folder, where no reader looks for them. One commit of delta-rs then adds
them to the table and removes the files that they replace. A reader sees the old version or the new one. A run
that is killed leaves files that belong to no version.

A store opens each table once, and commits on top of the version that it opened. If another run has committed
to the table since, or has made it from newer lines, the commit raises OutputBusyError and changes nothing.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any
from uuid import uuid4

from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from nsreport.runtime.input_size import find_local_path
from nsreport.tables import table_versions
from nsreport.tables.commit_actions import (
    make_add_action,
    make_commit_properties,
    make_remove_action,
    name_partition,
    parse_partition,
)
from nsreport.tables.file_relation import read_files
from nsreport.tables.hadoop_folder import HadoopFolder
from nsreport.tables.output_lock import OutputBusyError, check_output_file_system
from nsreport.tables.storage_options import read_storage_options
from nsreport.tables.table_layout import StagedRows, TableSpec, find_day_column, write_rows
from nsreport.tables.table_versions import (
    COMPLETE_TRANSACTION,
    DAYS_KEY,
    FORGOTTEN_TRANSACTION,
    LINES_TABLE,
    LINES_TRANSACTION,
    NO_DAY,
    NUMBER_KEY,
    SOURCES_KEY,
    DayTest,
    TableFile,
)

TARGET_FILE_BYTES = 128 << 20
"""Compaction makes files of about this size."""

_RECIPE_KEY = "nsadmin.recipe"


class TableStore:
    """The tables in an output folder, as they were when the store opened them, with its own changes."""

    def __init__(
        self,
        spark: SparkSession,
        root_path: str,
        kept_time: timedelta = table_versions.DEFAULT_KEPT_TIME,
    ) -> None:
        self._spark = spark
        self.output_folder = HadoopFolder(spark, root_path)
        self.root_path = root_path
        self._kept_time = kept_time
        root_url = self.output_folder.qualify_path("")
        # A path without a scheme is on Hadoop's default file system.
        check_output_file_system(root_url)
        self._local_path = find_local_path(root_url)
        hadoop_conf: Any = spark.sparkContext._jsc.hadoopConfiguration()
        self._storage_options = read_storage_options(root_url, hadoop_conf.get)
        self._opened_tables: dict[str, DeltaTable | None] = {}
        self._changed_tables: set[str] = set()

    def read_table(self, table: TableSpec, is_wanted: DayTest | None = None) -> DataFrame | None:
        """Return the rows of a table, all or those of wanted days, or None if it was never written."""
        delta_table = self._open_table(table.name)
        if delta_table is None:
            return None
        return self._read_files(table.name, delta_table, table_versions.list_files(delta_table, is_wanted))

    def replace_rows(
        self,
        table: TableSpec,
        new_rows: DataFrame,
        is_replaced: DayTest | None = None,
        recipe: str = "",
    ) -> int:
        """Replace all rows of a table, or the rows of some days; return the number of new rows.

        `is_replaced` requires a table with files by day. `is_made_by` finds the `recipe` again.
        """
        if is_replaced is None:
            self._remove_former_layout(table)
        _, added_files, table_schema = self.stage_rows(table, new_rows)
        self._replace_files(table, table_schema, added_files, is_replaced, recipe)
        return sum(added_file.row_count or 0 for added_file in added_files)

    def clear_rows(
        self,
        table: TableSpec,
        table_schema: StructType,
        is_replaced: DayTest | None = None,
        recipe: str = "",
    ) -> None:
        """Replace all rows of a table, or the rows of some days, with none. This starts no Spark job."""
        if is_replaced is None:
            self._remove_former_layout(table)
        self._replace_files(table, table_schema, [], is_replaced, recipe)

    def is_made_by(self, table: TableSpec, recipe: str, *, is_newest: bool = True) -> bool:
        """Whether the last replacement of a table had this recipe, and the table contains the newest lines.

        Without `is_newest`, the lines that all tables contain, and whose days are not due, are enough.
        """
        delta_table = self._open_table(table.name)
        lines_table = self._open_table(LINES_TABLE)
        needed_number = (
            table_versions.read_lines_number(lines_table)
            if is_newest
            else table_versions.read_complete_number(lines_table)
        )
        return (
            delta_table is not None
            and table_versions.read_lines_number(delta_table) >= needed_number
            and table_versions.read_commit_info(delta_table, _RECIPE_KEY) == recipe
        )

    def append_rows(self, table: TableSpec, new_rows: DataFrame, *, is_gathered: bool = True) -> int:
        """Add rows to a table; return their number. The days of rows in LINES_TABLE are due from then on.

        Without `is_gathered` each task writes its own files: less work, but more files per partition.
        """
        return self.append_staged_rows(table, self.stage_rows(table, new_rows, is_gathered))

    def read_staged_rows(self, staged_rows: StagedRows) -> DataFrame:
        """Return the rows of `stage_rows`, which belong to no version yet."""
        folder_url = self.output_folder.qualify_path(staged_rows.folder_path)
        return self._spark.read.schema(staged_rows.schema).parquet(folder_url)

    def append_staged_rows(
        self,
        table: TableSpec,
        staged_rows: StagedRows,
        sources_by_day: Mapping[date, Iterable[str]] | None = None,
    ) -> int:
        """Add staged rows to the table, like `append_rows`; return their number."""
        _, added_files, table_schema = staged_rows
        row_count = sum(added_file.row_count or 0 for added_file in added_files)
        if row_count or self._open_table(table.name) is None:
            added_days = {
                added_file.partition_values["date"]
                for added_file in added_files
                if "date" in added_file.partition_values
            }
            self.add_files(table, table_schema, added_files, added_days, sources_by_day)
        return row_count

    def add_files(
        self,
        table: TableSpec,
        table_schema: StructType,
        added_files: Sequence[TableFile],
        due_days: Iterable[date | str],
        sources_by_day: Mapping[date, Iterable[str]] | None = None,
    ) -> None:
        """Add files that are in the folder of a table. If it is LINES_TABLE, these days are due."""
        commit_info: dict[str, Any] = {}
        lines_number = self._read_lines_number()
        if table.name == LINES_TABLE:
            lines_number += 1
            sources = {str(day): sorted(names) for day, names in (sources_by_day or {}).items()}
            commit_info = {
                NUMBER_KEY: lines_number,
                DAYS_KEY: sorted(map(str, due_days)),
                SOURCES_KEY: sources,
            }
        self._add_columns(table, table_schema)
        self._commit(
            table,
            table_schema,
            list(map(make_add_action, added_files)),
            {LINES_TRANSACTION: lines_number},
            commit_info,
        )

    def remove_table(self, table_name: str) -> None:
        """Remove a table with all its rows and versions."""
        self.output_folder.remove(table_name)
        self._opened_tables.pop(table_name, None)

    def count_rows(self, table: TableSpec, is_wanted: DayTest | None = None) -> int:
        """Return the number of rows of a table, all or those of wanted days, or 0 if it was never written."""
        delta_table = self._open_table(table.name)
        if delta_table is None:
            return 0
        row_counts = [each.row_count for each in table_versions.list_files(delta_table, is_wanted)]
        if None not in row_counts:
            return sum(row_count or 0 for row_count in row_counts)
        # Another program committed files without their row counts.
        table_rows = self.read_table(table, is_wanted)
        return 0 if table_rows is None else table_rows.count()

    def count_files(self, table: TableSpec) -> int:
        delta_table = self._open_table(table.name)
        return 0 if delta_table is None else len(table_versions.list_files(delta_table))

    def count_partitions(self, table: TableSpec) -> dict[tuple[Any, ...], int] | None:
        """Return the row counts of a table by the values of its partition columns; None if one is unknown."""
        delta_table = self._open_table(table.name)
        row_counts: dict[tuple[Any, ...], int] = {}
        for table_file in table_versions.list_files(delta_table) if delta_table is not None else ():
            if table_file.row_count is None:
                return None
            key = tuple(table_file.partition_values[column] for column in table.partition_columns)
            row_counts[key] = row_counts.get(key, 0) + table_file.row_count
        return row_counts

    def list_due_days(self) -> dict[date, set[str]]:
        """Return the days whose new lines are not in all tables yet, in order, with their sources."""
        return table_versions.list_due_days(self._open_table(LINES_TABLE))

    def clear_due_days(self) -> None:
        """Record that all tables contain the newest lines."""
        lines_number = self._read_lines_number()
        transactions = dict.fromkeys((LINES_TRANSACTION, COMPLETE_TRANSACTION), lines_number)
        delta_table = self._open_table(LINES_TABLE)
        assert delta_table is not None, "no lines were read"
        self._commit(TableSpec(LINES_TABLE), _read_schema(delta_table), [], transactions)

    def read_first_day(self) -> date:
        """Return the first day that the tables still have; see `table_versions.read_first_day`."""
        return table_versions.read_first_day(self._open_table(LINES_TABLE))

    def forget_days(self, table: TableSpec, first_day: date) -> None:
        """Remove the days before a day from a table with files by day. Rows of states that last stay."""
        delta_table = self._open_table(table.name)
        if delta_table is None or find_day_column(table) is None:
            return
        old_files = table_versions.list_files(
            delta_table, lambda day: day is not None and NO_DAY < day < first_day
        )
        transactions = {LINES_TRANSACTION: table_versions.read_lines_number(delta_table)}
        if table.name == LINES_TABLE:
            transactions[FORGOTTEN_TRANSACTION] = first_day.toordinal()
        if old_files or table.name == LINES_TABLE:
            removals = [make_remove_action(old_file, is_new_data=True) for old_file in old_files]
            self._commit(table, _read_schema(delta_table), removals, transactions)

    def compact_table(self, table: TableSpec) -> int:
        """Merge the small files of each partition; return the number of partitions that changed."""
        delta_table = self._open_table(table.name)
        if delta_table is None:
            return 0
        table_files = sorted(table_versions.list_files(delta_table), key=name_partition)
        actions: list[AddAction | RemoveAction] = []
        compacted_count = 0
        for _, partition_files in groupby(table_files, name_partition):
            small_files = list(partition_files)
            file_count = max(1, -(-sum(map(attrgetter("byte_count"), small_files)) // TARGET_FILE_BYTES))
            if len(small_files) > file_count:
                partition_rows = self._read_files(table.name, delta_table, small_files).coalesce(file_count)
                merged_files = self.stage_rows(table, partition_rows, is_gathered=False).files
                actions += [make_add_action(merged_file, is_new_data=False) for merged_file in merged_files]
                actions += map(make_remove_action, small_files)
                compacted_count += 1
        if compacted_count:
            transactions = {LINES_TRANSACTION: table_versions.read_lines_number(delta_table)}
            self._commit(table, _read_schema(delta_table), actions, transactions)
        return compacted_count

    def remove_old_files(self) -> None:
        """Remove files of changed tables that belong to no version of the kept time."""
        for table_name in sorted(self._changed_tables):
            delta_table = self._open_table(table_name)
            assert delta_table is not None, table_name
            if table_versions.remove_old_files(delta_table, self._kept_time) and self._local_path is not None:
                table_versions.remove_empty_folders(Path(self._local_path, table_name))
        self._changed_tables.clear()

    def find_uri(self, table_name: str) -> str:
        """Return the path or URL of a table, as delta-rs takes it."""
        if self._local_path is not None:
            return f"{self._local_path}/{table_name}"
        return self.output_folder.qualify_path(table_name)

    def _open_table(self, table_name: str) -> DeltaTable | None:
        """Open a table. A table that did not exist at the first call does not exist for this store."""
        if table_name not in self._opened_tables:
            self._opened_tables[table_name] = table_versions.open_table(
                self.find_uri(table_name), storage_options=self._storage_options
            )
        return self._opened_tables[table_name]

    def _read_lines_number(self) -> int:
        return table_versions.read_lines_number(self._open_table(LINES_TABLE))

    def _read_files(
        self, table_name: str, delta_table: DeltaTable, table_files: Sequence[TableFile]
    ) -> DataFrame:
        return read_files(
            self._spark,
            self.output_folder.qualify_path(table_name),
            table_files,
            _read_schema(delta_table),
            delta_table.metadata().partition_columns,
        )

    def stage_rows(self, table: TableSpec, new_rows: DataFrame, is_gathered: bool = True) -> StagedRows:
        """Write rows to files in a new folder of the table. They belong to no version until a commit."""
        new_folder = uuid4().hex
        folder_path = f"{table.name}/{new_folder}"
        table_schema = write_rows(table, new_rows, self.output_folder.qualify_path(folder_path), is_gathered)
        written_files = self.list_parquet_files(table.name, new_folder)
        return StagedRows(folder_path, [file for file in written_files if file.row_count], table_schema)

    def list_parquet_files(self, table_name: str, folder_path: str) -> list[TableFile]:
        """Return the Parquet files below a folder of a table; folder names have the partition values."""
        search_folder = f"{table_name}/{folder_path}" if folder_path else table_name
        prefix = f"{folder_path}/" if folder_path else ""
        return [
            TableFile(
                f"{prefix}{file_path}",
                parse_partition(file_path),
                byte_count,
                self.output_folder.count_parquet_rows(f"{search_folder}/{file_path}"),
            )
            for file_path, byte_count in self.output_folder.list_sized_files(search_folder)
        ]

    def _replace_files(
        self,
        table: TableSpec,
        table_schema: StructType,
        added_files: Sequence[TableFile],
        is_replaced: DayTest | None,
        recipe: str,
    ) -> None:
        removed_files: list[TableFile] = []
        if is_replaced is not None and (delta_table := self._open_table(table.name)) is not None:
            removed_files = table_versions.list_files(delta_table, is_replaced)
            self._add_columns(table, table_schema)
        self._commit(
            table,
            table_schema,
            [
                *map(make_add_action, added_files),
                *(make_remove_action(removed_file, is_new_data=True) for removed_file in removed_files),
            ],
            {LINES_TRANSACTION: self._read_lines_number()},
            {_RECIPE_KEY: recipe} if recipe else {},
            mode="overwrite" if is_replaced is None else "append",
        )

    def _remove_former_layout(self, table: TableSpec) -> None:
        """Remove a table that an earlier version of nsadmin partitioned in another way."""
        delta_table = self._open_table(table.name)
        if delta_table is not None and delta_table.metadata().partition_columns != [*table.partition_columns]:
            self.remove_table(table.name)

    def _add_columns(self, table: TableSpec, table_schema: StructType) -> None:
        """Add the columns that a table lacks. They are null in its rows."""
        delta_table = self._open_table(table.name)
        if delta_table is None:
            return
        known_names = {field.name for field in delta_table.schema().fields}
        new_fields = [
            field for field in self._make_delta_schema(table_schema).fields if field.name not in known_names
        ]
        if new_fields:
            transactions = {LINES_TRANSACTION: table_versions.read_lines_number(delta_table)}
            with self._refuse_conflicts():
                delta_table.alter.add_columns(
                    new_fields, commit_properties=make_commit_properties(transactions)
                )
            delta_table.update_incremental()

    def _commit(
        self,
        table: TableSpec,
        table_schema: StructType,
        actions: Sequence[AddAction | RemoveAction],
        transactions: Mapping[str, int],
        commit_info: Mapping[str, Any] | None = None,
        mode: str = "append",
    ) -> None:
        """Commit actions to a table. Create it if it did not exist when the store first looked for it."""
        delta_table = self._open_table(table.name)
        self._changed_tables.add(table.name)
        commit_properties = make_commit_properties(transactions, commit_info)
        if delta_table is None:
            self._create_table(table, table_schema, actions, commit_properties)
            return
        if table_versions.read_lines_number(delta_table) > transactions[LINES_TRANSACTION]:
            # Another run has made this table from lines that this run has not seen.
            raise OutputBusyError(self.root_path)
        with self._refuse_conflicts():
            delta_table.create_write_transaction(
                list(actions),
                mode,
                self._make_delta_schema(table_schema),
                delta_table.metadata().partition_columns,
                commit_properties=commit_properties,
            )
        delta_table.update_incremental()

    def _create_table(
        self,
        table: TableSpec,
        table_schema: StructType,
        actions: Sequence[AddAction | RemoveAction],
        commit_properties: CommitProperties,
    ) -> None:
        table_uri = self.find_uri(table.name)
        try:
            create_table_with_add_actions(
                table_uri,
                self._make_delta_schema(table_schema),
                [action for action in actions if isinstance(action, AddAction)],
                "error",
                list(table.partition_columns),
                configuration=table_versions.make_table_properties(self._kept_time),
                storage_options=self._storage_options,
                commit_properties=commit_properties,
            )
        except DeltaError:
            if DeltaTable.is_deltatable(table_uri, self._storage_options):
                raise OutputBusyError(self.root_path) from None
            raise
        del self._opened_tables[table.name]

    def _make_delta_schema(self, table_schema: StructType) -> Schema:
        """Delta and Spark describe columns with the same JSON; in Delta, any column may be null."""
        java_schema: Any = self._spark._jsparkSession.parseDataType(table_schema.json())
        return Schema.from_json(java_schema.asNullable().json())

    @contextmanager
    def _refuse_conflicts(self) -> Iterator[None]:
        """Raise OutputBusyError if another run has committed to the table since it was opened."""
        try:
            yield
        except CommitFailedError:
            raise OutputBusyError(self.root_path) from None


def _read_schema(delta_table: DeltaTable) -> StructType:
    return StructType.fromJson(json.loads(delta_table.schema().to_json()))
