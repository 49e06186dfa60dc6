"""A clock that shows the time of day and ignores later changes of the system clock."""

import time
from collections.abc import Callable

SecondsClock = Callable[[], float]
"""Seconds since 1970."""


def build_steady_clock() -> SecondsClock:
    """Build a clock that starts at the current time and ignores later changes of the system clock."""
    epoch_offset = time.time() - time.monotonic()
    return lambda: epoch_offset + time.monotonic()
