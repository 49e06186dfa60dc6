"""Parses times that operators type, in mqadmin's format too, into milliseconds since 1970."""

import re
from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from typing import Any

from namesrv_core.durations import parse_duration
from nsadmin.client.messages.message_queries import END_OF_TIME_MS
from nsadmin.client.wall_clock import time
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output.timestamps import format_utc

TIME_HELP = (
    "ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday,"
    " 2h or -2h for two hours ago (s, m, h, d, w), or now. Without a zone, it is local time."
)
_MQADMIN_TIME_PATTERN = re.compile(r"(\d{4}-\d\d-\d\d)#(\d\d:\d\d:\d\d):(\d{3})")
_DAY_TIME_PATTERN = re.compile(r"(?=.)(?:(today|yesterday)(?:\s+|$))?(\d\d?:\d\d(?::\d\d(?:\.\d{1,6})?)?)?")


def parse_time_option(
    option_flag: str, time_text: str | None, default_ms: int, now_ms: int | None = None
) -> int:
    """Parse an option's time into milliseconds since 1970; without a time zone, the local one applies.

    `-2h` and `yesterday` count from `now_ms`, by default the time of the clock.
    """
    if time_text is None:
        return default_ms
    try:
        return parse_time_ms(time_text.strip(), int(time() * 1000) if now_ms is None else now_ms)
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f'invalid time "{time_text}" for {option_flag}: use 1h, 14:03, or 2026-11-23T14:03Z'
        ) from None


def parse_window(begin_text: str | None, end_text: str | None) -> tuple[int, int]:
    """Parse the begin and end of a window into ms since 1970; without them, it has no limit."""
    now_ms = int(time() * 1000)
    begin_ms = parse_time_option("--from", begin_text, 0, now_ms)
    end_ms = parse_time_option("--until", end_text, END_OF_TIME_MS, now_ms)
    require_order(begin_ms, end_ms, begin_text, end_text)
    return begin_ms, end_ms


def require_order(begin: Any, end: Any, begin_text: str | None, end_text: str | None) -> None:
    """Raise UsageError if the begin of a window is after its end, with both as the operator typed them."""
    if begin > end:
        raise UsageError(f"--from {begin_text or begin} is after --until {end_text}: swap them")


def parse_past_time(option_flag: str, time_text: str, now_ms: int | None = None) -> int:
    """Parse a time into ms since 1970; UsageError if it is in the future."""
    now_ms = int(time() * 1000) if now_ms is None else now_ms
    time_ms = parse_time_option(option_flag, time_text, 0, now_ms)
    if time_ms > now_ms:
        raise UsageError(
            f'invalid time "{time_text}" for {option_flag}: it is in the future, now is {format_utc(now_ms)}'
        )
    return time_ms


def parse_time_ms(time_text: str, now_ms: int) -> int:
    """Parse a time into ms since 1970, relative to `now_ms`; ValueError if the text is not a time."""
    if time_text == "now":
        return now_ms
    if time_text.isascii() and time_text.isdigit() and len(time_text) < 19:
        return int(time_text)
    ago_seconds = parse_duration(time_text.removeprefix("-")) if time_text[-1:].isalpha() else None
    if ago_seconds is not None and ago_seconds * 1000 <= now_ms:
        return now_ms - round(ago_seconds * 1000)
    if day_time_match := _DAY_TIME_PATTERN.fullmatch(time_text):
        days_back = timedelta(days=1 if day_time_match[1] == "yesterday" else 0)
        return _local_time_ms(
            datetime.fromtimestamp(now_ms / 1000).date() - days_back, day_time_match[2] or "00:00"
        )
    return round(datetime.fromisoformat(_MQADMIN_TIME_PATTERN.sub(r"\1T\2.\3", time_text)).timestamp() * 1000)


def _local_time_ms(local_date: date, clock_text: str) -> int:
    hour_text, minutes_text = clock_text.split(":", 1)
    local_time = datetime.combine(
        local_date, time_of_day.fromisoformat(f"{int(hour_text):02d}:{minutes_text}")
    )
    return round(local_time.timestamp() * 1000)
