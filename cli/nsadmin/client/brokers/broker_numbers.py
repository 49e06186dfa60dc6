"""Numbers in the texts of brokers, which follow the locale of the broker's Java."""

from math import isfinite

_DECIMAL_SEPARATORS = str.maketrans({",": ".", "\u066b": "."})


def parse_broker_number(number_text: str) -> float | None:
    """Parse a number such as 252.0, or 252,0 of a German broker; None if it is no finite number."""
    try:
        number = float(number_text.translate(_DECIMAL_SEPARATORS))
    except ValueError:
        return None
    return number if isfinite(number) else None
