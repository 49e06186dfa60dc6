"""Benchmark of reports (`python -m tests.bench.reports`): availability and gaps with Spark and DuckDB.

The journals come from `tests.bench.fleet_days`, and the event tables from these journals. For each size,
both reports are computed from the event table (first and second time in a session, and as a separate
program), from the table of broker facts that a run computes once, and directly from the journals. For the
smallest size there is a whole run as well. Above ten million events the table repeats that of ten million
on later days, without journals. DuckDB computes the same figures with SQL that is valid only in this simple
world: no crash of a name server, no drain, no gap. The benchmark checks that both results are equal.

With `--write` the figures go to docs/how-to/make-reports.md. Run it on an idle machine.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import broadcast, col, date_add, expr, lit, timestamp_millis, to_date
from pyspark.sql.functions import max as highest
from pyspark.sql.functions import sum as total

from nsreport.facts.knowledge_changes import find_knowledge_changes
from nsreport.facts.knowledge_intervals import build_knowledge_intervals
from nsreport.facts.presence import select_lifecycle_events
from nsreport.reports.broker_availability import broker_availability
from nsreport.reports.heartbeat_gaps import heartbeat_gaps
from nsreport.runtime import session
from nsreport.runtime.local_rows import build_empty_rows
from nsreport.sources import schemas
from nsreport.sources.write_permissions import changes_write
from nsreport.tables import silver
from nsreport.tables.table_layout import TableSpec
from nsreport.tables.table_store import TableStore
from tests.bench import figures, fleet_days

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "make-reports.md"
KNOWLEDGE_INTERVAL = TableSpec("silver/knowledge_interval")
CACHE = Path("~/.cache/nsadmin").expanduser()
THREADS = 2
BASE = 10
"""Of what is larger, in millions of events, the table is made of that of so many."""


class Found(NamedTuple):
    """The figures that must be equal for both engines."""

    gaps: int
    down_seconds: float


class Took(NamedTuple):
    """Seconds."""

    what: str
    spark: float
    duckdb: float | None = None


def started(*, ends_soon: bool = False) -> session.SparkProgram:
    program = session.SparkProgram(CACHE, f"local[{THREADS}]", {}, is_short_run=ends_soon)
    program.session.sparkContext.setLogLevel("ERROR")
    return program


def make(folder: Path, events: int) -> None:
    """Journals, and the tables that follow from them."""
    shutil.rmtree(folder, ignore_errors=True)
    number = fleet_days.write(folder / "journals", events)
    program = started()
    session.adapt_session(program.session, number)
    tables = TableStore(program.session, str(folder / "tables"))
    tables.replace_rows(silver.EVENT_TABLE, of_journals(program.session, folder))
    finish(program, tables)
    _count(folder).write_text(str(number))


def grow(folder: Path, base: Path, events: int) -> None:
    """The same tables without journals, of those in `base`."""
    shutil.rmtree(folder, ignore_errors=True)
    program = started()
    session.adapt_session(program.session, events)
    known = table(TableStore(program.session, str(base / "tables")), silver.EVENT_TABLE)
    tables = TableStore(program.session, str(folder / "tables"))
    number = copies = 0
    while number < events:
        number += tables.append_rows(silver.EVENT_TABLE, later(known, copies), is_gathered=False)
        copies += 1
    finish(program, tables)
    _count(folder).write_text(str(number))


def later(known: DataFrame, times: int) -> DataFrame:
    """The days of `known` once more, behind so many times as many; only in the first is anything started."""
    if not times:
        return known
    [(first, last)] = known.selectExpr("min(date)", "max(date)").collect()
    days = ((last - first).days + 1) * times
    ends = known.groupBy("server").agg(highest("seq").alias("end"))
    numbered = known.join(broadcast(ends), "server").where(col("seq") > fleet_days.OPENING)
    moved = {
        "seq": col("seq") + times * (col("end") - fleet_days.OPENING),
        "time": col("time") + days * fleet_days.DAY,
        "ts": col("ts") + expr(f"interval {days} days"),
        "date": date_add("date", days),
    }
    return numbered.withColumns(moved).select(*known.columns)


def finish(program: session.SparkProgram, tables: TableStore) -> None:
    """The tables that follow from that of events; the end of the program."""
    event_table = table(tables, silver.EVENT_TABLE)
    tables.replace_rows(silver.BROKER_LIFECYCLE_TABLE, select_lifecycle_events(event_table))
    tables.replace_rows(
        KNOWLEDGE_INTERVAL,
        build_knowledge_intervals(find_knowledge_changes(event_table, no_facts(program.session))),
    )
    program.stop()


def _count(folder: Path) -> Path:
    """The file that says how many events there are, once all is made."""
    return folder / "events"


def of_journals(spark: SparkSession, folder: Path) -> DataFrame:
    """The events of the journals: no more of a line is read than is asked for."""
    read = spark.read.schema(schemas.record_schema()).json(f"{folder}/journals/*/*.jsonl")
    given = {
        "ts": timestamp_millis("time"),
        "dialect": lit("journal"),
        "confidence": lit(1.0),
        "date": to_date(timestamp_millis("time")),
        "cluster": lit("c"),
        "changesWrite": changes_write(col("type")),
    }
    events = read.withColumns(given)
    missing = [field for field in schemas.event_schema().fields if field.name not in events.columns]
    nothing = {field.name: lit(None).cast(field.dataType) for field in missing}
    return events.withColumns(nothing).select(*schemas.event_schema().names)


def table(tables: TableStore, which: TableSpec) -> DataFrame:
    stored = tables.read_table(which)
    assert stored is not None
    return stored


def no_facts(spark: SparkSession) -> DataFrame:
    """Nobody gave logs of Java's."""
    return build_empty_rows(spark, silver.LOG_TABLE_SCHEMAS[silver.LOG_FACT_TABLE])


