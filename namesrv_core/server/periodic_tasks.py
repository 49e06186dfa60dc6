"""PeriodicTasks, the timers of a name server, and LoopLagMonitor, which measures how late they are."""

import asyncio
import time
from collections.abc import Callable
from itertools import chain

from namesrv_core.server.counters import Histogram

_RESUME_SECONDS = 0.01

PeriodicTask = tuple[Callable[[], float], Callable[[], None]]
"""A function that returns the pause in seconds, called before each run, and the function to run."""


def begin_with_pause(first_seconds: float, pause_seconds: Callable[[], float]) -> Callable[[], float]:
    """Use another pause before the first run."""
    pauses = chain([first_seconds], iter(pause_seconds, None))
    return lambda: next(pauses)


class PeriodicTasks:
    """Runs tasks from `start` to `stop`, each with its own pause."""

    def __init__(self, *periodic_tasks: PeriodicTask) -> None:
        self._tasks = periodic_tasks
        self._timers_by_index: dict[int, asyncio.TimerHandle] = {}

    def start(self) -> None:
        for index in range(len(self._tasks)):
            self._schedule_task(index)

    def resume_tasks(self) -> None:
        """Start again after a freeze. All tasks run soon, after the data that arrived in the meantime."""
        for index in range(len(self._tasks)):
            self._timers_by_index[index] = asyncio.get_running_loop().call_later(
                _RESUME_SECONDS, self._run_task, index
            )

    def _schedule_task(self, index: int) -> None:
        pause_seconds, _ = self._tasks[index]
        self._timers_by_index[index] = asyncio.get_running_loop().call_later(
            pause_seconds(), self._run_task, index
        )

    def _run_task(self, index: int) -> None:
        self._schedule_task(index)
        self._tasks[index][1]()

    def stop(self) -> None:
        for timer in self._timers_by_index.values():
            timer.cancel()


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
