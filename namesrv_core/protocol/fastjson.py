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

# The largest integer that a double can hold exactly. The standard dialect writes larger integers as text.
_MAX_SAFE_INTEGER = 2**53 - 1


class EncodedJson(NamedTuple):
    """A value that is already encoded, in the dialect of the text that contains it."""

    json_text: str


def encode_json(json_value: object, *, is_standard: bool = False) -> bytes:
    """Encode compactly: sort members, leave out members that are None, keep list elements that are None.

    `is_standard` quotes integer keys and writes integers beyond 2**53 as text. 5.5.0 does so in routes for
    version 401 and later.
    """
    return encode_json_text(json_value, is_standard).encode("utf-8", "replace")


def encode_json_text(json_value: object, is_standard: bool = False) -> str:
    """Like `encode_json`, but the result is text."""
    if isinstance(json_value, str):
        return _quote(json_value)
    if json_value is None:
        return "null"
    if json_value is True:
        return "true"
    if json_value is False:
        return "false"
    if isinstance(json_value, int):
        if is_standard and abs(json_value) > _MAX_SAFE_INTEGER:
            return f'"{int(json_value)}"'
        return str(int(json_value))
    if isinstance(json_value, DecimalNumber):
        return json_value.to_json()
    if isinstance(json_value, float):
        return format_java_double(json_value)
    if isinstance(json_value, dict):
        sorted_members = sorted(json_item for json_item in json_value.items() if json_item[1] is not None)
        return (
            "{"
            + ",".join(
                f"{_encode_key(member_key, is_standard)}:{encode_json_text(json_item, is_standard)}"
                for member_key, json_item in sorted_members
            )
            + "}"
        )
    if isinstance(json_value, EncodedJson):
        return json_value.json_text
    if isinstance(json_value, Iterable):
        return "[" + ",".join(encode_json_text(json_item, is_standard) for json_item in json_value) + "]"
    raise TypeError(f"cannot encode {type(json_value).__name__} as JSON")


def _encode_key(member_key: str | int, is_standard: bool) -> str:
    if isinstance(member_key, str):
        return _quote(member_key)
    return f'"{member_key}"' if is_standard else str(member_key)


def format_java_double(double_value: float) -> str:
    """Write a double like Java's `Double.toString`: 1000.0, 1.0E10, 0.01, Infinity."""
    # Import decimal here: it takes a millisecond of every start, and few processes write a double.
    from decimal import Decimal

    decimal_number = Decimal(repr(double_value))
    if not decimal_number.is_finite():
        return "NaN" if decimal_number.is_nan() else f"{'-' if double_value < 0 else ''}Infinity"
    exponent = decimal_number.adjusted()
    is_scientific = bool(decimal_number) and not -3 <= exponent < 7
    digit_text = format(decimal_number.scaleb(-exponent) if is_scientific else decimal_number, "f")
    whole_digits, _, fraction_digits = digit_text.partition(".")
    double_text = f"{whole_digits}.{fraction_digits.rstrip('0') or '0'}"
    return f"{double_text}E{exponent}" if is_scientific else double_text


def reject_constant(constant_name: str) -> object:
    """A `parse_constant` for decoders that refuses NaN and Infinity."""
    raise ValueError(f"{constant_name} is not a JSON value")


_MAX_EXPONENT = 2047
"""fastjson 2 reads no number with a larger exponent, and none with one below -2047."""


def _has_exponent(number_text: str) -> bool:
    """Whether Java reads a number as a double, and not as a BigDecimal.

    Raises ValueError for an exponent that fastjson 2 does not read.
    """
    exponent_text = number_text.lower().partition("e")[2]
    if exponent_text and abs(int(exponent_text)) > _MAX_EXPONENT:
        raise ValueError(f"the exponent of {cut_text(number_text, 40)} is beyond {_MAX_EXPONENT}")
    return exponent_text != ""


class DecimalNumber(float):
    """A number with a fraction or an exponent, and its text: its conversions depend on it."""

    __slots__ = ("number_text",)

    def __new__(cls, number_text: str) -> Self:
        decimal_number = super().__new__(cls, number_text)
        decimal_number.number_text = number_text
        return decimal_number

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


def quote_keys_in_steps(json_bytes: bytes) -> Generator[None, None, bytes]:
    """Put quotes around integer keys."""
    quoted_parts: list[bytes] = []
    position = 0
    for match_index, key_match in enumerate(_STRING_OR_BARE_KEY.finditer(json_bytes), 1):
        if key_match[1] is not None:
            quoted_parts += (json_bytes[position : key_match.start(1)], b'"', key_match[1], b'"')
            position = key_match.end()
        if match_index % _MATCHES_PER_STEP == 0:
            yield
    return b"".join((*quoted_parts, json_bytes[position:]))


