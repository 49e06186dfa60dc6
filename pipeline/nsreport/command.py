"""`python -m nsreport`: runs the pipeline and writes its progress to stdout, one JSON object per line.

An object has `table` (a finished table, with `rowsIn`, `rowsOut` and `seconds`), `at` (the table in progress,
with its running `stages`, their `tasks`, the tasks `done` and the `rows` read), `doing`, `note` or `error`.
"""

import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from pyspark.sql import SparkSession

from nsreport.jobs import run_record
from nsreport.jobs.batch import PipelineRun, RunOutcome, RunRequest
from nsreport.jobs.line_ingest import BRONZE_FILES
from nsreport.jobs.stream import OrderStream
from nsreport.jobs.table_workspace import TableResult
from nsreport.reports.catalogue import REPORTS_BY_NAME, add_source_reports, list_input_tables
from nsreport.runtime import flags as pipeline_flags
from nsreport.runtime import progress, session
from nsreport.runtime.flags import RunArguments
from nsreport.runtime.input_size import estimate_plain_bytes, last_write_seconds
from nsreport.runtime.java import JavaNotFoundError
from nsreport.sources.input_files import InputNotFoundError, InputSource
from nsreport.tables import silver
from nsreport.tables.output_lock import (
    OutputBusyError,
    OutputFileSystemError,
    check_output_file_system,
    lock_output,
)
from nsreport.tables.table_migration import MigrationError
from nsreport.tables.table_versions import NO_DAY

EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_QUARANTINED = 0, 1, 2, 3
SMALL_INPUT_BYTES = 128 << 20
"""Input size, about 350,000 events, up to which Java's optimizing compiler costs more time than it saves."""

_STDOUT_LOCK = threading.Lock()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    cache_folder = RunArguments._field_defaults["cache"]
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

    @app.callback(help="Reports about name servers, as Parquet tables.")
    def choose_cache(
        cache: Annotated[
            Path, typer.Option("--cache", metavar="DIR", help="Folder for cached files.")
        ] = cache_folder,
    ) -> None:
        nonlocal cache_folder
        cache_folder = cache

    def add_job(name: str, help_text: str, read_arguments: Callable[..., RunArguments]) -> None:
        @app.command(name, help=help_text)
        @wraps(read_arguments)
        def run_job(**values: Any) -> int:
            return run_pipeline(read_arguments(**values)._replace(cache=cache_folder))

    add_job("run", "Read new data and update the tables.", pipeline_flags.read_run_arguments)
    add_job("stream", "Update the tables continuously.", pipeline_flags.read_stream_arguments)
    try:
        return int(app(argv, prog_name="nsreport", standalone_mode=False))
    except pipeline_flags.InvalidFlagError as error:
        return write_error(str(error), EXIT_USAGE)
    except typer.BadParameter.__base__ as error:  # type: ignore[misc]
        return write_error(error.format_message(), EXIT_USAGE)


def run_pipeline(arguments: RunArguments) -> int:
    try:
        check_report_request(arguments)
        check_output_file_system(arguments.output)
        with lock_output(arguments.output):
            # Listed before the run: what is written meanwhile is new for the next run.
            run_request = build_run_request(arguments)
            if (run_outcome := find_unchanged_outcome(run_request, arguments)) is not None:
                write_message(note="nothing new since the last run: the tables and reports stay as they are")
                return report_outcome(run_outcome, arguments.max_quarantine)
            with (
                open_spark_session(arguments) as spark,
                progress.watch_progress(spark, write_progress),
            ):
                return (
                    run_stream(spark, run_request, arguments)
                    if arguments.is_stream
                    else run_batch(spark, run_request, arguments)
                )
    except (InputNotFoundError, ReportRequestError, OutputFileSystemError) as error:
        return write_error(str(error), EXIT_USAGE)
    except (JavaNotFoundError, MigrationError, OutputBusyError, OSError) as error:
        return write_error(str(error), EXIT_FAILED)


def find_unchanged_outcome(run_request: RunRequest, arguments: RunArguments) -> RunOutcome | None:
    """Return the outcome of the last run if this run would repeat it; None if it has something to do."""
    if arguments.is_stream or arguments.compact:
        return None
    last_outcome = run_record.read_unchanged_outcome(run_request.output_folder, run_request.input_digest)
    return None if last_outcome is None else RunOutcome(*last_outcome)


@contextmanager
def open_spark_session(arguments: RunArguments) -> Iterator[SparkSession]:
    """Open a Spark session, and stop it at the end of the block."""
    write_message(doing="starting Spark")
    # spark-submit has already chosen the master.
    master_url = arguments.master or (None if session.is_submitted() else "local[*]")
    spark_program = session.SparkProgram(
        arguments.cache.expanduser(), master_url, dict(arguments.conf), is_short_run=is_short_run(arguments)
    )
    try:
        yield spark_program.session
    finally:
        spark_program.stop()


