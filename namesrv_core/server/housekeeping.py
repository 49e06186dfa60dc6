"""What a name server does every so often: look for silent brokers and idle connections."""

import asyncio
from collections.abc import Callable
from itertools import chain

_MOMENT = 0.01

Task = tuple[Callable[[], float], Callable[[], None]]
"""How long to wait in seconds, asked each time, and what to do then."""


def beginning(first: float, pause: Callable[[], float]) -> Callable[[], float]:
    """A pause of its own before the first turn; then as it is."""
    pauses = chain([first], iter(pause, None))
    return lambda: next(pauses)


class Housekeeping:
    """Runs its tasks from `start` to `stop`; each waits its own time between two turns."""

    def __init__(self, *tasks: Task) -> None:
        self._tasks = tasks
        self._timers: dict[int, asyncio.TimerHandle] = {}

    def start(self) -> None:
        for number in range(len(self._tasks)):
            self._wait(number)

    def resume(self) -> None:
        """Begin again after a pause: all is due, once what has come meanwhile was looked at."""
        for number in range(len(self._tasks)):
            self._timers[number] = asyncio.get_running_loop().call_later(_MOMENT, self._turn, number)

    def _wait(self, number: int) -> None:
        pause, _ = self._tasks[number]
        self._timers[number] = asyncio.get_running_loop().call_later(pause(), self._turn, number)

    def _turn(self, number: int) -> None:
        self._wait(number)
        self._tasks[number][1]()

    def stop(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
