"""Pieces of lines."""

from nsadmin.client.advised_command import quote_command
from nsadmin.console.phrases import abbreviate_names, all_do, count_noun, format_utc_second


def test_of_many_names_the_first_are_told_and_how_many_more() -> None:
    assert abbreviate_names(["a", "b", "c"], 2) == "a, b and 1 more"
    assert abbreviate_names(["a", "b"], 2) == "a, b"
    assert abbreviate_names([], 2) == ""


def test_one_is_not_many() -> None:
    assert [count_noun(number, "more item") for number in (0, 1, 2)] == [
        "0 more items", "1 more item", "2 more items",
    ]  # fmt: skip
    assert [all_do(number, "broker", "answer") for number in (1, 2, 3)] == [
        "the only broker answers", "both brokers answer", "all 3 brokers answer",
    ]  # fmt: skip


def test_a_name_in_a_command_that_is_advised_cannot_add_a_command() -> None:
    assert quote_command("undrain", "broker-a") == "nsadmin undrain broker-a"
    assert quote_command("undrain", "a; reboot") == "nsadmin undrain 'a; reboot'"


def test_a_moment_is_told_to_the_second() -> None:
    assert format_utc_second(1_738_368_003_999) == "2025-02-01T00:00:03Z"
