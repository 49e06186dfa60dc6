"""Parses times that operators type, in mqadmin's format too, into milliseconds since 1970."""

import re
from datetime import date, datetime, timedelta
from datetime import time as time_of_day

from namesrv_core.durations import parse_duration

_MQADMIN_TIME_PATTERN = re.compile(r"(\d{4}-\d\d-\d\d)#(\d\d:\d\d:\d\d):(\d{3})")
_DAY_TIME_PATTERN = re.compile(r"(?=.)(?:(today|yesterday)(?:\s+|$))?(\d\d?:\d\d(?::\d\d(?:\.\d{1,6})?)?)?")


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


def suggest_past_time(option_flag: str, time_text: str) -> str:
    """Advice for a time in the future: if it is a time of today, the same time of yesterday; else none."""
    day_time_match = _DAY_TIME_PATTERN.fullmatch(time_text.strip())
    return f': use {option_flag} "yesterday {day_time_match[2]}"' if day_time_match else ""


def _local_time_ms(local_date: date, clock_text: str) -> int:
    hour_text, minutes_text = clock_text.split(":", 1)
    local_time = datetime.combine(
        local_date, time_of_day.fromisoformat(f"{int(hour_text):02d}:{minutes_text}")
    )
    return round(local_time.timestamp() * 1000)
