"""Owns report run and report stream, which run the pipeline; Spark runs in its own process."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from glob import glob
from typing import Any

from nsadmin.command_line.declarations import command, command_parameters
from nsadmin.command_line.shared_options import option_words
from nsadmin.console import output, stderr
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.progress import StatusLine
from nsreport.runtime import flags


@command(examples=("elsewhere", "Spark takes half a minute; a test of the pipeline runs them in one session"))
@wraps(flags.read_run_arguments, assigned=())
def report_run(**values: Any) -> int:
    """Compute tables and reports (Parquet) from journals and logs, with Apache Spark.

    The command reads journals of name servers and of collectors, compressed or not, also while they are
    written. It reads each line once, so run the same command every hour: it computes only the days with new
    lines. Safe to interrupt: the next run completes the work.

    Unreadable lines go to the table silver/quarantine, with the reason. The command needs nsadmin[spark].
    Spark logs to nsadmin/report.log in ~/.cache.

    Examples:
        # Once, or every hour
        nsadmin report run --input namesrv/journal --dir reports
        # Journals of many name servers; each folder has the name of its server
        nsadmin report run --source '*=collected/*' --dir reports --max-quarantine 5%
        # One report, from February on
        nsadmin report run --input collected --dir reports --reports drain_audit --since 2025-02-01
    """
    return _start_pipeline("run", flags.read_run_arguments, values)


@command(examples=("elsewhere", "Spark takes half a minute; a test of the pipeline runs them in one session"))
@wraps(flags.read_stream_arguments, assigned=())
def report_stream(**values: Any) -> int:
    """Compute the tables of `nsadmin report run` continuously, until Ctrl-C.

    The command searches the folders for new data (--every), and processes it as a Spark stream with a
    checkpoint. Safe to interrupt: run the same command to resume. The tables are the same as those of one
    `report run`, also if lines arrive late.

    Examples:
        # For cron
        nsadmin report stream --input namesrv/journal --dir reports --once
        # Every five minutes, only the availability of brokers
        nsadmin report stream --input namesrv/journal --dir reports --every 5m --reports broker_availability
    """
    return _start_pipeline("stream", flags.read_stream_arguments, values)


def _start_pipeline(
    job_name: str, read_arguments: Callable[..., flags.RunArguments], values: Mapping[str, Any]
) -> int:
    """Check the values before Spark starts, which takes seconds, and run the job."""
    try:
        arguments = read_arguments(**values)
    except flags.InvalidFlagError as error:
        raise UsageError(str(error)) from None
    if not arguments.input and not arguments.source:
        raise UsageError("missing option --input DIR or --source NAME=DIR")
    for input_path in arguments.input:
        # A path with a scheme (hdfs://) is not on this machine, so it cannot be checked here.
        if "://" not in input_path and not (os.path.exists(input_path) or glob(input_path)):
            raise UsageError(f"--input {input_path}: no such file or folder")
    return _run_pipeline([job_name, *option_words(command_parameters(read_arguments), values)])


def _run_pipeline(pipeline_words: Sequence[str]) -> int:
    """Run the pipeline, with progress on stderr and a line for each table on stdout; return the exit code."""
    from nsadmin.console.settings.name_server_discovery import cache_folder
    from nsadmin.operations import report_runner

    cache_path, table_messages, progress_line = cache_folder(), [], StatusLine(stderr.write_stderr_line)
    try:
        for pipeline_message in report_runner.run_report(
            pipeline_words, cache_path / "spark", cache_path / "report.log"
        ):
            if "table" in pipeline_message:
                table_messages.append(pipeline_message)
            for message_line in _message_lines(pipeline_message):
                progress_line.write_line(message_line)
            if "at" in pipeline_message:
                progress_line.show_status(_progress_text(pipeline_message))
        return 0
    except report_runner.ReportRunFailed as error:
        progress_line.write_line(str(error))
        return error.exit_code
    finally:
        progress_line.close()
        if table_messages:
            output.write_text("\n".join(_table_lines(table_messages)))


def _message_lines(pipeline_message: Mapping[str, Any]) -> Iterator[str]:
    if "table" in pipeline_message:
        row_counts = f"{pipeline_message['rowsIn']:,} rows in, {pipeline_message['rowsOut']:,} out"
        yield f"{pipeline_message['table']}: {row_counts}, {pipeline_message['seconds']:.1f} s"
    for message_key in ("doing", "note"):
        if message_key in pipeline_message:
            yield str(pipeline_message[message_key])


def _progress_text(pipeline_message: Mapping[str, Any]) -> str:
    stages_text = f"{pipeline_message['stages']} stages" if pipeline_message["stages"] != 1 else "1 stage"
    tasks_text = f"{pipeline_message['done']:,} of {pipeline_message['tasks']:,} tasks"
    return (
        f"{pipeline_message['at'] or 'Spark'}: {stages_text}, {tasks_text}, "
        f"{pipeline_message['rows']:,} rows read"
    )


def _table_lines(table_messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    name_width = max(len(str(table_message["table"])) for table_message in table_messages)
    yield f"{'table':<{name_width}}  {'rowsIn':>10}  {'rowsOut':>10}  {'seconds':>8}"
    for table_message in table_messages:
        yield (
            f"{table_message['table']:<{name_width}}  {table_message['rowsIn']:>10}  "
            f"{table_message['rowsOut']:>10}  {table_message['seconds']:>8.1f}"
        )
