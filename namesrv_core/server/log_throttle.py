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

    def log_warning(self, line_kind: str, line_text: str, *, with_traceback: bool = False) -> None:
        """Log a warning. There must be few kinds, so a kind must not contain text from a peer."""
        now_seconds = self._steady_clock()
        logged_at, left_out_count = self._last_line_by_kind.get(line_kind, (float("-inf"), 0))
        if now_seconds - logged_at < self._interval_seconds:
            self._last_line_by_kind[line_kind] = logged_at, left_out_count + 1
            return
        self._last_line_by_kind[line_kind] = now_seconds, 0
        more_text = f" (and {left_out_count} similar ones since the last such line)" if left_out_count else ""
        log.warning("%s%s", line_text, more_text, exc_info=with_traceback)
