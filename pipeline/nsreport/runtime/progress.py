"""Progress: a thread that reports Spark's running stages while a table is made.

The thread only reads. An error in it ends the reports, never the job.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

POLL_SECONDS = 1.0
"""Default interval between two reads of the progress."""


class StageProgress(NamedTuple):
    """The table in progress (from `describe_jobs`), its running stages, their tasks, and the rows read."""

    table_name: str
    stage_count: int
    done_tasks: int
    task_count: int
    row_count: int


def describe_jobs(spark: SparkSession, table_name: str) -> None:
    """Name the table that the next Spark jobs make, for the progress and for Spark's web UI."""
    spark.sparkContext.setJobDescription(table_name)


def read_progress(spark: SparkSession) -> StageProgress | None:
    """Return the progress of the running stages; None if no stage is running.

    The status tracker has no row counts. The status store behind it has them, even without Spark's web UI.
    """
    status_store: Any = spark.sparkContext._jsc.sc().statusStore()
    active_stages = status_store.activeStages()
    running_stages = [active_stages.apply(stage_index) for stage_index in range(active_stages.size())]
    if not running_stages:
        return None
    stage_descriptions = [stage.description() for stage in running_stages]
    table_name = next(
        (
            str(stage_description.get())
            for stage_description in stage_descriptions
            if stage_description.isDefined()
        ),
        "",
    )
    return StageProgress(
        table_name,
        len(running_stages),
        sum(int(stage.numCompleteTasks()) for stage in running_stages),
        sum(int(stage.numTasks()) for stage in running_stages),
        sum(int(stage.inputRecords()) + int(stage.shuffleReadRecords()) for stage in running_stages),
    )


@contextlib.contextmanager
def watch_progress(
    spark: SparkSession, report_progress: Callable[[StageProgress], None], poll_seconds: float = POLL_SECONDS
) -> Iterator[None]:
    """Call `report_progress` on each change of the progress during the block."""
    stop_event = threading.Event()

    def watch_stages() -> None:
        last_progress = None
        # Reading from a session that stops raises an error: the thread then ends.
        with contextlib.suppress(Exception):
            while not stop_event.wait(poll_seconds):
                current_progress = read_progress(spark)
                if current_progress is not None and current_progress != last_progress:
                    last_progress = current_progress
                    report_progress(current_progress)

    watch_thread = threading.Thread(target=watch_stages, name="working", daemon=True)
    watch_thread.start()
    try:
        yield
    finally:
        stop_event.set()
        watch_thread.join(poll_seconds + 5)
