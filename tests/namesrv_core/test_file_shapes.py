"""Shapes: what is read, what is said of mistakes, and the schema of the same declaration."""

from typing import Any

import pytest

from namesrv_core.file_shapes import (
    INVALID,
    Choice,
    Decimal,
    Field,
    FileStyle,
    Flag,
    InvalidValue,
    ListOf,
    MapOf,
    Name,
    Parsed,
    Record,
    Shape,
    Text,
    WholeNumber,
    WrittenNull,
    read_shape,
)


class Written(FileStyle):
    is_as_written = True
    is_null_empty = True


def parse_even(value: Any) -> int:
    if value % 2:
        raise InvalidValue("must be even")
    return int(value)


def require_order(values: dict[str, Any]) -> tuple[int, int]:
    if values["low"] > values["high"]:
        raise InvalidValue("low must not be above high")
    return values["low"], values["high"]


RANGE = Record(
    (
        Field("low", WholeNumber(0, 9), "the least", is_required=True),
        Field("high", WholeNumber(0, 9), "the most", 9, is_required=True),
    ),
    require_order,
)
FILE = Record(
    (
        Field("even", Parsed(parse_even)),
        Field("ranges", ListOf(RANGE)),
        Field("onOff", Flag(), attribute="on"),
    )
)


def test_values_by_attribute_and_all_mistakes_with_their_places() -> None:
    content = {
        "even": 3,
        "onOff": True,
        "ranges": [{"low": 1, "high": 2}, {"low": 3, "high": 2}, {"lo": 1}],
        5: 1,
    }
    values, mistakes = read_shape(content, FILE, FileStyle())
    assert values == {"on": True, "ranges": ((1, 2),)}
    assert [(mistake.path, mistake.text, mistake.is_about_key) for mistake in mistakes] == [
        (("even",), "even must be even", False),
        (("ranges", 1), "ranges[1] low must not be above high", True),
        (("ranges", 2, "lo"), "ranges[2].lo is unknown: use low, high", True),
        (("ranges", 2), 'ranges[2] the key "low" is missing: add "low: VALUE" (the least)', False),
        (("ranges", 2), 'ranges[2] the key "high" is missing: add "high: VALUE" (the most)', False),
        (("5",), "5 is unknown: use even, ranges, onOff", True),
    ]


@pytest.mark.parametrize(
    ("shape", "typed", "written"),
    [
        (WholeNumber(0, 9), 4, "4"),
        (Decimal(0, 9), 4.5, "4.5"),
        (Flag(), True, "True"),
        (Choice(("a", "b")), "a", "a"),
        (Name("letter", "[a-z]", "a letter"), "a", "a"),
        (MapOf(Text(), Flag()), {"a": False}, {"a": "false"}),
    ],
)
def test_one_shape_reads_typed_and_written_values(shape: Shape, typed: Any, written: Any) -> None:
    assert read_shape(typed, shape, FileStyle()) == (typed, [])
    assert read_shape(written, shape, Written()) == (typed, [])


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        (WholeNumber(0, 9), True),
        (WholeNumber(0, 9), 10),
        (WholeNumber(0, 9), "4"),
        (Decimal(0, 9), "4.5"),
        (Decimal(0, 9), float("nan")),
        (Flag(), 1),
        (Flag(), "true"),
        (Choice(("a", "b")), ["a"]),
        (Text(), WrittenNull("~")),
    ],
)
def test_what_a_typed_file_may_not_have(shape: Shape, value: Any) -> None:
    read, [mistake] = read_shape(value, shape, FileStyle())
    assert read is INVALID
    assert mistake.text.startswith("must be ")


def test_null_is_an_empty_map_or_an_absent_field_if_the_file_says_so() -> None:
    class Absent(FileStyle):
        is_null_absent = True

    assert read_shape(WrittenNull("~"), MapOf(Text(), Text()), Written()) == ({}, [])
    assert read_shape({"onOff": None}, FILE, Absent()) == ({}, [])
    assert read_shape(None, FILE, FileStyle())[1][0].text == "must be a map"
    assert (
        read_shape({"low": None}, RANGE, Absent())[1][0].text
        == 'the key "low" is missing: add "low: VALUE" (the least)'
    )


def test_the_schema_says_the_same() -> None:
    assert FILE.schema() == {
        "type": ["object", "null"],
        "properties": {
            "even": {"description": ""},
            "ranges": {
                "description": "",
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "low": {"description": "the least", "type": "integer", "minimum": 0, "maximum": 9},
                        "high": {
                            "description": "the most",
                            "type": "integer",
                            "minimum": 0,
                            "maximum": 9,
                            "default": 9,
                        },
                    },
                    "additionalProperties": False,
                    "required": ["low", "high"],
                },
            },
            "onOff": {"description": "", "type": "boolean"},
        },
        "additionalProperties": False,
    }
    assert Decimal(0, 9).schema() == {"type": "number", "minimum": 0, "maximum": 9}
    assert MapOf(Name("letter", "[a-z]", "a letter"), Text()).schema() == {
        "type": ["object", "null"],
        "propertyNames": {"pattern": "^[a-z]$"},
        "additionalProperties": {"type": ["string", "number", "boolean"]},
    }
