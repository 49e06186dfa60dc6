"""The wall clock of everything that reads a cluster: the moment of the bundle while one is read."""

import time as _time

_frozen_seconds: float | None = None


def time() -> float:
    """Return the seconds since 1970 (UTC): now, or the moment at which the clock stands still."""
    return _time.time() if _frozen_seconds is None else _frozen_seconds


def freeze(seconds: float | None) -> None:
    """Let the clock stand still, or run again.

    Args:
        seconds: The moment in seconds since 1970 (UTC); None to let it run.
    """
    global _frozen_seconds
    _frozen_seconds = seconds
