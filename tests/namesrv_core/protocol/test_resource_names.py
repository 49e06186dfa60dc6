"""Which names brokers accept for new topics and groups."""

import re

import pytest

from namesrv_core.protocol import resource_names

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
