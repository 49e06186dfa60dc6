"""Sizes and durations of what may be unknown: None stays None."""

from nsadmin.output import Bytes, FineMillis, Millis


def size(number: int | None) -> Bytes | None:
    """Bytes."""
    return None if number is None else Bytes(number)


def millis(number: int | None) -> Millis | None:
    """Milliseconds."""
    return None if number is None else Millis(number)


def fine_millis(number: float | None) -> FineMillis | None:
    """Milliseconds and parts of them."""
    return None if number is None else FineMillis(number)
