"""Table store: the Parquet tables of a run. Only this module writes them.

A commit replaces all partitions or none. The store first writes the new files to a staging folder, then a
plan of all moves, then makes the moves and removes the plan. After a crash, the next process that opens the
store finishes the plan. Any file system of Spark works. Only one run writes at a time.
"""

import fcntl
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql.types import StructType

from nsreport import session
from nsreport.folders import Folders

FILE_BYTES = 128 << 20
"""Compaction makes files of about this size."""

ASIDE = "_staging"
_PAGE_ROWS = 2000
"""Rows in a page of a sorted table. Readers skip whole pages."""

_FEW = 64
"""Up to this many files, the store adds up the row counts of the Parquet footers; else a Spark job counts."""

_PLAN = "plan.json"
_SCHEMA = "_schema.json"
_NEW = "new"
_DUE = "_due"
_LOCK = "_lock"


class Table(NamedTuple):
    """A table: its name with its layer (`silver/ns_event`), its partition columns and its sort columns.

    Rows of a file are sorted by `order_columns`, so that a query for a few event types reads only the pages
    that contain them.
    """

    name: str
    partitions: tuple[str, ...] = ()
    order: tuple[str, ...] = ()


class Heads(NamedTuple):
    """Rows with only their layout columns, and the function that expands them after partitioning and sorting.

    For wide tables it is much cheaper to move and sort rows in this form. `expand_rows` must keep the order
    of the rows and the partition columns.
    """

    rows: DataFrame
    whole: Callable[[DataFrame], DataFrame]


class Moves(NamedTuple):
    """The steps of a commit: days to mark as due, paths to remove, and (source, target) paths to move."""

    due: list[str]
    removed: list[str]
    moved: list[tuple[str, str]]


class Busy(Exception):
    """Another run holds the lock of the output folder; the text is one line."""


@contextmanager
def only_one(root: str) -> Iterator[None]:
    """Lock a local output folder against other runs during the block. Raises OutputBusyError.

    Folders on other file systems are not locked.
    """
    parts = urlsplit(root)
    if parts.scheme not in ("", "file"):
        yield
        return
    folder = Path(unquote(parts.path) if parts.scheme else root)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(f"{root}: another run writes there; wait until it has ended") from None
        yield


