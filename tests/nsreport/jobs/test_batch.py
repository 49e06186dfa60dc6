"""A run from folders to tables; and that whatever comes in between, the tables are the same in the end."""

import csv
import shutil
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from namesrv_core.storage.journal import segments
from nsadmin import app
from nsreport.jobs.batch import PipelineRun, RunOutcome, RunRequest
from nsreport.jobs.line_ingest import BRONZE_LINES
from nsreport.jobs.table_workspace import TableResult
from nsreport.sources.input_files import InputSource
from nsreport.tables import silver
from nsreport.tables.table_layout import TableSpec
from nsreport.tables.table_store import TableStore

NOW = datetime(2025, 3, 1, tzinfo=UTC)
DAY = 86_400_000
FIRST = 1_738_400_000_000

HISTORY = silver.HISTORY_TABLES

Contents = dict[str, list[str]]


def ran(
    spark: SparkSession,
    folder: Path,
    out: Path,
    told: list[TableResult] | None = None,
    notes: list[str] | None = None,
) -> PipelineRun:
    run = PipelineRun(
        spark,
        RunRequest([InputSource(str(folder))], str(out), ()),
        NOW,
        (told if told is not None else []).append,
        (notes if notes is not None else []).append,
    )
    run.run_all()
    return run


def made_tables() -> tuple[TableSpec, ...]:
    return (BRONZE_LINES, *silver.LINE_TABLES, *silver.DAY_TABLES, *silver.HISTORY_TABLES)


def contents(spark: SparkSession, out: Path, apart: tuple[str, ...] = ()) -> Contents:
    """All rows of all tables, without where and when they were read."""
    tables, found = TableStore(spark, str(out)), {}
    for table in made_tables():
        rows = tables.read_table(table)
        assert rows is not None, table
        found[table.name] = sorted(map(str, rows.drop("ingestTime", *apart).collect()))
    return found


def journal(folder: Path, *times: int, first: int = 1) -> Path:
    """An open segment with a snapshot and a topic that comes at each of these times (ms after the first)."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{first:016d}-20250201T085320000Z.jsonl"
    path.write_text("".join(map(record, range(first, first + len(times)), times)))
    return path


def record(seq: int, later: int) -> str:
    head = f'{{"v":1,"seq":{seq},"time":{FIRST + later},"server":"ns","cause":"x",'
    if seq == 1:
        return head + '"type":"Snapshot","reason":"start","routes":[],"queues":[]}\n'
    queue = '{"brokerName":"b","readQueueNums":4,"writeQueueNums":4,"perm":6,"topicSysFlag":0}'
    changes = f'[{{"topics":["T{seq}"],"after":{queue}}}]'
    return head + f'"type":"TopicsChanged","brokerName":"b","reason":"r","changes":{changes}}}\n'


@pytest.fixture(autouse=True)
def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that are made of events have tests of their own, and the program's test makes them all."""
    monkeypatch.setattr(silver, "DAY_TABLES", {})
    monkeypatch.setattr(silver, "HISTORY_TABLES", {})


class Killed(Exception):
    """As if the process had ended there."""


def killed_at(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before that table is replaced."""
    real = TableStore.replace_rows

    def replace(self: TableStore, made: TableSpec, *args: Any) -> int:
        if made.name == table:
            raise Killed
        return real(self, made, *args)

    monkeypatch.setattr(TableStore, "replace_rows", replace)


def export_records(out: Path, *options: str) -> list[int]:
    """The record numbers of the events that `report export` writes."""
    target_file = out.with_name("events.csv")
    words = ["report", "export", "ns_event", "--dir", str(out), "--out", str(target_file)]
    assert app.main([*words, *options]) == 0
    return sorted(int(row["seq"]) for row in csv.DictReader(target_file.read_text().splitlines()))


def test_what_grows_comes_late_or_was_killed_gives_the_tables_of_one_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, folder, out, once = tmp_path / "late", tmp_path / "in", tmp_path / "out", tmp_path / "once"
    early = journal(late, 0, 1000, 2000)
    path = journal(folder, DAY, DAY + 1, first=4)
    torn = record(6, DAY + 2)
    with path.open("a") as file:
        file.write(torn[:50])
    told: list[TableResult] = []
    ran(spark, folder, out, told)
    assert told[0][:3] == ("bronze/lines", 2, 2)
    assert {done.table_name for done in told} == {table.name for table in made_tables()}
    after_first_run = datetime.now(UTC).isoformat()

    # The line that was being written is whole now, one that is none stands behind it; older ones come late.
    with path.open("a") as file:
        file.write(torn[50:] + "no record\n")
    shutil.copy(early, folder)
    told.clear()
    with monkeypatch.context() as patch:
        killed_at(silver.EVENT_TABLE.name, patch)
        with pytest.raises(Killed):
            ran(spark, folder, out, told)
    assert [done[:3] for done in told] == [("bronze/lines", 7, 5)]
    days = [date(1970, 1, 1), date(2025, 2, 1), date(2025, 2, 2)]
    due_days = TableStore(spark, str(out)).list_due_days()
    assert list(due_days) == days
    assert due_days[days[1]] == {"in"}

    # Compressed, under another name and in another place: nothing is new, and what was left undone is done.
    moved = tmp_path / "moved" / "ns"
    shutil.copytree(folder, moved)
    for plain in moved.glob("*.jsonl"):
        segments.compress_segment(plain)
    told.clear()
    notes: list[str] = []
    run = ran(spark, moved, out, told, notes)
    assert notes == [
        "day 2025-02-02: new lines; 2025-02-01: late lines of in; lines without a time; computing all days"
    ]
    assert [done[:3] for done in told[:2]] == [("bronze/lines", 7, 0), ("silver/ns_event", 7, 6)]
    assert TableStore(spark, str(out)).list_due_days() == {}
    assert run.summarize_outcome(0) == RunOutcome(7, 1, 0)
    ran(spark, folder, once)
    assert contents(spark, out) == contents(spark, once)
    assert export_records(out, "--as-of", after_first_run) == [4, 5]
    assert export_records(out) == [1, 2, 3, 4, 5, 6]

    # Known files are not even read.
    told.clear()
    ran(spark, folder, once, told)
    assert told == []


def test_a_table_that_an_older_version_did_not_make_is_made_without_new_input(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal(tmp_path / "in", 0, 1)
    ran(spark, tmp_path / "in", tmp_path / "out")
    table = silver.BROKER_LIFECYCLE_TABLE
    assert TableStore(spark, str(tmp_path / "out")).read_table(table) is None
    monkeypatch.setattr(silver, "HISTORY_TABLES", {table: HISTORY[table]})
    ran(spark, tmp_path / "in", tmp_path / "out")
    rows = TableStore(spark, str(tmp_path / "out")).read_table(table)
    assert rows is not None
    assert {row["type"] for row in rows.collect()} == {"Snapshot", "TopicsChanged"}
