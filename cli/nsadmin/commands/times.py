"""Formats times for output, in UTC."""

from datetime import UTC, datetime

# Java's clock can exceed the year 9999, which datetime cannot show. Such a time is shown as a number.
_LAST = 253_402_300_799_999


def utc(milliseconds: int | None) -> str | None:
    """Milliseconds since 1970 as ISO 8601 with a Z; None for None, and for 0 and less, which mean "never"."""
    if milliseconds is None or milliseconds <= 0:
        return None
    if milliseconds > _LAST:
        return str(milliseconds)
    seconds, rest = divmod(milliseconds, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:03d}Z"
