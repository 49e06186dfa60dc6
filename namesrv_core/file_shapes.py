"""Shapes of files that people write. From one declaration follow values, mistakes and the JSON Schema. Pure.

`operator_files` makes plain values of YAML and JSON. A `FileStyle` has the words of one kind of file.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Path = tuple[Any, ...]
"""The keys and indexes that lead to a value."""
JsonSchema = dict[str, Any]
INVALID = object()
"""What is read of a value with mistakes. Lists, maps and records without `build` leave it out."""


class WrittenNull(str):
    """A null of a document that is read as written: "", "~" or "null"."""


class InvalidValue(ValueError):
    """A value does not have its shape. The text says what it must be, without its place."""


class Mistake(NamedTuple):
    """`text` includes the place. The line to show is that of the key at `path`, or that of its value."""

    path: Path
    text: str
    is_about_key: bool = False


class FileStyle:
    """How one kind of file is read, and how its mistakes are worded."""

    is_as_written = False
    """Whether scalars are texts, as `operator_files` returns them with `is_as_written`."""
    is_null_empty = False
    """Whether null stands for an empty map."""
    is_null_absent = False
    """Whether a field of a record is absent if it is null."""
    after_place = " "
    """What separates the place of a mistake from its text."""

    def place(self, path: Path) -> str:
        """Such as topics.orders.onlyOn[0]."""
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
        return "".join(steps).removeprefix(".")

    def at(self, path: Path, problem: str) -> str:
        place = self.place(path)
        return f"{place}{self.after_place}{problem}" if place else problem

    def at_key(self, path: Path, problem: str) -> str:
        """For a key of the map at `path`."""
        return self.at(path, problem)

    def invalid(self, value: Any, allowed: str, words: Iterable[str] = ()) -> str:
        return f"must be {allowed}"

    def not_a_map(self, value: Any, known_keys: Iterable[str]) -> str:
        return "must be a map"

    def not_a_list(self, value: Any, allowed: str) -> str:
        return f"must be {allowed}"

    def unknown_key(self, path: Path, known_keys: Collection[str]) -> str:
        """The whole message; `path` ends with the key."""
        return f"{self.place(path)} is unknown: use {', '.join(known_keys)}"

    def find_meant_key(self, unknown_key: str, known_keys: Iterable[str]) -> str | None:
        """The key that an unknown one stands for, which is then not missing."""
        return None

    def missing(self, field: "Field") -> str:
        return f'the key "{field.key}" is missing: add "{field.key}: VALUE" ({field.meaning})'


class ShapeReader:
    """Reads the values of one file by their shapes; `mistakes` has what is wrong with them."""

    def __init__(self, style: FileStyle) -> None:
        self.style = style
        self.mistakes: list[Mistake] = []

    def refuse(self, path: Path, problem: str, *, is_about_key: bool = False) -> None:
        self.mistakes.append(Mistake(path, self.style.at(path, problem), is_about_key))

    def read_pairs(
        self, value: Any, path: Path, key_shape: "Leaf", known_keys: Iterable[str] = ()
    ) -> list[tuple[Any, Any]]:
        """The pairs of a map whose keys have their shape."""
        if self.style.is_null_empty and (value is None or isinstance(value, WrittenNull)):
            return []
        if not isinstance(value, Mapping):
            self.refuse(path, self.style.not_a_map(value, known_keys))
            return []
        pairs = []
        for key, item in value.items():
            try:
                pairs.append((key_shape.parse(key, self.style), item))
            except InvalidValue as error:
                self.mistakes.append(Mistake((*path, key), self.style.at_key(path, str(error)), True))
        return pairs


class Shape:
    """What a value must be."""

    def read(self, value: Any, path: Path, reader: ShapeReader) -> Any:
        """The value as the program uses it, or INVALID. Mistakes go to the reader."""
        raise NotImplementedError

    def schema(self) -> JsonSchema:
        """The JSON Schema of the value."""
        return {}


class Leaf(Shape):
    """A shape that needs no path: a scalar, or a value with a function of its own."""

    def read(self, value: Any, path: Path, reader: ShapeReader) -> Any:
        try:
            return self.parse(value, reader.style)
        except InvalidValue as error:
            reader.refuse(path, str(error))
            return INVALID

    def parse(self, value: Any, style: FileStyle) -> Any:
        """Raises InvalidValue."""
        return value


class Parsed(Leaf):
    """A value that a function reads; it raises InvalidValue."""

    def __init__(self, parse_value: Callable[[Any], Any], schema: JsonSchema | None = None) -> None:
        self._parse_value = parse_value
        self._schema = schema or {}

    def parse(self, value: Any, style: FileStyle) -> Any:
        return self._parse_value(value)

    def schema(self) -> JsonSchema:
        return self._schema


class WholeNumber(Leaf):
    """A whole number from `minimum` to `maximum`."""

    def __init__(self, minimum: int, maximum: float = math.inf, allowed: str | None = None) -> None:
        self._range = minimum, maximum
        self._allowed = allowed or (
            str(minimum) if minimum == maximum else f"a whole number from {minimum} to {maximum}"
        )

    def parse(self, value: Any, style: FileStyle) -> int:
        number = value
        if style.is_as_written:
            number = int(value) if _is_text_of(r"-?\d{1,19}", value) else None
        if type(number) is not int or not self._range[0] <= number <= self._range[1]:
            raise InvalidValue(style.invalid(value, self._allowed))
        return number

    def schema(self) -> JsonSchema:
        minimum, maximum = self._range
        return (
            {"const": minimum}
            if minimum == maximum
            else {"type": "integer", "minimum": minimum, "maximum": maximum}
        )


class Decimal(Leaf):
    """A number from `minimum` to `maximum`, with or without decimals."""

    def __init__(self, minimum: float, maximum: float, allowed: str | None = None) -> None:
        self._range = minimum, maximum
        self._allowed = allowed or f"a number from {minimum} to {maximum}"

    def parse(self, value: Any, style: FileStyle) -> float:
        number = value
        if style.is_as_written:
            number = float(value) if _is_text_of(r"-?\d{1,19}(\.\d{1,19})?", value) else None
        if type(number) not in (int, float) or not self._range[0] <= number <= self._range[1]:
            raise InvalidValue(style.invalid(value, self._allowed))
        return float(number)

    def schema(self) -> JsonSchema:
        return {"type": "number", "minimum": self._range[0], "maximum": self._range[1]}


class Flag(Leaf):
    """true or false."""

    def parse(self, value: Any, style: FileStyle) -> bool:
        flag = value
        if style.is_as_written:
            flag = {"true": True, "false": False}.get(str(value).lower())
        if not isinstance(flag, bool):
            raise InvalidValue(style.invalid(value, "true or false"))
        return flag

    def schema(self) -> JsonSchema:
        return {"type": "boolean"}


class Choice(Leaf):
    """One of these words."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)

    def parse(self, value: Any, style: FileStyle) -> str:
        if value not in self.words:
            raise InvalidValue(style.invalid(value, f"one of {', '.join(self.words)}", self.words))
        return str(value)

    def schema(self) -> JsonSchema:
        return {"enum": list(self.words)}


