"""Parses times that operators type, in mqadmin's format too, into milliseconds since 1970."""

import re
from datetime import date, datetime, timedelta
from datetime import time as time_of_day

from nsadmin.client.messages.message_queries import END_OF_TIME_MS
from nsadmin.client.wall_clock import time
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output.timestamps import format_utc

TIME_HELP = (
    "ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday,"
    " 2h or -2h for two hours ago (s, m, h, d, w), or now. Without a zone, it is local time."
)
_MQADMIN_TIME_PATTERN = re.compile(r"(\d{4}-\d\d-\d\d)#(\d\d:\d\d:\d\d):(\d{3})")
_AGO_PATTERN = re.compile(r"-?(\d{1,6})([smhdw])")
_SECONDS_PER_UNIT = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
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


def parse_window(
    begin_text: str | None, end_text: str | None, flags: tuple[str, str] = ("--since", "--until")
) -> tuple[int, int]:
    """Parse the begin and end of a window into ms since 1970; without them, it has no limit."""
    now_ms = int(time() * 1000)
    begin_ms = parse_time_option(flags[0], begin_text, 0, now_ms)
    end_ms = parse_time_option(flags[1], end_text, END_OF_TIME_MS, now_ms)
    if begin_ms > end_ms:
        raise UsageError(f"{flags[0]} {begin_text or begin_ms} is after {flags[1]} {end_text}: swap them")
    return begin_ms, end_ms


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
    if ago_match := _AGO_PATTERN.fullmatch(time_text):
        return now_ms - int(ago_match[1]) * _SECONDS_PER_UNIT[ago_match[2]] * 1000
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
