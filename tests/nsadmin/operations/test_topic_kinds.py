"""Topics of users, and those of groups, also of groups that are there no more."""

import pytest

from nsadmin.operations.topic_kinds import find_topics_of_vanished_groups, group_of_topic, is_user_topic

GROUPS = frozenset({"billing", "ship_it", "a+b"})


@pytest.mark.parametrize(
    ("topic", "group"),
    [
        ("%RETRY%billing", "billing"),
        ("%DLQ%billing", "billing"),
        ("%RETRY%billing_orders", "billing"),
        ("%RETRY%billing+orders_new", "billing"),
        ("%RETRY%ship_it_orders", "ship_it"),
        ("%RETRY%a+b+orders", "a+b"),
        ("%RETRY%ship", "ship"),
        ("%DLQ%billings_x", "billings_x"),
        ("orders", None),
    ],
)
def test_the_group_that_a_topic_is_for(topic: str, group: str | None) -> None:
    assert group_of_topic(topic, GROUPS) == group


def test_what_is_of_no_known_group() -> None:
    topics = [
        "orders",
        "%RETRY%billing",
        "%RETRY%billing_orders",
        "%RETRY%ship",
        "%DLQ%gone",
        "%RETRY%TOOLS_CONSUMER",
    ]
    assert find_topics_of_vanished_groups(topics, GROUPS) == {"%RETRY%ship": "ship", "%DLQ%gone": "gone"}


def test_topics_of_users() -> None:
    own = frozenset({"TBW102"})
    assert is_user_topic("orders", own)
    assert not any(
        is_user_topic(topic, own) for topic in ("TBW102", "rmq_sys_x", "RMQ_SYS_X", "%RETRY%g", "%DLQ%g")
    )
