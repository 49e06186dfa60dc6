"""Values as Java prints them."""

from typing import Any

import pytest

from nsadmin.commands.mqadmin.java_text import format_fixed, format_local_time, java_text, join_lines


@pytest.mark.parametrize(
    ("number", "places", "text"), [(0.125, 2, "0.13"), (0.25, 1, "0.3"), (None, 2, "0.00"), (7, 1, "7.0")]
)
def test_digits_are_rounded_half_up(number: Any, places: int, text: str) -> None:
    assert format_fixed(number, places) == text


@pytest.mark.parametrize(("value", "text"), [(None, "null"), (True, "true"), (False, "false"), (3, "3")])
def test_words_are_those_of_java(value: object, text: str) -> None:
    assert java_text(value) == text


def test_a_time_that_is_not_known_is_nothing() -> None:
    assert format_local_time(None, "%Y") == ""
    assert format_local_time("2025-06-01T12:00:00.000Z", "%Y-%m") == "2025-06"


def test_each_line_has_its_end() -> None:
    assert (join_lines([]), join_lines(["a", "b"])) == ("", "a\nb\n")
