"""Working: what Spark is at while a table is made, told from time to time by a thread of its own.

Law: it only looks. Whatever goes wrong in here stops the telling, never the work.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

EVERY = 1.0
"""Seconds from one look to the next."""


class At(NamedTuple):
    """What is made (`named`), the stages that run, their tasks, those that are done, and rows read so far."""

    table: str
    stages: int
    done: int
    tasks: int
    rows: int


def named(spark: SparkSession, table: str) -> None:
    """Say what the next jobs are for: here, and in Spark's own pages."""
    spark.sparkContext.setJobDescription(table)


def look(spark: SparkSession) -> At | None:
    """What runs now; None between two stages.

    The status tracker knows no rows; the store behind it does, with and without Spark's pages.
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
    """While it lasts, `tell` hears what runs whenever that is something else than before."""
    ended = threading.Event()

    def watch() -> None:
        last = None
        # A session that ends has nothing to tell.
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
