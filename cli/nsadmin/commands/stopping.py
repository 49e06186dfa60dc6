"""Stopping: Ctrl-C and SIGTERM end what goes on for long between two steps, never in the middle of one."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from nsadmin.operations.drain.running import Clock

_SLICE = 0.2
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(Exception):
    """Somebody wants it to end."""


class Stop:
    """Whether somebody wants it to end; `clock` is one whose pauses end then."""

    def __init__(self, clock: Clock) -> None:
        self._is_wanted = False
        self._pause = clock.pause
        self.clock = Clock(clock.now, self.pause)

    def want(self) -> None:
        """As a signal does."""
        self._is_wanted = True

    def check(self) -> None:
        """Stopped if somebody wants it to end."""
        if self._is_wanted:
            raise Stopped

    def pause(self, seconds: float) -> None:
        """Wait so long, or until somebody wants it to end: Stopped."""
        while seconds > 0:
            self.check()
            self._pause(min(seconds, _SLICE))
            seconds -= _SLICE
        self.check()


@contextmanager
def stopping(clock: Clock) -> Iterator[Stop]:
    """The first of these signals is a wish; a second one ends the process as usual."""
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
