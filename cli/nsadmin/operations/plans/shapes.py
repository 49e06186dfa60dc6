"""Shapes of the values in a file. The YAML reader and the JSON Schema both follow them. Pure data."""

from typing import Any, NamedTuple


class Whole(NamedTuple):
    """A whole number from `min_value` to `max_value`."""

    least: int
    most: int


class Flag(NamedTuple):
    """true or false."""


class OneOf(NamedTuple):
    """One of these words."""

    words: tuple[str, ...]


class Name(NamedTuple):
    """A text that matches a pattern; `kind_label` names it, `allowed_text` describes the pattern."""

    what: str
    pattern: str
    allowed: str


class Text(NamedTuple):
    """Any text; numbers and booleans are taken as written."""


class ListOf(NamedTuple):
    """A list of values of one shape."""

    item: "Shape"


class MapOf(NamedTuple):
    """A map of values of one shape, by name."""

    key: "Name | Text"
    item: "Shape"


class Record(NamedTuple):
    """A map with known fields; absent fields have their default."""

    fields: "tuple[Field, ...]"

    @property
    def defaults(self) -> dict[str, Any]:
        """The default of each field, by key."""
        return {field.key: field.default for field in self.fields}


class Field(NamedTuple):
    """A field of a record; an absent field without a default has no value."""

    key: str
    shape: "Shape"
    meaning: str
    default: Any = None
    required: bool = False


Shape = Whole | Flag | OneOf | Name | Text | ListOf | MapOf | Record
