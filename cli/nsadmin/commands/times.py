"""Times as a table shows them: in UTC, and saying so."""

from datetime import UTC, datetime

# What Java's clock can say and a calendar cannot show is shown as it is.
_LAST = 253_402_300_799_999


def utc(milliseconds: int | None) -> str | None:
    """Milliseconds since 1970 as ISO 8601; None stays None, and 0 and less stand for never."""
    if milliseconds is None or milliseconds <= 0:
        return None
    if milliseconds > _LAST:
        return str(milliseconds)
    seconds, rest = divmod(milliseconds, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:03d}Z"