def of_spark(told: DataFrame, known: DataFrame) -> Found:
    """Both reports, whole; their sums."""
    last = told.selectExpr("max(time) + 1").collect()[0][0]
    days = broker_availability(told, known, 0, last)
    gaps = heartbeat_gaps(told, no_facts(told.sparkSession), known, 0, last)
    [row] = days.agg(total("downSeconds").alias("down")).collect()
    return Found(gaps.count(), round(row.down, 3))


_SQL = """
with lost as (
    select server, brokerName, type, time,
        lead(time) over (partition by server, brokerName order by time) as back
    from {events} where type in ('BrokerRegistered', 'BrokerUnregistered')
), outages as (
    select *, row_number() over (partition by server, brokerName order by time) as number
    from lost where type = 'BrokerUnregistered'
), down as (
    select brokerName, number, max(time) as since, min(back) as until
    from outages group by brokerName, number
), days as (
    select brokerName, since // 86400000 as day, sum(until - since) / 1000 as seconds
    from down group by all
), gaps as (
    select server, brokerName, time - silentMillis as since, time as until
    from {events} where type = 'HeartbeatGap' and resumed
)
select (select count(*) from gaps), (select sum(seconds) from days)
"""
_COLUMNS = (
    "{type: 'VARCHAR', time: 'BIGINT', server: 'VARCHAR', brokerName: 'VARCHAR', silentMillis: 'BIGINT', "
    "resumed: 'BOOLEAN'}"
)


def of_duckdb(events: str) -> Found:
    with duckdb.connect(config={"threads": THREADS}) as connection:
        [(gaps, down)] = connection.execute(_SQL.format(events=events)).fetchall()
    return Found(gaps, round(down, 3))


def timed(work: Callable[[], Found]) -> tuple[float, Found]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def measured(folder: Path) -> Iterator[Took]:
    """Each figure as it comes; AssertionError where the engines do not agree."""
    parquet = f"read_parquet({DeltaTable(folder / 'tables/silver/ns_event').file_uris()})"
    lines = f"read_json('{folder}/journals/*/*.jsonl', format='newline_delimited', columns={_COLUMNS})"
    of_tables, expected = timed(lambda: of_duckdb(parquet))
    of_lines = None
    if (folder / "journals").exists():
        of_lines, same = timed(lambda: of_duckdb(lines))
        assert same == expected
    began = time.perf_counter()
    program = started()
    yield Took("start of a session", time.perf_counter() - began)
    spark = program.session
    session.adapt_session(spark, int(_count(folder).read_text()), has_long_plans=True)
    tables = TableStore(spark, str(folder / "tables"))

    def from_tables() -> Found:
        return of_spark(
            select_lifecycle_events(table(tables, silver.EVENT_TABLE)), table(tables, KNOWLEDGE_INTERVAL)
        )

    def from_told() -> Found:
        return of_spark(table(tables, silver.BROKER_LIFECYCLE_TABLE), table(tables, KNOWLEDGE_INTERVAL))

    def from_lines() -> Found:
        lifecycle_events = select_lifecycle_events(of_journals(spark, folder)).persist()
        try:
            return of_spark(lifecycle_events, table(tables, KNOWLEDGE_INTERVAL))
        finally:
            lifecycle_events.unpersist()

    for title, work, theirs in (
        ("from Parquet, first time in a session", from_tables, of_tables),
        ("from Parquet, warm", from_tables, of_tables),
        ("from broker facts (Parquet), warm", from_told, of_tables),
        ("from JSON Lines, warm", from_lines, of_lines),
    ):
        if theirs is None:
            continue
        ours, our_result = timed(work)
        assert our_result == expected, (title, our_result, expected)
        yield Took(title, ours, theirs)
    began = time.perf_counter()
    build_knowledge_intervals(
        find_knowledge_changes(table(tables, silver.EVENT_TABLE), no_facts(spark))
    ).collect()
    yield Took("knowledge intervals, which a run computes once for availability", time.perf_counter() - began)
    program.stop()


