"""Ranges: thresholds as the Monitoring Plugins Development Guidelines write them.

A range says which values are fine: `10` is 0 to 10, `10:` is 10 or more, `~:10` is 10 or less, `5:10` is
between them, ends included. With `@` before it the values inside are those that are not fine.
"""

from math import inf, isnan
from typing import NamedTuple


class BadRange(ValueError):
    """A text that is no range; it says why."""


class Range(NamedTuple):
    """From `low` to `high`, both included; `inside` says that an alert is raised there, else outside."""

    low: float
    high: float
    inside: bool
    text: str

    def alerts(self, value: float) -> bool:
        """Whether a value is not fine."""
        return (self.low <= value <= self.high) is self.inside


def parse(text: str) -> Range:
    """The range that a text is. BadRange."""
    shown = text.strip()
    body = shown.removeprefix("@")
    low_text, colon, high_text = body.partition(":")
    if not colon:
        low_text, high_text = "", body
        if not body:
            raise BadRange(f"{text!r} is no range: {HINT}")
    low = -inf if low_text == "~" else _number(text, low_text, 0.0)
    high = _number(text, high_text, inf)
    if low > high:
        raise BadRange(f"{text!r} is no range: {low_text or '0'} is more than {high_text}")
    return Range(low, high, shown.startswith("@"), shown)


HINT = "10 alerts above 10 (or below 0), 10: below 10, ~:10 above 10, 5:10 outside of them, @5:10 within"


def _number(text: str, part: str, default: float) -> float:
    if not part:
        return default
    try:
        number = float(part)
    except ValueError:
        number = float("nan")
    if isnan(number) or number in (inf, -inf):
        raise BadRange(f"{text!r} is no range: {HINT}")
    return number
