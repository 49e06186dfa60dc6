"""Parses times and windows of options."""

from typing import Any

from nsadmin.client.messages.message_queries import END_OF_TIME_MS
from nsadmin.client.wall_clock import time
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.typed_times import parse_time_ms, suggest_past_time

TIME_HELP = (
    "ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday,"
    " 2h or -2h for two hours ago (s, m, h, d, w), or now. Without a zone, it is local time."
)


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
            f'invalid time "{time_text}" for {option_flag}: use 1h, 14:03, yesterday, or 2026-11-23T14:03Z'
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


def parse_past_time(
    option_flag: str, time_text: str, now_ms: int | None = None, *, other_advice: str = ""
) -> int:
    """Parse a time into ms since 1970; UsageError if it is in the future."""
    now_ms = int(time() * 1000) if now_ms is None else now_ms
    time_ms = parse_time_option(option_flag, time_text, 0, now_ms)
    if time_ms > now_ms:
        raise UsageError(
            f'invalid time "{time_text}" for {option_flag}: it is in the future, now is {format_utc(now_ms)}'
            f"{suggest_past_time(option_flag, time_text)}{other_advice}"
        )
    return time_ms
