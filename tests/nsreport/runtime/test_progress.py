"""What Spark is at, told while it works."""

from itertools import pairwise

from pyspark.sql import SparkSession
from pyspark.sql.functions import expr

from nsreport.runtime import progress
from nsreport.runtime.progress import StageProgress

SLOW = "java_method('java.lang.Thread', 'sleep', id * 0 + 200L)"


def test_it_is_told_what_runs_and_for_which_table(spark: SparkSession) -> None:
    heard: list[StageProgress] = []
    progress.describe_jobs(spark, "gold/slow")
    try:
        with progress.watch_progress(spark, heard.append, 0.01):
            for _ in range(50):
                spark.range(0, 4, 1, 4).select(expr(SLOW)).collect()
                # A stage may be seen before its description is.
                if any(seen.table_name for seen in heard):
                    break
    finally:
        progress.describe_jobs(spark, "tests")
    first = next(seen for seen in heard if seen.table_name)
    assert (first.table_name, first.stage_count) == ("gold/slow", 1)
    assert 0 <= first.done_tasks <= first.task_count == 4
    assert all(one != other for one, other in pairwise(heard))


def test_between_two_stages_there_is_nothing_to_tell(spark: SparkSession) -> None:
    assert progress.read_progress(spark) is None


def test_whoever_cannot_listen_does_not_stop_the_work(spark: SparkSession) -> None:
    def deaf(at: StageProgress) -> None:
        raise OSError

    with progress.watch_progress(spark, deaf, 0.01):
        for _ in range(3):
            assert len(spark.range(0, 4, 1, 4).select(expr(SLOW)).collect()) == 4