class Tables:
    """The tables in an output folder."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        self._folders = Folders(spark, root)
        self.root = root
        self._recover()

    def read(self, table: Table) -> DataFrame | None:
        """Return all rows of a table, or None if it was never written."""
        schema = self._schema(table)
        if schema is None:
            return None
        return self._spark.read.schema(schema).parquet(self._folders.path(table.name))

    def replace(self, table: Table, rows: DataFrame | Heads, days: Iterable[date] | None = None) -> int:
        """Replace all rows of a table, or the rows of some days; return the number of new rows.

        `replaced_days` requires a table with `date` as its first partition column.
        """
        new, schema = self._write(table, rows)
        shown = None if days is None else {f"date={day.isoformat()}" for day in days}
        old = [
            place
            for place in self._folders.leaves(table.name)
            if shown is None or place.split("/")[0] in shown
        ]
        removed = [f"{table.name}/{place}" if place else table.name for place in old]
        moved = [
            (f"{new}/{place}" if place else new, f"{table.name}/{place}" if place else table.name)
            for place in self._folders.leaves(new)
        ]
        count = self._count(new)
        self._commit(table, schema, Moves([], removed, moved))
        return count

    def append(self, table: Table, rows: DataFrame, *, due: bool = False, gather: bool = True) -> int:
        """Add rows to a table; return their number. With `is_due`, the same commit marks their days as due.

        Without `is_gathered` each task writes its own files: less work, but more files per partition.
        """
        new, schema = self._write(table, rows, gather)
        files = self._folders.files(new)
        days = sorted({part[5:] for file in files for part in file.split("/") if part.startswith("date=")})
        count = self._count(new)
        moved = [(f"{new}/{file}", f"{table.name}/{file}") for file in files]
        self._commit(table, schema, Moves(days if due else [], [], moved))
        return count

    def due(self) -> list[date]:
        """Return the days that are marked as due, in order."""
        return [date.fromisoformat(name) for name in self._folders.files(_DUE)]

    def done(self, days: Iterable[date]) -> None:
        """Remove the marks of these days."""
        for day in days:
            self._folders.remove(f"{_DUE}/{day.isoformat()}")

    def compact(self, table: Table) -> int:
        """Merge the small files of each partition; return the number of partitions that changed."""
        done = 0
        for place in self._folders.leaves(table.name):
            folder = f"{table.name}/{place}" if place else table.name
            sizes = self._folders.sizes(folder)
            wanted = max(1, -(-sum(sizes) // FILE_BYTES))
            if len(sizes) > wanted:
                rows = self._spark.read.parquet(self._folders.path(folder)).coalesce(wanted)
                new = f"{ASIDE}/{_NEW}"
                ordered = _sorted(Table(table.name, (), table.order), rows)
                _writer(table, ordered).mode("overwrite").parquet(self._folders.path(new))
                self._commit(table, self._schema(table), Moves([], [folder], [(new, folder)]))
                done += 1
        return done

    def _write(self, table: Table, rows: DataFrame | Heads, gather: bool = True) -> tuple[str, StructType]:
        """Write rows to the staging folder; return their folder and schema."""
        new = f"{ASIDE}/{_NEW}"
        heads = rows if isinstance(rows, Heads) else Heads(rows, _as_they_are)
        gathered = heads.rows
        if table.partitions and gather:
            gathered = session.gathered(gathered, table.partitions)
        whole = heads.whole(_sorted(table, gathered))
        _writer(table, whole).mode("overwrite").partitionBy(*table.partitions).parquet(
            self._folders.path(new)
        )
        return new, whole.schema

    def _commit(self, table: Table, schema: StructType | None, moves: Moves) -> None:
        if schema is not None:
            self._folders.write(f"{ASIDE}/{_SCHEMA}", schema.json())
            moves.moved.append((f"{ASIDE}/{_SCHEMA}", f"{table.name}/{_SCHEMA}"))
        self._folders.write(f"{ASIDE}/{_PLAN}", json.dumps(moves))
        self._carry_out(moves)

    def _recover(self) -> None:
        """Finish a commit whose plan was written; discard staged files without a plan."""
        plan = self._folders.text(f"{ASIDE}/{_PLAN}")
        if plan is not None:
            self._carry_out(Moves(*json.loads(plan)))
        else:
            self._folders.remove(ASIDE)

    def _carry_out(self, moves: Moves) -> None:
        """Make the moves of a plan. Safe to repeat: a file that left the staging folder is in its place."""
        for day in moves.due:
            self._folders.write(f"{_DUE}/{day}", "")
        comes = {there: here for here, there in moves.moved}
        for place in moves.removed:
            if place not in comes:
                self._folders.remove(place)
        for here, there in moves.moved:
            if self._folders.exists(here):
                self._folders.move(here, there)
        self._folders.remove(ASIDE)

    def _count(self, place: str) -> int:
        files = self._folders.files(place)
        if len(files) <= _FEW:
            return sum(self._folders.rows(f"{place}/{file}") for file in files)
        return self._spark.read.schema(StructType()).parquet(self._folders.path(place)).count()

    def _schema(self, table: Table) -> StructType | None:
        text = self._folders.text(f"{table.name}/{_SCHEMA}")
        return None if text is None else StructType.fromJson(json.loads(text))


def _as_they_are(rows: DataFrame) -> DataFrame:
    return rows


def _sorted(table: Table, rows: DataFrame) -> DataFrame:
    # Sorting by the partition columns first lets each task write one folder after the other.
    return rows.sortWithinPartitions(*table.partitions, *table.order) if table.order else rows


def _writer(table: Table, rows: DataFrame) -> DataFrameWriter:
    return rows.write.option("parquet.page.row.count.limit", _PAGE_ROWS) if table.order else rows.write
