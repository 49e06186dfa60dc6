"""Which names brokers accept for new topics and groups."""

import re

import pytest

from namesrv_core.errors import OverLimit
from namesrv_core.protocol import resource_names
from namesrv_core.protocol.resource_names import check_name, check_topic_name
from namesrv_core.protocol.size_limits import UNLIMITED

GOOD_TOPICS = ["orders", "%RETRY%g", "a_b-C|1", "x" * 127, "%DLQ%" + "x" * 250, "%RETRY%" + "x" * 248]
BAD_TOPICS = ["", "a b", "*", "a\nb", "a\n", "é", "x" * 128, "%DLQ%" + "x" * 251, "%RETRY%" + "x" * 249]


@pytest.mark.parametrize("topic", GOOD_TOPICS)
def test_a_topic_that_brokers_take(topic: str) -> None:
    assert resource_names.find_topic_name_problem(topic) is None


@pytest.mark.parametrize("topic", BAD_TOPICS)
def test_a_topic_that_no_broker_takes(topic: str) -> None:
    assert resource_names.find_topic_name_problem(topic) is not None


def test_a_problem_names_the_limit() -> None:
    assert resource_names.find_topic_name_problem("x" * 128) == (
        f'invalid topic name "{"x" * 128}": use letters, digits and % | _ -, at most 127 characters'
    )
    assert str(resource_names.find_topic_name_problem("%DLQ%" + "x" * 251)).endswith("at most 255 characters")


def test_a_new_group_is_shorter_than_one_that_can_exist() -> None:
    assert resource_names.find_group_name_problem("g" * 120) is None
    assert str(resource_names.find_group_name_problem("g" * 121)).endswith("at most 120 characters")
    assert str(resource_names.find_group_name_problem("a.b")).startswith('invalid group name "a.b"')


@pytest.mark.parametrize("name", ["g" * 255, "test.test1", "two words", "é"])
def test_a_name_that_an_older_broker_accepted_can_exist(name: str) -> None:
    assert re.fullmatch(resource_names.EXISTING_NAME_PATTERN, name)


@pytest.mark.parametrize("name", ["", "g" * 256, "a\nb", "a\n"])
def test_a_name_that_cannot_exist(name: str) -> None:
    assert not re.fullmatch(resource_names.EXISTING_NAME_PATTERN, name)


@pytest.mark.parametrize("name", [None, "", "a" * 255, "\u00e9" * 127, "\U0001f600" * 63])
def test_a_name_of_255_bytes_and_no_name_are_accepted(name: str | None) -> None:
    check_name("zone", name, 255)


@pytest.mark.parametrize(("name", "size"), [("a" * 256, 256), ("\u00e9" * 128, 256), ("\ud800" * 256, 256)])
def test_a_longer_name_is_refused_by_its_bytes(name: str, size: int) -> None:
    with pytest.raises(OverLimit, match=rf"a zone name of {size} bytes .*, over the limit maxNameBytes$"):
        check_name("zone", name, 255)


def test_a_refusal_shows_the_begin_of_the_name_without_unsafe_characters() -> None:
    with pytest.raises(OverLimit) as refused:
        check_name("broker", "a\n" + "b" * 1_000_000, 255)
    assert refused.value.remark == (
        r'a broker name of 1000002 bytes ("a\n'
        + "b" * 38
        + '...") instead of at most 255, over the limit maxNameBytes'
    )


@pytest.mark.parametrize("prefix", ["%RETRY%", "%DLQ%"])
def test_a_topic_that_an_old_broker_makes_of_a_group_and_a_topic_may_be_twice_as_long(prefix: str) -> None:
    longest = prefix + "g" * 255 + "_" + "t" * 127
    check_topic_name(longest, 255)
    check_topic_name(longest.ljust(510, "t"), 255)
    with pytest.raises(OverLimit):
        check_topic_name(longest.ljust(511, "t"), 255)
    with pytest.raises(OverLimit):
        check_topic_name(longest.replace("%", "-"), 255)


def test_without_a_limit_no_name_is_too_long() -> None:
    check_topic_name("a" * 1_000_000, UNLIMITED)