class Name(Leaf):
    """A text that matches a pattern; `kind` names it, `allowed` describes the pattern."""

    def __init__(self, kind: str, pattern: str, allowed: str) -> None:
        self.kind = kind
        self.pattern = pattern
        self.allowed = allowed

    def parse(self, value: Any, style: FileStyle) -> str:
        if not isinstance(value, str):
            raise InvalidValue(f"must be {self.allowed}")
        if not re.fullmatch(self.pattern, value):
            raise InvalidValue(f'invalid {self.kind} "{value}": use {self.allowed}')
        return str(value)

    def schema(self) -> JsonSchema:
        return {"type": "string", "pattern": f"^{self.pattern}$"}


class Text(Leaf):
    """Any text; numbers and booleans are taken as written."""

    def parse(self, value: Any, style: FileStyle) -> str:
        if isinstance(value, WrittenNull):
            raise InvalidValue('must be a text: write "" for an empty text')
        if not isinstance(value, str):
            raise InvalidValue("must be a text")
        return value

    def schema(self) -> JsonSchema:
        return {"type": ["string", "number", "boolean"]}


class ListOf(Shape):
    """A list of values of one shape."""

    def __init__(self, item: Shape, allowed: str = "a list, such as [a, b]") -> None:
        self._item = item
        self._allowed = allowed

    def read(self, value: Any, path: Path, reader: ShapeReader) -> tuple[Any, ...]:
        if isinstance(value, str) or not isinstance(value, Sequence):
            reader.refuse(path, reader.style.not_a_list(value, self._allowed))
            return ()
        items = (self._item.read(item, (*path, index), reader) for index, item in enumerate(value))
        return tuple(item for item in items if item is not INVALID)

    def schema(self) -> JsonSchema:
        return {"type": "array", "items": self._item.schema()}


