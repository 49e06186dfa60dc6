"""LoopLag: how late the event loop is, told by a timer that knows when it should have been called."""

import asyncio
import time

from namesrv_core.server.counters import Histogram

_PERIOD = 0.25


class LoopLag:
    """From `start` to `stop`, adds to `seconds` four times a second."""

    def __init__(self, seconds: Histogram) -> None:
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        # Not by the loop's own time, which stands still while the loop is busy.
        due = time.monotonic() + _PERIOD
        self._timer = asyncio.get_running_loop().call_later(_PERIOD, self._turn, due)

    def _turn(self, due: float) -> None:
        self._seconds.add(max(time.monotonic() - due, 0.0))
        self.start()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
