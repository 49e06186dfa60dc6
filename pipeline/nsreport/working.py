"""Progress: a thread that reports Spark's running stages while a table is made.

The thread only reads. An error in it ends the reports, never the job.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

EVERY = 1.0
"""Default interval between two reads of the progress."""


class At(NamedTuple):
    """The table in progress (from `describe_jobs`), its running stages, their tasks, and the rows read."""

    table: str
    stages: int
    done: int
    tasks: int
    rows: int


def named(spark: SparkSession, table: str) -> None:
    """Name the table that the next Spark jobs make, for the progress and for Spark's web UI."""
    spark.sparkContext.setJobDescription(table)


def look(spark: SparkSession) -> At | None:
    """Return the progress of the running stages; None if no stage is running.

    The status tracker has no row counts. The status store behind it has them, even without Spark's web UI.
    """
    jvm: Any = spark.sparkContext._jsc.sc().statusStore()
    found = jvm.activeStages()
    stages = [found.apply(number) for number in range(found.size())]
    if not stages:
        return None
    texts = [stage.description() for stage in stages]
    table = next((str(text.get()) for text in texts if text.isDefined()), "")
    return At(
        table,
        len(stages),
        sum(int(stage.numCompleteTasks()) for stage in stages),
        sum(int(stage.numTasks()) for stage in stages),
        sum(int(stage.inputRecords()) + int(stage.shuffleReadRecords()) for stage in stages),
    )


@contextlib.contextmanager
def told(spark: SparkSession, tell: Callable[[At], None], every: float = EVERY) -> Iterator[None]:
    """Call `report_progress` on each change of the progress during the block."""
    ended = threading.Event()

    def watch() -> None:
        last = None
        # Reading from a session that stops raises an error: the thread then ends.
        with contextlib.suppress(Exception):
            while not ended.wait(every):
                now = look(spark)
                if now is not None and now != last:
                    last = now
                    tell(now)

    thread = threading.Thread(target=watch, name="working", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(every + 5)
