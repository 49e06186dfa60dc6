"""Topics and groups over brokers, each once, and never summed up by silence."""

from typing import Any

from nsadmin.client.consumers.groups import select_user_groups
from nsadmin.operations.exports.metadata import (
    BrokerMetadata,
    build_metadata_document,
    list_differing_names,
    select_user_topics,
)

BOTH = ("topicConfigTable", "subscriptionGroupTable")


def topic(queues: int, perm: int = 6) -> dict[str, Any]:
    return {"readQueueNums": queues, "writeQueueNums": queues, "perm": perm}


def test_what_users_made_and_of_retries_and_dead_letters_only_if_wanted() -> None:
    names = (
        "orders",
        "TBW102",
        "rmq_sys_wheel_timer",
        "broker-a",
        "%RETRY%g",
        "%DLQ%g",
        "OFFSET_MOVED_EVENT",
    )
    topics = {**{name: topic(8) for name in names}, "odd": topic(8, perm=9)}
    assert list(select_user_topics(topics, frozenset({"broker-a"}), include_special=False)) == ["orders"]
    assert list(select_user_topics(topics, frozenset({"broker-a"}), include_special=True)) == [
        "orders",
        "%RETRY%g",
        "%DLQ%g",
    ]
    assert list(select_user_groups({"g": {}, "TOOLS_CONSUMER": {}, "CID_RMQ_SYS_TRANS": {}})) == ["g"]


def test_brokers_that_are_alike_give_each_topic_once_with_its_own_queues() -> None:
    alike_brokers = [
        BrokerMetadata(name, {"orders": topic(8)}, {"g": {"retryQueueNums": 1}}) for name in ("a", "b")
    ]
    document = build_metadata_document(alike_brokers, BOTH, export_time=5, sum_queues=False)
    assert document == {
        "topicConfigTable": {"orders": topic(8)},
        "subscriptionGroupTable": {"g": {"retryQueueNums": 1}},
        "exportTime": 5,
    }
    assert list_differing_names(document) == []


def test_what_is_unlike_stands_below_its_brokers_and_sums_are_only_for_who_wants_them() -> None:
    a = BrokerMetadata("a", {"orders": topic(8), "only": topic(4)}, {"g": {"retryQueueNums": 1}})
    b = BrokerMetadata("b", {"orders": topic(16)}, {"g": {"retryQueueNums": 1}})
    document = build_metadata_document([a, b], BOTH, export_time=5, sum_queues=False)
    assert document["topicConfigTable"] == {"only": topic(4), "orders": topic(8)}
    assert document["perBroker"] == {
        "topicConfigTable": {"only": {"a": topic(4), "b": None}, "orders": {"a": topic(8), "b": topic(16)}}
    }
    assert list_differing_names(document) == ["only", "orders"]
    summed = build_metadata_document(
        [a, b], ["topicConfigTable", "subscriptionGroupTable"], export_time=5, sum_queues=True
    )
    assert summed["topicConfigTable"] == {"only": topic(4), "orders": topic(24)}
    assert summed["subscriptionGroupTable"] == {"g": {"retryQueueNums": 2}}
    assert "perBroker" not in summed
