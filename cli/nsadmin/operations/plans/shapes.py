"""Shapes of the values in a file. The YAML reader and the JSON Schema both follow them. Pure data."""

from typing import Any, NamedTuple


class WholeNumberShape(NamedTuple):
    """A whole number from `min_value` to `max_value`."""

    min_value: int
    max_value: int


class DecimalShape(NamedTuple):
    """A number from `min_value` to `max_value`, with or without decimals."""

    min_value: int
    max_value: int


class FlagShape(NamedTuple):
    """true or false."""


class ChoiceShape(NamedTuple):
    """One of these words."""

    allowed_words: tuple[str, ...]


class NameShape(NamedTuple):
    """A text that matches a pattern; `kind_label` names it, `allowed_text` describes the pattern."""

    kind_label: str
    pattern: str
    allowed_text: str


class TextShape(NamedTuple):
    """Any text; numbers and booleans are taken as written."""


class ListShape(NamedTuple):
    """A list of values of one shape."""

    item_shape: "ValueShape"


class MapShape(NamedTuple):
    """A map of values of one shape, by name."""

    key_shape: "NameShape | TextShape"
    item_shape: "ValueShape"


class RecordShape(NamedTuple):
    """A map with known fields; absent fields have their default."""

    record_fields: "tuple[RecordField, ...]"

    @property
    def default_values(self) -> dict[str, Any]:
        """The default of each field, by key."""
        return {record_field.key: record_field.default for record_field in self.record_fields}


class RecordField(NamedTuple):
    """A field of a record; an absent field without a default has no value."""

    key: str
    value_shape: "ValueShape"
    meaning: str
    default: Any = None
    is_required: bool = False


ValueShape = (
    WholeNumberShape
    | DecimalShape
    | FlagShape
    | ChoiceShape
    | NameShape
    | TextShape
    | ListShape
    | MapShape
    | RecordShape
)
