"""LogThrottle, a rate limit for log lines that peers can cause in any number."""

import time
from collections.abc import Callable

from namesrv_core.server.log import log

INTERVAL_SECONDS = 10.0
"""The least interval between two lines of a kind."""


class LogThrottle:
    """Logs at most one line of a kind per interval. The next line states how many were left out."""

    def __init__(
        self, interval_seconds: float = INTERVAL_SECONDS, steady_clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._interval_seconds = interval_seconds
        self._steady_clock = steady_clock
        self._last_line_by_kind: dict[str, tuple[float, int]] = {}

    def log_warning(self, kind: str, text: str, *, with_traceback: bool = False) -> None:
        """Log a warning. There must be few kinds, so a kind must not contain text from a peer."""
        now = self._steady_clock()
        logged_at, left_out = self._last_line_by_kind.get(kind, (float("-inf"), 0))
        if now - logged_at < self._interval_seconds:
            self._last_line_by_kind[kind] = logged_at, left_out + 1
            return
        self._last_line_by_kind[kind] = now, 0
        more = f" (and {left_out} similar ones since the last such line)" if left_out else ""
        log.warning("%s%s", text, more, exc_info=with_traceback)
