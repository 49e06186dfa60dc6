"""Formats single values as Java prints them. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

CommandArguments = Mapping[str, Any]


def format_fixed(number: Any, decimal_places: int) -> str:
    """Format a number like Java's %.Nf, which rounds the decimal digits half up."""
    rounding_step = Decimal(1).scaleb(-decimal_places)
    return str(Decimal(repr(float(number or 0))).quantize(rounding_step, ROUND_HALF_UP))


def format_local_time(utc_text: Any, time_format: str) -> str:
    """Format a time in the local time zone; nothing for None."""
    return (
        "" if utc_text is None else datetime.fromisoformat(str(utc_text)).astimezone().strftime(time_format)
    )


def java_text(value: Any) -> str:
    """Format a value as Java prints it."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def join_lines(lines: Sequence[str]) -> str:
    """Join lines, each with its line end."""
    return "".join(f"{line}\n" for line in lines)
