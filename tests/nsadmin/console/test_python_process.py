"""Processes of our own programs."""

import subprocess
from pathlib import Path

import pytest

from nsadmin.console import python_process
from tests.support.hostile_folder import HostileFolder


def test_neither_a_process_nor_what_it_starts_imports_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = HostileFolder(tmp_path)
    monkeypatch.chdir(hostile.folder)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    result = subprocess.run(
        python_process.build_command("json.tool", "--help"),
        env=python_process.build_environment({"COLUMNS": "60"}),
        capture_output=True,
        check=False,
    )
    assert (result.returncode, hostile.traces) == (0, [])
    grandchild = [python_process.build_command("x")[0], "-m", "json.tool", "--help"]
    subprocess.run(grandchild, env=python_process.build_environment(), capture_output=True, check=True)
    assert hostile.traces == []


def test_the_environment_is_that_of_the_operator_with_what_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A", "1")
    environment = python_process.build_environment({"B": "2"})
    assert [environment[name] for name in ("A", "B", "PYTHONSAFEPATH")] == ["1", "2", "1"]
