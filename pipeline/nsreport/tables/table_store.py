"""Table store: the Parquet tables of a run. Only this module writes them.

A commit replaces all partitions or none. The store first writes the new files to a staging folder, then a
plan of all moves, then makes the moves and removes the plan. After a crash, the next process that opens the
store finishes the plan. Only one run writes at a time; its threads may write different tables side by side.
"""

import fcntl
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql.types import StructType

from nsreport.runtime import session
from nsreport.tables.hadoop_folder import HadoopFolder

TARGET_FILE_BYTES = 128 << 20
"""Compaction makes files of about this size."""

STAGING_FOLDER = "_staging"
_PAGE_ROWS = 2000
"""Rows in a page of a sorted table. Readers skip whole pages."""

_MAX_COUNTED_FILES = 64
"""Up to this many files, the store adds up the row counts of the Parquet footers; else a Spark job counts."""

_PLAN_FILE = "plan.json"
_SCHEMA_FILE = "_schema.json"
_NEW_FOLDER = "new"
_DUE_FOLDER = "_due"
_LOCK_FILE = "_lock"
_OUTPUT_SCHEMES = ("", "file", "hdfs", "viewfs")
"""File systems that rename a folder in one step; "" is the default file system."""


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


class CommitPlan(NamedTuple):
    """The steps of a commit: days to mark as due, paths to remove, and (source, target) paths to move."""

    due_days: list[str]
    removed_paths: list[str]
    moved_paths: list[tuple[str, str]]


class OutputBusyError(Exception):
    """Another run holds the lock of the output folder; the text is one line."""


class OutputFileSystemError(Exception):
    """The output folder is on a file system without atomic renames; the text is one line."""


def _open_lock(lock_path: str, open_flags: int) -> int:
    # A link in a folder that other users write to must not decide which file is opened.
    return os.open(lock_path, open_flags | os.O_NOFOLLOW, 0o600)


def check_output_file_system(root_path: str) -> None:
    """Raise OutputFileSystemError if the commit of `TableStore` does not work at a path or URL.

    An object store copies and deletes each file of a folder that it renames. A run that is killed meanwhile,
    or a second run, would lose rows. docs/explanation/report-runs.md explains what was measured.
    """
    if urlsplit(root_path).scheme not in _OUTPUT_SCHEMES:
        raise OutputFileSystemError(
            f'cannot write tables to "{root_path}": object stores do not rename folders in one step; '
            "pass a local or hdfs:// folder with --dir, and copy the tables after the run"
        )


@contextmanager
def lock_output(root_path: str) -> Iterator[None]:
    """Lock a local output folder against other runs during the block. Raises OutputBusyError.

    Folders on other file systems are not locked.
    """
    url_parts = urlsplit(root_path)
    if url_parts.scheme not in ("", "file"):
        yield
        return
    root_folder = Path(unquote(url_parts.path) if url_parts.scheme else root_path)
    root_folder.mkdir(parents=True, exist_ok=True)
    with open(root_folder / _LOCK_FILE, "a", opener=_open_lock) as lock_file:
        try:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputBusyError(f'another run writes to "{root_path}": wait until it has ended') from None
        yield


