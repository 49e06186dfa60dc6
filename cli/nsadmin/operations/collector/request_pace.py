"""Pace: how many requests may go out, for all who ask together."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep

_RETRY_SECONDS = 0.01


class RequestPace:
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
        self._ended_turns: deque[tuple[float, int]] = deque()
        self._reserved_count = 0

    @contextmanager
    def reserve_requests(self, request_count: int) -> Iterator[None]:
        """When that many may be asked, at most as many as may within a second; they are, until it ends.

        They count for a second from its end: whenever in between they begin, they are not too many.
        """
        request_count = min(request_count, self.per_second)
        while (wait_seconds := self._try_reserve(request_count)) > 0 and not self._pause(wait_seconds):
            pass
        if wait_seconds > 0:
            # Nobody waits any longer, and nothing is asked.
            yield
            return
        try:
            yield
        finally:
            with self._lock:
                self._ended_turns.append((self._clock(), request_count))

    def _try_reserve(self, request_count: int) -> float:
        """0 if they were taken, else the seconds after which it is worth asking again."""
        with self._lock:
            now_seconds = self._clock()
            while self._ended_turns and self._ended_turns[0][0] <= now_seconds - 1:
                self._reserved_count -= self._ended_turns.popleft()[1]
            if self._reserved_count + request_count <= self.per_second:
                self._reserved_count += request_count
                return 0.0
            return self._ended_turns[0][0] + 1 - now_seconds + 0.001 if self._ended_turns else _RETRY_SECONDS
