"""Wraps numbers for output as bytes or milliseconds; None, for an unknown value, stays None."""

from nsadmin.console.output import ByteSize, DurationMillis, FineDurationMillis


def to_bytes(byte_count: int | None) -> ByteSize | None:
    """Wrap a number of bytes."""
    return None if byte_count is None else ByteSize(byte_count)


def to_millis(milliseconds: int | None) -> DurationMillis | None:
    """Wrap a number of whole milliseconds."""
    return None if milliseconds is None else DurationMillis(milliseconds)


def to_fine_millis(milliseconds: float | None) -> FineDurationMillis | None:
    """Wrap a number of milliseconds with decimals."""
    return None if milliseconds is None else FineDurationMillis(milliseconds)
