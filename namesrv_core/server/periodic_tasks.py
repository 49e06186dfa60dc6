"""PeriodicTasks, the timers of a name server, for example for silent brokers and idle connections."""

import asyncio
from collections.abc import Callable
from itertools import chain

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
        self._periodic_tasks = periodic_tasks
        self._timers_by_index: dict[int, asyncio.TimerHandle] = {}

    def start(self) -> None:
        for index in range(len(self._periodic_tasks)):
            self._schedule_task(index)

    def resume_tasks(self) -> None:
        """Start again after a freeze. All tasks run soon, after the data that arrived in the meantime."""
        for index in range(len(self._periodic_tasks)):
            self._timers_by_index[index] = asyncio.get_running_loop().call_later(
                _RESUME_SECONDS, self._run_task, index
            )

    def _schedule_task(self, index: int) -> None:
        pause_seconds, _ = self._periodic_tasks[index]
        self._timers_by_index[index] = asyncio.get_running_loop().call_later(
            pause_seconds(), self._run_task, index
        )

    def _run_task(self, index: int) -> None:
        self._schedule_task(index)
        self._periodic_tasks[index][1]()

    def stop(self) -> None:
        for timer in self._timers_by_index.values():
            timer.cancel()
