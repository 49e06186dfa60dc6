"""Threshold ranges in the syntax of the Monitoring Plugins Development Guidelines.

A range has the acceptable values: `10` is 0 to 10, `10:` is 10 or more, `~:10` is 10 or less, `5:10` is
5 to 10, ends included. With a leading `@`, the values inside the range raise the alert.
"""

from math import inf, isnan
from typing import NamedTuple


class InvalidRangeError(ValueError):
    """A text is not a range. The message gives the reason."""


class AlertRange(NamedTuple):
    """The values from `low_bound` to `high_bound`, both included.

    With `alerts_inside`, values inside the range raise an alert, else values outside.
    """

    low_bound: float
    high_bound: float
    alerts_inside: bool
    range_text: str

    def is_alert(self, measured_value: float) -> bool:
        """Whether a value raises an alert."""
        return (self.low_bound <= measured_value <= self.high_bound) is self.alerts_inside

    def is_within(self, other: "AlertRange") -> bool:
        """Whether the other range accepts all values of this one, and more."""
        is_part = other.low_bound <= self.low_bound and self.high_bound <= other.high_bound
        return is_part and not (self.alerts_inside or other.alerts_inside) and self[:2] != other[:2]


def parse_range(range_text: str) -> AlertRange:
    """Parse a range. Raises InvalidRangeError."""
    stripped_text = range_text.strip()
    range_body = stripped_text.removeprefix("@")
    low_text, colon, high_text = range_body.partition(":")
    if not colon:
        low_text, high_text = "", range_body
        if not range_body:
            raise InvalidRangeError(f'invalid range "{range_text}": {SYNTAX_HINT}')
    low_bound = -inf if low_text == "~" else _parse_bound(range_text, low_text, 0.0)
    high_bound = _parse_bound(range_text, high_text, inf)
    if low_bound > high_bound:
        means = "" if low_text else f"it means 0 to {high_text}, and "
        reason = f"{means}{low_text or '0'} is more than {high_text}: "
        raise InvalidRangeError(f'invalid range "{range_text}": {reason}{SYNTAX_HINT}')
    return AlertRange(low_bound, high_bound, stripped_text.startswith("@"), stripped_text)


SYNTAX_HINT = (
    "use 10 (alerts above 10 or below 0), or 10: (below 10), or ~:10 (above 10), or 5:10 (outside 5 to 10), "
    "or @5:10 (inside 5 to 10)"
)


def _parse_bound(range_text: str, bound_text: str, default_bound: float) -> float:
    if not bound_text:
        return default_bound
    try:
        bound_value = float(bound_text)
    except ValueError:
        bound_value = float("nan")
    if isnan(bound_value) or bound_value in (inf, -inf):
        raise InvalidRangeError(f'invalid range "{range_text}": {SYNTAX_HINT}')
    return bound_value
