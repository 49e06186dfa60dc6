"""Lite topics: bodies as a 5.5.0 broker wrote them, and what it means by -1 and by nothing."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client.results import NotFound
from nsadmin.client.topics.lite_topics import (
    LiteLag,
    LiteOffsets,
    LiteTopic,
    ParentTopic,
)
from tests.support.fake_servers import Server, answer_json

BROKER, PARENT, TOPIC, CLIENT, GROUP, DISPATCH = range(200074, 200080)
BROKER_BODY = {
    "cqTableSize": 7, "currentLmqNum": 2, "eventMapSize": 1, "groupMeta": {"P": ["GL"]},
    "liteSubscriptionCount": 2, "maxLmqNum": 20000, "offsetTableSize": 0, "orderInfoCount": 0,
    "storeType": "default", "topicMeta": {"P": 60},
}  # fmt: skip


@pytest.fixture
def admin() -> Iterator[AdminClient]:
    with AdminClient("h:1", timeout=5) as client:
        yield client


def test_a_broker_and_a_parent_topic(admin: AdminClient) -> None:
    parent = {"groups": ["GL"], "liteTopicCount": 2, "lmqNum": 3, "topic": "P", "ttl": 60}
    handlers = {
        BROKER: lambda asked: answer_json(asked, BROKER_BODY),
        PARENT: lambda asked: answer_json(asked, parent),
    }
    with Server(handlers) as server:
        [broker_result] = admin.lite_topics.get_broker_info([server.addr])
        assert broker_result.result is not None
        assert (broker_result.result.store_type, broker_result.result.counts["maxLmqNum"]) == (
            "default",
            20000,
        )
        assert (broker_result.result.ttl_by_topic, broker_result.result.groups_by_topic) == (
            {"P": 60},
            {"P": ("GL",)},
        )
        [parent_result] = admin.lite_topics.get_parent_topic([server.addr], "P")
        assert parent_result.result == ParentTopic(60, 2, 3, ("GL",))
        assert server.asked[-1].ext == {"topic": "P"}


def test_a_lite_topic_is_known_by_its_messages_or_by_its_subscribers(admin: AdminClient) -> None:
    offset = {"lastUpdateTimestamp": 0, "maxOffset": 0, "minOffset": 0}
    topic_answer = {"liteTopic": "x", "shardingToBroker": True, "subscriber": [], "topicOffset": offset}
    with Server({TOPIC: lambda asked: answer_json(asked, topic_answer)}) as server:
        [result] = admin.lite_topics.get_lite_topic([server.addr], "P", "x")
        assert result.result == LiteTopic(0, 0, None, True, ())
        assert not result.result.is_known
        topic_answer["subscriber"] = [{"clientId": "c", "group": "GL"}]
        [result] = admin.lite_topics.get_lite_topic([server.addr], "P", "x")
        assert result.result is not None
        assert (result.result.is_known, result.result.subscribers) == (True, (("GL", "c"),))
        assert server.asked[-1].ext == {"parentTopic": "P", "liteTopic": "x"}


def test_a_client_that_nobody_knows_is_not_found(admin: AdminClient) -> None:
    client_answer = {
        "lastAccessTime": 1795295349846,
        "lastConsumeTime": 0,
        "liteTopicCount": 2,
        "liteTopicSet": ["%LMQ%$P$y", "%LMQ%$P$x"],
    }
    with Server({CLIENT: lambda asked: answer_json(asked, client_answer)}) as server:
        [result] = admin.lite_topics.get_client([server.addr], "P", "GL", "c")
        assert result.result == (2, 1795295349846, None, ("x", "y"))
        client_answer |= {"liteTopicCount": -1, "lastAccessTime": -1}
        [result] = admin.lite_topics.get_client([server.addr], "P", "GL", "c")
        assert isinstance(result.error, NotFound)


def test_a_group_with_what_is_furthest_behind_and_the_oldest_of_that(admin: AdminClient) -> None:
    lags = [{"earliestUnconsumedTimestamp": at, "lagCount": lag, "liteTopic": name} for at, lag, name in (
        (500, 2, "x"), (400, 5, "y"),
    )]  # fmt: skip
    group_answer = {
        "earliestUnconsumedTimestamp": -1,
        "lagCountTopK": lags[:1],
        "lagTimestampTopK": lags,
        "parentTopic": "P",
        "totalLagCount": 7,
    }
    with Server({GROUP: lambda asked: answer_json(asked, group_answer)}) as server:
        [result] = admin.lite_topics.get_group([server.addr], "GL", 20)
        assert result.result == ("P", 7, 400, (LiteLag("y", 5, 400), LiteLag("x", 2, 500)))
        assert server.asked[-1].ext == {"group": "GL", "topK": "20"}


def test_what_a_group_never_consumed_is_unknown_and_no_lag_of_0(admin: AdminClient) -> None:
    group_answer: dict[str, object] = {"earliestUnconsumedTimestamp": -1, "totalLagCount": 0}
    with Server({GROUP: lambda asked: answer_json(asked, group_answer)}) as server:
        [result] = admin.lite_topics.get_group_offsets([server.addr], "GL", "x")
        assert result.result == LiteOffsets(None, None, None, None, None)
        group_answer["totalLagCount"] = -1
        [result] = admin.lite_topics.get_group_offsets([server.addr], "GL", "x")
        assert isinstance(result.error, NotFound)
        group_answer |= {
            "totalLagCount": 2,
            "earliestUnconsumedTimestamp": 500,
            "liteTopicOffsetWrapper": {"brokerOffset": 3, "consumerOffset": 1, "lastTimestamp": 400},
        }
        [result] = admin.lite_topics.get_group_offsets([server.addr], "GL", "x")
        assert result.result == LiteOffsets(3, 1, 2, 500, 400)


def test_an_order_for_all_clients_or_one(admin: AdminClient) -> None:
    with Server({DISPATCH: build_reply}) as server:
        for client, ext in ((None, {"group": "GL"}), ("c", {"group": "GL", "clientId": "c"})):
            [result] = admin.lite_topics.trigger_dispatch([server.addr], "GL", client)
            assert (result.result, server.asked[-1].ext) == (True, ext)