class MapOf(Shape):
    """A map of values of one shape, by name."""

    def __init__(self, key: Leaf, item: Shape) -> None:
        self._key = key
        self._item = item

    def read(self, value: Any, path: Path, reader: ShapeReader) -> dict[Any, Any]:
        items = {
            key: self._item.read(item, (*path, str(key)), reader)
            for key, item in reader.read_pairs(value, path, self._key)
        }
        return {key: item for key, item in items.items() if item is not INVALID}

    def schema(self) -> JsonSchema:
        names = (
            {"propertyNames": {"pattern": f"^{self._key.pattern}$"}} if isinstance(self._key, Name) else {}
        )
        return {"type": ["object", "null"], **names, "additionalProperties": self._item.schema()}


class Field(NamedTuple):
    """A field of a record. It is `attribute` in the program, by default `key`."""

    key: str
    shape: Shape
    meaning: str = ""
    default: Any = None
    is_required: bool = False
    attribute: str = ""

    def schema(self) -> JsonSchema:
        default = {} if self.default is None else {"default": self.default}
        return {"description": self.meaning, **self.shape.schema(), **default}


class Record(Shape):
    """A map with known fields. Absent fields are left out.

    `build` makes what the program uses of the values by attribute, if they have no mistakes. It raises
    InvalidValue for values that contradict each other.
    """

    def __init__(self, fields: Iterable[Field], build: Callable[[dict[str, Any]], Any] | None = None) -> None:
        self.fields = tuple(fields)
        self._fields_by_key = {field.key: field for field in self.fields}
        self._build = build

    @property
    def default_values(self) -> dict[str, Any]:
        return {field.key: field.default for field in self.fields}

    def read(self, value: Any, path: Path, reader: ShapeReader) -> Any:
        mistakes_before = len(reader.mistakes)
        values: dict[str, Any] = {}
        missing_keys = {field.key for field in self.fields if field.is_required}
        key_shape = Text() if reader.style.is_as_written else Leaf()
        for key, item in reader.read_pairs(value, path, key_shape, self._fields_by_key):
            field, key_path = self._fields_by_key.get(key), (*path, str(key))
            if field is None:
                text = reader.style.unknown_key(key_path, self._fields_by_key)
                reader.mistakes.append(Mistake(key_path, text, True))
                missing_keys.discard(reader.style.find_meant_key(str(key), self._fields_by_key) or "")
            elif item is not None or not reader.style.is_null_absent:
                missing_keys.discard(key)
                values[field.attribute or key] = field.shape.read(item, key_path, reader)
        for field in self.fields:
            if field.key in missing_keys and isinstance(value, Mapping):
                reader.refuse(path, reader.style.missing(field))
        if self._build is None:
            return {attribute: item for attribute, item in values.items() if item is not INVALID}
        if len(reader.mistakes) > mistakes_before:
            return INVALID
        try:
            return self._build(values)
        except InvalidValue as error:
            reader.refuse(path, str(error), is_about_key=True)
            return INVALID

    def schema(self) -> JsonSchema:
        required = [field.key for field in self.fields if field.is_required]
        return {
            "type": "object" if required else ["object", "null"],
            "properties": {field.key: field.schema() for field in self.fields},
            "additionalProperties": False,
            **({"required": required} if required else {}),
        }


def read_shape(value: Any, shape: Shape, style: FileStyle) -> tuple[Any, list[Mistake]]:
    """What the program uses of the value, and all mistakes."""
    reader = ShapeReader(style)
    return shape.read(value, (), reader), reader.mistakes


def _is_text_of(pattern: str, value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None
