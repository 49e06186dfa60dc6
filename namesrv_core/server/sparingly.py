"""Lines of the log that peers can cause in any number: a few of each kind, then how many were left out."""

import time
from collections.abc import Callable

from namesrv_core.server.log import log

EVERY = 10.0
"""Seconds between two lines of a kind."""


class Sparingly:
    """Logs a line of each kind every `every` seconds at most; the next says how many there were meanwhile."""

    def __init__(self, every: float = EVERY, clock: Callable[[], float] = time.monotonic) -> None:
        self._every = every
        self._clock = clock
        self._said: dict[str, tuple[float, int]] = {}

    def warning(self, kind: str, text: str) -> None:
        """`kind` is one of few: it must not hold what a peer made up."""
        now = self._clock()
        said_at, left_out = self._said.get(kind, (float("-inf"), 0))
        if now - said_at < self._every:
            self._said[kind] = said_at, left_out + 1
            return
        self._said[kind] = now, 0
        more = f" (and {left_out} more like it since the last such line)" if left_out else ""
        log.warning("%s%s", text, more)
