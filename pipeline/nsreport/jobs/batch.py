"""Batch run: ingests new lines into bronze, then rebuilds the silver tables and the reports.

A day is due from the moment its first new line is in bronze until all tables contain it. The next run
therefore finishes what a killed run left undone. Tables that do not read each other are made side by side.
"""

import time
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col
from pyspark.sql.functions import max as max_of
from pyspark.sql.functions import min as min_of

from nsreport.facts.knowledge_changes import NUMBERED_TWICE
from nsreport.jobs import run_record
from nsreport.jobs.line_ingest import BRONZE_FILES, BRONZE_LINES, LineIngest
from nsreport.jobs.line_tables import refresh_line_tables
from nsreport.jobs.run_record import RunRecord
from nsreport.jobs.table_tasks import TableTask, run_tasks
from nsreport.jobs.table_workspace import ResultListener, TableResult, TableWorkspace
from nsreport.reports.catalogue import REPORTS_BY_NAME, add_source_reports
from nsreport.reports.table_catalogue import build_report_schema
from nsreport.runtime import local_rows, progress, session
from nsreport.runtime.local_rows import MAX_LOCAL_ROWS
from nsreport.sources.input_files import InputSource
from nsreport.tables import silver
from nsreport.tables.table_layout import TableSpec
from nsreport.tables.table_migration import migrate_former_tables
from nsreport.tables.table_store import TableStore
from nsreport.tables.table_versions import DEFAULT_KEPT_TIME


class RunRequest(NamedTuple):
    """The parameters of a run. `since_ms` and `until_ms` (ms since 1970) bound the reports; None: all.

    `input_digest` identifies the input files as they were when the run started; None: unknown. For
    `kept_time`, readers can go back to the rows that a run replaces.
    """

    input_sources: Sequence[InputSource]
    output_folder: str
    report_names: Sequence[str] = tuple(REPORTS_BY_NAME)
    since_ms: int | None = None
    until_ms: int | None = None
    input_digest: str | None = None
    kept_time: timedelta = DEFAULT_KEPT_TIME


class RunOutcome(NamedTuple):
    """The result of a run: lines in bronze, lines in quarantine, and files of an unknown kind.

    `duplicate_servers` are names that two different journals share. The operator has to give each journal its
    own name before the reports can say anything about these name servers.
    """

    line_count: int
    quarantined_count: int
    skipped_file_count: int
    duplicate_servers: Sequence[str] = ()

    @property
    def quarantined_share(self) -> float:
        return self.quarantined_count / self.line_count if self.line_count else 0.0


def list_tables() -> list[TableSpec]:
    """Return all tables of a run."""
    return [
        BRONZE_LINES,
        BRONZE_FILES,
        *silver.LINE_TABLES,
        *silver.DAY_TABLES,
        *silver.HISTORY_TABLES,
        *map(_find_report_table, REPORTS_BY_NAME),
    ]


def _find_report_table(report_name: str) -> TableSpec:
    return TableSpec(f"gold/{report_name}", REPORTS_BY_NAME[report_name].partition_columns)


