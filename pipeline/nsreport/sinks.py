"""Sinks: the tables of a run, in folders of Parquet; the only module that writes them.

Partitions are replaced all together or not at all. What is new is written aside, then a plan of all moves;
from there on the moves are made, after a crash again by whoever opens the tables next, until the plan is
gone. Any file system that Spark knows will do. One run writes at a time.
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
"""What a file of a table ought to have."""

ASIDE = "_staging"
_PAGE_ROWS = 2000
"""Of a page of an ordered table: what can be passed over."""

_FEW = 64
"""Files whose rows are counted here, from what they say of themselves, and not by a job."""

_PLAN = "plan.json"
_SCHEMA = "_schema.json"
_NEW = "new"
_DUE = "_due"
_LOCK = "_lock"


class Table(NamedTuple):
    """A table: its name with its layer (`silver/ns_event`), and the columns that its folders are named by.

    Within a file rows are in the `order` of columns by which they are asked for: who asks for a few kinds
    reads only the pages that have them.
    """

    name: str
    partitions: tuple[str, ...] = ()
    order: tuple[str, ...] = ()


class Heads(NamedTuple):
    """Rows with what they are laid out by, and how they become those of the table once they are in order.

    To move and to sort them like this costs a fraction where they have many columns. `whole` leaves the order
    as it is, and the columns that the table is parted by.
    """

    rows: DataFrame
    whole: Callable[[DataFrame], DataFrame]


class Moves(NamedTuple):
    """What is left to do once a plan is written: days to mark, what goes, what comes from where to where."""

    due: list[str]
    removed: list[str]
    moved: list[tuple[str, str]]


class Busy(Exception):
    """Another run writes there; the text is one line that says so."""


@contextmanager
def only_one(root: str) -> Iterator[None]:
    """While it lasts no other run may write there. Busy. There is no lock on other machines' folders."""
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
    """The tables in a folder."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        self._folders = Folders(spark, root)
        self.root = root
        self._recover()

    def read(self, table: Table) -> DataFrame | None:
        """All rows; None where it was never written."""
        schema = self._schema(table)
        if schema is None:
            return None
        return self._spark.read.schema(schema).parquet(self._folders.path(table.name))

    def replace(self, table: Table, rows: DataFrame | Heads, days: Iterable[date] | None = None) -> int:
        """Put rows in the place of all, or of the days whose rows they are; how many these are now.

        Only tables whose folders are named by `date` first have days.
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
        """Add rows to those that are there; how many. With `due`, their days are marked in the same step.

        Without `gather` those of a partition are written where they are: in more files, at less cost.
        """
        new, schema = self._write(table, rows, gather)
        files = self._folders.files(new)
        days = sorted({part[5:] for file in files for part in file.split("/") if part.startswith("date=")})
        count = self._count(new)
        moved = [(f"{new}/{file}", f"{table.name}/{file}") for file in files]
        self._commit(table, schema, Moves(days if due else [], [], moved))
        return count

    def due(self) -> list[date]:
        """The days that are marked, the first one first."""
        return [date.fromisoformat(name) for name in self._folders.files(_DUE)]

    def done(self, days: Iterable[date]) -> None:
        """Take the marks of these away."""
        for day in days:
            self._folders.remove(f"{_DUE}/{day.isoformat()}")

    def compact(self, table: Table) -> int:
        """Put many small files of a partition together; how many partitions that concerned."""
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
        """Where they are now, and their columns."""
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
        """Finish what was decided, and forget what was not."""
        plan = self._folders.text(f"{ASIDE}/{_PLAN}")
        if plan is not None:
            self._carry_out(Moves(*json.loads(plan)))
        else:
            self._folders.remove(ASIDE)

    def _carry_out(self, moves: Moves) -> None:
        """Each step may have been made before: what is not aside any more is where it belongs."""
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
    # Each task writes one folder after the other.
    return rows.sortWithinPartitions(*table.partitions, *table.order) if table.order else rows


def _writer(table: Table, rows: DataFrame) -> DataFrameWriter:
    return rows.write.option("parquet.page.row.count.limit", _PAGE_ROWS) if table.order else rows.write
