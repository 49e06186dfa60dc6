"""Stream: the batch job as an endless Structured Streaming query over orders.

An order is a small file with the names of input files that are new or have grown. Spark's checkpoint records
the finished orders. Repeating an order changes nothing, because bronze takes each line once. There is no
watermark: a late line makes its day due again.
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
"""Each micro-batch processes one order."""

_ORDERS, _CHECKPOINT = "_orders", "_checkpoint"
_SHAPE = "path string, length bigint, modified bigint, kind string, server string"


class Stream:
    """Writes orders for the new files of a run, and processes them; only one query at a time."""

    def __init__(self, spark: SparkSession, run: Run, output: str) -> None:
        self._spark = spark
        self._run = run
        self._folders = Folders(spark, output)
        self._ordered: set[File] = set()

    def look(self) -> int:
        """Write orders for files that are new or have grown since the last call; return their number."""
        found, _ = self._run.changed()
        fresh = [file for file in found if file not in self._ordered]
        self._ordered.update(fresh)
        for files in _some(fresh):
            text = "".join(json.dumps(file._asdict()) + "\n" for file in files)
            self._folders.write(f"{_ORDERS}/{uuid4().hex}.json", text)
        return len(fresh)

    def start(self, every: float | None) -> StreamingQuery:
        """Start processing orders: the existing ones (None), or new ones at an interval in seconds."""
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
        """Ingest the files of an order and refresh the tables.

        A journal segment that was closed meanwhile has a new name: the next `order_new_files` finds it.
        """
        files = [File(*row) for row in orders.collect()]
        there = [file for file in files if self._folders.is_there(file.path)]
        if there:
            self._run.read(there)
        self._run.refresh()


def _some(files: Sequence[File]) -> Iterator[Sequence[File]]:
    return (files[at : at + AT_ONCE] for at in range(0, len(files), AT_ONCE))
