"""report run: what it says, and what it leaves to the pipeline."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nsadmin.app import main
from nsadmin.console import progress
from nsadmin.operations import report_runner
from tests.support.hostile_folder import HostileFolder

STEPS: list[dict[str, Any]] = [
    {"doing": "starting Spark"},
    {"at": "bronze/lines", "stages": 1, "done": 3, "tasks": 8, "rows": 12000},
    {"at": "", "stages": 2, "done": 0, "tasks": 1, "rows": 0},
    {"table": "bronze/lines", "rowsIn": 12000, "rowsOut": 10, "seconds": 1.25},
    {"table": "silver/ns_event", "rowsIn": 10, "rowsOut": 9, "seconds": 0.5},
    {},
    {"note": "1 of 10 lines (10.00%) could not be read"},
]


def test_progress_is_on_stderr_and_a_line_for_each_table_on_stdout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given: list[str] = []

    def told(words: list[str], cache: Path, log: Path) -> Iterator[dict[str, Any]]:
        given.extend(words)
        assert (cache.name, log.name) == ("spark", "report.log")
        yield from STEPS
        raise report_runner.ReportRunFailed("too many", 3)

    monkeypatch.setattr(report_runner, "run_report", told)
    monkeypatch.setattr(progress, "PLAIN_LINE_PERIOD_SECONDS", 0.0)
    assert main(["report", "run", "--input", str(tmp_path), "--dir", "b"]) == 3
    assert given == ["run", "--dir", "b", "--input", str(tmp_path)]
    captured = capsys.readouterr()
    assert captured.out == (
        "table                rowsIn     rowsOut   seconds\n"
        "bronze/lines          12000          10       1.2\n"
        "silver/ns_event          10           9       0.5\n"
    )
    assert captured.err.splitlines() == [
        "nsadmin: starting Spark",
        "nsadmin: reading the journals and logs: 12,000 rows so far",
        "nsadmin: making the tables: 0 rows so far",
        "nsadmin: made 1 bronze table with 10 rows",
        "nsadmin: 1 of 10 lines (10.00%) could not be read",
        "nsadmin: too many",
    ]


def keep_java_from_writing_an_archive(cache: Path) -> None:
    """Put an empty class archive into the cache of nsadmin. Java ignores it."""
    from nsreport.runtime import java
    from nsreport.runtime.class_archive import ClassArchive

    folder = cache / "nsadmin" / "spark"
    folder.mkdir(parents=True)
    ClassArchive(folder, java.find_java_home(os.environ, folder)).archive_path.touch()


def test_neither_it_nor_a_worker_of_spark_runs_what_lies_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyspark", reason="Spark is the extra nsadmin[spark]")
    hostile, journal = HostileFolder(tmp_path / "above"), tmp_path / "journal"
    journal.mkdir()
    record = '{"v":1,"seq":1,"time":1738400000000,"server":"ns","type":"KvPut","cause":"x"}\n'
    (journal / "0000000000000001-20250201T085320000Z.jsonl").write_text(record)
    monkeypatch.chdir(hostile.folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SPARK_HOME", raising=False)
    keep_java_from_writing_an_archive(tmp_path / "cache")
    words = ("--input", str(journal), "--dir", str(tmp_path / "tables"), "--reports", "drain_audit")
    exit_code = main(["report", "run", *words])
    assert (hostile.traces, exit_code) == ([], 0), capsys.readouterr().err
    assert "bronze/lines" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "--dir o",
            "missing option --input DIR or --source NAME=DIR: usage: nsadmin report run --dir DIR "
            "(--input DIR | --source NAME=DIR)",
        ),
        (
            "--input i",
            "missing option --dir DIR: usage: nsadmin report run --dir DIR (--input DIR | --source NAME=DIR)",
        ),
        ("--input nowhere --dir o", "--input nowhere: no such file or folder"),
        ("--input no*where --dir o", "--input no*where: no such file or folder"),
        ("--source a=. --dir o --since 2025-02-02 --until 2025-02-01", "--since must be before --until"),
        ("--input i --dir o --source x", 'invalid source "x": use NAME=DIR'),
        ("--input i --dir o --max-quarantine 2", 'invalid share "2": use 1% or 0.01'),
    ],
)
def test_a_wrong_line_is_said_before_anything_starts(
    capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    assert main(["report", "run", *line.split()]) == 2
    assert said in capsys.readouterr().err
