"""A command in a process of its own, line by line."""

from pathlib import Path

import pytest

from nsadmin.tui.screens.command_process import CommandProcess
from tests.support.hostile_folder import HostileFolder


def test_what_it_says_comes_with_its_exit_code() -> None:
    running = CommandProcess(["mqadminMap", "--no-headers"], [])
    lines = list(running.read_lines())
    assert running.exit_code == 0
    assert any("topicRoute" in line for line in lines)


def test_mistakes_come_as_lines_too() -> None:
    running = CommandProcess(["topicRoute"], ["-n", "127.0.0.1:1"])
    assert "missing argument TOPIC" in "".join(running.read_lines())
    assert running.exit_code == 2


def test_who_leaves_ends_it() -> None:
    running = CommandProcess(["where", "--watch", "0.1"], ["-n", "127.0.0.1:1"])
    lines = running.read_lines()
    next(lines)
    assert running.exit_code is None
    running.interrupt_process()
    assert [line for line in lines if "Traceback" in line] == []
    assert running.exit_code is not None


def test_what_was_left_before_it_began_does_not_begin() -> None:
    running = CommandProcess(["where"])
    running.interrupt_process()
    assert list(running.read_lines()) == []
    assert running.exit_code is None


def test_modules_in_the_current_folder_do_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = HostileFolder(tmp_path)
    monkeypatch.chdir(hostile.folder)
    running = CommandProcess(["mqadminMap", "--no-headers", "--output", "yaml"], [])
    lines = list(running.read_lines())
    assert (hostile.traces, running.exit_code) == ([], 0), lines
