"""Wraps numbers for output as bytes or milliseconds; None, for an unknown value, stays None."""

from nsadmin.output import Bytes, FineMillis, Millis


def size(number: int | None) -> Bytes | None:
    """Wrap a number of bytes."""
    return None if number is None else Bytes(number)


def millis(number: int | None) -> Millis | None:
    """Wrap a number of whole milliseconds."""
    return None if number is None else Millis(number)


def fine_millis(number: float | None) -> FineMillis | None:
    """Wrap a number of milliseconds with decimals."""
    return None if number is None else FineMillis(number)


def counted(number: int, noun: str) -> str:
    """Format a number with its noun: 1 topic, 2 topics."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
