"""Wording: pieces that many lines for people are made of."""

from collections.abc import Sequence
from datetime import UTC, datetime


def first_of(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are: "a, b and 3 more"."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def to_the_second(milliseconds: float) -> str:
    """Milliseconds since 1970 as ISO 8601 in UTC."""
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
