"""Wraps numbers for output as bytes or milliseconds; None, for an unknown value, stays None."""

from nsadmin.output import Bytes, FineMillis, Millis


def to_bytes(byte_count: int | None) -> Bytes | None:
    """Wrap a number of bytes."""
    return None if byte_count is None else Bytes(byte_count)


def to_millis(milliseconds: int | None) -> Millis | None:
    """Wrap a number of whole milliseconds."""
    return None if milliseconds is None else Millis(milliseconds)


def to_fine_millis(milliseconds: float | None) -> FineMillis | None:
    """Wrap a number of milliseconds with decimals."""
    return None if milliseconds is None else FineMillis(milliseconds)


def count_noun(number: int, noun: str) -> str:
    """Format a number with its noun: 1 topic, 2 topics."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
