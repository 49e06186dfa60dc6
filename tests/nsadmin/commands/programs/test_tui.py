"""tui on a terminal of its own: it comes up, answers keys and leaves the terminal as it was."""

import os
import signal
import time
from pathlib import Path

import pytest

from nsadmin.command_line.shared_options import connection_words
from nsadmin.commands.programs.tui import _build_worlds, _find_change_target, _validate_interval
from nsadmin.console import settings
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.session import Session
from tests.nsadmin.conftest import Run
from tests.support.bundles import write_bundle
from tests.support.fake_servers import FakeNameServer
from tests.support.lab import start_lab
from tests.support.name_servers import DEADLINE
from tests.support.terminal import CopiedTerminal, PtyTerminal


def test_off_a_terminal_it_says_what_to_type_instead(run: Run) -> None:
    with FakeNameServer() as server:
        result = run("tui", "-n", server.addr)
    assert (result.code, result.out) == (2, "")
    assert "tui needs a terminal: use nsadmin clusterList --watch 5 for a file or a pipe" in result.err


def test_it_comes_up_live_and_q_leaves(tmp_path: Path) -> None:
    with start_lab(tmp_path / "lab") as there, CopiedTerminal(
        "tui", "brokers", "-n", there.namesrv_addr, home=tmp_path
    ) as terminal:  # fmt: skip
        terminal.wait_for_text("12 brokers")
        terminal.type_keys("/")
        terminal.wait_for_text("filter:")
        terminal.type_keys("broker-b\r")
        terminal.wait_for_text(" of 12 rows")
        terminal.type_keys("q")
        assert terminal.wait_for_exit() == 0


def test_a_dead_name_server_is_shown_and_no_error(tmp_path: Path) -> None:
    with CopiedTerminal("tui", "-n", "127.0.0.1:1", "--interval", "1", home=tmp_path) as terminal:
        terminal.wait_for_text("silent")
        terminal.type_keys("q")
        assert terminal.wait_for_exit() == 0
    assert "Traceback" not in terminal.said


def test_a_screen_that_is_none_is_named_with_those_there_are(tmp_path: Path) -> None:
    with CopiedTerminal("tui", "weather", "-n", "127.0.0.1:1", home=tmp_path) as terminal:
        assert terminal.wait_for_exit() == 2
    assert 'unknown screen "weather": use home, brokers' in terminal.said


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e9])
def test_an_interval_that_cannot_be(seconds: float) -> None:
    with pytest.raises(UsageError, match=r"expected 0\.5 to 3600 seconds"):
        _validate_interval(seconds)


@pytest.mark.parametrize(
    ("words", "target"),
    [
        (["wipeWritePerm", "broker-a"], "broker-a"),
        (["wipeWritePerm", "-b", "broker-a"], "broker-a"),
        (["deleteTopic", "-c", "cluster-a", "-t", "orders"], "orders"),
        (["updateKvConfig", "NAMESPACE", "a-key", "value"], "a-key"),
        (["updateBrokerConfig", "-b", "h:1", "-k", "a-key", "-v", "1"], "a-key"),
        (["orphans", "--delete"], None),
        (["drain"], None),
        (["noSuchCommand"], None),
    ],
)
def test_the_target_of_a_change(words: list[str], target: str | None) -> None:
    assert _find_change_target(words) == target


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("TERM", "dumb", "tui needs a terminal with a cursor: set TERM, for example to xterm-256color"),
        (
            "PYTHONIOENCODING",
            "iso8859-1",
            "tui needs UTF-8, and the encoding is iso8859-1: set LC_ALL=C.UTF-8",
        ),
    ],
)
def test_a_terminal_that_cannot_show_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, line: str
) -> None:
    monkeypatch.setenv(name, value)
    with PtyTerminal("tui", "-n", "127.0.0.1:1", home=tmp_path, terminal_type=None) as terminal:
        assert terminal.wait_for_exit() == 2
    assert line in terminal.said


def test_the_interval_by_itself() -> None:
    assert (_validate_interval(None), _validate_interval(2.0)) == (5.0, 2.0)


def test_preferences_that_cannot_be_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "tui.yaml").write_text("keys: {fly: f}\n")
    with CopiedTerminal("tui", "-n", "127.0.0.1:1", home=tmp_path) as terminal:
        assert terminal.wait_for_exit() == 2
    assert 'keys: unknown key "fly": choose from help, filter' in terminal.said
    assert "Traceback" not in terminal.said


def test_options_that_reach_the_cluster_go_with_its_commands() -> None:
    options = {
        "context": "prod", "namesrv_addr": ["a:1", "b:2"], "tls": False, "insecure": False, "timeout": 2.5,
        "quiet": True, "config_file": None,
    }  # fmt: skip
    assert connection_words(options) == [
        "--context",
        "prod",
        "-n",
        "a:1",
        "-n",
        "b:2",
        "--no-tls",
        "--timeout",
        "2.5",
    ]
    assert connection_words({"tls": True, "insecure": True}) == ["--tls", "--insecure"]


