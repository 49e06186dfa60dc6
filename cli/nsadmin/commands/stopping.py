"""Handles Ctrl-C and SIGTERM: they stop a long procedure between two steps, never in the middle of one."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from nsadmin.operations.drain.running import Clock

_SLICE = 0.2
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(Exception):
    """The operator asked the procedure to stop."""


class Stop:
    """Whether the operator asked to stop; a pause of `stoppable_clock` ends as soon as that happens."""

    def __init__(self, clock: Clock) -> None:
        self._is_wanted = False
        self._pause = clock.pause
        self.clock = Clock(clock.now, self.pause)

    def want(self) -> None:
        """Ask the procedure to stop; the signal handler calls this."""
        self._is_wanted = True

    def check(self) -> None:
        """Raise StopRequestedError if the operator asked to stop."""
        if self._is_wanted:
            raise Stopped

    def pause(self, seconds: float) -> None:
        """Wait; raise StopRequestedError as soon as the operator asks to stop."""
        while seconds > 0:
            self.check()
            self._pause(min(seconds, _SLICE))
            seconds -= _SLICE
        self.check()


@contextmanager
def stopping(clock: Clock) -> Iterator[Stop]:
    """Treat the first signal as a request to stop; a second one ends the process as usual."""
    stop = Stop(clock)
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def tell(number: int, _: FrameType | None) -> None:
        restore()
        stop.want()

    for number in _SIGNALS:
        signal.signal(number, tell)
    try:
        yield stop
    finally:
        restore()
