"""The wall clock of all code that reads a cluster. For a bundle, it shows the time of the bundle."""

import time as _time

_frozen_seconds: float | None = None


def time() -> float:
    """Return the seconds since 1970 (UTC): the current time, or the time of a frozen clock."""
    return _time.time() if _frozen_seconds is None else _frozen_seconds


def freeze_clock(seconds: float | None) -> None:
    """Freeze the clock at a time, or let it run again."""
    global _frozen_seconds
    _frozen_seconds = seconds