def is_short_run(arguments: RunArguments) -> bool:
    """Whether the run is known to read no more than `SMALL_INPUT_BYTES`.

    Without new input a run reads only the tables of the requested reports. With it, a run reads little more
    than the new input, unless it is the first one.
    """
    if arguments.is_stream and not arguments.once:
        return False
    input_paths = [*arguments.input, *(source_path for _, source_path in arguments.source)]
    plain_bytes = estimate_plain_bytes(
        input_paths, last_write_seconds(f"{arguments.output}/{BRONZE_FILES.name}")
    )
    if plain_bytes == 0:
        table_names = list_input_tables(add_source_reports(arguments.reports or REPORTS_BY_NAME))
        plain_bytes = estimate_plain_bytes(f"{arguments.output}/{table_name}" for table_name in table_names)
    elif not last_write_seconds(f"{arguments.output}/{silver.OBSERVER_DAY_TABLE.name}"):
        plain_bytes = estimate_plain_bytes([*input_paths, f"{arguments.output}/bronze"])
    return plain_bytes is not None and plain_bytes <= SMALL_INPUT_BYTES


def run_batch(spark: SparkSession, run_request: RunRequest, arguments: RunArguments) -> int:
    """Run the pipeline once, compact the tables if requested, and report the outcome."""
    pipeline_run = PipelineRun(spark, run_request, datetime.now(UTC), write_table_result, write_note)
    run_outcome = pipeline_run.run_all()
    if arguments.compact:
        pipeline_run.compact_tables()
    return report_outcome(run_outcome, arguments.max_quarantine)


def run_stream(spark: SparkSession, run_request: RunRequest, arguments: RunArguments) -> int:
    """Process new files as a stream: those that exist now (`--once`), or until a signal stops the process."""
    pipeline_run = PipelineRun(spark, run_request, datetime.now(UTC), write_table_result, write_note)
    pipeline_run.refresh_tables()
    order_stream = OrderStream(spark, pipeline_run, arguments.output)
    order_stream.order_new_files()
    write_message(
        doing="processing the existing data"
        if arguments.once
        else f"checking for new data every {arguments.every:g} s"
    )
    stream_query = order_stream.start_query(None if arguments.once else arguments.every)
    try:
        while not stream_query.awaitTermination(int(arguments.every)):
            order_stream.order_new_files()
    finally:
        stream_query.stop()
    return report_outcome(pipeline_run.summarize_outcome(0), arguments.max_quarantine)


def report_outcome(run_outcome: RunOutcome, max_share: float) -> int:
    """Write the closing notes or the error of a run; return the exit code."""
    if run_outcome.skipped_file_count:
        write_message(
            note=f"skipped files that are neither journals nor logs: {run_outcome.skipped_file_count}"
        )
    for server_name in run_outcome.duplicate_servers:
        write_message(
            note=f'two journals have the name "{server_name}": give each one a name with --source NAME=DIR'
        )
    if run_outcome.line_count == 0:
        return write_error("no journals and no logs found: check --input and --source", EXIT_FAILED)
    if run_outcome.quarantined_count:
        quarantine_note = (
            f"{run_outcome.quarantined_count} of {run_outcome.line_count} lines "
            f"({run_outcome.quarantined_share:.2%}) could not be read"
        )
        if run_outcome.quarantined_share > max_share:
            return write_error(
                f"{quarantine_note}, more than --max-quarantine {max_share:.2%}: the table silver/quarantine "
                "has them with the reason",
                EXIT_QUARANTINED,
            )
        write_message(note=f"{quarantine_note}: the table silver/quarantine has them with the reason")
    return EXIT_DONE


class ReportRequestError(Exception):
    """A report does not exist; the text is one line."""


def check_report_request(arguments: RunArguments) -> None:
    """Raise ReportRequestError if a report does not exist."""
    for report_name in arguments.reports:
        if report_name not in REPORTS_BY_NAME:
            raise ReportRequestError(
                f'unknown report "{report_name}": use one of {", ".join(REPORTS_BY_NAME)}'
            )


def build_run_request(arguments: RunArguments) -> RunRequest:
    input_sources = [
        *(InputSource(source_path) for source_path in arguments.input),
        *(InputSource(source_path, server_name) for server_name, source_path in arguments.source),
    ]
    report_names = arguments.reports or tuple(REPORTS_BY_NAME)
    first_day = NO_DAY
    if arguments.forget is not None:
        first_day = (datetime.now(UTC) - timedelta(seconds=arguments.forget)).date()
    request_words = [
        *map(str, input_sources),
        *report_names,
        *map(str, (arguments.since, arguments.until, first_day)),
    ]
    input_paths = [input_source.path for input_source in input_sources]
    return RunRequest(
        input_sources,
        arguments.output,
        report_names,
        arguments.since,
        arguments.until,
        run_record.digest_inputs(request_words, input_paths),
        timedelta(seconds=arguments.keep),
        first_day,
    )


def write_note(note: str) -> None:
    write_message(note=note)


def write_table_result(table_result: TableResult) -> None:
    write_message(
        table=table_result.table_name,
        rowsIn=table_result.rows_in,
        rowsOut=table_result.rows_out,
        seconds=round(table_result.elapsed_seconds, 3),
    )


def write_progress(stage_progress: progress.StageProgress) -> None:
    write_message(
        at=stage_progress.table_name,
        stages=stage_progress.stage_count,
        done=stage_progress.done_tasks,
        tasks=stage_progress.task_count,
        rows=stage_progress.row_count,
    )


def write_message(**message_fields: Any) -> None:
    """Write one JSON line. The lock keeps lines whole: the progress thread writes to stdout as well."""
    with _STDOUT_LOCK:
        sys.stdout.write(json.dumps(message_fields) + "\n")
        sys.stdout.flush()


def write_error(error_text: str, exit_code: int) -> int:
    write_message(error=error_text)
    return exit_code