def quote_keys(json_bytes: bytes) -> bytes:
    quote_steps = quote_keys_in_steps(json_bytes)
    while True:
        try:
            next(quote_steps)
        except StopIteration as stop_iteration:
            quoted_bytes: bytes = stop_iteration.value
            return quoted_bytes


def decode_json(json_bytes: bytes, *, errors: str = "strict", max_depth: int = UNLIMITED) -> Any:
    """Decode a body. Integer keys become text, as in JSON.

    `errors` says how to treat bad UTF-8. Raises ValueError for text that is no JSON even with odd keys, and
    OverLimit for JSON that is nested more than `max_depth` levels deep.
    """
    if is_nested_deeper(json_bytes, max_depth):
        raise OverLimit("maxJsonDepth", f"JSON nested more than {max_depth} levels deep")
    json_text = json_bytes.decode("utf-8", errors)
    try:
        try:
            return json_decoder.decode(json_text)
        except ValueError:
            quoted_bytes = quote_keys(json_bytes)
            if quoted_bytes == json_bytes:
                raise
            return json_decoder.decode(quoted_bytes.decode("utf-8", errors))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def to_int(json_value: object, bit_width: int = 32) -> int:
    """Convert a value to an int (with `bit_width` 64: to a long) as fastjson 2 does.

    Text is parsed, and fractions are cut. true is 1; null, "" and "null" are 0; [n] is n as an int. As an
    int an object is 0. A number with an exponent that does not fit becomes the largest or smallest integer;
    of one with a fraction the lowest bits count. Raises ValueError for all other values.
    """
    if isinstance(json_value, list):
        return _parse_only_item(json_value)
    if json_value is None or json_value == "" or json_value == "null":
        return 0
    if isinstance(json_value, dict) and bit_width == 32:
        # Java reads the object: it may contain a number that Java refuses.
        encode_json_text(json_value)
        return 0
    return _parse_number(json_value, bit_width)


def _parse_only_item(json_list: list[Any]) -> int:
    """Convert the only item as Java's `Number.intValue` or `Integer.parseInt`, also where a long is due."""
    list_item = json_list[0] if len(json_list) == 1 else None
    if isinstance(list_item, float):
        return _parse_number(list_item, 32)
    if isinstance(list_item, int) and not isinstance(list_item, bool):
        return _lowest_bits(list_item, 32)
    if isinstance(list_item, str) and _INTEGER_TEXT.fullmatch(list_item):
        return _parse_number(list_item, 32)
    raise ValueError(f"{json_list!r} is not an integer")


def _parse_number(json_value: object, bit_width: int) -> int:
    if isinstance(json_value, DecimalNumber):
        json_value = json_value.number_text
    try:
        if isinstance(json_value, str) and _INTEGER_TEXT.fullmatch(json_value):
            parsed_number = int(json_value)
        elif isinstance(json_value, str) and _DECIMAL_TEXT.fullmatch(json_value):
            parsed_number = _cut_decimal(json_value, bit_width)
        elif isinstance(json_value, (bool, int, float)):
            parsed_number = int(json_value)
        else:
            raise ValueError(f"{json_value!r} is not an integer")
    except OverflowError:
        raise ValueError(f"{json_value!r} is not finite") from None
    if not -(1 << bit_width - 1) <= parsed_number < 1 << bit_width - 1:
        raise ValueError(f"{parsed_number} does not fit {bit_width} bits")
    return parsed_number


def _cut_decimal(number_text: str, bit_width: int) -> int:
    """Convert a decimal number like Java: a double is bounded, of a BigDecimal the lowest bits count."""
    if not _has_exponent(number_text):
        return _lowest_bits(int(number_text.partition(".")[0]), bit_width)
    integer_limit = 1 << bit_width - 1
    double_value = float(number_text)
    if not -integer_limit < double_value < integer_limit:
        return integer_limit - 1 if double_value > 0 else -integer_limit
    return int(double_value)


def _lowest_bits(whole_number: int, bit_width: int) -> int:
    integer_limit = 1 << bit_width - 1
    return (whole_number + integer_limit) % (2 * integer_limit) - integer_limit


_INTEGER_TEXT = re.compile(r"[+-]?[0-9]+")
_DECIMAL_TEXT = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")


def to_text(json_value: object) -> str | None:
    """Convert a value to a String as fastjson 2 does: text stays, other values become their JSON.

    Raises ValueError for a value that is nested too deeply.
    """
    if json_value is None or isinstance(json_value, str):
        return json_value
    if isinstance(json_value, DecimalNumber):
        return json_value.to_text()
    try:
        return encode_json_text(json_value)
    except RecursionError:
        raise ValueError("nested too deeply") from None