class PipelineRun:
    """Makes the tables and passes each `TableResult` to `report_result`, also from other threads.

    Raises InputNotFoundError, OutputBusyError and MigrationError.
    """

    def __init__(
        self, spark: SparkSession, request: RunRequest, started_at: datetime, report_result: ResultListener
    ) -> None:
        self._spark = spark
        self._request = request
        table_store = TableStore(spark, request.output_folder, request.kept_time)
        self._tables = TableWorkspace(spark, table_store, report_result)
        self.line_ingest = LineIngest(
            spark, self._tables.table_store, request.input_sources, started_at, report_result
        )
        run_record.remove_record(request.output_folder)
        migrate_former_tables(table_store, list_tables())

    def run_all(self) -> RunOutcome:
        """Ingest all new files, rebuild the tables that they change, and make the reports."""
        skipped_file_count = self.line_ingest.ingest_new_files()
        if not self.refresh_tables():
            # The request may name other reports, or another time range, than the last run.
            self._make_missing_tables()
            self.make_reports()
        run_outcome = self.summarize_outcome(skipped_file_count)
        request = self._request
        run_record.write_record(
            request.output_folder,
            RunRecord(run_record.digest_code(), request.report_names, run_outcome, request.input_digest),
        )
        return run_outcome

    def refresh_tables(self) -> bool:
        """Rebuild the tables that depend on the due days; return whether any day was due."""
        due_days = self._tables.table_store.list_due_days()
        if not due_days:
            return False
        self._tables.forget_tables()
        refreshed_days = refresh_line_tables(self._tables, due_days)
        session.adapt_session(self._spark, self._tables.count_rows(silver.EVENT_TABLE))
        for table in (silver.EVENT_TABLE, silver.LOG_FACT_TABLE, silver.STATS_TABLE):
            self._tables.load_small_table(table)
        run_tasks([*self._plan_day_tables(refreshed_days), *self._plan_history_tables()])
        self.make_reports()
        self._tables.table_store.clear_due_days()
        self._tables.table_store.remove_old_files()
        return True

    def _plan_day_tables(self, refreshed_days: Sequence[date]) -> list[TableTask]:
        day_events = self._tables.read_days(silver.EVENT_TABLE, refreshed_days)
        return [
            TableTask(
                table.name,
                (),
                partial(self._make_day_table, table, build_from_days, day_events, refreshed_days),
            )
            for table, build_from_days in silver.DAY_TABLES.items()
        ]

    def _make_day_table(
        self,
        table: TableSpec,
        build_from_days: Callable[[DataFrame], DataFrame],
        day_events: DataFrame,
        refreshed_days: Sequence[date],
    ) -> int:
        event_count = self._tables.count_rows(silver.EVENT_TABLE)
        table_rows = build_from_days(day_events)
        if self._is_small_run():
            table_rows = local_rows.keep_in_memory(table_rows)
        row_count = self._tables.replace_table(table, table_rows, event_count, refreshed_days)
        self._tables.load_small_table(table)
        return row_count

    def _plan_history_tables(self) -> list[TableTask]:
        return [
            TableTask(
                table.name,
                [input_table.name for input_table in input_tables],
                partial(self._make_history_table, table, build_from_all, input_tables),
            )
            for table, (build_from_all, input_tables) in silver.HISTORY_TABLES.items()
        ]

    def _make_missing_tables(self) -> None:
        """Make the tables that a store of an earlier version of nsadmin lacks."""
        if self._tables.find_table(silver.EVENT_TABLE) is None:
            return
        session.adapt_session(self._spark, self._tables.count_rows(silver.EVENT_TABLE))
        run_tasks(
            table_task
            for table_task in self._plan_history_tables()
            if self._tables.find_table(TableSpec(table_task.table_name)) is None
        )

    def _make_history_table(
        self, table: TableSpec, build_from_all: Callable[..., DataFrame], input_tables: Sequence[TableSpec]
    ) -> int:
        table_rows = build_from_all(*map(self._tables.read_table, input_tables))
        input_row_count = sum(map(self._tables.count_rows, input_tables))
        if self._is_small_run():
            return self._tables.replace_small_table(table, table_rows, input_row_count)
        row_count = self._tables.replace_table(table, table_rows, input_row_count)
        self._tables.load_small_table(table)
        return row_count

    def _is_small_run(self) -> bool:
        """Whether the tables fit into memory: Spark then plans each query once, not again to write it."""
        return self._tables.count_rows(silver.EVENT_TABLE) <= MAX_LOCAL_ROWS

    def make_reports(self) -> None:
        """Make the reports that are not there yet for these lines, this range and this code.

        They read all known rows: a state that a day shows may have begun long before it.
        """
        request = self._request
        recipe = f"{request.since_ms} {request.until_ms} {run_record.digest_code()}"
        report_names = [
            report_name
            for report_name in add_source_reports(request.report_names)
            if not self._tables.table_store.is_made_by(_find_report_table(report_name), recipe)
        ]
        all_events = self._tables.find_table(silver.EVENT_TABLE)
        if all_events is None or not report_names:
            return
        progress.describe_jobs(self._spark, silver.EVENT_TABLE.name)
        [(first_ms, last_ms)] = all_events.select(min_of("time"), max_of("time")).collect()
        since_ms = request.since_ms if request.since_ms is not None else (first_ms or 0)
        until_ms = request.until_ms if request.until_ms is not None else (last_ms or 0) + 1
        for group_names in self._group_reports(report_names):
            session.adapt_session(
                self._spark, max(map(self._count_report_rows, group_names)), has_long_plans=True
            )
            run_tasks(
                TableTask(
                    f"gold/{report_name}",
                    REPORTS_BY_NAME[report_name].input_tables,
                    partial(self._make_report, report_name, since_ms, until_ms, recipe),
                )
                for report_name in group_names
            )

    def _group_reports(self, report_names: Sequence[str]) -> list[list[str]]:
        """Separate reports that read many rows, which Spark compiles, from the others, which it interprets.

        A report that reads another report has few rows to read: it comes later, or in the same group.
        """
        report_groups: list[list[str]] = [[], []]
        for report_name in report_names:
            report_groups[self._count_report_rows(report_name) <= session.FEW_ROWS].append(report_name)
        return [report_group for report_group in report_groups if report_group]

    def _count_report_rows(self, report_name: str) -> int:
        """Return how many rows the tables have that a report reads."""
        return sum(
            self._tables.count_rows(TableSpec(table_name))
            for table_name in REPORTS_BY_NAME[report_name].input_tables
        )

    def _make_report(self, report_name: str, since_ms: int, until_ms: int, recipe: str) -> int:
        report = REPORTS_BY_NAME[report_name]
        input_tables = list(map(TableSpec, report.input_tables))
        input_rows = [
            table_rows
            for input_table in input_tables
            if (table_rows := self._tables.find_table(input_table)) is not None
        ]
        if len(input_rows) < len(input_tables):
            return 0
        report_rows = (
            report.load_function()(*input_rows, since_ms, until_ms)
            if any(map(self._has_rows, report.subject_tables))
            else local_rows.build_empty_rows(self._spark, build_report_schema(report_name))
        )
        report_table, input_row_count = (
            _find_report_table(report_name),
            self._count_report_rows(report_name),
        )
        replace_table = (
            self._tables.replace_small_table if self._is_small_run() else self._tables.replace_table
        )
        return replace_table(report_table, report_rows, input_row_count, recipe=recipe)

    def _has_rows(self, table_name: str) -> bool:
        return self._tables.count_rows(TableSpec(table_name)) > 0

    def compact_tables(self) -> None:
        """Merge the small files of all tables."""
        for table in list_tables():
            progress.describe_jobs(self._spark, table.name)
            began_seconds = time.monotonic()
            partition_count = self._tables.table_store.compact_table(table)
            self._tables.report_result(
                TableResult(
                    f"{table.name} compacted",
                    partition_count,
                    partition_count,
                    time.monotonic() - began_seconds,
                )
            )

    def summarize_outcome(self, skipped_file_count: int) -> RunOutcome:
        knowledge_changes = self._tables.find_table(silver.KNOWLEDGE_CHANGE_TABLE)
        duplicate_rows = (
            []
            if knowledge_changes is None
            else knowledge_changes.where(col("type") == NUMBERED_TWICE).select("server").collect()
        )
        return RunOutcome(
            self._tables.count_rows(BRONZE_LINES),
            self._tables.count_rows(silver.QUARANTINE_TABLE),
            skipped_file_count,
            tuple(sorted({duplicate_row.server for duplicate_row in duplicate_rows})),
        )
