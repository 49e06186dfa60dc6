"""Line ingest: copies the lines of new and changed input files into bronze, each line once."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from nsreport.jobs.table_workspace import ResultListener, TableResult
from nsreport.runtime import local_rows, progress, session
from nsreport.runtime.input_size import estimate_plain_length
from nsreport.sources import input_files
from nsreport.sources.input_files import JOURNAL_KIND, InputFile, InputSource
from nsreport.tables import unique_lines
from nsreport.tables.table_layout import StagedRows, TableSpec
from nsreport.tables.table_store import TableStore
from nsreport.tables.table_versions import LINES_TABLE, NO_DAY

BRONZE_LINES = TableSpec(LINES_TABLE, ("kind", "date"))
BRONZE_FILES = TableSpec("bronze/files")
_MIN_LINE_BYTES = 20
"""Least size of a line in a compressed segment. It turns file sizes into an upper bound of the row count."""

MAX_LOCAL_BYTES = 8 << 20
"""Up to this many bytes, new lines are read and parsed once, into the driver's memory."""

MAX_RECORD_FILES = 24
"""Each run adds a file to BRONZE_FILES. After so many, they become one."""

_FILE_COLUMNS = {"path": "string", "server": "string", "length": "bigint", "modified": "bigint"}


RowKeeper = Callable[[DataFrame], DataFrame]
"""A function that returns rows which several queries read without computing them again."""


class _BronzeComparison(NamedTuple):
    """How many lines of each day and file were read, and which of them repeat others.

    `bronze_lines` are of the same days.
    """

    line_counts: Mapping[tuple[date, str], int]
    is_all_new: bool
    repeated_keys: DataFrame
    bronze_lines: DataFrame | None

    @property
    def line_count(self) -> int:
        return sum(self.line_counts.values())


