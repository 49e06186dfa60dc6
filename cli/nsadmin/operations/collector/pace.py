"""Pace: how many requests may go out, for all who ask together."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep

_A_MOMENT = 0.01


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
        self._ended: deque[tuple[float, int]] = deque()
        self._counted = 0

    @contextmanager
    def turn(self, count: int) -> Iterator[None]:
        """When that many may be asked, at most as many as may within a second; they are, until it ends.

        They count for a second from its end: whenever in between they begin, they are not too many.
        """
        count = min(count, self.per_second)
        while (seconds := self._take(count)) > 0 and not self._pause(seconds):
            pass
        if seconds > 0:
            # Nobody waits any longer, and nothing is asked.
            yield
            return
        try:
            yield
        finally:
            with self._lock:
                self._ended.append((self._clock(), count))

    def _take(self, count: int) -> float:
        """0 if they were taken, else the seconds after which it is worth asking again."""
        with self._lock:
            now = self._clock()
            while self._ended and self._ended[0][0] <= now - 1:
                self._counted -= self._ended.popleft()[1]
            if self._counted + count <= self.per_second:
                self._counted += count
                return 0.0
            return self._ended[0][0] + 1 - now + 0.001 if self._ended else _A_MOMENT
