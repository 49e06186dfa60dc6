"""The JSON dialect of Java's servers and clients: reads and writes what fastjson 2 in 5.5.0 does.

It differs from RFC 8259 in two ways. Integer map keys have no quotes, unless the reader requests the standard
dialect. A value of one type is accepted in the place of another ("5" for 5).
"""

import json
import re
from collections.abc import Iterable
from json.encoder import encode_basestring as _quote
from typing import Any, NamedTuple

from namesrv_core.errors import OverLimit
from namesrv_core.protocol.limits import UNLIMITED, is_deeper

# The largest integer that a double can hold exactly. The standard dialect writes larger integers as text.
_SAFE_INTEGER = 2**53 - 1


class Ready(NamedTuple):
    """A value that is already encoded, in the dialect of the text that contains it."""

    text: str


def dumps(value: object, *, standard: bool = False) -> bytes:
    """Encode compactly: sort members, leave out members that are None, keep list elements that are None.

    `is_standard` quotes integer keys and writes integers beyond 2**53 as text. 5.5.0 does so in routes for
    version 401 and later.
    """
    return text(value, standard).encode("utf-8", "replace")


def text(value: object, standard: bool = False) -> str:
    """Like `encode_json`, but the result is text."""
    if isinstance(value, str):
        return _quote(value)
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        if standard and abs(value) > _SAFE_INTEGER:
            return f'"{int(value)}"'
        return str(int(value))
    if isinstance(value, float):
        return java_double(value)
    if isinstance(value, dict):
        members = sorted(item for item in value.items() if item[1] is not None)
        return "{" + ",".join(f"{_key(key, standard)}:{text(item, standard)}" for key, item in members) + "}"
    if isinstance(value, Ready):
        return value.text
    if isinstance(value, Iterable):
        return "[" + ",".join(text(item, standard) for item in value) + "]"
    raise TypeError(f"no JSON for {type(value).__name__}")


def _key(key: str | int, standard: bool) -> str:
    if isinstance(key, str):
        return _quote(key)
    return f'"{key}"' if standard else str(key)


def java_double(value: float) -> str:
    """Write a double like Java's `Double.toString`: 1000.0, 1.0E10, 0.01, Infinity."""
    # Import decimal here: it takes a millisecond of every start, and few processes write a double.
    from decimal import Decimal

    number = Decimal(repr(value))
    if not number.is_finite():
        return "NaN" if number.is_nan() else f"{'-' if value < 0 else ''}Infinity"
    exponent = number.adjusted()
    scientific = bool(number) and not -3 <= exponent < 7
    digits = format(number.scaleb(-exponent) if scientific else number, "f")
    whole, _, fraction = digits.partition(".")
    text = f"{whole}.{fraction.rstrip('0') or '0'}"
    return f"{text}E{exponent}" if scientific else text


def no_constant(name: str) -> object:
    """A `parse_constant` for decoders that refuses NaN and Infinity."""
    raise ValueError(f"{name} is no JSON value")


_decoder = json.JSONDecoder(strict=False, parse_constant=no_constant)

# Strings match first, so that a bare key matches only outside of strings. A string without an end matches
# too: otherwise the search for its end would start again at each quote in it.
_STRING_OR_BARE_KEY = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|([{,]\s*)(-?\d+)(?=\s*:)', re.S)


def _quote_bare_key(match: re.Match[str]) -> str:
    return match[0] if match[2] is None else f'{match[1]}"{match[2]}"'


def loads(body: bytes, *, errors: str = "strict", depth: int = UNLIMITED) -> Any:
    """Decode a body. Integer keys become text, as JSON has them.

    `errors` says how to treat bad UTF-8. Raises ValueError for text that is no JSON even with odd keys, and
    OverLimit for JSON that is nested more than `max_depth` levels deep.
    """
    if is_deeper(body, depth):
        raise OverLimit("maxJsonDepth", f"JSON nested more than {depth} levels deep")
    text = body.decode("utf-8", errors)
    try:
        try:
            return _decoder.decode(text)
        except ValueError:
            quoted = _STRING_OR_BARE_KEY.sub(_quote_bare_key, text)
            if quoted == text:
                raise
            return _decoder.decode(quoted)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def to_int(value: object, bits: int = 32) -> int:
    """Convert a value to an int (with `bit_width` 64: to a long) as fastjson 2 does.

    Text is parsed, and fractions are cut. true is 1; null, "" and "null" are 0; [n] is n. As an int an object
    is 0. Raises ValueError for all other values.
    """
    if isinstance(value, list):
        if len(value) != 1 or isinstance(value[0], bool) or not isinstance(value[0], (int, float, str)):
            raise ValueError(f"{value!r} is no integer")
        return _number(value[0], bits)
    if value is None or value == "" or value == "null" or (isinstance(value, dict) and bits == 32):
        return 0
    return _number(value, bits)


def _number(value: object, bits: int) -> int:
    try:
        if isinstance(value, str) and _INTEGER.fullmatch(value):
            number = int(value)
        elif isinstance(value, str) and _DECIMAL.fullmatch(value):
            number = int(float(value))
        elif isinstance(value, (bool, int, float)):
            number = int(value)
        else:
            raise ValueError(f"{value!r} is no integer")
    except OverflowError:
        raise ValueError(f"{value!r} is not finite") from None
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise ValueError(f"{number} does not fit {bits} bits")
    return number


_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")


def to_text(value: object) -> str | None:
    """Convert a value to a String as fastjson 2 does: text stays, other values become their JSON.

    Raises ValueError for a value that is nested too deeply.
    """
    try:
        return value if value is None or isinstance(value, str) else text(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None
