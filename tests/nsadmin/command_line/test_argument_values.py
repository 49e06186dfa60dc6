"""Values of options, good and bad."""

from collections.abc import Callable

import pytest

from nsadmin.command_line import argument_values
from nsadmin.exit_codes import UsageError


def test_good_ones() -> None:
    assert [argument_values.parse_boolean("x", "-o", text) for text in (None, "true", "FALSE ")] == [
        None,
        True,
        False,
    ]
    assert [argument_values.validate_perm("x", value) for value in (None, 2, 6)] == [None, 2, 6]
    assert argument_values.parse_perm("x", "4") == 4
    assert [argument_values.validate_queue_count("x", "-r", value) for value in (None, 0, 8)] == [None, 0, 8]
    assert [argument_values.validate_interval("x", value) for value in (None, 0.5)] == [None, 0.5]


@pytest.mark.parametrize(
    "call",
    [
        lambda: argument_values.parse_boolean("x", "-o", "yes"),
        lambda: argument_values.validate_perm("x", 8),
        lambda: argument_values.parse_perm("x", "rw"),
        lambda: argument_values.parse_perm("x", "9"),
        lambda: argument_values.validate_queue_count("x", "-r", -1),
        lambda: argument_values.validate_interval("x", 0),
        lambda: argument_values.validate_interval("x", float("nan")),
    ],
)
def test_bad_ones(call: Callable[[], object]) -> None:
    with pytest.raises(UsageError, match="x: "):
        call()


def test_words_of_a_choice() -> None:
    assert argument_values.parse_choice("x", "-t", None, ("Super", "Normal")) is None
    assert argument_values.parse_choice("x", "-t", " super", ("Super", "Normal")) == "Super"
    with pytest.raises(UsageError, match="x: -t odd cannot be: give A, B or C"):
        argument_values.parse_choice("x", "-t", "odd", ("A", "B", "C"))


def test_names_of_a_list() -> None:
    assert argument_values.parse_name_list("x", "-u", None) == []
    assert argument_values.parse_name_list("x", "-u", "b, a,b") == ["b", "a"]
    with pytest.raises(UsageError, match="x: -u 'a,' has an empty name: give names like A,B"):
        argument_values.parse_name_list("x", "-u", "a,")


@pytest.mark.parametrize("name", ["orders", "%RETRY%g", "a_b-C|1", "x" * 127, "%DLQ%" + "x" * 250])
def test_names_that_brokers_take(name: str) -> None:
    assert argument_values.validate_topic_name("updateTopic", name) == name


@pytest.mark.parametrize("name", ["", "a b", "*", "a\nb", "a\n", "é", "x" * 128, "%DLQ%" + "x" * 251])
def test_names_that_no_broker_takes(name: str) -> None:
    with pytest.raises(UsageError, match=r'invalid topic name ".*": use letters, digits'):
        argument_values.validate_topic_name("updateTopic", name)


@pytest.mark.parametrize("name", ["klingon", "base64", "hex"])
def test_an_encoding_that_is_none_of_text(name: str) -> None:
    with pytest.raises(UsageError, match=f"c: -f {name} is unknown"):
        argument_values.parse_charset("c", "-f", name)


def test_encodings_have_one_name() -> None:
    assert (
        argument_values.parse_charset("c", "-f", None),
        argument_values.parse_charset("c", "-f", "GBK"),
    ) == ("utf-8", "gbk")


def test_numbers_from_0_and_what_is_none() -> None:
    assert [argument_values.parse_number("x", "QUEUE", text) for text in ("0", "0" * 17 + "7")] == [0, 7]
    for text in ("", "-1", "1.5", "x", "²", "٣", "1" * 19):
        with pytest.raises(UsageError, match=f"x: QUEUE {text} is no number from 0"):
            argument_values.parse_number("x", "QUEUE", text)
