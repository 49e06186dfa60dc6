"""The same as a batch, without end: what came since the last look is an order, and orders are a stream.

An order is a small file that names files which are new or have grown. Spark's checkpoint knows which orders
are carried out; to carry one out twice changes nothing, as each line is taken once. No line is too late: the
days that late ones are of are made anew, so there is no watermark.
"""

import json
from collections.abc import Iterator, Sequence
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from nsreport.batch import Run
from nsreport.folders import Folders
from nsreport.sources import File

AT_ONCE = 256
"""Files in an order, and so in a micro-batch, at most."""

_ORDERS, _CHECKPOINT = "_orders", "_checkpoint"
_SHAPE = "path string, length bigint, modified bigint, kind string, server string"


class Stream:
    """Orders of a run's sources, and their carrying out; one query at a time."""

    def __init__(self, spark: SparkSession, run: Run, output: str) -> None:
        self._spark = spark
        self._run = run
        self._folders = Folders(spark, output)
        self._ordered: set[File] = set()

    def look(self) -> int:
        """Order what is new or has grown since the last look; how many files that are."""
        found, _ = self._run.changed()
        fresh = [file for file in found if file not in self._ordered]
        self._ordered.update(fresh)
        for files in _some(fresh):
            text = "".join(json.dumps(file._asdict()) + "\n" for file in files)
            self._folders.write(f"{_ORDERS}/{uuid4().hex}.json", text)
        return len(fresh)

    def start(self, every: float | None) -> StreamingQuery:
        """Carry out orders: those that are there, or `every` so many seconds those that have come."""
        if not self._folders.exists(_ORDERS):
            self._folders.make(_ORDERS)
        orders = (
            self._spark.readStream.schema(_SHAPE)
            .option("maxFilesPerTrigger", 1)
            .option("cleanSource", "delete")
            .json(self._folders.path(_ORDERS))
        )
        writer = orders.writeStream.option(
            "checkpointLocation", self._folders.path(_CHECKPOINT)
        ).foreachBatch(self._carry_out)
        if every is None:
            return writer.trigger(availableNow=True).start()
        return writer.trigger(processingTime=f"{every} seconds").start()

    def _carry_out(self, orders: DataFrame, number: int) -> None:
        """The same files twice add nothing; files that were closed meanwhile are found by the next look."""
        files = [File(*row) for row in orders.collect()]
        there = [file for file in files if self._folders.is_there(file.path)]
        if there:
            self._run.read(there)
        self._run.refresh()


def _some(files: Sequence[File]) -> Iterator[Sequence[File]]:
    return (files[at : at + AT_ONCE] for at in range(0, len(files), AT_ONCE))
