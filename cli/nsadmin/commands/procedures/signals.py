"""Handles Ctrl-C and SIGTERM: they stop a long procedure between two steps, never in the middle of one."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from nsadmin.operations.procedure_clock import SYSTEM_CLOCK as SYSTEM_CLOCK
from nsadmin.operations.procedure_clock import ProcedureClock

_SLICE_SECONDS = 0.2
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequestedError(Exception):
    """The operator asked the procedure to stop."""


class StopSignal:
    """Whether the operator asked to stop; a pause of `stoppable_clock` ends as soon as that happens."""

    def __init__(self, base_clock: ProcedureClock) -> None:
        self._is_requested = False
        self._sleep_seconds = base_clock.pause_seconds
        self.stoppable_clock = base_clock._replace(pause_seconds=self.pause_or_stop)

    def request_stop(self) -> None:
        """Ask the procedure to stop; the signal handler calls this."""
        self._is_requested = True

    def raise_if_requested(self) -> None:
        """Raise StopRequestedError if the operator asked to stop."""
        if self._is_requested:
            raise StopRequestedError

    def pause_or_stop(self, seconds: float) -> None:
        """Wait; raise StopRequestedError as soon as the operator asks to stop."""
        while seconds > 0:
            self.raise_if_requested()
            self._sleep_seconds(min(seconds, _SLICE_SECONDS))
            seconds -= _SLICE_SECONDS
        self.raise_if_requested()


@contextmanager
def interrupt_on_sigterm() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C, so that a command cleans up and reports the interruption."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler_before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler_before)


@contextmanager
def catch_stop_signals(base_clock: ProcedureClock) -> Iterator[StopSignal]:
    """Treat the first signal as a request to stop; a second one ends the process as usual."""
    stop_signal = StopSignal(base_clock)
    if threading.current_thread() is not threading.main_thread():
        yield stop_signal
        return
    handlers_before = {signal_number: signal.getsignal(signal_number) for signal_number in _STOP_SIGNALS}

    def restore_handlers() -> None:
        for signal_number, handler in handlers_before.items():
            signal.signal(signal_number, handler)

    def handle_signal(signal_number: int, _: FrameType | None) -> None:
        restore_handlers()
        stop_signal.request_stop()

    for signal_number in _STOP_SIGNALS:
        signal.signal(signal_number, handle_signal)
    try:
        yield stop_signal
    finally:
        restore_handlers()
