"""The parser of the moment to which a replay jumps. Pure."""

from datetime import datetime, timedelta


def parse_moment(text: str, now_ms: int, begin_ms: int, end_ms: int) -> int | None:
    """Parse a time (ms since 1970). A time of day means its first occurrence in the replay."""
    text = text.strip()
    if text[:1] in ("+", "-"):
        return now_ms + int(text) * 1000 if text[1:].isdecimal() else None
    time_parts = text.split(":")
    if len(time_parts) not in (2, 3) or not all(time_part.isdecimal() for time_part in time_parts):
        return None
    hours, minutes, seconds = (*map(int, time_parts), 0)[:3]
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    first_midnight = datetime.fromtimestamp(begin_ms / 1000).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    local_moment = first_midnight + timedelta(hours=hours, minutes=minutes, seconds=seconds)
    moment_ms = int(local_moment.timestamp() * 1000)
    return moment_ms + 86_400_000 if moment_ms + 86_400_000 <= end_ms and moment_ms < begin_ms else moment_ms
