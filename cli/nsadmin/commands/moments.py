"""Moments: points in time as operators write them, and mqadmin's way to."""

import re
from datetime import datetime
from time import time

from nsadmin.diagnostics import UsageError

HELP = "ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, or now."
_MQADMIN = re.compile(r"(\d{4}-\d\d-\d\d)#(\d\d:\d\d:\d\d):(\d{3})")


def moment(command: str, option: str, text: str | None, default: int) -> int:
    """Milliseconds since 1970; what names no time zone is meant in the one of this machine."""
    if text is None:
        return default
    word = text.strip()
    if word == "now":
        return int(time() * 1000)
    if word.isascii() and word.isdigit() and len(word) < 19:
        return int(word)
    try:
        return round(datetime.fromisoformat(_MQADMIN.sub(r"\1T\2.\3", word)).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise UsageError(f"{command}: {option} {text} is no time: give {HELP}") from None