def test_what_is_recorded_is_played_again_without_any_server(tmp_path: Path) -> None:
    with start_lab(tmp_path / "lab") as there, CopiedTerminal(
        "tui", "-n", there.namesrv_addr, "--record", "r.zst", "--interval", "0.5", home=tmp_path
    ) as terminal:  # fmt: skip
        terminal.wait_for_text("12 brokers")
        terminal.wait_for_text("12 up")
        terminal.type_keys("q")
        assert terminal.wait_for_exit() == 0
    with CopiedTerminal("tui", "--replay", "r.zst", "--speed", "10", home=tmp_path) as terminal:
        terminal.wait_for_text("12 up")
        terminal.type_keys("q")
        assert terminal.wait_for_exit() == 0


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("--replay", "none.zst"), "cannot replay none.zst: No such file or directory"),
        (("--replay", "."), "cannot replay .: it contains no journal"),
        (("--replay", "x", "--speed", "0"), 'invalid value "0" for --speed: expected 0.1 to 3600'),
        (("--speed", "2", "-n", "h:1"), "--speed needs --replay: name a recording or a journal"),
        (
            ("--record", "no/r.zst", "-n", "h:1"),
            "cannot write no/r.zst (--record): No such file or directory",
        ),
        (("--record", "a", "--replay", "b"), "--record and --replay exclude each other"),
    ],
)
def test_what_cannot_be_recorded_or_played(args: tuple[str, ...], why: str, tmp_path: Path) -> None:
    with CopiedTerminal("tui", *args, home=tmp_path) as terminal:
        assert terminal.wait_for_exit() == 2
    assert why in terminal.said
    assert "Traceback" not in terminal.said


LEAVE_ALTERNATE_SCREEN, SHOW_CURSOR, STOP_MOUSE = "\x1b[?1049l", "\x1b[?25h", "\x1b[?1000l"


@pytest.mark.parametrize("ending_signal", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_the_terminal_is_restored(tmp_path: Path, ending_signal: signal.Signals) -> None:
    """Issue 30: SIGTERM left the alternate screen, a hidden cursor and mouse reporting."""
    with CopiedTerminal("tui", "-n", "127.0.0.1:1", "--interval", "1", home=tmp_path) as terminal:
        terminal.wait_for_text("silent")
        os.kill(terminal.pid, ending_signal)
        assert terminal.wait_for_exit() == 128 + ending_signal
    for sequence in (LEAVE_ALTERNATE_SCREEN, SHOW_CURSOR, STOP_MOUSE):
        assert terminal.said.rfind(sequence) > terminal.said.rfind("silent"), sequence


def test_a_signal_ends_the_command_that_it_runs(tmp_path: Path) -> None:
    with (
        start_lab(tmp_path / "lab") as there,
        CopiedTerminal("tui", "-n", there.namesrv_addr, home=tmp_path) as terminal,
    ):
        terminal.wait_for_text("12 brokers")
        terminal.type_keys(":clusterList --watch 1\r")
        terminal.wait_for_text("brokerName")
        [child_id] = list_children(terminal.pid)
        os.kill(terminal.pid, signal.SIGTERM)
        assert terminal.wait_for_exit() == 128 + signal.SIGTERM
        deadline = time.monotonic() + DEADLINE
        while Path(f"/proc/{child_id}").exists():
            assert time.monotonic() < deadline, "the command goes on"
            time.sleep(0.05)


def test_ctrl_z_suspends_it_and_sigcont_resumes_it(tmp_path: Path) -> None:
    with CopiedTerminal("tui", "-n", "127.0.0.1:1", "--interval", "1", home=tmp_path) as terminal:
        terminal.wait_for_text("silent")
        terminal.type_keys("\x1a")
        terminal.wait_for_text(LEAVE_ALTERNATE_SCREEN)
        deadline = time.monotonic() + DEADLINE
        while Path(f"/proc/{terminal.pid}/stat").read_text().rpartition(") ")[2][0] != "T":
            assert time.monotonic() < deadline, "it goes on"
            time.sleep(0.01)
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.wait_for_text("silent")
        terminal.type_keys("q")
        assert terminal.wait_for_exit() == 0


def list_children(process_id: int) -> list[int]:
    children = Path(f"/proc/{process_id}/task").glob("*/children")
    return [int(word) for path in children for word in path.read_text().split()]


def test_a_bundle_is_named_in_the_header_and_refuses_changes(tmp_path: Path) -> None:
    path = write_bundle(tmp_path / "incident.zip", {})
    options = settings.resolve_options({"context": None, "bundle": str(path)})
    assert options.bundle is not None
    with options.bundle:
        worlds = _build_worlds(Session(options), [], [], False)
    assert worlds.first_context.label == "bundle incident.zip of 2023-11-14T22:13:20.000Z"
    assert worlds.first_context.read_only
