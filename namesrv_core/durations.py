"""Owns the one grammar of durations: 500ms, 15s, 1h30m, 2d."""

import re

_PART = r"(\d{1,9}(?:\.\d{1,3})?)(ms?|[shdw])"
_PART_PATTERN, _DURATION_PATTERN = re.compile(_PART, re.ASCII), re.compile(f"(?:{_PART})+", re.ASCII)
_SECONDS_PER_UNIT = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def parse_duration(text: str) -> float | None:
    """Return the seconds; a number without a unit is in seconds. None if the text is no duration."""
    with_unit = f"{text}s" if text[-1:].isdigit() else text
    if _DURATION_PATTERN.fullmatch(with_unit) is None:
        return None
    return sum(float(number) * _SECONDS_PER_UNIT[unit] for number, unit in _PART_PATTERN.findall(with_unit))
