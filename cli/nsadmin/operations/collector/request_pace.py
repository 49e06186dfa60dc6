"""Limits the request rate of all threads that share one RequestPace."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep

_RETRY_SECONDS = 0.01
_QUEUED_RETRY_SECONDS = 0.05
"""The pause of a thread that is not first in the queue."""


class PollStopped(Exception):
    """The caller is stopping, and must not send its requests."""


class RequestPace:
    """Allows at most `per_second` requests to begin within any second. Thread-safe.

    Reservations are granted in their order. Otherwise small ones could delay a large one permanently.
    `pause` waits for a number of seconds. If it returns a true value, waiting ends at once. Once `is_stopped`
    returns true, reservations fail.
    """

    def __init__(
        self,
        per_second: int,
        clock: Callable[[], float] = monotonic,
        pause: Callable[[float], object] = sleep,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self.per_second = per_second
        self._clock = clock
        self._pause = pause
        self._is_stopped = is_stopped
        self._lock = threading.Lock()
        self._ended_turns: deque[tuple[float, int]] = deque()
        self._waiting_tickets: deque[object] = deque()
        self._reserved_count = 0

    @contextmanager
    def reserve_requests(self, request_count: int) -> Iterator[None]:
        """Wait until that many requests, at most `per_second`, may begin; send them inside the context.

        The requests count until one second after the context ends. So the limit holds no matter when they
        begin inside it. Raises PollStopped.
        """
        request_count = min(request_count, self.per_second)
        is_reserved = self._wait_for_reservation(request_count)
        try:
            if self._is_stopped():
                raise PollStopped
            yield
        finally:
            if is_reserved:
                with self._lock:
                    self._ended_turns.append((self._clock(), request_count))

    def _wait_for_reservation(self, request_count: int) -> bool:
        """Queue, and reserve the requests; return whether that happened before `pause` ended the wait."""
        ticket = object()
        with self._lock:
            self._waiting_tickets.append(ticket)
        try:
            while (wait_seconds := self._try_reserve(ticket, request_count)) > 0:
                if self._pause(wait_seconds):
                    return False
            return True
        finally:
            with self._lock:
                self._waiting_tickets.remove(ticket)

    def _try_reserve(self, ticket: object, request_count: int) -> float:
        """Reserve the requests and return 0; or return the seconds to wait before the next attempt."""
        with self._lock:
            if self._waiting_tickets[0] is not ticket:
                return _QUEUED_RETRY_SECONDS
            now_seconds = self._clock()
            while self._ended_turns and self._ended_turns[0][0] <= now_seconds - 1:
                self._reserved_count -= self._ended_turns.popleft()[1]
            if self._reserved_count + request_count <= self.per_second:
                self._reserved_count += request_count
                return 0.0
            return self._ended_turns[0][0] + 1 - now_seconds + 0.001 if self._ended_turns else _RETRY_SECONDS
