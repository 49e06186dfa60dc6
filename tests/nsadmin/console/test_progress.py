"""When a bar is drawn, and that nothing of it is left."""

import io
import os
import pty
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import Exchange
from nsadmin.console import progress
from nsadmin.console.progress import RequestProgressBar, StatusLine, StepProgressBar
from tests.nsadmin.test_app import ENVIRONMENT, NSADMIN
from tests.support.fake_servers import Answer, FakeNameServer

TOTAL = 1000


def exchange(done: int, began: float = 0.0, total: int = TOTAL) -> Exchange:
    return Exchange("h:1", 105, began, 0.0, 0, 1, 1, done, total)


class Terminal(io.StringIO):
    """A terminal of which nobody knows the size."""

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """From within a test, as capturing puts its own stderr in the place of a fixture's."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return terminal


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which a test sets."""
    now = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    return now


def test_who_waits_sees_a_bar_that_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    terminal, bar = on_terminal(monkeypatch), RequestProgressBar()
    clock[0] = 0.29
    bar(exchange(1))
    assert terminal.getvalue() == ""
    clock[0] = 0.31
    bar(exchange(400))
    bar(exchange(TOTAL))
    assert "400/1000" in terminal.getvalue()
    # The last thing written takes the line away: up to its begin, and erase it.
    assert terminal.getvalue().endswith("\x1b[2K")


def test_what_fits_on_a_screen_has_no_bar(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    terminal, bar = on_terminal(monkeypatch), RequestProgressBar()
    clock[0] = 5
    for done in range(1, 25):
        bar(exchange(done, total=24))
    assert terminal.getvalue() == ""


def test_an_end_in_the_middle_takes_it_away(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    terminal, bar = on_terminal(monkeypatch), RequestProgressBar()
    bar(exchange(1))
    clock[0] = 1
    bar(exchange(2))
    bar.close()
    bar.close()
    assert terminal.getvalue().endswith("\x1b[2K")


def test_a_screenful_is_the_height_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    controller, terminal = pty.openpty()
    with os.fdopen(terminal, "w") as stderr:
        import fcntl
        import struct
        import termios

        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
        monkeypatch.setattr(sys, "stderr", stderr)
        assert RequestProgressBar()._screen_lines == 50
    os.close(controller)


def test_a_command_on_a_terminal_shows_it_while_it_waits_and_nothing_of_it_stays() -> None:
    progress_seen = threading.Event()
    with FakeNameServer({"C": {"a": {0: "h:1"}}}) as server:
        server.routes = {f"T{number}": {"a": 6} for number in range(100)}
        route = server.handlers[RequestCode.GET_ROUTEINFO_BY_TOPIC]

        def slow(asked: RemotingCommand) -> Answer:
            # The last answers wait until the bar has been seen, which needs some answers after its time.
            for _ in range(3):
                progress_seen.wait(0.03)
            return route(asked)

        server.handlers[RequestCode.GET_ROUTEINFO_BY_TOPIC] = slow
        controller, terminal = pty.openpty()
        process = subprocess.Popen(
            [*NSADMIN, "wipeWritePerm", "a", "--dry-run", "-n", server.addr, "--output", "jsonl"],
            stdout=subprocess.PIPE, stderr=terminal, env={**ENVIRONMENT, "TERM": "xterm"},
        )  # fmt: skip
        os.close(terminal)
        terminal_output = b""
        with suppress(OSError):
            while data := os.read(controller, 4096):
                terminal_output += data
                if b"asking" in terminal_output:
                    progress_seen.set()
        out, _ = process.communicate(timeout=20)
        os.close(controller)
    assert process.returncode == 0
    assert b"/100" in terminal_output
    # The line is cleared, and what follows is written from its beginning.
    assert b"\x1b[2Knsadmin: clients cannot send to 100 topics" in terminal_output
    assert b"rw- -> r-- on 100 topics" in out


def test_it_is_wanted_on_a_terminal_that_can_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    on_terminal(monkeypatch)
    assert progress.can_draw_on_stderr()
    monkeypatch.setenv("TERM", "dumb")
    assert not progress.can_draw_on_stderr()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert not progress.can_draw_on_stderr()


def test_the_steps_of_a_procedure_have_a_bar_of_their_own(
    monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    terminal, steps = on_terminal(monkeypatch), StepProgressBar("applying", TOTAL)
    clock[0] = 0.29
    steps.advance_steps(10)
    assert terminal.getvalue() == ""
    clock[0] = 0.3
    steps.advance_steps(490)
    steps.close()
    assert "applying" in terminal.getvalue()
    assert "500/1000" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[2K")


def test_the_steps_of_a_procedure_have_a_plain_line_where_nothing_can_be_drawn(clock: list[float]) -> None:
    lines: list[str] = []
    steps = StepProgressBar("exporting", TOTAL, lines.append)
    for clock[0] in (9, 10, 19, 20):
        steps.advance_steps(100)
    steps.close()
    assert lines == ["exporting: 200 of 1000", "exporting: 400 of 1000"]


def test_what_was_quick_has_none(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    terminal, steps = on_terminal(monkeypatch), StepProgressBar("applying", TOTAL)
    steps.advance_steps(TOTAL)
    steps.close()
    assert terminal.getvalue() == ""


def test_a_bar_that_is_hushed_is_not_drawn(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    terminal, bar = on_terminal(monkeypatch), RequestProgressBar()
    bar.is_hushed = True
    bar(exchange(1))
    clock[0] = 1.0
    bar(exchange(500))
    assert terminal.getvalue() == ""


def test_where_there_is_no_terminal_a_plain_line_comes_now_and_then(
    monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    monkeypatch.setattr(progress, "can_draw_on_stderr", lambda: False)
    lines: list[str] = []
    line = StatusLine(lines.append)
    line.show_status("at once")
    clock[0] = 9.9
    line.show_status("too soon")
    clock[0] = 10.0
    line.show_status("late enough")
    clock[0] = 19.0
    line.write_line("what stays")
    clock[0] = 21.0
    line.show_status("too soon after that")
    line.close()
    assert lines == ["late enough", "what stays"]


def test_on_a_terminal_it_moves_and_is_gone_before_anything_else_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = on_terminal(monkeypatch)
    line = StatusLine(lambda text: print(text, file=sys.stderr))
    line.show_status("gold/a: [red] 1 of 2")
    line.show_status("gold/a: [red] 2 of 2")
    line.write_line("gold/a is made")
    line.show_status("gold/b")
    line.close()
    text = terminal.getvalue()
    assert "gold/a: [red] 2 of 2" in text
    assert "gold/a is made\n" in text
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 2


def test_a_status_controls_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    line = StatusLine(lambda text: None)
    line.show_status("gold/a: \x1b]0;title\x07 \u202e")
    line.close()
    assert "gold/a: \\x1b]0;title\\x07 \\u202e" in terminal.getvalue()
