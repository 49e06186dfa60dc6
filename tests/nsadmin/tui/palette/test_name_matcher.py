"""A few letters find a name; the better match comes first, and long names cost no time."""

import time

import pytest

from nsadmin.tui.palette.name_matcher import find_best_names, match_name


@pytest.mark.parametrize(
    ("query", "name", "positions"),
    [
        ("route", "topicRoute", [5, 6, 7, 8, 9]),
        ("tro", "topicRoute", [0, 5, 6]),
        ("ORD", "pre-orders", [4, 5, 6]),
        ("a", "banana-apple", [7]),
        ("kv get", "kv get", None),
        ("zz", "orders", None),
        ("orderss", "orders", None),
        ("", "orders", []),
    ],
)
def test_letters_in_order(query: str, name: str, positions: list[int] | None) -> None:
    match = match_name(query, name)
    if query == "kv get":
        assert match is not None, "a blank in the query separates words and is no letter"
    else:
        assert (None if match is None else list(match.positions)) == positions


def test_a_letter_that_becomes_two_in_lower_case_breaks_nothing() -> None:
    assert match_name("x", "\u0130x") is not None


def test_the_start_of_the_name_then_words_then_letters_in_between() -> None:
    names = ["reorder-x", "my-orders", "orders", "o-r-d-e-r"]
    assert [name for _, name, _ in find_best_names("order", [(name, None) for name in names], 9)] == [
        "orders", "my-orders", "o-r-d-e-r", "reorder-x",
    ]  # fmt: skip
    assert len(find_best_names("o", [(name, None) for name in names], 2)) == 2


def test_repeated_letters_cost_no_time() -> None:
    start = time.process_time()
    find_best_names("ababababab", [("ab" * 100 + str(number), None) for number in range(5_000)], 10)
    assert time.process_time() - start < 2
