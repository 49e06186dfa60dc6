"""The pipeline's process: what it tells, and how it ends."""

import sys
from pathlib import Path

import pytest

from nsadmin.operations import report_runner

PROGRAM = """\
#!/bin/sh
echo noise >&2
echo Spark says hello
echo '{"doing": "a"}'
echo '[1]'
echo '{"error": "no Java"}'
exit $CODE
"""


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the place of Python, so that no Spark has to start."""
    path = tmp_path / "python"
    path.write_text(PROGRAM)
    path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(path))
    monkeypatch.setattr(report_runner, "find_spec", lambda name: object())


def test_what_it_tells_comes_out_and_noise_goes_to_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODE", "0")
    log = tmp_path / "deep" / "report.log"
    assert list(report_runner.run_report(["run"], tmp_path, log)) == [
        {},
        {"doing": "a"},
        {},
        {"error": "no Java"},
    ]
    assert log.read_text() == "noise\n"


def test_it_and_what_it_starts_import_nothing_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "python").write_text('#!/bin/sh\necho "[$1] [$PYTHONSAFEPATH]" >&2\n')
    assert list(report_runner.run_report(["run"], tmp_path, tmp_path / "log")) == []
    assert (tmp_path / "log").read_text() == "[-P] [1]\n"


def test_its_error_is_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODE", "3")
    with pytest.raises(report_runner.ReportRunFailed, match="no Java") as caught:
        list(report_runner.run_report(["run"], tmp_path, tmp_path / "log"))
    assert caught.value.exit_code == 3


def test_one_that_says_nothing_leaves_it_to_the_log(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("#!/bin/sh\nexit 9\n")
    with pytest.raises(report_runner.ReportRunFailed, match=r"Spark exited with 9: see .*/log"):
        list(report_runner.run_report(["run"], tmp_path, tmp_path / "log"))


def test_who_stops_listening_ends_it(tmp_path: Path) -> None:
    (tmp_path / "python").write_text('#!/bin/sh\necho \'{"doing": "a"}\'\nexec sleep 600\n')
    run_result = report_runner.run_report(["run"], tmp_path, tmp_path / "log")
    assert next(run_result) == {"doing": "a"}
    run_result.close()


def test_without_spark_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_runner, "find_spec", lambda name: None)
    with pytest.raises(report_runner.ReportRunFailed, match="the Python package pyspark is missing: run"):
        list(report_runner.run_report(["run"], tmp_path, tmp_path / "log"))
