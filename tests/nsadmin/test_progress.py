"""When a bar is drawn, and that nothing of it is left."""

import io
import os
import pty
import sys

import pytest

from namesrv_core.transport.calls import Exchange
from nsadmin import progress
from nsadmin.progress import Bar

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
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return shown


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which a test sets."""
    now = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    return now


def test_who_waits_sees_a_bar_that_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    terminal, bar = on_terminal(monkeypatch), Bar()
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
    terminal, bar = on_terminal(monkeypatch), Bar()
    clock[0] = 5
    for done in range(1, 25):
        bar(exchange(done, total=24))
    assert terminal.getvalue() == ""


def test_an_end_in_the_middle_takes_it_away(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    terminal, bar = on_terminal(monkeypatch), Bar()
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
        assert Bar()._screenful == 50
    os.close(controller)


def test_it_is_wanted_on_a_terminal_that_can_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    on_terminal(monkeypatch)
    assert progress.is_wanted()
    monkeypatch.setenv("TERM", "dumb")
    assert not progress.is_wanted()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert not progress.is_wanted()
