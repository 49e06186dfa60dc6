"""Lines above facts that stay in place."""

import io
import sys

import pytest

from nsadmin.console.output import OutputStyle
from nsadmin.console.output.live_display import LiveDisplay, can_draw_live
from tests.support.rows import TerminalStdout


def a_terminal(monkeypatch: pytest.MonkeyPatch) -> io.BytesIO:
    sink = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", TerminalStdout(sink, encoding="utf-8"))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "60")
    return sink


def test_facts_replace_each_other_and_lines_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)
    live = LiveDisplay(OutputStyle())
    live.show_facts([("puts", "12")])
    live.print_line("[bold]something[/] happened \x1b[31m")
    live.show_facts([("puts", "7"), ("waits for", "writes to stop")])
    live.close()
    sys.stdout.flush()
    terminal_text = terminal.getvalue().decode()
    assert "[bold]something[/] happened \\x1b[31m" in terminal_text
    last = terminal_text[terminal_text.rindex("puts") :]
    assert "12" not in last
    assert "7" in last
    assert "waits for" in last
    # The lines of the first table were taken away.
    assert "\x1b[1A" in terminal_text
    assert terminal_text.count("\x1b[?25l") == terminal_text.count("\x1b[?25h")


def test_only_a_terminal_that_can_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    a_terminal(monkeypatch)
    assert can_draw_live(OutputStyle())
    assert not can_draw_live(OutputStyle("json"))
    monkeypatch.setenv("TERM", "dumb")
    assert not can_draw_live(OutputStyle())
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert not can_draw_live(OutputStyle())
