"""Which files a run reads; that each line counts once is tested with the whole run."""

import os
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from nsreport.jobs import line_ingest
from nsreport.jobs.line_ingest import BRONZE_FILES, BRONZE_LINES, LineIngest
from nsreport.jobs.table_workspace import TableResult
from nsreport.runtime import session
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
    ingest = LineIngest(spark, TableStore(spark, str(tmp_path / "out")), sources, NOW, lambda result: None)
    [new_file], skipped = ingest.find_changed_files()
    assert (new_file.kind, skipped) == ("namesrv", 1)
    ingest._record_files([new_file])
    assert ingest.find_changed_files() == ([], 1)
    os.utime(log, (1_738_400_001, 1_738_400_001))
    [changed_file], _ = ingest.find_changed_files()
    assert changed_file.modified == new_file.modified + 1000


def test_files_of_many_lines_become_files_of_bronze_unless_some_lines_are_known(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "FEW_ROWS", 0)
    monkeypatch.setattr(line_ingest, "MAX_RECORD_FILES", 1)
    monkeypatch.setattr(line_ingest, "MAX_LOCAL_BYTES", 0)
    journal = tmp_path / "in" / "0000000000000001-20250201T000000000Z.jsonl"
    journal.parent.mkdir()
    results: list[TableResult] = []
    for line_count in (2, 3, 1):
        lines = [f'{{"time":{1_738_368_000_000 + number},"n":{number}}}\n' for number in range(line_count)]
        journal.write_text("".join(lines))
        os.utime(journal, (1_738_400_000 + line_count,) * 2)
        table_store = TableStore(spark, str(tmp_path / "out"))
        sources = [InputSource(str(tmp_path / "in"))]
        LineIngest(spark, table_store, sources, NOW, results.append).ingest_new_files()
    assert [(result.rows_in, result.rows_out) for result in results] == [(2, 2), (3, 1), (1, 0)]
    bronze_lines = table_store.read_table(BRONZE_LINES)
    assert bronze_lines is not None
    assert sorted(row.line for row in bronze_lines.collect()) == [1, 2, 3]
    assert table_store.list_due_days() == {date(2025, 2, 1): {"in"}}
    read_files = table_store.read_table(BRONZE_FILES)
    assert read_files is not None
    assert (read_files.count(), table_store.count_files(BRONZE_FILES)) == (3, 1)
    # No file is left of lines that were compared and not added.
    assert len(list((tmp_path / "out" / "bronze" / "lines").rglob("*.parquet"))) == len(
        bronze_lines.inputFiles()
    )
