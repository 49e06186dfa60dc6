"""Pace: how many requests may go out, for all who ask together."""

import threading
from collections import deque
from collections.abc import Callable
from time import monotonic, sleep


class Pace:
    """Never more than `per_second` requests begin within any second. For threads.

    `pause` waits for seconds; a true answer of it says that nobody should wait any longer.
    """

    def __init__(
        self,
        per_second: int,
        clock: Callable[[], float] = monotonic,
        pause: Callable[[float], object] = sleep,
    ) -> None:
        self.per_second = per_second
        self._clock = clock
        self._pause = pause
        self._lock = threading.Lock()
        self._begun: deque[tuple[float, int]] = deque()
        self._within = 0

    def wait(self, count: int) -> None:
        """Until that many may begin; at most as many as may within a second."""
        while (seconds := self._take(min(count, self.per_second))) > 0:
            if self._pause(seconds):
                return

    def _take(self, count: int) -> float:
        """0 if they were taken, else the seconds after which it is worth asking again."""
        with self._lock:
            now = self._clock()
            while self._begun and self._begun[0][0] <= now - 1:
                self._within -= self._begun.popleft()[1]
            if self._within + count <= self.per_second:
                self._begun.append((now, count))
                self._within += count
                return 0.0
            return self._begun[0][0] + 1 - now + 0.001
