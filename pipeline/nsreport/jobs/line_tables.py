"""Line tables: rebuilds events, log facts, minute statistics and quarantine from the lines of some days."""

from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql.functions import col

from nsreport.jobs.line_ingest import BRONZE_LINES
from nsreport.jobs.table_tasks import TableTask, run_tasks
from nsreport.jobs.table_workspace import TableWorkspace
from nsreport.runtime import local_rows, progress, session
from nsreport.runtime.local_rows import MAX_LOCAL_ROWS
from nsreport.sources.input_files import JOURNAL_KIND
from nsreport.sources.java_logs import log_parser
from nsreport.sources.java_logs.log_parser import ParsedLogs
from nsreport.tables import silver
from nsreport.tables.table_layout import TableSpec


class LineCount(NamedTuple):
    """The number of lines of a day in files of a kind."""

    date: date
    kind: str
    row_count: int


def refresh_line_tables(table_workspace: TableWorkspace, due_days: Sequence[date]) -> list[date]:
    """Rebuild the tables of `silver.LINE_TABLES` for days with new lines; return the rebuilt days.

    The meaning of a log line depends on earlier lines, also of earlier days. Days after a new log line are
    therefore rebuilt too, and all log lines are parsed.
    """
    progress.describe_jobs(table_workspace.spark, silver.EVENT_TABLE.name)
    line_counts = _count_lines(table_workspace)
    has_due_logs = any(
        line_count.date >= due_days[0] for line_count in line_counts if line_count.kind != JOURNAL_KIND
    )
    refreshed_days = list(due_days)
    if has_due_logs:
        refreshed_days = sorted(
            {line_count.date for line_count in line_counts if line_count.date >= due_days[0]}
        )
    needed_count = sum(
        line_count.row_count
        for line_count in line_counts
        if line_count.date in refreshed_days or (has_due_logs and line_count.kind != JOURNAL_KIND)
    )
    session.adapt_session(table_workspace.spark, needed_count)
    needed_lines, is_small = (
        table_workspace.read_days(BRONZE_LINES, refreshed_days),
        needed_count <= MAX_LOCAL_ROWS,
    )
    if has_due_logs:
        is_needed = col("date").isin(refreshed_days) | (col("kind") != JOURNAL_KIND)
        needed_lines = table_workspace.read_table(BRONZE_LINES).where(is_needed)
    if is_small:
        needed_lines = local_rows.collect_locally(needed_lines)
    parsed_logs = (
        log_parser.parse_logs(
            needed_lines.where(col("kind") != JOURNAL_KIND),
            local_rows.keep_in_memory if is_small else DataFrame.persist,
        )
        if has_due_logs
        else None
    )
    try:
        _replace_line_tables(
            table_workspace,
            needed_lines.where(col("date").isin(refreshed_days)),
            parsed_logs,
            refreshed_days,
            line_counts,
            is_small,
        )
    finally:
        if parsed_logs is not None:
            parsed_logs.parsed_messages.unpersist()
    return refreshed_days


def _count_lines(table_workspace: TableWorkspace) -> list[LineCount]:
    """Count the lines of each day and kind, without a Spark job if the log of the table has the counts."""
    row_counts = table_workspace.table_store.count_partitions(BRONZE_LINES)
    if row_counts is None:
        all_lines = table_workspace.read_table(BRONZE_LINES)
        return [LineCount(*count_row) for count_row in all_lines.groupBy("date", "kind").count().collect()]
    return [LineCount(day, kind, row_count) for (kind, day), row_count in row_counts.items()]


def _replace_line_tables(
    table_workspace: TableWorkspace,
    day_lines: DataFrame,
    parsed_logs: ParsedLogs | None,
    refreshed_days: Sequence[date],
    line_counts: Sequence[LineCount],
    is_small: bool,
) -> None:
    journal_count, log_count = (
        sum(
            line_count.row_count
            for line_count in line_counts
            if line_count.date in refreshed_days and (line_count.kind == JOURNAL_KIND) == is_journal
        )
        for is_journal in (True, False)
    )
    line_count = journal_count + log_count
    if parsed_logs is None:
        for table, table_schema in silver.LOG_TABLE_SCHEMAS.items():
            table_workspace.make_empty_table(table, table_schema)
    journal_lines = day_lines if journal_count else None
    replace_table: Callable[[TableSpec, DataFrame, int], int] = partial(
        table_workspace.replace_table, is_replaced=set(refreshed_days).__contains__
    )
    if is_small and {line_count.date for line_count in line_counts} == set(refreshed_days):
        # All rows of these tables are new: they stay in memory, so that no later table reads their files.
        replace_table = table_workspace.replace_small_table
    row_counts = run_tasks(
        TableTask(table.name, (), partial(replace_table, table, table_rows, line_count))
        for table, table_rows in silver.build_line_tables(journal_lines, parsed_logs, refreshed_days).items()
    )
    if parsed_logs is None and row_counts[silver.EVENT_TABLE.name] == journal_count:
        # Every line became an event: the quarantine gets none.
        journal_lines = local_rows.build_empty_rows(table_workspace.spark, day_lines.schema)
    day_events = table_workspace.read_days(silver.EVENT_TABLE, refreshed_days)
    quarantined_lines = silver.select_quarantine(journal_lines, day_events, parsed_logs, refreshed_days)
    table_workspace.replace_table(
        silver.QUARANTINE_TABLE, quarantined_lines, line_count, set(refreshed_days).__contains__
    )
