"""Shapes: what a value in a file may be. Reading and the schema for editors both follow them. Pure data."""

from typing import Any, NamedTuple


class Whole(NamedTuple):
    """A whole number from `least` to `most`."""

    least: int
    most: int


class Flag(NamedTuple):
    """true or false."""


class OneOf(NamedTuple):
    """One of these words."""

    words: tuple[str, ...]


class Name(NamedTuple):
    """A text that matches a pattern; `what` is what it is called, `allowed` says the pattern in words."""

    what: str
    pattern: str
    allowed: str


class Text(NamedTuple):
    """Any text; a number or a truth is taken as it is written."""


class ListOf(NamedTuple):
    """Values of one shape."""

    item: "Shape"


class MapOf(NamedTuple):
    """Values of one shape by their names."""

    key: "Name | Text"
    item: "Shape"


class Record(NamedTuple):
    """Fields by their keys; what is left out has its default."""

    fields: "tuple[Field, ...]"

    @property
    def defaults(self) -> dict[str, Any]:
        """The values of fields that are left out."""
        return {field.key: field.default for field in self.fields}


class Field(NamedTuple):
    """A field of a record; without a default, leaving it out says that there is none."""

    key: str
    shape: "Shape"
    meaning: str
    default: Any = None
    required: bool = False


Shape = Whole | Flag | OneOf | Name | Text | ListOf | MapOf | Record
