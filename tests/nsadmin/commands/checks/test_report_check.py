"""check reports: the state of a store as an exit code."""

from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="reports are the extra nsadmin[spark]")

from tests.nsadmin.conftest import Run
from tests.support.examples import list_cases_elsewhere, split_example
from tests.support.gold_tables import quality_store


def test_the_state_is_the_exit_code(tmp_path: Path, run: Run) -> None:
    quality_store(tmp_path / "reports")
    result = run("check", "reports", "--dir", str(tmp_path / "reports"))
    assert result.code == 2
    assert "14.29 % of the lines could not be read" in result.out
    assert run("check", "reports", "--dir", str(tmp_path)).code == 2


def test_the_examples_are_accepted(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    quality_store(tmp_path / "reports")
    monkeypatch.chdir(tmp_path)
    [case] = list_cases_elsewhere("checkReports")
    for example in case.examples:
        assert "the last line was read" in run(*split_example(example)).out
