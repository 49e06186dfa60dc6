"""Parses times that operators type, in mqadmin's format too, into milliseconds since 1970."""

import re
from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from time import time

from nsadmin.commands.times import utc
from nsadmin.diagnostics import UsageError

HELP = (
    "ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday,"
    " 2h or -2h for two hours ago (s, m, h, d, w), or now."
)
_MQADMIN = re.compile(r"(\d{4}-\d\d-\d\d)#(\d\d:\d\d:\d\d):(\d{3})")
_AGO = re.compile(r"-?(\d{1,6})([smhdw])")
_NEVER = 1 << 62
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_OF_A_DAY = re.compile(r"(?=.)(?:(today|yesterday)(?:\s+|$))?(\d\d?:\d\d(?::\d\d(?:\.\d{1,6})?)?)?")


def moment(command: str, option: str, text: str | None, default: int, now: int | None = None) -> int:
    """Parse an option's time into milliseconds since 1970; without a time zone, the local one applies.

    `-2h` and `yesterday` count from `now_ms`, by default the time of the clock.
    """
    if text is None:
        return default
    try:
        return point(text.strip(), int(time() * 1000) if now is None else now)
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"{command}: {option} {text} is no time: give {HELP}") from None


def span(command: str, since: str | None, until: str | None) -> tuple[int, int]:
    """Parse --since and --until into ms since 1970; by default from the beginning and without end."""
    now = int(time() * 1000)
    begin = moment(command, "--since", since, 0, now)
    end = moment(command, "--until", until, _NEVER, now)
    if begin >= end:
        raise UsageError(f"{command}: nothing is between --since {since or begin} and --until {until}")
    return begin, end


def past(command: str, option: str, text: str, now: int | None = None) -> int:
    """Parse a time into ms since 1970; UsageError if it is in the future."""
    now = int(time() * 1000) if now is None else now
    found = moment(command, option, text, 0, now)
    if found > now:
        raise UsageError(f"{command}: {option} {text} is still to come: it is {utc(now)} now")
    return found


def point(word: str, now: int) -> int:
    """Parse a time into ms since 1970, relative to `now_ms`; ValueError if the text is no time."""
    if word == "now":
        return now
    if word.isascii() and word.isdigit() and len(word) < 19:
        return int(word)
    if ago := _AGO.fullmatch(word):
        return now - int(ago[1]) * _UNITS[ago[2]] * 1000
    if of_a_day := _OF_A_DAY.fullmatch(word):
        back = timedelta(days=1 if of_a_day[1] == "yesterday" else 0)
        return _at(datetime.fromtimestamp(now / 1000).date() - back, of_a_day[2] or "00:00")
    return round(datetime.fromisoformat(_MQADMIN.sub(r"\1T\2.\3", word)).timestamp() * 1000)


def _at(day: date, clock: str) -> int:
    hour, rest = clock.split(":", 1)
    moment = datetime.combine(day, time_of_day.fromisoformat(f"{int(hour):02d}:{rest}"))
    return round(moment.timestamp() * 1000)
