"""Threshold ranges in the syntax of the Monitoring Plugins Development Guidelines.

A range has the acceptable values: `10` is 0 to 10, `10:` is 10 or more, `~:10` is 10 or less, `5:10` is
5 to 10, ends included. With a leading `@`, the values inside the range raise the alert.
"""

from math import inf, isnan
from typing import NamedTuple


class BadRange(ValueError):
    """A text is not a range. The message gives the reason."""


class Range(NamedTuple):
    """The values from `low_bound` to `high_bound`, both included.

    With `alerts_inside`, values inside the range raise an alert, else values outside.
    """

    low: float
    high: float
    inside: bool
    text: str

    def alerts(self, value: float) -> bool:
        """Whether a value raises an alert."""
        return (self.low <= value <= self.high) is self.inside


def parse(text: str) -> Range:
    """Parse a range. Raises InvalidRangeError."""
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
