"""The terminal ends before the app does."""

import errno
import io
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

from nsadmin.tui.terminal_driver import TerminalDriver, TerminalOutput
from tests.support.name_servers import DEADLINE, ServerProgram
from tests.support.screens import make_still_tui


class ClosedTerminal(io.StringIO):
    """A terminal that has ended."""

    def fileno(self) -> int:
        return 2

    def write(self, text: str) -> int:
        raise OSError(errno.EIO, "Input/output error")

    def flush(self) -> None:
        raise OSError(errno.EIO, "Input/output error")


def test_text_for_a_closed_terminal_is_dropped() -> None:
    output = TerminalOutput(ClosedTerminal())
    assert output.write("text") == 4
    output.flush()
    assert not output.isatty()
    assert output.fileno() == 2


def test_text_for_an_open_terminal_is_written() -> None:
    terminal = io.StringIO()
    TerminalOutput(terminal).write("text")
    assert terminal.getvalue() == "text"


def test_the_app_draws_with_this_driver() -> None:
    assert make_still_tui().get_driver_class() is TerminalDriver


def test_the_app_ends_after_its_terminal_without_a_signal_even_with_a_background_job(tmp_path: Path) -> None:
    """The kernel sends SIGHUP to the first process of the session only. Here, that is another process."""
    (tmp_path / "tui-commands.yaml").write_text(
        "plugins: {wait: {key: f9, command: [sleep, '5'], background: true}}\n"
    )
    terminal, end = pty.openpty()
    environment = {"TERM": "xterm-256color", "NSADMIN_CONFIG": str(tmp_path / "config.yaml")}
    command = [sys.executable, "-m", "nsadmin", "tui", "-n", "127.0.0.1:1", "--interval", "1"]
    process = subprocess.Popen(
        command,
        stdin=end, stdout=end, stderr=end, cwd=tmp_path,
        env=ServerProgram.make_environment() | environment, start_new_session=True,
    )  # fmt: skip
    os.close(end)
    try:
        read_until(terminal, b"silent")
        os.write(terminal, b"\x1b[20~")
        read_until(terminal, b"in the background")
        os.close(terminal)
        assert process.wait(DEADLINE) == 128 + signal.SIGHUP
    finally:
        process.kill()
        process.wait()


def read_until(terminal: int, text: bytes) -> None:
    output, deadline = b"", time.monotonic() + DEADLINE
    while text not in output:
        assert time.monotonic() < deadline, output
        output += os.read(terminal, 65536)