def one_shot(folder: Path) -> None:
    """Both reports of what earlier runs made; Java compiles as `report run` has it where nothing is new."""
    program = started(ends_soon=True)
    tables = TableStore(program.session, str(folder / "tables"))
    session.adapt_session(program.session, int(_count(folder).read_text()), has_long_plans=True)
    of_spark(table(tables, silver.BROKER_LIFECYCLE_TABLE), table(tables, KNOWLEDGE_INTERVAL))
    # What came of it is out; nobody waits for the end of Java.
    os._exit(0)


def rows(folder: Path) -> Iterator[str]:
    """The figures of a folder, as lines of a table."""
    events = int(_count(folder).read_text())
    for title, spark, other in measured(folder):
        theirs = " | " if other is None else f"{other:.1f} | {spark / other:.1f}"
        yield f"| {events:,} | {title} | {spark:.1f} | {theirs} |"


def page(home: Path, sizes: list[int]) -> Iterator[str]:
    """All figures, a line at a time; each session is a process of its own."""
    yield "| events | what | Spark, s | DuckDB, s | Spark/DuckDB |"
    yield "|---:|---|---:|---:|---:|"
    for millions in sizes:
        folder = home / f"{millions}m"
        if not _count(folder).exists():
            base = ("--base", str(home / f"{BASE}m")) if millions > BASE else ()
            _process("--make", str(folder), "--millions", str(millions), *base)
        yield from _process("--measure", str(folder))
        began = time.perf_counter()
        _process("--one-shot", str(folder))
        seconds, events = time.perf_counter() - began, int(_count(folder).read_text())
        yield f"| {events:,} | from Parquet, as a separate program | {seconds:.1f} | | |"
        if millions == min(sizes):
            yield f"| {events:,} | whole run: read journals, make all reports | {whole_run(folder):.1f} | | |"
    yield ""
    yield figures.machine()


def whole_run(folder: Path) -> float:
    """Seconds of `nsreport run`, as an operator has it, with nothing read before."""
    output = folder / "output"
    shutil.rmtree(output, ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "nsreport",
        "run",
        "--input",
        str(folder / "journals"),
        "--dir",
        str(output),
    ]
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


def _process(*words: str) -> list[str]:
    """What such a process of this program says."""
    command = [sys.executable, "-m", "tests.bench.reports", *words]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return result.stdout.splitlines()


def main() -> int:
    flags = argparse.ArgumentParser(prog="python -m tests.bench.reports", description=__doc__)
    flags.add_argument(
        "--millions", default="1,10", help="sizes in millions of events (1,10); 100 requires 10"
    )
    flags.add_argument(
        "--folder", type=Path, help="folder of the tables, which stay there (a temporary folder)"
    )
    flags.add_argument("--write", action="store_true", help=f"write the figures to docs/{PAGE.name}")
    for step in ("--make", "--base", "--measure", "--one-shot"):
        flags.add_argument(step, type=Path, help=argparse.SUPPRESS)
    asked = flags.parse_args()
    sizes = [int(millions) for millions in asked.millions.split(",")]
    if asked.base:
        grow(asked.make, asked.base, sizes[0] * 1_000_000)
    elif asked.make:
        make(asked.make, sizes[0] * 1_000_000)
    elif asked.measure:
        for text in rows(asked.measure):
            print(text, flush=True)
    elif asked.one_shot:
        one_shot(asked.one_shot)
    else:
        report(asked.folder, sizes, is_written=asked.write)
    return 0


def report(folder: Path | None, sizes: list[int], *, is_written: bool) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        lines = []
        for text in page(folder or Path(scratch), sizes):
            print(text, flush=True)
            lines.append(text)
    if is_written:
        figures.write(PAGE, "figures", lines)


if __name__ == "__main__":
    sys.exit(main())
