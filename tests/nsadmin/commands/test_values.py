"""Values of options, good and bad."""

from collections.abc import Callable

import pytest

from nsadmin.commands import values
from nsadmin.diagnostics import UsageError


def test_good_ones() -> None:
    assert [values.flag("x", "-o", text) for text in (None, "true", "FALSE ")] == [None, True, False]
    assert [values.perm("x", value) for value in (None, 0, 6)] == [None, 0, 6]
    assert values.perm_word("x", "4") == 4
    assert [values.queue_number("x", "-r", value) for value in (None, 0, 8)] == [None, 0, 8]
    assert [values.seconds("x", value) for value in (None, 0.5)] == [None, 0.5]


@pytest.mark.parametrize(
    "call",
    [
        lambda: values.flag("x", "-o", "yes"),
        lambda: values.perm("x", 8),
        lambda: values.perm_word("x", "rw"),
        lambda: values.perm_word("x", "9"),
        lambda: values.queue_number("x", "-r", -1),
        lambda: values.seconds("x", 0),
        lambda: values.seconds("x", float("nan")),
    ],
)
def test_bad_ones(call: Callable[[], object]) -> None:
    with pytest.raises(UsageError, match="x: "):
        call()


def test_words_of_a_choice() -> None:
    assert values.one_of("x", "-t", None, ("Super", "Normal")) is None
    assert values.one_of("x", "-t", " super", ("Super", "Normal")) == "Super"
    with pytest.raises(UsageError, match="x: -t odd cannot be: give A, B or C"):
        values.one_of("x", "-t", "odd", ("A", "B", "C"))


def test_names_of_a_list() -> None:
    assert values.names("x", "-u", None) == []
    assert values.names("x", "-u", "b, a,b") == ["b", "a"]
    with pytest.raises(UsageError, match="x: -u 'a,' has an empty name: give names like A,B"):
        values.names("x", "-u", "a,")


@pytest.mark.parametrize("name", ["orders", "%RETRY%g", "a_b-C|1", "x" * 127, "%DLQ%" + "x" * 250])
def test_names_that_brokers_take(name: str) -> None:
    assert values.topic_name("updateTopic", name) == name


@pytest.mark.parametrize("name", ["", "a b", "*", "a\nb", "a\n", "é", "x" * 128, "%DLQ%" + "x" * 251])
def test_names_that_no_broker_takes(name: str) -> None:
    with pytest.raises(UsageError, match="is no name of a topic: letters, digits"):
        values.topic_name("updateTopic", name)
