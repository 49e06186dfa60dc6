"""`nsadmin report run` on logs of Java's: whose they are, rotation, and what nobody understands."""

import gzip
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from namesrv_core.lab import java_logs as lab_logs
from namesrv_core.storage.journal import reader
from nsadmin.app import main
from nsadmin.operations import report_runner
from nsreport import command
from nsreport.presentation.report_reader import read_report
from nsreport.tables import silver
from nsreport.tables.table_store import TableStore

EVENTS = ("BrokerRegistered", "BrokerUnregistered", "WritePermWiped", "WritePermAdded")
LOG = lab_logs.LOG_FILE
AVAILABILITY_TABLES = {
    table: silver.HISTORY_TABLES[table]
    for table in (
        silver.BROKER_LIFECYCLE_TABLE, silver.KNOWLEDGE_CHANGE_TABLE, silver.KNOWLEDGE_INTERVAL_TABLE,
    )
}  # fmt: skip


@pytest.fixture(autouse=True)
def here(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pipeline in this process, with the session of all tests; tables of events are left out."""

    @contextmanager
    def started(flags: Any) -> Iterator[SparkSession]:
        yield spark

    def told(words: list[str], cache: Path, log: Path) -> Iterator[dict[str, Any]]:
        with redirect_stdout(io.StringIO()) as out:
            code = command.main(words)
        said = [json.loads(line) for line in out.getvalue().splitlines()]
        yield from said
        if code:
            raise report_runner.ReportRunFailed(said[-1]["error"], code)

    monkeypatch.setattr(command, "open_spark_session", started)
    monkeypatch.setattr(report_runner, "run_report", told)
    monkeypatch.setattr(silver, "DAY_TABLES", {})
    monkeypatch.setattr(silver, "HISTORY_TABLES", {})


def journal(folder: Path, server: str) -> Counter[tuple[str, str]]:
    """What happened, as the journal of a scenario has it."""
    records = reader.read_records(folder / server / "journal")
    return Counter(
        (one.event_type, one.event_fields["brokerName"]) for one in records if one.event_type in EVENTS
    )


def found(spark: SparkSession, out: Path, server: str) -> Counter[tuple[str, str]]:
    """What happened, as the pipeline has it."""
    events = TableStore(spark, str(out)).read_table(silver.EVENT_TABLE)
    assert events is not None
    rows = events.where(events.server == server).where(events.type.isin(*EVENTS)).collect()
    return Counter((row.type, row.brokerName) for row in rows)


def test_logs_that_rotate_and_lines_that_nobody_understands(
    spark: SparkSession, played: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario, out = played("undone-wipe"), tmp_path / "out"
    new = "".join(lab_logs.format_lines(reader.read_records(scenario / "ns-1" / "journal"), "5.x"))
    old = "".join(lab_logs.format_lines(reader.read_records(scenario / "ns-2" / "journal"), "4.x"))
    live, other = tmp_path / "prod-1" / LOG, tmp_path / "of somebody" / LOG
    for path in (live, other):
        path.parent.mkdir(parents=True)
    half = new.index("\n", len(new) // 2) + 1
    # Copied while they rotate: the same lines are in two files, one of them compressed and called otherwise.
    rotated = live.parent / "otherdays" / "namesrv.1.log.gz"
    rotated.parent.mkdir()
    rotated.write_bytes(gzip.compress(new[:half].encode()))
    bad = "".join(f"2025-02-01 08:00:{n:02d} INFO main - topic changed, T{n} OLD: ?\n" for n in range(9))
    live.write_text(new + bad)
    other.write_text(old)
    line = ["report", "run", "--input", str(tmp_path / "prod-1"), "--source", f"old-2={other.parents[2]}"]
    assert main([*line, "--dir", str(out), "--reports", "config_changes"]) == 3
    assert found(spark, out, "prod-1") == journal(scenario, "ns-1")
    assert found(spark, out, "old-2") == journal(scenario, "ns-2")
    said = capsys.readouterr()
    lines = new.count("\n") + old.count("\n") + 9
    assert f"9 of {lines} lines" in said.err
    assert "could not be read, more than --max-quarantine 1.00%: the table silver/quarantine has" in said.err
    # The tables are made all the same.
    assert "gold/config_changes" in said.out
    lost = TableStore(spark, str(out)).read_table(silver.QUARANTINE_TABLE)
    assert lost is not None
    assert {(row.text[:14], row.reason) for row in lost.collect()} == {
        ("topic changed,", "starts like a known message, but does not match its pattern")
    }


def test_a_log_with_crlf_gives_the_same_availability(
    played: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(silver, "HISTORY_TABLES", AVAILABILITY_TABLES)
    records = reader.read_records(played("rolling-restart") / "ns-1" / "journal")
    text = "".join(lab_logs.format_lines(records, "5.x"))
    found = []
    for name, end in (("lf", "\n"), ("crlf", "\r\n")):
        log, out = tmp_path / name / "ns-1" / LOG, tmp_path / f"out-{name}"
        log.parent.mkdir(parents=True)
        log.write_bytes(text.replace("\n", end).encode())
        line = ["report", "run", "--source", f"ns-1={log.parent}", "--dir", str(out)]
        assert main([*line, "--reports", "broker_availability"]) == 0, capsys.readouterr().err
        found.append(read_report(out, "broker_availability"))
    assert found[0] == found[1]
    assert min(row["availability"] for row in found[0]) < 100
