"""Ends the app on SIGTERM and SIGHUP, also if it waits for a terminal that no longer reads."""

import asyncio
import os
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from types import FrameType
from typing import Any

END_SECONDS = 10.0
"""The app has so much time to restore the terminal and to stop its threads. Then the process ends."""
_END_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def end_on_signals(end_app: Callable[[int], None]) -> Iterator[None]:
    """While the app runs, a signal calls `end_app` on its event loop with 128 plus the number of the signal.

    Without a handler, a signal leaves the terminal in raw mode and a running command without a parent.
    """
    terminal_attributes = _read_terminal_attributes()
    timers: list[Timer] = []

    def handle_signal(signal_number: int, _: FrameType | None) -> None:
        exit_code = 128 + signal_number
        try:
            event_loop = asyncio.get_running_loop()
        except RuntimeError:
            sys.exit(exit_code)
        event_loop.call_soon_threadsafe(end_app, exit_code)
        # Python calls this handler even while the event loop waits to write to a terminal. asyncio would not.
        timer = Timer(END_SECONDS, _end_process, (exit_code, terminal_attributes))
        timer.daemon = True
        timer.start()
        timers.append(timer)

    earlier_handlers = {number: signal.signal(number, handle_signal) for number in _END_SIGNALS}
    try:
        yield
    finally:
        for number, handler in earlier_handlers.items():
            signal.signal(number, handler)
        for timer in timers:
            timer.cancel()


def _read_terminal_attributes() -> list[Any] | None:
    try:
        return termios.tcgetattr(0)
    except termios.error:
        return None


def _end_process(exit_code: int, terminal_attributes: list[Any] | None) -> None:
    if terminal_attributes is not None:
        with suppress(termios.error):
            termios.tcsetattr(0, termios.TCSANOW, terminal_attributes)
    os._exit(exit_code)
