"""LoopLagMonitor, which measures how late the event loop calls a timer."""

import asyncio
import time

from namesrv_core.server.counters import Histogram

_PERIOD_SECONDS = 0.25


class LoopLagMonitor:
    """Adds the lag to a histogram four times a second, from `start` to `stop`."""

    def __init__(self, lag_histogram: Histogram) -> None:
        self._lag_histogram = lag_histogram
        self._next_timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        # Not the loop's own time, which stands still while the loop is busy.
        due_at = time.monotonic() + _PERIOD_SECONDS
        self._next_timer = asyncio.get_running_loop().call_later(_PERIOD_SECONDS, self._record_lag, due_at)

    def _record_lag(self, due_at: float) -> None:
        self._lag_histogram.add_value(max(time.monotonic() - due_at, 0.0))
        self.start()

    def stop(self) -> None:
        if self._next_timer is not None:
            self._next_timer.cancel()
