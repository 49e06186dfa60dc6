"""Owns phrases that many messages share."""

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime

from namesrv_core.errors import RocketMQError
from nsadmin.client.results import is_not_found

NO_PROXY = "no proxy found: if one runs in local mode, name it with --proxies"
_DURATION_UNITS = (
    (86_400_000, "d", 3_600_000, "h"),
    (3_600_000, "h", 60_000, "min"),
    (60_000, "min", 1000, "s"),
)


def abbreviate_names(names: Sequence[str], max_names: int) -> str:
    """Return the first names and the number of the others: "a, b and 3 more"."""
    remaining_count = len(names) - max_names
    return ", ".join(names[:max_names]) + (f" and {remaining_count} more" if remaining_count > 0 else "")


def format_utc_second(time_ms: float) -> str:
    """Format milliseconds since 1970 as ISO 8601 in UTC."""
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"


def format_byte_size(size: int) -> str:
    """Format a size: 1536 is 1.5 KiB."""
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if abs(size) >= 1024**power:
            return f"{size / 1024**power:.1f} {unit}"
    return f"{size} B"


def format_duration(duration_ms: float) -> str:
    """Format a duration: 90000 is 1 min 30 s."""
    for unit_ms, unit, part_ms, part in _DURATION_UNITS:
        if abs(duration_ms) >= unit_ms:
            count, rest_ms = divmod(int(duration_ms), unit_ms)
            rest_text = f" {rest_ms // part_ms} {part}" if rest_ms >= part_ms else ""
            return f"{count} {unit}{rest_text}"
    if abs(duration_ms) >= 1000:
        return f"{duration_ms / 1000:.2f} s"
    return f"{duration_ms} ms" if isinstance(duration_ms, int) else f"{duration_ms:.2f} ms"


def count_noun(number: int, noun: str) -> str:
    """Format a number with its noun: 1 topic, 2 topics."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def failed_on(errors: Sequence[RocketMQError | None], noun: str = "server") -> list[str]:
    """The note "failed on 1 of 2 servers: ERROR", with the error if all have the same; [] without one."""
    failures = [error for error in errors if error is not None]
    are_missing = all(map(is_not_found, failures))
    if noun == "step" and are_missing and len(failures) == len(errors):
        noun = "server"
    verb = "not found on" if noun == "server" and are_missing else "failed on"
    texts = {str(error) for error in failures}
    reason = f": {texts.pop()}" if len(texts) == 1 and verb == "failed on" else ""
    return [f"{verb} {len(failures)} of {count_noun(len(errors), noun)}{reason}"] if failures else []


def part_is(number: int, total: int, noun: str) -> str:
    """The subject and verb of a sentence about a part: 1 of 7 groups is, 2 of 7 groups are."""
    return f"{number} of {count_noun(total, noun)} {'is' if number == 1 else 'are'}"


def all_do(number: int, noun: str, verb: str) -> str:
    """The subject and verb of a sentence about all: all 3 brokers answer, the only broker answers."""
    if number == 1:
        return f"the only {noun} {verb}s"
    return f"{'both' if number == 2 else f'all {number}'} {noun}s {verb}"


def reading_width() -> int:
    """The width for texts: that of the terminal or of COLUMNS, at most 100; 80 without a terminal."""
    return min(shutil.get_terminal_size((80, 24)).columns, 100)
