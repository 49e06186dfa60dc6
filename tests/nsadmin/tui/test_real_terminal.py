"""The screen in a terminal that tmux draws: sizes, job control, signals, the clipboard, other encodings."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.lab import Lab, start_lab
from tests.support.name_servers import DEADLINE
from tests.support.tmux import Tmux, needs_tmux

pytestmark = needs_tmux

_TUI = f"{sys.executable} -m nsadmin tui"


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Tmux]:
    """An interactive shell, which shows what a program leaves behind."""
    with Tmux(tmp_path, ["sh", "-i"]) as tmux:
        tmux.until("ready>")
        yield tmux


def find_child(parent_id: int) -> int:
    """The only child of a process."""
    [child_id] = Path(f"/proc/{parent_id}/task/{parent_id}/children").read_text().split()
    return int(child_id)


def test_it_follows_the_size_suspends_and_leaves_the_terminal_as_it_was_after_a_signal(
    shell: Tmux, running_lab: Lab
) -> None:
    shell.text(f"{_TUI} brokers -n '{running_lab.namesrv_addr}'")
    shell.keys("Enter")
    shell.until("12 brokers", "broker-a-0", without="up for")
    shell.resize(200, 50)
    shell.until("12 brokers", "up for", "messages per second")
    shell.resize(80, 24)
    narrow = shell.until("12 brokers", " 8 Graphs", without="up for")
    assert max(map(len, narrow.splitlines())) <= 80
    shell.keys("C-z")
    shell.until("ready>", without="12 brokers")
    assert shell.terminal_modes.startswith("0 1")
    shell.text("fg")
    shell.keys("Enter")
    shell.until("12 brokers", "broker-a-0")
    assert shell.terminal_modes == "1 0 1"
    os.kill(find_child(int(shell.run_tmux("display-message", "-p", "#{pane_pid}"))), signal.SIGTERM)
    shell.until("ready>", without="12 brokers")
    assert shell.terminal_modes == "0 1 0"


def test_a_row_is_copied_to_the_clipboard_of_the_terminal(shell: Tmux, running_lab: Lab) -> None:
    shell.run_tmux("set-option", "-s", "set-clipboard", "on")
    shell.text(f"{_TUI} brokers -n '{running_lab.namesrv_addr}'")
    shell.keys("Enter")
    shell.until("12 brokers", "broker-a-0")
    shell.keys("y")
    deadline = time.monotonic() + DEADLINE
    while "broker-a-0" not in shell.run_tmux("show-buffer"):
        assert time.monotonic() < deadline, "nothing was copied"
        time.sleep(0.05)


def test_a_terminal_with_another_encoding_gets_one_line_and_stays_as_it_is(shell: Tmux) -> None:
    shell.text(f"PYTHONIOENCODING=iso8859-1 {_TUI} -n 127.0.0.1:1")
    shell.keys("Enter")
    shell.until("tui needs UTF-8, and the encoding is iso8859-1: set LC_ALL=C.UTF-8")
    assert shell.terminal_modes == "0 1 0"
