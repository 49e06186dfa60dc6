"""Report rows: makes the reports of simulated input, with a complete run or only with its queries."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import current_timestamp, lit, md5, to_date

from nsreport.jobs.batch import PipelineRun, RunRequest
from nsreport.presentation.report_reader import read_report
from nsreport.reports.catalogue import REPORTS_BY_NAME, add_source_reports, list_input_tables
from nsreport.runtime.local_rows import build_empty_rows, collect_locally
from nsreport.sources import journals
from nsreport.sources.input_files import InputSource, decompress_file
from nsreport.tables import silver
from tests.truth.cluster_simulation import END_MS, START_MS

_SETTINGS_FOR_LOCAL_ROWS = {
    # This rule evaluates queries of rows in memory while Spark plans them, and takes half the time of all
    # work: it grows with the square of the number of columns.
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation",
    # Filters that Spark infers save no work on rows in memory.
    "spark.sql.constraintPropagation.enabled": "false",
}

RowsByReport = Mapping[str, Sequence[Mapping[str, Any]]]


def run_reports(spark: SparkSession, run_folder: Path, report_names: Iterable[str]) -> RowsByReport:
    """Run the pipeline once for all inputs of `run_folder`, as `nsadmin report run` does."""
    output_folder = run_folder / "output"
    run_request = RunRequest(
        [InputSource(str(run_folder / "input"))], str(output_folder), list(report_names), START_MS, END_MS
    )
    run_outcome = PipelineRun(spark, run_request, datetime.now(UTC), lambda result: None).run_all()
    assert run_outcome.quarantined_count == 0, run_outcome
    assert not run_outcome.duplicate_servers, run_outcome
    return {name: read_report(output_folder, name) for name in run_request.report_names}


def query_reports(spark: SparkSession, run_folder: Path, report_names: Sequence[str]) -> RowsByReport:
    """Make reports of the journals with the queries of the pipeline over rows in memory.

    This takes less work than a run, and shows nothing about logs, files and tables.
    """
    with _use_settings(spark, _SETTINGS_FOR_LOCAL_ROWS):
        tables = _build_tables(spark, run_folder, report_names)
        for name in add_source_reports(report_names):
            tables[f"gold/{name}"] = _build_report(name, tables)
        return {name: [row.asDict() for row in tables[f"gold/{name}"].collect()] for name in report_names}


@contextmanager
def _use_settings(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Use these settings of a session until the end of the block."""
    values_before = {name: spark.conf.get(name, None) for name in settings}
    for setting_name, value in settings.items():
        spark.conf.set(setting_name, value)
    try:
        yield
    finally:
        for setting_name, value_before in values_before.items():
            if value_before is None:
                spark.conf.unset(setting_name)
            else:
                spark.conf.set(setting_name, value_before)


def _build_tables(spark: SparkSession, run_folder: Path, report_names: Sequence[str]) -> dict[str, DataFrame]:
    """Build the silver tables that these reports read."""
    events = _keep_locally(journals.parse_events(_read_journal_lines(spark, run_folder)))
    tables = {
        silver.EVENT_TABLE.name: events,
        **{table.name: build_empty_rows(spark, schema) for table, schema in silver.LOG_TABLE_SCHEMAS.items()},
        **{table.name: build_table(events) for table, build_table in silver.DAY_TABLES.items()},
    }
    needed_names = list_input_tables(add_source_reports(report_names))
    for table, history in reversed(silver.HISTORY_TABLES.items()):
        if table.name in needed_names:
            needed_names.update(each.name for each in history.all_inputs)
    for table, history in silver.HISTORY_TABLES.items():
        if table.name not in needed_names:
            continue
        tables[table.name] = _keep_locally(
            history.build(*(tables[each.name] for each in (*history.inputs, *history.whole_inputs)))
        )
    return tables


def _build_report(report_name: str, tables: Mapping[str, DataFrame]) -> DataFrame:
    report = REPORTS_BY_NAME[report_name]
    input_tables = (tables[name] for name in report.input_tables)
    return _keep_locally(report.load_function()(*input_tables, START_MS, END_MS))


def _keep_locally(table_rows: DataFrame) -> DataFrame:
    return collect_locally(table_rows)


def _read_journal_lines(spark: SparkSession, run_folder: Path) -> DataFrame:
    rows = [
        (str(path), number, line)
        for path in sorted(run_folder.glob("input/*/journal/*.jsonl*"))
        for number, line in _read_numbered_lines(path)
    ]
    return spark.createDataFrame(rows, "file string, line bigint, text string").select(
        "*", lit("journal").alias("kind"), lit(None).cast("string").alias("server"),
        md5("text").alias("hash"), to_date(lit("2026-01-05")).alias("date"),
        current_timestamp().alias("ingestTime"),
    )  # fmt: skip


def _read_numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    return enumerate(decompress_file(path.read_bytes(), str(path)).decode().splitlines(), 1)