class LineIngest:
    """Reads the files of some sources into the bronze tables of a store. Raises InputNotFoundError.

    Lines of days before `first_day`, and of days that the store has forgotten, are left out.
    """

    def __init__(
        self,
        spark: SparkSession,
        table_store: TableStore,
        input_sources: Sequence[InputSource],
        started_at: datetime,
        report_result: ResultListener,
        first_day: date = NO_DAY,
    ) -> None:
        self._spark = spark
        self._table_store = table_store
        self._first_day = max(first_day, table_store.read_first_day())
        self._input_sources = input_sources
        self._started_at = started_at
        self._report_result = report_result
        self._sources_by_path: dict[str, str] = {}

    def ingest_new_files(self) -> int:
        """Ingest new files into bronze; return the number of skipped files."""
        new_files, skipped_file_count = self.find_changed_files()
        if new_files:
            self.ingest_files(new_files)
        return skipped_file_count

    def find_changed_files(self) -> tuple[list[InputFile], int]:
        """Return the files that are new or have changed, and the number of files of an unknown kind."""
        progress.describe_jobs(self._spark, BRONZE_FILES.name)
        readable_files: list[InputFile] = []
        skipped_file_count = 0
        for input_source in self._input_sources:
            source_files, unknown_paths = input_files.list_files(self._spark, input_source)
            readable_files += source_files
            skipped_file_count += len(unknown_paths)
        return self._select_unread_files(readable_files), skipped_file_count

    def ingest_files(self, new_files: Sequence[InputFile]) -> None:
        """Ingest the lines of files into bronze, then record the files as read."""
        self._sources_by_path = {new_file.path: new_file.source for new_file in new_files}
        max_line_count = sum(input_file.length for input_file in new_files) // _MIN_LINE_BYTES
        session.adapt_session(self._spark, max_line_count)
        plain_bytes = sum(estimate_plain_length(new_file.path, new_file.length) for new_file in new_files)
        is_small = plain_bytes <= MAX_LOCAL_BYTES and all(map(input_files.is_on_this_machine, new_files))
        is_staged = not is_small and max_line_count > session.FEW_ROWS
        for is_journal in (True, False):
            kind_files = [
                input_file for input_file in new_files if (input_file.kind == JOURNAL_KIND) == is_journal
            ]
            if not kind_files:
                continue
            keyed_lines = self._read_keyed_lines(kind_files, is_journal=is_journal, is_small=is_small)
            keep_rows = local_rows.keep_in_memory if is_small else DataFrame.persist
            if is_small or not (is_journal or is_staged):
                # Joining continuation lines needs a sort: keep the result, so that Spark sorts once.
                keyed_lines = keep_rows(keyed_lines)
            try:
                self._append_lines(keyed_lines, keep_rows, is_staged=is_staged)
            finally:
                keyed_lines.unpersist()
        self._record_files(new_files)

    def _read_keyed_lines(
        self, kind_files: Sequence[InputFile], *, is_journal: bool, is_small: bool
    ) -> DataFrame:
        file_lines = (
            input_files.read_small_files(self._spark, kind_files)
            if is_small
            else input_files.read_lines(self._spark, kind_files)
        )
        keyed_lines = (
            unique_lines.key_journal_lines(file_lines)
            if is_journal
            else unique_lines.key_log_messages(file_lines)
        )
        if self._first_day == NO_DAY:
            return keyed_lines
        return keyed_lines.where((col("date") >= self._first_day) | (col("date") == NO_DAY))

    def _append_lines(self, keyed_lines: DataFrame, keep_rows: RowKeeper, *, is_staged: bool) -> None:
        """Append the lines that bronze does not have. Their days are due from then on."""
        progress.describe_jobs(self._spark, BRONZE_LINES.name)
        began_seconds = time.monotonic()
        append_lines = self._append_by_files if is_staged else self._append_directly
        line_count, added_count = append_lines(keyed_lines, keep_rows)
        self._report_result(
            TableResult(BRONZE_LINES.name, line_count, added_count, time.monotonic() - began_seconds)
        )

    def _append_directly(self, keyed_lines: DataFrame, keep_rows: RowKeeper) -> tuple[int, int]:
        """Append the lines that bronze does not have. Return the numbers of read and added lines."""
        line_keys = keep_rows(unique_lines.select_line_keys(keyed_lines))
        try:
            with self._compare_with_bronze(line_keys, keep_rows) as comparison:
                return comparison.line_count, self._append_new_lines(keyed_lines, comparison)
        finally:
            line_keys.unpersist()

    def _append_by_files(self, keyed_lines: DataFrame, keep_rows: RowKeeper) -> tuple[int, int]:
        """Write all lines to files first, and compare the hashes in these files with bronze.

        If all lines are new, as in a first run, bronze gets the files: Spark does not read the input again.
        Return the numbers of read and added lines.
        """
        staged_rows = self._table_store.stage_rows(
            BRONZE_LINES, unique_lines.add_ingest_time(keyed_lines, self._started_at), is_gathered=False
        )
        staged_lines = self._table_store.read_staged_rows(staged_rows)
        line_keys = unique_lines.select_line_keys(staged_lines)
        with self._compare_with_bronze(line_keys, keep_rows) as comparison:
            if comparison.is_all_new and comparison.line_count > session.FEW_ROWS:
                added_count = self._append_staged_lines(staged_rows, comparison.line_counts)
                return comparison.line_count, added_count
            added_count = self._append_new_lines(staged_lines, comparison)
        self._table_store.output_folder.remove(staged_rows.folder_path)
        return comparison.line_count, added_count

    @contextmanager
    def _compare_with_bronze(self, line_keys: DataFrame, keep_rows: RowKeeper) -> Iterator[_BronzeComparison]:
        line_counts = _count_lines(line_keys)
        days = {day for day, _ in line_counts}
        bronze_lines = self._table_store.read_table(BRONZE_LINES, days.__contains__)
        repeated_keys = keep_rows(unique_lines.find_repeated_keys(line_keys, bronze_lines))
        try:
            is_all_new = local_rows.is_known_empty(repeated_keys) or repeated_keys.isEmpty()
            yield _BronzeComparison(line_counts, is_all_new, repeated_keys, bronze_lines)
        finally:
            repeated_keys.unpersist()

    def _append_new_lines(self, keyed_lines: DataFrame, comparison: _BronzeComparison) -> int:
        new_lines = (
            unique_lines.add_ingest_time(keyed_lines, self._started_at)
            if comparison.is_all_new
            else unique_lines.select_new_lines(
                keyed_lines, comparison.repeated_keys, comparison.bronze_lines, self._started_at
            )
        )
        is_gathered = comparison.line_count <= session.FEW_ROWS
        staged_rows = self._table_store.stage_rows(BRONZE_LINES, new_lines, is_gathered)
        line_counts = (
            comparison.line_counts
            if comparison.is_all_new or not staged_rows.files
            else _count_lines(self._table_store.read_staged_rows(staged_rows))
        )
        return self._append_staged_lines(staged_rows, line_counts)

    def _append_staged_lines(self, staged_rows: StagedRows, counted_lines: Iterable[tuple[date, str]]) -> int:
        sources_by_day: dict[date, set[str]] = {}
        for day, path in counted_lines:
            sources_by_day.setdefault(day, set()).add(self._sources_by_path[path])
        return self._table_store.append_staged_rows(BRONZE_LINES, staged_rows, sources_by_day)

    def _select_unread_files(self, readable_files: Iterable[InputFile]) -> list[InputFile]:
        """Return, once each, the files that bronze has not read with their present length and time."""
        file_table = self._table_store.read_table(BRONZE_FILES)
        file_rows = file_table.collect() if file_table is not None else []
        read_versions = {
            (file_row.path, file_row.server, file_row.length, file_row.modified) for file_row in file_rows
        }
        return [
            input_file
            for input_file in {input_file.path: input_file for input_file in readable_files}.values()
            if (input_file.path, input_file.server, input_file.length, input_file.modified)
            not in read_versions
        ]

    def _record_files(self, new_files: Sequence[InputFile]) -> None:
        file_rows = [
            (input_file.path, input_file.server, input_file.length, input_file.modified)
            for input_file in new_files
        ]
        self._table_store.append_rows(
            BRONZE_FILES, local_rows.build_rows(self._spark, file_rows, _FILE_COLUMNS).coalesce(1)
        )
        if self._table_store.count_files(BRONZE_FILES) > MAX_RECORD_FILES:
            self._table_store.compact_table(BRONZE_FILES)


def _count_lines(lines: DataFrame) -> dict[tuple[date, str], int]:
    return {(day, path): count for day, path, count in lines.groupBy("date", "file").count().collect()}
