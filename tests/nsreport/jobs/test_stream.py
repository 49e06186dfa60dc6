"""A stream that is killed and started again gives the tables of a batch."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from nsreport.jobs.batch import PipelineRun, RunRequest
from nsreport.jobs.line_ingest import BRONZE_LINES
from nsreport.jobs.stream import OrderStream
from nsreport.sources.input_files import InputSource
from nsreport.tables.table_store import TableStore
from tests.nsreport.jobs.test_batch import DAY, contents, fewer, journal, killed_at, ran, record

NOW = datetime(2025, 3, 1, tzinfo=UTC)

__all__ = ["fewer"]


def streamed(spark: SparkSession, folder: Path, out: Path) -> int:
    """What is there now; how many files that were."""
    stream = OrderStream(
        spark,
        PipelineRun(spark, RunRequest([InputSource(str(folder))], str(out), ()), NOW, lambda done: None),
        str(out),
    )
    count = stream.order_new_files()
    assert stream.order_new_files() == 0
    query = stream.start_query(None)
    query.awaitTermination()
    return count


def test_killed_and_started_again_it_is_the_batch(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out, once = tmp_path / "in", tmp_path / "out", tmp_path / "once"
    path = journal(folder, 0, 1000, DAY)
    with monkeypatch.context() as patch:
        killed_at("silver/ns_event", patch)
        with pytest.raises(StreamingQueryException):
            streamed(spark, folder, out)
    known = contents_of_lines(spark, out)
    assert known == 3
    # It grows, and another file goes between look and reading.
    with path.open("a") as file:
        file.write(record(4, DAY + 1))
    gone = journal(folder, DAY, first=9)
    stream = OrderStream(
        spark,
        PipelineRun(spark, RunRequest([InputSource(str(folder))], str(out), ()), NOW, lambda done: None),
        str(out),
    )
    assert stream.order_new_files() == 2
    gone.unlink()
    stream.start_query(None).awaitTermination()
    ran(spark, folder, once)
    assert contents(spark, out) == contents(spark, once)


def contents_of_lines(spark: SparkSession, out: Path) -> int:
    found = TableStore(spark, str(out)).read_table(BRONZE_LINES)
    assert found is not None
    return found.count()
