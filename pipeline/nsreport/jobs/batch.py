"""Batch run: ingests new lines into bronze, then rebuilds the silver tables and the reports.

A day is due from the moment its first new line is in bronze until all tables contain it. The next run
therefore finishes what a killed run left undone.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, lit
from pyspark.sql.functions import count as count_of
from pyspark.sql.functions import max as max_of
from pyspark.sql.functions import min as min_of

from nsreport.facts.knowledge_changes import NUMBERED_TWICE
from nsreport.jobs.column_metadata import add_column_metadata
from nsreport.reports.catalogue import REPORTS_BY_NAME
from nsreport.reports.report_functions import FUNCTIONS_BY_REPORT
from nsreport.runtime import progress, session
from nsreport.sources import input_files
from nsreport.sources.input_files import JOURNAL_KIND, InputFile, InputSource
from nsreport.sources.java_logs import log_parser
from nsreport.tables import bronze, silver
from nsreport.tables.table_migration import migrate_former_tables
from nsreport.tables.table_store import HeadRows, TableSpec, TableStore

BRONZE_LINES = TableSpec("bronze/lines", ("kind", "date"))
BRONZE_FILES = TableSpec("bronze/files")
_MIN_LINE_BYTES = 20
"""Least size of a line in a compressed segment. It turns file sizes into an upper bound of the row count."""

_FILES_SCHEMA = "path string, server string, length bigint, modified bigint"


class TableResult(NamedTuple):
    """The figures of a finished table: rows read, rows written or added, and seconds."""

    table_name: str
    rows_in: int
    rows_out: int
    elapsed_seconds: float


class RunRequest(NamedTuple):
    """The parameters of a run. `since_ms` and `until_ms` (ms since 1970) bound the reports; None: all."""

    input_sources: Sequence[InputSource]
    output_folder: str
    report_names: Sequence[str] = tuple(REPORTS_BY_NAME)
    since_ms: int | None = None
    until_ms: int | None = None


class RunOutcome(NamedTuple):
    """The result of a run: lines in bronze, lines in quarantine, and files of an unknown kind.

    `duplicate_servers` are names that two different journals share. The operator has to give each journal its
    own name before the reports can say anything about these name servers.
    """

    line_count: int
    quarantined_count: int
    skipped_file_count: int
    duplicate_servers: tuple[str, ...] = ()

    @property
    def quarantined_share(self) -> float:
        return self.quarantined_count / self.line_count if self.line_count else 0.0


ResultListener = Callable[[TableResult], None]


def list_derived_tables() -> list[TableSpec]:
    """Return the tables that a run builds from lines, and all reports."""
    report_tables = [
        TableSpec(f"gold/{report.name}", report.partition_columns) for report in REPORTS_BY_NAME.values()
    ]
    return [*silver.LINE_TABLES, *silver.DAY_TABLES, *silver.HISTORY_TABLES, *report_tables]


class PipelineRun:
    """Builds the tables one after the other and passes each `TableResult` to `report_result`.

    Raises InputNotFoundError.
    """

    def __init__(
        self, spark: SparkSession, request: RunRequest, started_at: datetime, report_result: ResultListener
    ) -> None:
        self._spark = spark
        self._request = request
        self._started_at = started_at
        self._report_result = report_result
        self._table_store = TableStore(spark, request.output_folder)
        self._row_counts: dict[str, int] = {}
        migrate_former_tables(self._table_store, list_derived_tables())

    def run_all(self) -> RunOutcome:
        """Ingest all new files, rebuild the tables that they change, and make the reports."""
        skipped_file_count = self.ingest_new_files()
        if not self.refresh_tables():
            # The request may name other reports, or another time range, than the last run.
            self.make_reports()
        return self.summarize_outcome(skipped_file_count)

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
        for input_source in self._request.input_sources:
            source_files, unknown_paths = input_files.list_files(self._spark, input_source)
            readable_files += source_files
            skipped_file_count += len(unknown_paths)
        return self._select_unread_files(readable_files), skipped_file_count

    def ingest_files(self, new_files: Sequence[InputFile]) -> None:
        """Ingest the lines of files into bronze, then record the files as read."""
        session.adapt_session(
            self._spark, sum(input_file.length for input_file in new_files) // _MIN_LINE_BYTES
        )
        for is_journal in (True, False):
            kind_files = [
                input_file for input_file in new_files if (input_file.kind == JOURNAL_KIND) == is_journal
            ]
            if kind_files:
                file_lines = input_files.read_lines(
                    self._spark, kind_files, int(self._started_at.timestamp() * 1000)
                )
                # Joining continuation lines needs a sort: persist the result, so that Spark sorts once.
                keyed_lines = (
                    bronze.key_journal_lines(file_lines)
                    if is_journal
                    else bronze.key_log_messages(file_lines).persist()
                )
                try:
                    self._append_lines(keyed_lines)
                finally:
                    keyed_lines.unpersist()
        self._record_files(new_files)

    def _append_lines(self, keyed_lines: DataFrame) -> None:
        """Append the lines that bronze does not have, and mark their days as due."""
        progress.describe_jobs(self._spark, BRONZE_LINES.name)
        began_seconds = time.monotonic()
        line_keys = bronze.select_line_keys(keyed_lines).persist()
        try:
            lines_by_day = {
                day_row.date: day_row["count"] for day_row in line_keys.groupBy("date").count().collect()
            }
            line_count, bronze_lines = sum(lines_by_day.values()), self._table_store.read_table(BRONZE_LINES)
            if bronze_lines is not None:
                bronze_lines = bronze_lines.where(col("date").isin(list(lines_by_day)))
            repeated_keys = bronze.find_repeated_keys(line_keys, bronze_lines).persist()
            try:
                is_all_new = repeated_keys.isEmpty()
                new_lines = (
                    bronze.add_ingest_time(keyed_lines, self._started_at)
                    if is_all_new
                    else bronze.select_new_lines(keyed_lines, repeated_keys, bronze_lines, self._started_at)
                )
                added_count = self._table_store.append_rows(
                    BRONZE_LINES, new_lines, is_due=True, is_gathered=line_count <= session.FEW_ROWS
                )
            finally:
                repeated_keys.unpersist()
        finally:
            line_keys.unpersist()
        self._report_result(
            TableResult(BRONZE_LINES.name, line_count, added_count, time.monotonic() - began_seconds)
        )

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
            BRONZE_FILES, self._spark.createDataFrame(file_rows, _FILES_SCHEMA).coalesce(1)
        )

    def refresh_tables(self) -> bool:
        """Rebuild the tables that depend on the due days; return whether any day was due."""
        due_days = self._table_store.list_due_days()
        if not due_days:
            return False
        refreshed_days = self._refresh_line_tables(due_days)
        day_events = self._read_days(silver.EVENT_TABLE, refreshed_days)
        event_count = day_events.count()
        for table, build_from_days in silver.DAY_TABLES.items():
            self._replace_table(table, build_from_days(day_events), event_count, refreshed_days)
        session.adapt_session(self._spark, self._count_rows(silver.EVENT_TABLE))
        for table, (build_from_all, input_tables) in silver.HISTORY_TABLES.items():
            input_rows = [self._read_table(input_table) for input_table in input_tables]
            self._replace_table(
                table, build_from_all(*input_rows), sum(map(self._count_rows, input_tables)), None
            )
        self.make_reports()
        self._table_store.clear_due_days(due_days)
        return True

    def _refresh_line_tables(self, due_days: Sequence[date]) -> list[date]:
        """Rebuild events, log facts and quarantine from lines; return the rebuilt days."""
        log_lines = self._read_table(BRONZE_LINES).where(col("kind") != JOURNAL_KIND)
        parsed_logs = None
        refreshed_days = list(due_days)
        if log_lines.where(col("date") >= lit(refreshed_days[0])).isEmpty():
            for table, table_rows in silver.build_empty_log_tables(self._spark).items():
                if self._table_store.read_table(table) is None:
                    self._replace_table(table, table_rows, 0, None)
        else:
            # The meaning of a log line depends on earlier lines, also of earlier days.
            later_days = (
                self._read_table(BRONZE_LINES)
                .where(col("date") >= lit(refreshed_days[0]))
                .select("date")
                .distinct()
            )
            refreshed_days, parsed_logs = (
                sorted(day_row.date for day_row in later_days.collect()),
                log_parser.parse_logs(log_lines),
            )
        try:
            day_lines = self._read_days(BRONZE_LINES, refreshed_days)
            line_count = day_lines.count()
            row_counts = {
                table: self._replace_table(table, table_rows, line_count, refreshed_days)
                for table, table_rows in silver.build_line_tables(
                    day_lines, parsed_logs, refreshed_days
                ).items()
            }
            if parsed_logs is None and row_counts[silver.EVENT_TABLE] == line_count:
                # Every line became an event: the quarantine gets none.
                day_lines = day_lines.where(lit(False))
            quarantined_lines = silver.select_quarantine(
                day_lines, self._read_days(silver.EVENT_TABLE, refreshed_days), parsed_logs, refreshed_days
            )
            self._replace_table(silver.QUARANTINE_TABLE, quarantined_lines, line_count, refreshed_days)
        finally:
            if parsed_logs is not None:
                parsed_logs.parsed_messages.unpersist()
        return refreshed_days

    def make_reports(self) -> None:
        """Make the reports from all known rows: a state that a day shows may have begun long before it."""
        all_events = self._table_store.read_table(silver.EVENT_TABLE)
        if all_events is None or not self._request.report_names:
            return
        first_ms, last_ms, self._row_counts[silver.EVENT_TABLE.name] = all_events.select(
            min_of("time"), max_of("time"), count_of("*")
        ).collect()[0]
        since_ms = self._request.since_ms if self._request.since_ms is not None else (first_ms or 0)
        until_ms = self._request.until_ms if self._request.until_ms is not None else (last_ms or 0) + 1
        silver_tables = [
            TableSpec(f"silver/{input_name}")
            for report_name in self._request.report_names
            for input_name in REPORTS_BY_NAME[report_name].input_tables
        ]
        rows_by_table = {table: self._table_store.read_table(table) for table in dict.fromkeys(silver_tables)}
        session.adapt_session(self._spark, self._count_rows(silver.EVENT_TABLE), has_long_plans=True)
        for report_name in self._request.report_names:
            report = REPORTS_BY_NAME[report_name]
            input_tables = [TableSpec(f"silver/{table}") for table in report.input_tables]
            input_rows = [
                table_rows for table in input_tables if (table_rows := rows_by_table[table]) is not None
            ]
            if len(input_rows) == len(input_tables):
                progress.describe_jobs(self._spark, f"gold/{report_name}")
                table = TableSpec(f"gold/{report_name}", report.partition_columns)
                input_row_count = sum(map(self._count_rows, input_tables))
                report_rows = FUNCTIONS_BY_REPORT[report_name](*input_rows, since_ms, until_ms)
                self._replace_table(table, report_rows, input_row_count, None)

    def _count_rows(self, table: TableSpec) -> int:
        """Return the row count of a table, and remember it."""
        if table.name not in self._row_counts:
            self._row_counts[table.name] = self._read_table(table).count()
        return self._row_counts[table.name]

    def _replace_table(
        self,
        table: TableSpec,
        table_rows: DataFrame | HeadRows,
        input_row_count: int,
        replaced_days: Sequence[date] | None,
    ) -> int:
        """Replace the rows of a table, or of some of its days; return the number of new rows."""
        progress.describe_jobs(self._spark, table.name)
        began_seconds = time.monotonic()
        described_rows = add_column_metadata(table.name, table_rows)
        row_count = self._table_store.replace_rows(table, described_rows, replaced_days)
        self._row_counts.pop(table.name, None)
        if replaced_days is None:
            self._row_counts[table.name] = row_count
        self._report_result(
            TableResult(table.name, input_row_count, row_count, time.monotonic() - began_seconds)
        )
        return row_count

    def _read_days(self, table: TableSpec, wanted_days: Sequence[date]) -> DataFrame:
        return self._read_table(table).where(col("date").isin(list(wanted_days)))

    def _read_table(self, table: TableSpec) -> DataFrame:
        table_rows = self._table_store.read_table(table)
        assert table_rows is not None, table
        return table_rows

    def compact_tables(self) -> None:
        """Merge the small files of all tables."""
        for table in (BRONZE_LINES, BRONZE_FILES, *list_derived_tables()):
            progress.describe_jobs(self._spark, table.name)
            began_seconds = time.monotonic()
            partition_count = self._table_store.compact_table(table)
            self._report_result(
                TableResult(
                    f"{table.name} compacted",
                    partition_count,
                    partition_count,
                    time.monotonic() - began_seconds,
                )
            )

    def summarize_outcome(self, skipped_file_count: int) -> RunOutcome:
        row_counts = [
            0 if (table_rows := self._table_store.read_table(table)) is None else table_rows.count()
            for table in (BRONZE_LINES, silver.QUARANTINE_TABLE)
        ]
        knowledge_changes = self._table_store.read_table(silver.KNOWLEDGE_CHANGE_TABLE)
        duplicate_rows = (
            []
            if knowledge_changes is None
            else knowledge_changes.where(col("type") == NUMBERED_TWICE).select("server").collect()
        )
        return RunOutcome(
            row_counts[0],
            row_counts[1],
            skipped_file_count,
            tuple(sorted({duplicate_row.server for duplicate_row in duplicate_rows})),
        )
