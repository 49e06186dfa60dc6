"""Batch run: ingests new lines into bronze, then rebuilds the silver tables and the reports.

A day is due from the moment its first new line is in bronze until all tables contain it. The next run
therefore finishes what a killed run left undone. Tables that do not read each other are made side by side.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, unix_millis
from pyspark.sql.functions import max as max_of
from pyspark.sql.functions import min as min_of

from nsreport.facts.knowledge_changes import NUMBERED_TWICE
from nsreport.jobs import run_record
from nsreport.jobs.first_day import ObserverDay, begin_ms, find_first_day
from nsreport.jobs.line_ingest import BRONZE_FILES, BRONZE_LINES, LineIngest
from nsreport.jobs.line_tables import refresh_line_tables
from nsreport.jobs.run_record import RunRecord
from nsreport.jobs.table_tasks import TableTask, run_tasks
from nsreport.jobs.table_workspace import ResultListener, TableResult, TableWorkspace
from nsreport.reports.catalogue import REPORTS_BY_NAME, ReportDefinition, add_source_reports
from nsreport.reports.table_catalogue import build_report_schema
from nsreport.runtime import local_rows, progress, session
from nsreport.runtime.local_rows import MAX_LOCAL_ROWS
from nsreport.sources.input_files import InputSource
from nsreport.tables import silver
from nsreport.tables.table_layout import TableSpec, reaches
from nsreport.tables.table_migration import migrate_former_tables
from nsreport.tables.table_store import TableStore
from nsreport.tables.table_versions import DEFAULT_KEPT_TIME, NO_DAY, DayTest


def _find_day_column(table: TableSpec) -> str:
    day_column = silver.HISTORY_TABLES[table].day_column
    assert day_column is not None, table
    return day_column


def _find_input_table(table_name: str) -> TableSpec:
    return next((table for table in list_tables() if table.name == table_name), TableSpec(table_name))


class RunRequest(NamedTuple):
    """The parameters of a run. `since_ms` and `until_ms` (ms since 1970) bound the reports; None: all.

    `input_digest` identifies the input files as they were when the run started; None: unknown. For
    `kept_time`, readers can go back to the rows that a run replaces. Days before `first_day` are forgotten.
    """

    input_sources: Sequence[InputSource]
    output_folder: str
    report_names: Sequence[str] = tuple(REPORTS_BY_NAME)
    since_ms: int | None = None
    until_ms: int | None = None
    input_digest: str | None = None
    kept_time: timedelta = DEFAULT_KEPT_TIME
    first_day: date = NO_DAY


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


def _describe_days(
    sources_by_day: Mapping[date, Iterable[str]], last_day: date, first_day: date | None
) -> str:
    """Say which days a run computes, and why; the newest day comes first.

    Lines are late if they are of a day before `last_day`, the last one that had lines before.
    """

    def describe_lines(day: date) -> str:
        names = ", ".join(sorted(sources_by_day[day]))
        if day == NO_DAY:
            return "lines without a time"
        if day >= last_day:
            return "new lines"
        return f"late lines of {names}" if names else "late lines"

    texts = []
    for text, group in groupby(sorted(sources_by_day, reverse=True), describe_lines):
        days = list(group)
        span = f"{days[-1]} to {days[0]} ({len(days)} days)" if len(days) > 1 else str(days[0])
        texts.append(text if days[0] == NO_DAY else f"{span}: {text}")
    texts.append(
        "computing all days"
        if first_day is None
        else f"computing the days from {first_day} on, the last day of earlier lines"
    )
    return f"day {'; '.join(texts)}" if max(sources_by_day) > NO_DAY else "; ".join(texts)


class PipelineRun:
    """Makes the tables and passes each `TableResult` to `report_result`, also from other threads.

    Raises InputNotFoundError, OutputBusyError and MigrationError.
    """

    def __init__(
        self,
        spark: SparkSession,
        request: RunRequest,
        started_at: datetime,
        report_result: ResultListener,
        report_note: Callable[[str], None] = lambda note: None,
    ) -> None:
        self._spark = spark
        self._report_note = report_note
        self._first_day: date | None = None
        self._first_days: dict[str, date | None] = {}
        self._changes_past: dict[str, bool] = {}
        self._request = request
        table_store = TableStore(spark, request.output_folder, request.kept_time)
        self._tables = TableWorkspace(spark, table_store, report_result)
        self.line_ingest = LineIngest(
            spark, table_store, request.input_sources, started_at, report_result, request.first_day
        )
        self._kept_day = max(request.first_day, table_store.read_first_day())
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
        self._forget_days()
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
        last_day = max(self._list_data_days(), default=date.min)
        refreshed_days = refresh_line_tables(self._tables, list(due_days))
        for table in (silver.EVENT_TABLE, silver.LOG_FACT_TABLE, silver.STATS_TABLE):
            self._tables.load_small_table(table)
        self._make_history_tables(refreshed_days, partial(_describe_days, due_days, last_day))
        self.make_reports()
        self._tables.table_store.clear_due_days()
        self._tables.table_store.remove_old_files()
        return True

    def _list_data_days(self) -> set[date]:
        return {
            key[table.partition_columns.index("date")]
            for table in (silver.EVENT_TABLE, silver.LOG_FACT_TABLE, silver.STATS_TABLE)
            for key in self._tables.table_store.count_partitions(table) or ()
        }

    def _plan_day_tables(self, refreshed_days: Sequence[date]) -> list[TableTask]:
        day_events = self._tables.read_days(silver.EVENT_TABLE, refreshed_days)
        return [
            TableTask(
                table.name,
                (),
                partial(
                    self._make_day_table, table, build_from_days, day_events, set(refreshed_days).__contains__
                ),
            )
            for table, build_from_days in silver.DAY_TABLES.items()
        ]

    def _make_day_table(
        self,
        table: TableSpec,
        build_from_days: Callable[[DataFrame], DataFrame],
        day_events: DataFrame,
        is_refreshed: DayTest,
    ) -> int:
        event_count = self._tables.table_store.count_rows(silver.EVENT_TABLE, is_refreshed)
        table_rows = build_from_days(day_events)
        if self._is_small_run():
            table_rows = local_rows.keep_in_memory(table_rows)
        row_count = self._tables.replace_table(table, table_rows, event_count, is_refreshed)
        self._tables.load_small_table(table)
        return row_count

    def _make_history_tables(
        self, refreshed_days: Sequence[date], describe_days: Callable[[date | None], str]
    ) -> None:
        """Make the tables of `silver.HISTORY_TABLES`, and those of the refreshed days."""
        data_days = self._list_data_days()
        # Lines that are no records have no rows in other tables.
        new_days = sorted(data_days.intersection(refreshed_days)) or [
            max(data_days, default=refreshed_days[-1])
        ]
        self._adapt_session(new_days[0])
        record_tables = [table for table in silver.RECORD_TABLES if table in silver.HISTORY_TABLES]
        self._first_days.clear()
        run_tasks(self._plan_history_tables(record_tables, new_days[0]))
        first_day = self._first_day = self._find_first_day(data_days, new_days)
        self._report_note(describe_days(first_day))
        other_tables = [table for table in silver.HISTORY_TABLES if table not in record_tables]
        self._changes_past.clear()
        if first_day is not None:
            session.adapt_session(self._spark, 0)
            for table in other_tables:
                if {*record_tables, table}.issuperset(silver.HISTORY_TABLES[table].deciding_tables):
                    self._find_past_changes(table, first_day)
        self._adapt_session(first_day)
        run_tasks(
            [
                *self._plan_day_tables(refreshed_days),
                *self._plan_history_tables(other_tables, first_day),
            ]
        )

    def _adapt_session(self, first_day: date | None) -> None:
        """Adapt the session to the events from a day on."""
        session.adapt_session(self._spark, self._tables.count_rows(silver.EVENT_TABLE, first_day))

    def _find_first_day(self, data_days: Iterable[date], new_days: Sequence[date]) -> date | None:
        """Find the day from which on the tables can differ; None: all days, or it is not known."""
        if self._first_days.get(silver.OBSERVER_DAY_TABLE.name) is None:
            return None
        day_rows = self._tables.read_table(silver.OBSERVER_DAY_TABLE)
        observer_days = [
            ObserverDay(*day_row)
            for day_row in day_rows.select("date", "observer", "firstOrder", "lastOrder").collect()
        ]
        return find_first_day(observer_days, data_days, new_days)

    def _plan_history_tables(self, tables: Iterable[TableSpec], first_day: date | None) -> list[TableTask]:
        return [
            TableTask(
                table.name,
                [
                    input_table.name
                    for input_table in silver.HISTORY_TABLES[table].all_inputs
                    if input_table != table
                ],
                partial(self._make_history_table, table, first_day),
            )
            for table in tables
        ]

    def _make_missing_tables(self) -> None:
        """Make the tables that another version of nsadmin has made, or lacked."""
        if self._tables.find_table(silver.EVENT_TABLE) is None:
            return
        session.adapt_session(self._spark, self._tables.count_rows(silver.EVENT_TABLE))
        run_tasks(
            table_task
            for table_task in self._plan_history_tables(silver.HISTORY_TABLES, None)
            if not self._tables.table_store.is_made_by(
                TableSpec(table_task.table_name), run_record.digest_code()
            )
        )

    def _make_history_table(self, table: TableSpec, first_day: date | None) -> int:
        """Make the rows of a table from a day on; all of them if others can differ as well."""
        history, recipe = silver.HISTORY_TABLES[table], run_record.digest_code()
        if not self._is_continued(table, first_day):
            first_day = None
        self._first_days[table.name] = first_day
        from_day = first_day if history.day_column is not None else None
        input_rows = [
            *(self._tables.read_table(input_table, from_day) for input_table in history.inputs),
            *map(self._tables.read_table, history.whole_inputs),
        ]
        table_rows = history.build(*input_rows, *self._read_past(table, from_day))
        if from_day is not None and history.day_column == "date":
            table_rows = table_rows.where(col("date") >= from_day)
        is_replaced = None if from_day is None else reaches(from_day)
        if from_day is not None and history.is_small:
            table_rows, is_replaced = self._read_before(table, from_day).unionByName(table_rows), None
        input_row_count = sum(self._tables.count_rows(each, from_day) for each in history.inputs)
        input_row_count += sum(map(self._tables.count_rows, history.whole_inputs))
        if is_replaced is None and self._is_small_run():
            return self._tables.replace_small_table(table, table_rows, input_row_count, recipe)
        row_count = self._tables.replace_table(table, table_rows, input_row_count, is_replaced, recipe)
        self._tables.load_small_table(table)
        return row_count

    def _read_before(self, table: TableSpec, first_day: date) -> DataFrame:
        """Return the rows of the days before a day, without states that ended on a forgotten day."""
        rows_before = self._tables.read_table(table).where(col(_find_day_column(table)) < first_day)
        return (
            rows_before
            if table is not silver.ENTRY_INTERVAL_TABLE
            else rows_before.where(col("endDate") >= self._kept_day)
        )

    def _is_continued(self, table: TableSpec, first_day: date | None) -> bool:
        """Whether the rows of a table that ended before a day stay as they are."""
        history = silver.HISTORY_TABLES[table]
        if first_day is None or not self._tables.table_store.is_made_by(
            table, run_record.digest_code(), is_newest=False
        ):
            return False
        if any(
            self._first_days[input_table.name] is None
            for input_table in history.all_inputs
            if input_table.name in self._first_days and input_table != table
        ):
            return False
        return not self._find_past_changes(table, first_day)

    def _find_past_changes(self, table: TableSpec, first_day: date) -> bool:
        """Whether new rows change what a table says about the days before; see `silver.HistoryTable`."""
        history = silver.HISTORY_TABLES[table]
        if history.find_past_changes is None:
            return False
        if table.name not in self._changes_past:
            deciding_rows = list(map(self._tables.find_table, history.deciding_tables))
            # A table that is not there has no past.
            self._changes_past[table.name] = (
                None in deciding_rows or not history.find_past_changes(*deciding_rows, first_day).isEmpty()
            )
        return self._changes_past[table.name]

    def _read_past(self, table: TableSpec, first_day: date | None) -> Sequence[Any]:
        """Return the past that a table continues, and the begin of the day: see `silver.HistoryTable`."""
        past_table = silver.HISTORY_TABLES[table].past_table
        if past_table is None or first_day is None:
            return ()
        if _find_day_column(past_table) == "date":
            return (self._read_before(past_table, first_day),)
        carried_rows = self._tables.read_table(past_table, first_day).where(
            (col("endDate").isNull() | (col("endDate") >= first_day))
            & (unix_millis("validFrom") < begin_ms(first_day))
        )
        return carried_rows, begin_ms(first_day)

    def _is_small_run(self) -> bool:
        """Whether the tables fit into memory: Spark then plans each query once, not again to write it."""
        return self._tables.count_rows(silver.EVENT_TABLE) <= MAX_LOCAL_ROWS

    def make_reports(self) -> None:
        """Make the reports that are not there yet for these lines, this range and this code.

        They read all known rows: a state that a day shows may have begun long before it.
        """
        request = self._request
        report_names = [
            report_name
            for report_name in add_source_reports(request.report_names)
            if not self._tables.table_store.is_made_by(
                _find_report_table(report_name), self._write_recipe(REPORTS_BY_NAME[report_name])
            )
        ]
        all_events = self._tables.find_table(silver.EVENT_TABLE)
        if all_events is None or not report_names:
            return
        progress.describe_jobs(self._spark, silver.EVENT_TABLE.name)
        [(first_ms, last_ms)] = (
            self._read_outer_days(all_events).select(min_of("time"), max_of("time")).collect()
        )
        since_ms = request.since_ms if request.since_ms is not None else (first_ms or 0)
        if self._tables.table_store.count_rows(silver.BROKER_LIFECYCLE_TABLE, self._is_forgotten):
            # States of forgotten days last from the begin of the first kept day on.
            since_ms = max(request.since_ms or 0, begin_ms(self._kept_day))
        until_ms = request.until_ms if request.until_ms is not None else (last_ms or 0) + 1
        for group_names in self._group_reports(report_names):
            session.adapt_session(
                self._spark, max(map(self._count_report_rows, group_names)), has_long_plans=True
            )
            run_tasks(
                TableTask(
                    f"gold/{report_name}",
                    REPORTS_BY_NAME[report_name].input_tables,
                    partial(self._make_report, report_name, since_ms, until_ms),
                )
                for report_name in group_names
            )

    def _write_recipe(self, report: ReportDefinition) -> str:
        """Describe what the rows of a report depend on besides its input."""
        request = self._request
        words: list[object] = [request.since_ms, request.until_ms, run_record.digest_code()]
        if report.final_after_days is None:
            words.append(self._kept_day)
        return " ".join(map(str, words))

    def _read_outer_days(self, all_events: DataFrame) -> DataFrame:
        """Return the events of the first and of the last day."""
        event_counts = self._tables.table_store.count_partitions(silver.EVENT_TABLE)
        if not event_counts:
            return all_events
        event_days = [day for day, _ in event_counts]
        return self._tables.read_days(silver.EVENT_TABLE, [min(event_days), max(event_days)])

    def _group_reports(self, report_names: Sequence[str]) -> list[list[str]]:
        """Separate reports that read many rows, which Spark compiles, from the others, which it interprets.

        A report that reads another report has few rows to read: it comes later, or in the same group.
        """
        report_groups: list[list[str]] = [[], []]
        for report_name in report_names:
            report_groups[self._count_report_rows(report_name) <= session.FEW_ROWS].append(report_name)
        return [report_group for report_group in report_groups if report_group]

    def _count_report_rows(self, report_name: str, first_day: date | None = None) -> int:
        """Return how many rows a report reads: all, or those that reach a day."""
        return sum(
            self._tables.count_rows(TableSpec(table_name), first_day)
            for table_name in REPORTS_BY_NAME[report_name].input_tables
        )

    def _make_report(self, report_name: str, since_ms: int, until_ms: int) -> int:
        report, report_table = REPORTS_BY_NAME[report_name], _find_report_table(report_name)
        recipe = self._write_recipe(report)
        first_day = self._find_report_day(report, report_table, recipe)
        day_before = None if first_day is None else first_day - timedelta(days=1)
        input_rows = [
            table_rows
            for table_name in report.input_tables
            if (table_rows := self._tables.find_table(_find_input_table(table_name), day_before)) is not None
        ]
        if len(input_rows) < len(report.input_tables):
            return 0
        report_since_ms = since_ms
        if day_before is not None:
            # Of a forgotten day, the states that lasted until its end are known.
            is_kept = day_before >= self._kept_day
            report_since_ms = max(since_ms if is_kept else self._request.since_ms or 0, begin_ms(day_before))
        report_rows = (
            report.load_function()(*input_rows, report_since_ms, until_ms)
            if any(self._tables.count_rows(TableSpec(name)) for name in report.subject_tables)
            else local_rows.build_empty_rows(self._spark, build_report_schema(report_name))
        )
        input_row_count = self._count_report_rows(report_name, day_before)
        if first_day is None and self._is_small_run():
            return self._tables.replace_small_table(report_table, report_rows, input_row_count, recipe=recipe)
        if first_day is not None:
            report_rows = report_rows.where(col("date") >= max(first_day, self._kept_day))
        return self._tables.replace_table(
            report_table,
            report_rows,
            input_row_count,
            None if first_day is None else reaches(first_day),
            recipe,
        )

    def _find_report_day(self, report: ReportDefinition, report_table: TableSpec, recipe: str) -> date | None:
        """Return the day from which on the rows of a report are made; None: all of them."""
        if (
            report.final_after_days is None
            or self._first_day is None
            or not self._tables.table_store.is_made_by(report_table, recipe, is_newest=False)
            or any(self._first_days.get(name, self._first_day) is None for name in report.input_tables)
        ):
            return None
        return self._first_day - timedelta(days=report.final_after_days)

    def _forget_days(self) -> None:
        """Remove the days before the first one. The tables of few rows a day say what lasts, so they stay."""
        table_store, first_day = self._tables.table_store, self._kept_day
        if first_day == table_store.read_first_day() or table_store.read_table(BRONZE_LINES) is None:
            return
        self._drop_heartbeats(table_store.read_first_day(), first_day)
        kept_tables = {silver.BROKER_LIFECYCLE_TABLE, BRONZE_LINES}
        # A report that is made as a whole begins on the first day, or with a state that lasts until then.
        kept_tables |= {
            _find_report_table(name)
            for name, each in REPORTS_BY_NAME.items()
            if each.final_after_days is None
        }
        # The commit of the lines says that all tables have forgotten these days.
        for table in [*(each for each in list_tables() if each not in kept_tables), BRONZE_LINES]:
            table_store.forget_days(table, first_day)
        self._tables.forget_tables()
        table_store.remove_old_files()
        self._report_note(f"days before {first_day} are forgotten")

    def _is_forgotten(self, day: date | None) -> bool:
        return day is not None and day < self._kept_day

    def _drop_heartbeats(self, last_first_day: date, first_day: date) -> None:
        """Keep the older events that say which brokers were registered, drained or lost.

        A silence of the first day needs the heartbeats of the day before.
        """
        progress.describe_jobs(self._spark, silver.BROKER_LIFECYCLE_TABLE.name)

        def is_trimmed(day: date | None) -> bool:
            return day is not None and last_first_day <= day + timedelta(days=1) < first_day

        table_store, table = self._tables.table_store, silver.BROKER_LIFECYCLE_TABLE
        if table_store.count_rows(table, is_trimmed):
            old_events = table_store.read_table(table, is_trimmed)
            assert old_events is not None
            table_store.replace_rows(table, old_events.where("type <> 'Heartbeats'"), is_trimmed)

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
