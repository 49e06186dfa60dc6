"""JsonObject, a JSON object from a server whose members are read with types.

Clients in other languages send numbers as text or null, and a hostile server sends anything. Numbers are read
laxly, as Java's fastjson does. A number that does not fit 64 bits or is not finite, and a value of another
type, is a ValueError that names the member. Without a default, a member must be there.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any, Final, TypeVar, overload

D = TypeVar("D")

_INTEGER_TEXT = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)
_REQUIRED: Final[Any] = object()
_LONGEST_QUOTE = 40


class JsonObject:
    """The members of a JSON object. `name` stands for it in errors; null has no members."""

    __slots__ = ("members", "name")

    def __init__(self, value: object, name: str = "the body") -> None:
        self.members: Mapping[str, Any] = {} if value is None else _require(value, dict, name, "an object")
        self.name = name

    def __contains__(self, key: str) -> bool:
        return self.members.get(key) is not None

    def _read(self, key: str, default: object, read: Callable[[object, str], object]) -> object:
        value = self.members.get(key)
        if value is not None and not (value in ("", "null") and read is not to_text):
            return read(value, key)
        if default is _REQUIRED:
            raise ValueError(f"{self.name} has no {key}")
        return default

    @overload
    def integer(self, key: str) -> int: ...
    @overload
    def integer(self, key: str, default: D) -> int | D: ...
    def integer(self, key: str, default: object = _REQUIRED) -> object:
        """Return a whole number of 64 bits. null and missing are the default; a fraction is cut."""
        return self._read(key, default, to_integer)

    @overload
    def number(self, key: str) -> float: ...
    @overload
    def number(self, key: str, default: D) -> float | D: ...
    def number(self, key: str, default: object = _REQUIRED) -> object:
        """Return a finite number. null and missing are the default."""
        return self._read(key, default, to_number)

    @overload
    def text(self, key: str) -> str: ...
    @overload
    def text(self, key: str, default: D) -> str | D: ...
    def text(self, key: str, default: object = _REQUIRED) -> object:
        """Return a text; a number or boolean becomes text."""
        return self._read(key, default, to_text)

    def flag(self, key: str, default: bool = False) -> bool:
        """Return a boolean, also written as text or 0 and 1. null and missing are the default."""
        value = self.members.get(key)
        return default if value is None else to_flag(value, key)

    def child(self, key: str) -> "JsonObject":
        """Return the object of a member; one without members for null."""
        return JsonObject(self.members.get(key), key)

    def children(self, key: str) -> list["JsonObject"]:
        """Return the objects of a list that may be null or contain nulls."""
        return [JsonObject(item, key) for item in to_list(self.members.get(key), key) if item is not None]

    def sorted_children(self) -> Iterator[tuple[str, "JsonObject"]]:
        """Yield each name with its object, in the order of names."""
        for key, value in sorted(self.members.items()):
            yield key, JsonObject(value, key)

    def texts(self, key: str) -> list[str]:
        """Return the texts of a list that may be null or contain nulls."""
        return [to_text(item, key) for item in to_list(self.members.get(key), key) if item is not None]


def to_integer(value: object, name: str) -> int:
    """Read a value as a whole number of 64 bits. `name` stands for it in the ValueError."""
    if isinstance(value, str) and _INTEGER_TEXT.fullmatch(value.strip()):
        value = int(value)
    number = value if isinstance(value, int) else to_number(value, name)
    if isinstance(value, bool) or not -(1 << 63) <= number < 1 << 63:
        raise ValueError(f"{name} is {_quote(value)}, not a whole number of 64 bits")
    return int(number)


def to_number(value: object, name: str) -> float:
    """Read a value as a finite number. `name` stands for it in the ValueError."""
    try:
        number = (
            float(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else None
        )
    except (ValueError, OverflowError):
        number = None
    if number is None or not isfinite(number):
        raise ValueError(f"{name} is {_quote(value)}, not a finite number")
    return number


def to_flag(value: object, name: str) -> bool:
    """Read a value as a boolean. `name` stands for it in the ValueError."""
    flag = {"true": True, "false": False, "1": True, "0": False}.get(str(value).lower())
    if flag is None:
        raise ValueError(f"{name} is {_quote(value)}, not true or false")
    return flag


def to_text(value: object, name: str) -> str:
    """Read a value as text. `name` stands for it in the ValueError."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else str(_require(value, (int, float), name, "a text"))


def to_list(value: object, name: str) -> list[Any]:
    """Read a value as a list; null is empty. `name` stands for it in the ValueError."""
    return [] if value is None else _require(value, list, name, "a list")


def _require(value: object, types: type | tuple[type, ...], name: str, noun: str) -> Any:
    if not isinstance(value, types):
        raise ValueError(f"{name} is {_quote(value)}, not {noun}")
    return value


def _quote(value: object) -> str:
    try:
        text = str(value)
    except ValueError:
        # Python refuses to write an integer of more than 4,300 digits.
        text = "a number of thousands of digits"
    return f'"{text}"' if len(text) <= _LONGEST_QUOTE else f'"{text[:_LONGEST_QUOTE]}…"'
