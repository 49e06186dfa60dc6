"""The JSON dialect of Java's servers and clients: reads and writes what fastjson 2 in 5.5.0 does.

It differs from RFC 8259 in two ways. Integer map keys have no quotes, unless the reader requests the standard
dialect. A value of one type is accepted for another ("5" for 5).
"""

import json
import re
from collections.abc import Generator, Iterable
from json.encoder import encode_basestring as _quote
from math import isfinite
from typing import Any, NamedTuple, Self

from namesrv_core.errors import OverLimit
from namesrv_core.printable_text import cut_text
from namesrv_core.protocol.size_limits import UNLIMITED, is_nested_deeper
from namesrv_core.protocol.steps import run_all_steps

# The largest integer that a double can hold exactly. The standard dialect writes larger integers as text.
_MAX_SAFE_INTEGER = 2**53 - 1


class EncodedJson(NamedTuple):
    """A value that is already encoded, in the dialect of the text that contains it."""

    json_text: str


def encode_json(value: object, *, is_standard: bool = False) -> bytes:
    """Encode compactly: sort members, leave out members that are None, keep list elements that are None.

    `is_standard` quotes integer keys and writes integers beyond 2**53 as text. 5.5.0 does so in routes for
    version 401 and later.
    """
    return encode_json_text(value, is_standard).encode("utf-8", "replace")


def encode_json_text(value: object, is_standard: bool = False) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, dict):
        return _encode_members(value, is_standard)
    if isinstance(value, int):
        if is_standard and abs(value) > _MAX_SAFE_INTEGER:
            return f'"{int(value)}"'
        return str(int(value))
    if isinstance(value, DecimalNumber):
        return value.to_json()
    if isinstance(value, float):
        return format_java_double(value)
    if isinstance(value, EncodedJson):
        return value.json_text
    if isinstance(value, Iterable):
        return f"[{','.join([encode_json_text(item, is_standard) for item in value])}]"
    raise TypeError(f"cannot encode {type(value).__name__} as JSON")


def _encode_members(members: dict[str | int, Any], is_standard: bool) -> str:
    texts = []
    for key in sorted([key for key, value in members.items() if value is not None]):
        value = members[key]
        name = _quote(key) if isinstance(key, str) else f'"{key}"' if is_standard else key
        # A call for each member of small objects would take longer than their texts.
        kind = type(value)
        if kind is str:
            text = _quote(value)
        elif kind is int and not is_standard:
            text = str(value)
        else:
            text = encode_json_text(value, is_standard)
        texts.append(f"{name}:{text}")
    return f"{{{','.join(texts)}}}"


def format_java_double(double_value: float) -> str:
    """Write a double like Java's `Double.toString`: 1000.0, 1.0E10, 0.01, Infinity."""
    # Import decimal here: it takes a millisecond of every start, and few processes write a double.
    from decimal import Decimal

    number = Decimal(repr(double_value))
    if not number.is_finite():
        return "NaN" if number.is_nan() else f"{'-' if double_value < 0 else ''}Infinity"
    exponent = number.adjusted()
    is_scientific = bool(number) and not -3 <= exponent < 7
    digits = format(number.scaleb(-exponent) if is_scientific else number, "f")
    whole_digits, _, fraction_digits = digits.partition(".")
    text = f"{whole_digits}.{fraction_digits.rstrip('0') or '0'}"
    return f"{text}E{exponent}" if is_scientific else text


def reject_constant(name: str) -> object:
    """A `parse_constant` for decoders that refuses NaN and Infinity."""
    raise ValueError(f"{name} is not a JSON value")


_MAX_EXPONENT = 2047
"""fastjson 2 reads no number with a larger exponent, and none with one below -2047."""


def _has_exponent(digits: str) -> bool:
    """Whether Java reads a number as a double, and not as a BigDecimal.

    Raises ValueError for an exponent that fastjson 2 does not read.
    """
    exponent = digits.lower().partition("e")[2]
    if exponent and abs(int(exponent)) > _MAX_EXPONENT:
        raise ValueError(f"the exponent of {cut_text(digits, 40)} is beyond {_MAX_EXPONENT}")
    return exponent != ""


class DecimalNumber(float):
    """A number with a fraction or an exponent, and its text: its conversions depend on it."""

    __slots__ = ("number_text",)

    def __new__(cls, digits: str) -> Self:
        number = super().__new__(cls, digits)
        number.number_text = digits
        return number

    number_text: str

    def to_json(self) -> str:
        if _has_exponent(self.number_text):
            return format_java_double(self) if isfinite(self) else "null"
        return self.number_text if self else self.number_text.removeprefix("-")

    def to_text(self) -> str:
        """The text in place of a String: `Double.toString` or `BigDecimal.toString`."""
        from decimal import Decimal

        return format_java_double(self) if _has_exponent(self.number_text) else str(Decimal(self.to_json()))


