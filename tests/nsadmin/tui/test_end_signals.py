"""SIGTERM and SIGHUP end the app, also if its event loop stands still."""

import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from nsadmin.tui.end_signals import end_on_signals
from tests.support.name_servers import DEADLINE, ServerProgram

APP = """
import asyncio, threading, tty
from nsadmin.tui import end_signals

end_signals.END_SECONDS = 0.2

async def run_app():
    tty.setraw(0)
    exit_code = asyncio.get_running_loop().create_future()
    end_app.append(exit_code.set_result)
    print("ready", flush=True)
    {wait}
    print(await exit_code)

end_app = []
with end_signals.end_on_signals(lambda code: end_app[0](code)):
    asyncio.run(run_app())
print("restored")
"""


@contextmanager
def app(wait: str = "") -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """An app on a terminal, and the end of the terminal that it reads. It first executes `wait`."""
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", APP.format(wait=wait)],
        stdin=end, stdout=subprocess.PIPE, text=True,
        env=ServerProgram.make_environment(), start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process, end
    finally:
        process.kill()
        process.communicate()
        os.close(end)
        os.close(terminal)


@pytest.mark.parametrize("ending_signal", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_app_in_order(ending_signal: signal.Signals) -> None:
    with app() as (process, _):
        process.send_signal(ending_signal)
        assert process.communicate(timeout=DEADLINE)[0] == f"{128 + ending_signal}\nrestored\n"
        assert process.returncode == 0


def test_an_app_that_waits_for_its_terminal_ends_too_and_the_terminal_echoes_again() -> None:
    with app("threading.Event().wait()") as (process, end):
        assert not termios.tcgetattr(end)[3] & termios.ECHO
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=DEADLINE)[0] == ""
        assert process.returncode == 128 + signal.SIGTERM
        assert termios.tcgetattr(end)[3] & termios.ECHO


def test_a_signal_before_the_event_loop_runs_ends_the_process() -> None:
    handler = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended, end_on_signals(lambda exit_code: None):
        signal.raise_signal(signal.SIGTERM)
    assert ended.value.code == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) == handler
