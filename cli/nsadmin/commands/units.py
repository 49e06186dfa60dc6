"""Sizes and durations of what may be unknown: None stays None."""

from nsadmin.output import Bytes, MeanMillis, Millis


def size(number: int | None) -> Bytes | None:
    """Bytes."""
    return None if number is None else Bytes(number)


def millis(number: int | None) -> Millis | None:
    """Milliseconds."""
    return None if number is None else Millis(number)


def mean_millis(number: float | None) -> MeanMillis | None:
    """Milliseconds on average."""
    return None if number is None else MeanMillis(number)