class TableStore:
    """The tables in an output folder."""

    def __init__(self, spark: SparkSession, root_path: str) -> None:
        self._spark = spark
        self._output_folder = HadoopFolder(spark, root_path)
        self.root_path = root_path
        # A path without a scheme is on Hadoop's default file system.
        check_output_file_system(self._output_folder.qualify_path(""))
        self._commit_lock = threading.Lock()
        self._staging_tables: set[str] = set()
        self._recover_commit()

    def read_table(self, table: TableSpec) -> DataFrame | None:
        """Return all rows of a table, or None if it was never written."""
        table_schema = self._read_schema(table)
        if table_schema is None:
            return None
        return self._spark.read.schema(table_schema).parquet(self._output_folder.qualify_path(table.name))

    def replace_rows(
        self, table: TableSpec, new_rows: DataFrame | HeadRows, replaced_days: Iterable[date] | None = None
    ) -> int:
        """Replace all rows of a table, or the rows of some days; return the number of new rows.

        `replaced_days` requires a table with `date` as its first partition column.
        """
        staged_folder, table_schema = self._stage_rows(table, new_rows)
        removed_paths = self._list_partition_paths(table, replaced_days)
        moved_paths = [
            (
                f"{staged_folder}/{leaf_folder}" if leaf_folder else staged_folder,
                f"{table.name}/{leaf_folder}" if leaf_folder else table.name,
            )
            for leaf_folder in self._output_folder.list_leaf_folders(staged_folder)
        ]
        row_count = self._count_rows(staged_folder)
        self._commit_plan(table, table_schema, CommitPlan([], removed_paths, moved_paths))
        return row_count

    def clear_rows(
        self, table: TableSpec, table_schema: StructType, replaced_days: Iterable[date] | None = None
    ) -> None:
        """Replace all rows of a table, or the rows of some days, with none. This starts no Spark job."""
        removed_paths = self._list_partition_paths(table, replaced_days)
        self._commit_plan(table, table_schema, CommitPlan([], removed_paths, []))

    def _list_partition_paths(self, table: TableSpec, wanted_days: Iterable[date] | None) -> list[str]:
        """Return the folders that contain the rows of a table, or of some of its days."""
        wanted_partitions = (
            None if wanted_days is None else {f"date={day.isoformat()}" for day in wanted_days}
        )
        return [
            f"{table.name}/{leaf_folder}" if leaf_folder else table.name
            for leaf_folder in self._output_folder.list_leaf_folders(table.name)
            if wanted_partitions is None or leaf_folder.split("/")[0] in wanted_partitions
        ]

    def append_rows(
        self, table: TableSpec, new_rows: DataFrame, *, is_due: bool = False, is_gathered: bool = True
    ) -> int:
        """Add rows to a table; return their number. With `is_due`, the same commit marks their days as due.

        Without `is_gathered` each task writes its own files: less work, but more files per partition.
        """
        staged_folder, table_schema = self._stage_rows(table, new_rows, is_gathered)
        staged_files = self._output_folder.list_files(staged_folder)
        added_days = sorted(
            {
                path_part[5:]
                for staged_file in staged_files
                for path_part in staged_file.split("/")
                if path_part.startswith("date=")
            }
        )
        row_count = self._count_rows(staged_folder)
        moved_paths = [
            (f"{staged_folder}/{staged_file}", f"{table.name}/{staged_file}") for staged_file in staged_files
        ]
        self._commit_plan(table, table_schema, CommitPlan(added_days if is_due else [], [], moved_paths))
        return row_count

    def remove_table(self, table_name: str) -> None:
        """Remove a table with all its rows."""
        # Without its schema, readers and later runs see no table, even if the process is killed here.
        self._output_folder.remove(f"{table_name}/{_SCHEMA_FILE}")
        self._output_folder.remove(table_name)

    def count_rows(self, table: TableSpec) -> int:
        """Return the number of rows of a table, or 0 if it was never written."""
        return self._count_rows(table.name)

    def list_due_days(self) -> list[date]:
        """Return the days that are marked as due, in order."""
        return [date.fromisoformat(day_name) for day_name in self._output_folder.list_files(_DUE_FOLDER)]

    def clear_due_days(self, done_days: Iterable[date]) -> None:
        """Remove the marks of these days."""
        for done_day in done_days:
            self._output_folder.remove(f"{_DUE_FOLDER}/{done_day.isoformat()}")

    def compact_table(self, table: TableSpec) -> int:
        """Merge the small files of each partition; return the number of partitions that changed."""
        compacted_count = 0
        for leaf_folder in self._output_folder.list_leaf_folders(table.name):
            partition_folder = f"{table.name}/{leaf_folder}" if leaf_folder else table.name
            file_sizes = self._output_folder.list_file_sizes(partition_folder)
            file_count = max(1, -(-sum(file_sizes) // TARGET_FILE_BYTES))
            if len(file_sizes) > file_count:
                partition_rows = self._spark.read.parquet(
                    self._output_folder.qualify_path(partition_folder)
                ).coalesce(file_count)
                staged_folder = self._begin_staging(table)
                ordered_rows = _sort_rows(TableSpec(table.name, (), table.order_columns), partition_rows)
                _table_writer(table, ordered_rows).mode("overwrite").parquet(
                    self._output_folder.qualify_path(staged_folder)
                )
                self._commit_plan(
                    table,
                    self._read_schema(table),
                    CommitPlan([], [partition_folder], [(staged_folder, partition_folder)]),
                )
                compacted_count += 1
        return compacted_count

    def _stage_rows(
        self, table: TableSpec, new_rows: DataFrame | HeadRows, is_gathered: bool = True
    ) -> tuple[str, StructType]:
        """Write rows to the staging folder; return their folder and schema."""
        staged_folder = self._begin_staging(table)
        head_rows = new_rows if isinstance(new_rows, HeadRows) else HeadRows(new_rows, _keep_rows)
        gathered_rows = head_rows.head_rows
        if table.partition_columns and is_gathered:
            gathered_rows = session.gather_rows(gathered_rows, table.partition_columns)
        whole_rows = head_rows.expand_rows(_sort_rows(table, gathered_rows))
        _table_writer(table, whole_rows).mode("overwrite").partitionBy(*table.partition_columns).parquet(
            self._output_folder.qualify_path(staged_folder)
        )
        return staged_folder, whole_rows.schema

    def _begin_staging(self, table: TableSpec) -> str:
        """Return the folder that takes the new files of a table until their commit."""
        with self._commit_lock:
            self._staging_tables.add(table.name)
        return f"{STAGING_FOLDER}/{_NEW_FOLDER}/{table.name}"

    def _commit_plan(
        self, table: TableSpec, table_schema: StructType | None, commit_plan: CommitPlan
    ) -> None:
        with self._commit_lock:
            if table_schema is not None:
                self._output_folder.write(f"{STAGING_FOLDER}/{_SCHEMA_FILE}", table_schema.json())
                commit_plan.moved_paths.append(
                    (f"{STAGING_FOLDER}/{_SCHEMA_FILE}", f"{table.name}/{_SCHEMA_FILE}")
                )
            plan_path = f"{STAGING_FOLDER}/{_PLAN_FILE}"
            self._output_folder.write(plan_path, json.dumps(commit_plan))
            self._carry_out_plan(commit_plan)
            self._staging_tables.discard(table.name)
            # Other threads may still be writing their tables to the staging folder.
            self._output_folder.remove(plan_path if self._staging_tables else STAGING_FOLDER)

    def _recover_commit(self) -> None:
        """Finish a commit whose plan was written, then discard other staged files."""
        plan_text = self._output_folder.read_text(f"{STAGING_FOLDER}/{_PLAN_FILE}")
        if plan_text is not None:
            self._carry_out_plan(CommitPlan(*json.loads(plan_text)))
        self._output_folder.remove(STAGING_FOLDER)

    def _carry_out_plan(self, commit_plan: CommitPlan) -> None:
        """Make the moves of a plan. Safe to repeat: a file that left the staging folder is in its place."""
        for due_day in commit_plan.due_days:
            self._output_folder.write(f"{_DUE_FOLDER}/{due_day}", "")
        source_by_target = {target_path: source_path for source_path, target_path in commit_plan.moved_paths}
        for removed_path in commit_plan.removed_paths:
            if removed_path not in source_by_target:
                self._output_folder.remove(removed_path)
        for source_path, target_path in commit_plan.moved_paths:
            if self._output_folder.has_path(source_path):
                self._output_folder.move(source_path, target_path)

    def _count_rows(self, table_folder: str) -> int:
        table_files = self._output_folder.list_files(table_folder)
        if len(table_files) <= _MAX_COUNTED_FILES:
            return sum(
                self._output_folder.count_parquet_rows(f"{table_folder}/{table_file}")
                for table_file in table_files
            )
        return (
            self._spark.read.schema(StructType())
            .parquet(self._output_folder.qualify_path(table_folder))
            .count()
        )

    def _read_schema(self, table: TableSpec) -> StructType | None:
        schema_text = self._output_folder.read_text(f"{table.name}/{_SCHEMA_FILE}")
        return None if schema_text is None else StructType.fromJson(json.loads(schema_text))


def _keep_rows(table_rows: DataFrame) -> DataFrame:
    return table_rows


def _sort_rows(table: TableSpec, table_rows: DataFrame) -> DataFrame:
    # Sorting by the partition columns first lets each task write one folder after the other.
    return (
        table_rows.sortWithinPartitions(*table.partition_columns, *table.order_columns)
        if table.order_columns
        else table_rows
    )


def _table_writer(table: TableSpec, table_rows: DataFrame) -> DataFrameWriter:
    return (
        table_rows.write.option("parquet.page.row.count.limit", _PAGE_ROWS)
        if table.order_columns
        else table_rows.write
    )
