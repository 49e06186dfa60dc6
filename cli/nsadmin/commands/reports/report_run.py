"""Owns report run and report stream, which run the pipeline; Spark runs in its own process."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from glob import glob
from typing import Annotated, Any

from nsadmin.command_line.declarations import RequiredUnless, command, command_parameters
from nsadmin.command_line.shared_options import option_words
from nsadmin.console import output, stderr
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.phrases import count_noun
from nsadmin.console.progress import StatusLine
from nsreport.runtime import flags

for _read_arguments in (flags.read_run_arguments, flags.read_stream_arguments):
    # Only our usage and our errors know such a choice.
    _read_arguments.__annotations__["input"] = Annotated[flags.InputOption, RequiredUnless("source")]


@command(examples=("elsewhere", "Spark takes half a minute; a test of the pipeline runs them in one session"))
@wraps(flags.read_run_arguments, assigned=())
def report_run(**values: Any) -> int:
    """Compute tables and reports (Parquet) from journals and logs, with Apache Spark.

    The command reads journals of name servers and of collectors, compressed or not, also while they are
    written. It reads each line once, so run the same command every hour. It computes the days with new lines,
    the day before them, and all later ones, and says which. Safe to interrupt: the next run completes it.

    Unreadable lines go to the table silver/quarantine, with the reason. The command needs nsadmin[spark].
    Spark logs to nsadmin/report.log in ~/.cache.

    Examples:
        # Once, or every hour
        nsadmin report run --input namesrv/journal --dir reports
        # Journals of many name servers; each folder has the name of its server
        nsadmin report run --source '*=collected/*' --dir reports --max-quarantine 5%
        # One report, from February on
        nsadmin report run --input collected --dir reports --reports drain_audit --from 2025-02-01
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
        # Compute reports once, from cron
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
    for input_path in arguments.input:
        # A path with a scheme (hdfs://) is not on this machine, so it cannot be checked here.
        if "://" not in input_path and not (os.path.exists(input_path) or glob(input_path)):
            raise UsageError(f"--input {input_path}: no such file or folder")
    return _run_pipeline([job_name, *option_words(command_parameters(read_arguments), values)])


def _run_pipeline(words: Sequence[str]) -> int:
    """Run the pipeline, with progress on stderr and a line for each table on stdout; return the exit code."""
    from nsadmin.console.settings.name_server_discovery import cache_folder
    from nsadmin.operations import report_runner

    cache_path, progress = cache_folder(), StatusLine(stderr.write_stderr_line)
    tables: list[Mapping[str, Any]] = []
    try:
        for message in report_runner.run_report(words, cache_path / "spark", cache_path / "report.log"):
            if "table" in message:
                if tables and _layer_of(tables[-1]) != _layer_of(message):
                    progress.write_line(_describe_layer(tables))
                tables.append(message)
            for key in message.keys() & {"doing", "note"}:
                progress.write_line(str(message[key]))
            if "at" in message:
                progress.show_status(_progress_text(message))
        if tables:
            progress.write_line(_describe_layer(tables))
        return 0
    except report_runner.ReportRunFailed as error:
        progress.write_line(str(error))
        return error.exit_code
    finally:
        progress.close()
        if tables:
            output.write_text("\n".join(_table_lines(tables)))


def _layer_of(table: Mapping[str, Any]) -> str:
    return str(table["table"]).partition("/")[0]


def _describe_layer(tables: Sequence[Mapping[str, Any]]) -> str:
    """The layer of the last table: made 9 silver tables with 3,769 rows."""
    layer = _layer_of(tables[-1])
    row_counts = [table["rowsOut"] for table in tables if _layer_of(table) == layer]
    return f"made {count_noun(len(row_counts), f'{layer} table')} with {sum(row_counts):,} rows"


def _progress_text(message: Mapping[str, Any]) -> str:
    table = message["at"] or "the tables"
    doing = "reading the journals and logs" if table.startswith("bronze/") else f"making {table}"
    return f"{doing}: {message['rows']:,} rows so far"


def _table_lines(tables: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    width = max(len(str(table["table"])) for table in tables)
    yield f"{'table':<{width}}  {'rowsIn':>10}  {'rowsOut':>10}  {'seconds':>8}"
    for table in tables:
        yield (
            f"{table['table']:<{width}}  {table['rowsIn']:>10}  "
            f"{table['rowsOut']:>10}  {table['seconds']:>8.1f}"
        )
