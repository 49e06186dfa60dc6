"""`python -m nsreport`: runs the pipeline and writes its progress to stdout, one JSON object per line.

An object has `table` (a finished table, with `rowsIn`, `rowsOut` and `seconds`), `at` (the table in progress,
with its running `stages`, their `tasks`, the tasks `done` and the `rows` read), `doing`, `note` or `error`.
"""

import argparse
import json
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from nsreport import flags as pipeline_flags
from nsreport import session, sinks, working
from nsreport.batch import FILES, Done, Order, Outcome, Run
from nsreport.extent import extent, written
from nsreport.java import NoJava
from nsreport.reports.catalogue import REPORTS
from nsreport.sources import NoInput, Source
from nsreport.stream import Stream

DONE, FAILED, USAGE, QUARANTINED = 0, 1, 2, 3
LITTLE = 128 << 20
"""Input size, about 350,000 events, up to which Java's optimizing compiler costs more time than it saves."""

_SPEAKING = threading.Lock()


def parser() -> argparse.ArgumentParser:
    flags = argparse.ArgumentParser("nsreport", description="Tables of what happened to name servers.")
    flags.add_argument("--cache", type=Path, default=Path("~/.cache/nsadmin"), help="what is made once")
    commands = flags.add_subparsers(dest="command", required=True)
    pipeline_flags.add_run(commands.add_parser("run", help="read what is new, and make the tables"))
    pipeline_flags.add_stream(commands.add_parser("stream", help="the same, again and again"))
    return flags


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    flags = parser().parse_args(argv)
    try:
        check(flags)
        with sinks.only_one(flags.output), started(flags) as spark, working.told(spark, tell_at):
            return stream(spark, flags) if flags.command == "stream" else run(spark, flags)
    except (NoInput, NoReport) as error:
        return fail(str(error), USAGE)
    except (NoJava, sinks.Busy, OSError) as error:
        return fail(str(error), FAILED)


@contextmanager
def started(flags: argparse.Namespace) -> Iterator[SparkSession]:
    """Open a Spark session, and stop it at the end of the block."""
    tell(doing="starting Spark")
    # spark-submit has already chosen the master.
    master = flags.master or (None if session.is_submitted() else "local[*]")
    program = session.Program(flags.cache.expanduser(), master, dict(flags.conf), ends_soon=ends_soon(flags))
    try:
        yield program.session
    finally:
        program.stop()


def ends_soon(flags: argparse.Namespace) -> bool:
    """Whether the run is known to read no more than `SMALL_INPUT_BYTES`.

    Without new input a run reads only the tables of the requested reports; otherwise it may read everything.
    """
    if flags.command == "stream" and not flags.once:
        return False
    given = [*flags.input, *(path for _, path in flags.source)]
    if extent(given, written(f"{flags.output}/{FILES.name}")) == 0:
        asked = {table for name in flags.reports or REPORTS for table in REPORTS[name].inputs}
        known = extent(f"{flags.output}/silver/{table}" for table in asked)
    else:
        known = extent([*given, f"{flags.output}/bronze"])
    return known is not None and known <= LITTLE


def run(spark: SparkSession, flags: argparse.Namespace) -> int:
    """Run the pipeline once, compact the tables if requested, and report the outcome."""
    work = Run(spark, order(flags), datetime.now(UTC), tell_of)
    outcome = work.whole()
    if flags.compact:
        work.compact()
    return judged(outcome, flags.max_quarantine)


def stream(spark: SparkSession, flags: argparse.Namespace) -> int:
    """Process new files as a stream: those that exist now (`--once`), or until a signal stops the process."""
    work = Run(spark, order(flags), datetime.now(UTC), tell_of)
    work.refresh()
    watching = Stream(spark, work, flags.output)
    watching.look()
    tell(doing="carrying out what is there" if flags.once else f"looking every {flags.every:g} s")
    query = watching.start(None if flags.once else flags.every)
    try:
        while not query.awaitTermination(flags.every):
            watching.look()
    finally:
        query.stop()
    return judged(work.outcome(0), flags.max_quarantine)


def judged(outcome: Outcome, most: float) -> int:
    """Write the closing notes or the error of a run; return the exit code."""
    if outcome.passed_over:
        tell(note=f"{outcome.passed_over} files are neither journals nor logs, and were passed over")
    for server in outcome.twice:
        tell(note=f"{server}: two journals are of this name; give each its own by --source NAME=DIR")
    if outcome.lines == 0:
        return fail("there is nothing to read: no journals and no logs", FAILED)
    if outcome.quarantined:
        shown = f"{outcome.quarantined} of {outcome.lines} lines ({outcome.share:.2%}) are in quarantine"
        if outcome.share > most:
            return fail(f"{shown}, more than --max-quarantine {most:.2%}: see silver/quarantine", QUARANTINED)
        tell(note=shown)
    return DONE


class NoReport(Exception):
    """A report does not exist, or the time range is empty; the text is one line."""


def check(flags: argparse.Namespace) -> None:
    """Raise ReportRequestError if a report does not exist or the time range is empty."""
    if None not in (flags.since, flags.until) and flags.since >= flags.until:
        raise NoReport("--since is not before --until: nothing is between them")
    for name in flags.reports:
        if name not in REPORTS:
            raise NoReport(f"there is no report {name}: there are {', '.join(REPORTS)}")


def order(flags: argparse.Namespace) -> Order:
    given = [*(Source(path) for path in flags.input), *(Source(path, name) for name, path in flags.source)]
    return Order(given, flags.output, flags.reports or tuple(REPORTS), flags.since, flags.until)


def tell_of(done: Done) -> None:
    tell(table=done.table, rowsIn=done.rows_in, rowsOut=done.rows_out, seconds=round(done.seconds, 3))


def tell_at(at: working.At) -> None:
    tell(at=at.table, stages=at.stages, done=at.done, tasks=at.tasks, rows=at.rows)


def tell(**what: Any) -> None:
    """Write one JSON line. The lock keeps lines whole: the progress thread writes to stdout as well."""
    with _SPEAKING:
        sys.stdout.write(json.dumps(what) + "\n")
        sys.stdout.flush()


def fail(text: str, code: int) -> int:
    tell(error=text)
    return code
