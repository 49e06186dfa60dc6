"""Formats times for output, in UTC."""

from datetime import UTC, datetime

# Java's clock can exceed the year 9999, which datetime cannot show. Such a time is shown as a number.
_LAST_CALENDAR_MS = 253_402_300_799_999


def format_utc(time_ms: int | None) -> str | None:
    """Format ms since 1970 as ISO 8601 with a Z. None for None, and for 0 and less, which mean "never"."""
    if time_ms is None or time_ms <= 0:
        return None
    if time_ms > _LAST_CALENDAR_MS:
        return str(time_ms)
    seconds, millis_part = divmod(time_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{millis_part:03d}Z"
