"""Members of JSON objects, read with types."""

from collections.abc import Callable

import pytest

from nsadmin.client.connection.json_object import JsonObject

HUGE = int("9" * 401)


@pytest.mark.parametrize(
    ("value", "number"),
    [(7, 7), ("7", 7), (" -7 ", -7), (2.9, 2), ("2.9", 2), (1e3, 1000), (2**63 - 1, 2**63 - 1)],
)
def test_whole_numbers_are_read_laxly(value: object, number: int) -> None:
    assert JsonObject({"a": value}).integer("a") == number


@pytest.mark.parametrize(
    "value", ["word", "NaN", "Infinity", float("nan"), float("inf"), HUGE, str(HUGE), 2**63, True, [], {}]
)
def test_what_is_no_whole_number_is_an_error_that_names_the_member(value: object) -> None:
    with pytest.raises(ValueError, match=r"^offset is .*, not a"):
        JsonObject({"offset": value}).integer("offset", 0)


def test_a_number_of_thousands_of_digits_is_an_error_too() -> None:
    with pytest.raises(ValueError, match=r'^tps is "a number of thousands of digits", not a finite number$'):
        JsonObject({"tps": 10**5000}).number("tps")


@pytest.mark.parametrize(("value", "number"), [(7, 7.0), ("7.5", 7.5), (0.25, 0.25), ("1e3", 1000.0)])
def test_numbers_are_read_laxly(value: object, number: float) -> None:
    assert JsonObject({"a": value}).number("a") == number


@pytest.mark.parametrize("value", ["word", "NaN", "-Infinity", float("inf"), HUGE, False, [1], {}])
def test_a_number_is_finite(value: object) -> None:
    with pytest.raises(ValueError, match=r"^tps is .*, not a finite number$"):
        JsonObject({"tps": value}).number("tps", 0)


@pytest.mark.parametrize("nothing", [None, "", "null"])
def test_no_number_is_the_default_and_an_error_without_one(nothing: object) -> None:
    json_object = JsonObject({"a": nothing}, "queue 3")
    assert json_object.integer("a", None) is None
    assert json_object.number("b", 1.5) == 1.5
    with pytest.raises(ValueError, match=r"^queue 3 has no a$"):
        json_object.integer("a")


def test_texts_flags_and_containers() -> None:
    json_object = JsonObject({"a": 5, "b": True, "c": ["x", None, 3], "d": {"e": {}}, "f": "TRUE", "g": 0})
    assert (json_object.text("a"), json_object.text("b"), json_object.text("z", None)) == ("5", "true", None)
    assert (json_object.flag("b"), json_object.flag("f"), json_object.flag("g"), json_object.flag("z")) == (
        True,
        True,
        False,
        False,
    )
    assert json_object.texts("c") == ["x", "3"]
    assert [name for name, _ in json_object.child("d").sorted_children()] == ["e"]
    assert json_object.child("z").members == {}
    wrong_types: list[tuple[Callable[[str], object], str]] = [
        (json_object.text, "c"),
        (json_object.flag, "a"),
        (json_object.child, "c"),
        (json_object.texts, "a"),
        (json_object.children, "c"),
    ]
    for read, key in wrong_types:
        with pytest.raises(ValueError, match=f"^{key} is "):
            read(key)
