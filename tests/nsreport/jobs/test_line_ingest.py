"""Which files a run reads; that each line counts once is tested with the whole run."""

import os
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import SparkSession

from nsreport.jobs.line_ingest import LineIngest
from nsreport.sources.input_files import InputSource
from nsreport.tables.table_store import TableStore

NOW = datetime(2025, 3, 1, tzinfo=UTC)


def test_a_file_is_read_again_only_if_its_length_or_its_time_changes(
    spark: SparkSession, tmp_path: Path
) -> None:
    log = tmp_path / "in" / "namesrv.log"
    log.parent.mkdir()
    log.write_text("2025-02-01 08:00:00 INFO main - a\n")
    os.utime(log, (1_738_400_000, 1_738_400_000))
    (tmp_path / "in" / "notes.txt").write_text("no log")
    sources = [InputSource(str(tmp_path / "in")), InputSource(str(log))]
    line_ingest = LineIngest(
        spark, TableStore(spark, str(tmp_path / "out")), sources, NOW, lambda result: None
    )
    [new_file], skipped = line_ingest.find_changed_files()
    assert (new_file.kind, skipped) == ("namesrv", 1)
    line_ingest._record_files([new_file])
    assert line_ingest.find_changed_files() == ([], 1)
    os.utime(log, (1_738_400_001, 1_738_400_001))
    [changed_file], _ = line_ingest.find_changed_files()
    assert changed_file.modified == new_file.modified + 1000
