"""Names, attributes and versions, against what a released 5.5.0 broker answered."""

import pytest

from namesrv_core.errors import RequestError
from namesrv_core.fleet.topics import (
    TopicTable,
    make_system_topics,
    make_topic_config,
    parse_attribute_changes,
    reserved_names,
)

NOW = 1_700_000_000_000


def table() -> TopicTable:
    return TopicTable([make_topic_config("orders", 8)], reserved_names("c", "b"), NOW)


def test_a_fresh_broker_has_fifteen_topics_of_perms_1_6_and_7() -> None:
    topics = make_system_topics("c", "b")
    assert len({config["topicName"] for config in topics}) == 15
    assert {config["perm"] for config in topics} == {1, 6, 7}


@pytest.mark.parametrize(
    ("name", "remark"),
    [
        (None, "The specified topic is blank."),
        (" ", "The specified topic is blank."),
        ("a b", "The specified topic: a b, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"),
        ("x" * 128, f"The specified topic: {'x' * 128}, is longer than topic max length: 127"),
        ("TBW102", "The topic[TBW102] is conflict with system topic."),
        ("c", "The topic[c] is conflict with system topic."),
        ("CHECKPOINT_TOPIC", "The topic[CHECKPOINT_TOPIC] is conflict with system topic."),
    ],
)
def test_a_bad_name_is_refused_in_upstreams_words(name: str | None, remark: str) -> None:
    with pytest.raises(RequestError) as refused:
        table().require_valid_name(name)
    assert (refused.value.code, refused.value.remark) == (29, remark)


def test_good_names_pass() -> None:
    for name in ("a-B_1|%", "x" * 127, "%RETRY%" + "x" * 200):
        assert table().require_valid_name(name) == name


def test_attributes_are_added_and_removed() -> None:
    before = {"message.type": "FIFO"}
    assert parse_attribute_changes(before, None) == before
    assert parse_attribute_changes(before, "+message.type=DELAY,+reserve.time=2") == {
        "message.type": "DELAY",
        "reserve.time": "2",
    }
    assert parse_attribute_changes(before, "-message.type") == {}


def test_unknown_and_unsigned_attributes_are_refused() -> None:
    for text, remark in (
        ("+foo=1", "unsupported key: foo"),
        ("foo=1", "format is wrong: foo=1"),
        ("+message.type=FIFOO", "value is not in set: "),
        ("+lite.topic.expiration=43201", r"value is not in range\(-1, 43200\)"),
        ("-foo", "attempt to delete a nonexistent key: foo"),
        ("+queue.type=BatchCQ", "attempt to update an unchangeable attribute"),
    ):
        with pytest.raises(RequestError, match=remark) as refused:
            parse_attribute_changes({}, text)
        assert refused.value.code == 1


def test_a_new_topic_has_all_attributes_and_removes_none() -> None:
    assert parse_attribute_changes(None, "+queue.type=BatchCQ") == {"queue.type": "BatchCQ"}
    with pytest.raises(RequestError, match="only add attribute is supported while creating topic"):
        parse_attribute_changes(None, "-foo")


def test_only_a_change_moves_the_version_on() -> None:
    topics = table()
    assert not topics.put_config(make_topic_config("orders", 8), NOW + 1)
    assert not topics.delete_config("nobody", NOW + 1)
    assert topics.data_version == (0, 0, NOW)
    assert topics.put_config(make_topic_config("orders", 4), NOW + 2)
    assert topics.data_version == (1, 0, NOW + 2)
    assert topics.delete_config("orders", NOW + 3)
    assert (topics.data_version, topics.configs) == ((2, 0, NOW + 3), {})