json_decoder = json.JSONDecoder(strict=False, parse_float=DecimalNumber, parse_constant=reject_constant)
"""Strings may contain control characters, and a number keeps its text."""

# Strings match first, so that a bare key matches only outside of strings. A string without an end matches
# too: otherwise the search for its end would start again at each quote in it.
_STRING_OR_BARE_KEY = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[{,]\s*(-?\d+)(?=\s*:)', re.S)
_MATCHES_PER_STEP = 1024


def quote_keys_in_steps(data: bytes) -> Generator[None, None, bytes]:
    parts: list[bytes] = []
    position = 0
    for match_index, key_match in enumerate(_STRING_OR_BARE_KEY.finditer(data), 1):
        if key_match[1] is not None:
            parts += (data[position : key_match.start(1)], b'"', key_match[1], b'"')
            position = key_match.end()
        if match_index % _MATCHES_PER_STEP == 0:
            yield
    return b"".join((*parts, data[position:]))


def quote_keys(data: bytes) -> bytes:
    return run_all_steps(quote_keys_in_steps(data))


def decode_json(data: bytes, *, errors: str = "strict", max_depth: int = UNLIMITED) -> Any:
    """Decode a body. Integer keys become text, as in JSON.

    `errors` says how to treat bad UTF-8. Raises ValueError for text that is no JSON even with odd keys, and
    OverLimit for JSON that is nested more than `max_depth` levels deep.
    """
    if is_nested_deeper(data, max_depth):
        raise OverLimit("maxJsonDepth", f"JSON nested more than {max_depth} levels deep")
    text = data.decode("utf-8", errors)
    try:
        try:
            return json_decoder.decode(text)
        except ValueError:
            quoted = quote_keys(data)
            if quoted == data:
                raise
            return json_decoder.decode(quoted.decode("utf-8", errors))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def to_int(value: object, bit_width: int = 32) -> int:
    """Convert a value to an int (with `bit_width` 64: to a long) as fastjson 2 does.

    Text is parsed, and fractions are cut. true is 1; null, "" and "null" are 0; [n] is n as an int. As an
    int an object is 0. A number with an exponent that does not fit becomes the largest or smallest integer;
    of one with a fraction the lowest bits count. Raises ValueError for all other values.
    """
    if isinstance(value, list):
        return _parse_only_item(value)
    if value is None or value == "" or value == "null":
        return 0
    if isinstance(value, dict) and bit_width == 32:
        # Java reads the object: it may contain a number that Java refuses.
        encode_json_text(value)
        return 0
    return _parse_number(value, bit_width)


def _parse_only_item(items: list[Any]) -> int:
    """Convert the only item as Java's `Number.intValue` or `Integer.parseInt`, also where a long is due."""
    item = items[0] if len(items) == 1 else None
    if isinstance(item, float):
        return _parse_number(item, 32)
    if isinstance(item, int) and not isinstance(item, bool):
        return _lowest_bits(item, 32)
    if isinstance(item, str) and _INTEGER_TEXT.fullmatch(item):
        return _parse_number(item, 32)
    raise ValueError(f"{items!r} is not an integer")


def _parse_number(value: object, bit_width: int) -> int:
    if isinstance(value, DecimalNumber):
        value = value.number_text
    try:
        if isinstance(value, str) and _INTEGER_TEXT.fullmatch(value):
            number = int(value)
        elif isinstance(value, str) and _DECIMAL_TEXT.fullmatch(value):
            number = _cut_decimal(value, bit_width)
        elif isinstance(value, (bool, int, float)):
            number = int(value)
        else:
            raise ValueError(f"{value!r} is not an integer")
    except OverflowError:
        raise ValueError(f"{value!r} is not finite") from None
    if not -(1 << bit_width - 1) <= number < 1 << bit_width - 1:
        raise ValueError(f"{number} does not fit {bit_width} bits")
    return number


def _cut_decimal(digits: str, bit_width: int) -> int:
    """Convert a decimal number like Java: a double is bounded, of a BigDecimal the lowest bits count."""
    if not _has_exponent(digits):
        return _lowest_bits(int(digits.partition(".")[0]), bit_width)
    limit = 1 << bit_width - 1
    double_value = float(digits)
    if not -limit < double_value < limit:
        return limit - 1 if double_value > 0 else -limit
    return int(double_value)


def _lowest_bits(number: int, bit_width: int) -> int:
    limit = 1 << bit_width - 1
    return (number + limit) % (2 * limit) - limit


_INTEGER_TEXT = re.compile(r"[+-]?[0-9]+")
_DECIMAL_TEXT = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")


def to_text(value: object) -> str | None:
    """Convert a value to a String as fastjson 2 does: text stays, other values become their JSON.

    Raises ValueError for a value that is nested too deeply.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, DecimalNumber):
        return value.to_text()
    try:
        return encode_json_text(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None
