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

from nsreport import bronze, java_logs, session, silver, sources, working
from nsreport.reports.catalogue import REPORTS
from nsreport.sinks import Heads, Table, Tables
from nsreport.sources import JOURNAL, File, Source
from nsreport.turns import TWICE

LINES = Table("bronze/lines", ("kind", "date"))
FILES = Table("bronze/files")
_LEAST_BYTES = 20
"""Least size of a line in a compressed segment. It turns file sizes into an upper bound of the row count."""

_FILES = "path string, server string, length bigint, modified bigint"


class Done(NamedTuple):
    """The figures of a finished table: rows read, rows written or added, and seconds."""

    table: str
    rows_in: int
    rows_out: int
    seconds: float


class Order(NamedTuple):
    """The parameters of a run. `since_ms` and `until_ms` (ms since 1970) bound the reports; None: all."""

    sources: Sequence[Source]
    output: str
    reports: Sequence[str] = tuple(REPORTS)
    since: int | None = None
    until: int | None = None


class Outcome(NamedTuple):
    """The result of a run: lines in bronze, lines in quarantine, and files of an unknown kind.

    `duplicate_servers` are names that two different journals share. The operator has to give each journal its
    own name before the reports can say anything about these name servers.
    """

    lines: int
    quarantined: int
    passed_over: int
    twice: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        return self.quarantined / self.lines if self.lines else 0.0


Tell = Callable[[Done], None]


class Run:
    """Builds the tables one after the other and passes each `TableResult` to `report_result`.

    Raises InputNotFoundError.
    """

    def __init__(self, spark: SparkSession, order: Order, now: datetime, tell: Tell) -> None:
        self._spark = spark
        self._order = order
        self._now = now
        self._tell = tell
        self._tables = Tables(spark, order.output)
        self._counts: dict[str, int] = {}

    def whole(self) -> Outcome:
        """Ingest all new files, rebuild the tables that they change, and make the reports."""
        passed_over = self.take()
        if not self.refresh():
            # The request may name other reports, or another time range, than the last run.
            self.report()
        return self.outcome(passed_over)

    def take(self) -> int:
        """Ingest new files into bronze; return the number of skipped files."""
        fresh, passed_over = self.changed()
        if fresh:
            self.read(fresh)
        return passed_over

    def changed(self) -> tuple[list[File], int]:
        """Return the files that are new or have changed, and the number of files of an unknown kind."""
        working.named(self._spark, FILES.name)
        found: list[File] = []
        passed_over = 0
        for source in self._order.sources:
            known, others = sources.files(self._spark, source)
            found += known
            passed_over += len(others)
        return self._unknown(found), passed_over

    def read(self, files: Sequence[File]) -> None:
        """Ingest the lines of files into bronze, then record the files as read."""
        session.suit(self._spark, sum(file.length for file in files) // _LEAST_BYTES)
        for is_journal in (True, False):
            some = [file for file in files if (file.kind == JOURNAL) == is_journal]
            if some:
                lines = sources.lines(self._spark, some, int(self._now.timestamp() * 1000))
                # Joining continuation lines needs a sort: persist the result, so that Spark sorts once.
                found = bronze.of_journals(lines) if is_journal else bronze.of_logs(lines).persist()
                try:
                    self._add(found)
                finally:
                    found.unpersist()
        self._note(files)

    def _add(self, found: DataFrame) -> None:
        """Append the lines that bronze does not have, and mark their days as due."""
        working.named(self._spark, LINES.name)
        began = time.monotonic()
        keys = bronze.keys(found).persist()
        try:
            days = {row.date: row["count"] for row in keys.groupBy("date").count().collect()}
            count, known = sum(days.values()), self._tables.read(LINES)
            if known is not None:
                known = known.where(col("date").isin(list(days)))
            met = bronze.met(keys, known).persist()
            try:
                is_alone = met.isEmpty()
                rows = (
                    bronze.alone(found, self._now) if is_alone else bronze.taken(found, met, known, self._now)
                )
                added = self._tables.append(LINES, rows, due=True, gather=count <= session.FEW)
            finally:
                met.unpersist()
        finally:
            keys.unpersist()
        self._tell(Done(LINES.name, count, added, time.monotonic() - began))

    def _unknown(self, found: Iterable[File]) -> list[File]:
        """Return, once each, the files that bronze has not read with their present length and time."""
        known = self._tables.read(FILES)
        rows = known.collect() if known is not None else []
        seen = {(row.path, row.server, row.length, row.modified) for row in rows}
        return [
            file
            for file in {file.path: file for file in found}.values()
            if (file.path, file.server, file.length, file.modified) not in seen
        ]

    def _note(self, files: Sequence[File]) -> None:
        rows = [(file.path, file.server, file.length, file.modified) for file in files]
        self._tables.append(FILES, self._spark.createDataFrame(rows, _FILES).coalesce(1))

    def refresh(self) -> bool:
        """Rebuild the tables that depend on the due days; return whether any day was due."""
        due = self._tables.due()
        if not due:
            return False
        days = self._read_lines(due)
        events = self._of_days(silver.EVENTS, days)
        count = events.count()
        for table, made in silver.OF_DAYS.items():
            self._replace(table, made(events), count, days)
        session.suit(self._spark, self._count(silver.EVENTS))
        for table, (of_all, inputs) in silver.OF_ALL.items():
            given = [self._read(one) for one in inputs]
            self._replace(table, of_all(*given), sum(map(self._count, inputs)), None)
        self.report()
        self._tables.done(due)
        return True

    def _read_lines(self, due: Sequence[date]) -> list[date]:
        """Rebuild events, log facts and quarantine from lines; return the rebuilt days."""
        logs = self._read(LINES).where(col("kind") != JOURNAL)
        said = None
        days = list(due)
        if logs.where(col("date") >= lit(days[0])).isEmpty():
            for table, rows in silver.of_no_logs(self._spark).items():
                if self._tables.read(table) is None:
                    self._replace(table, rows, 0, None)
        else:
            # The meaning of a log line depends on earlier lines, also of earlier days.
            later = self._read(LINES).where(col("date") >= lit(days[0])).select("date").distinct()
            days, said = sorted(row.date for row in later.collect()), java_logs.read(logs)
        try:
            lines = self._of_days(LINES, days)
            count = lines.count()
            made = {
                table: self._replace(table, rows, count, days)
                for table, rows in silver.of_lines(lines, said, days).items()
            }
            if said is None and made[silver.EVENTS] == count:
                # Every line became an event: the quarantine gets none.
                lines = lines.where(lit(False))
            lost = silver.quarantine(lines, self._of_days(silver.EVENTS, days), said, days)
            self._replace(silver.QUARANTINE, lost, count, days)
        finally:
            if said is not None:
                said.kept.unpersist()
        return days

    def report(self) -> None:
        """Make the reports from all known rows: a state that a day shows may have begun long before it."""
        events = self._tables.read(silver.EVENTS)
        if events is None or not self._order.reports:
            return
        first, last, self._counts[silver.EVENTS.name] = events.select(
            min_of("time"), max_of("time"), count_of("*")
        ).collect()[0]
        since = self._order.since if self._order.since is not None else (first or 0)
        until = self._order.until if self._order.until is not None else (last or 0) + 1
        silvers = [Table(f"silver/{one}") for name in self._order.reports for one in REPORTS[name].inputs]
        inputs = {table: self._tables.read(table) for table in dict.fromkeys(silvers)}
        session.suit(self._spark, self._count(silver.EVENTS), asks_much=True)
        for name in self._order.reports:
            made = REPORTS[name]
            wanted = [Table(f"silver/{table}") for table in made.inputs]
            given = [rows for table in wanted if (rows := inputs[table]) is not None]
            if len(given) == len(wanted):
                working.named(self._spark, f"gold/{name}")
                table = Table(f"gold/{name}", made.partition)
                count = sum(map(self._count, wanted))
                self._replace(table, made.make(*given, since, until), count, None)

    def _count(self, table: Table) -> int:
        """Return the row count of a table, and remember it."""
        if table.name not in self._counts:
            self._counts[table.name] = self._read(table).count()
        return self._counts[table.name]

    def _replace(self, table: Table, rows: DataFrame | Heads, count: int, days: Sequence[date] | None) -> int:
        """Replace the rows of a table, or of some of its days; return the number of new rows."""
        working.named(self._spark, table.name)
        began = time.monotonic()
        made = self._tables.replace(table, rows, days)
        self._counts.pop(table.name, None)
        if days is None:
            self._counts[table.name] = made
        self._tell(Done(table.name, count, made, time.monotonic() - began))
        return made

    def _of_days(self, table: Table, days: Sequence[date]) -> DataFrame:
        return self._read(table).where(col("date").isin(list(days)))

    def _read(self, table: Table) -> DataFrame:
        found = self._tables.read(table)
        assert found is not None, table
        return found

    def compact(self) -> None:
        """Merge the small files of all tables."""
        made = [Table(f"gold/{name}") for name in self._order.reports]
        for table in (LINES, FILES, *silver.OF_LINES, *silver.OF_DAYS, *silver.OF_ALL, *made):
            working.named(self._spark, table.name)
            began = time.monotonic()
            done = self._tables.compact(table)
            self._tell(Done(f"{table.name} compacted", done, done, time.monotonic() - began))

    def outcome(self, passed_over: int) -> Outcome:
        counts = [
            0 if (found := self._tables.read(table)) is None else found.count()
            for table in (LINES, silver.QUARANTINE)
        ]
        turns = self._tables.read(silver.TURNS)
        twice = [] if turns is None else turns.where(col("type") == TWICE).select("server").collect()
        return Outcome(counts[0], counts[1], passed_over, tuple(sorted({row.server for row in twice})))
