"""Commands about lite topics, on two brokers of which one may be dead, older, or know nothing."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_reply
from tests.nsadmin.conftest import CommandResult, Run
from tests.support.fake_servers import FakeNameServer, Server, answer_json, refuse_with

BROKER, PARENT, TOPIC, CLIENT, GROUP, DISPATCH = range(200074, 200080)
OFFSET = {"lastUpdateTimestamp": 1738368000000, "maxOffset": 3, "minOffset": 1}
LAG = {"earliestUnconsumedTimestamp": 1738368000000, "lagCount": 2, "liteTopic": "x"}
BROKER_BODY = {
    "cqTableSize": 7, "currentLmqNum": 2, "eventMapSize": 1, "groupMeta": {"P": ["G"]},
    "liteSubscriptionCount": 2, "maxLmqNum": 20000, "offsetTableSize": 0, "orderInfoCount": 0,
    "storeType": "default", "topicMeta": {"P": 60},
}  # fmt: skip


class LiteBroker(Server):
    """A broker with the parent topic P, the lite topic x in it, and the group G with the client c."""

    def __init__(self) -> None:
        super().__init__()
        self.groups = {"G": {"groupName": "G"}}
        self.topic: dict[str, Any] = {"topicOffset": OFFSET, "shardingToBroker": True, "subscriber": []}
        self.group: dict[str, Any] = {"parentTopic": "P", "totalLagCount": 2, "lagCountTopK": [LAG]}
        self.client: dict[str, Any] = {"liteTopicCount": 1, "liteTopicSet": ["%LMQ%$P$x"]}
        self.handlers = {
            201: lambda asked: answer_json(asked, {"subscriptionGroupTable": self.groups}),
            BROKER: lambda asked: answer_json(asked, BROKER_BODY),
            PARENT: lambda asked: answer_json(
                asked, {"groups": ["G"], "liteTopicCount": 2, "lmqNum": 3, "ttl": 60}
            ),
            TOPIC: lambda asked: answer_json(asked, self.topic),
            CLIENT: lambda asked: answer_json(asked, self.client),
            GROUP: self._group,
            DISPATCH: build_reply,
        }

    def _group(self, asked: RemotingCommand) -> RemotingCommand:
        if (asked.ext or {}).get("liteTopic"):
            wrapper = {"brokerOffset": 3, "consumerOffset": 1, "lastTimestamp": 1738368000000}
            return answer_json(asked, {"totalLagCount": 2, "liteTopicOffsetWrapper": wrapper})
        return answer_json(asked, self.group)


@pytest.fixture
def brokers() -> Iterator[tuple[LiteBroker, LiteBroker]]:
    with LiteBroker() as first, LiteBroker() as second:
        yield first, second


@pytest.fixture
def server(brokers: tuple[LiteBroker, LiteBroker]) -> Iterator[FakeNameServer]:
    a, b = brokers
    with FakeNameServer({"C": {"a": {0: a.addr}, "b": {0: b.addr}}}) as running:
        running.routes["P"] = {"a": 6, "b": 6}
        yield running


def rows(result: CommandResult) -> list[dict[str, Any]]:
    return list(json.loads(result.out))


def test_every_master_of_a_cluster_and_one_that_is_older(
    run: Run, server: FakeNameServer, brokers: tuple[LiteBroker, LiteBroker]
) -> None:
    brokers[1].handlers[BROKER] = refuse_with(3, " request type 200074 not supported")
    result = run("getBrokerLiteInfo", "-c", "C", "-n", server.addr, "--json")
    first, second = rows(result)
    assert (result.code, first["currentLmqNum"], first["topicMeta"]) == (3, 2, {"P": 60})
    assert "not supported" in second["error"]
    plain = run("getBrokerLiteInfo", brokers[0].addr)
    assert (plain.code, "P=60" in plain.out) == (0, False)
    assert "P=60" in run("getBrokerLiteInfo", brokers[0].addr, "-d").out
    everywhere = run("getBrokerLiteInfo", "-n", server.addr, "--json")
    assert (everywhere.code, rows(everywhere)) == (3, rows(result))


def test_a_parent_topic_and_what_is_none(
    run: Run, server: FakeNameServer, brokers: tuple[LiteBroker, LiteBroker]
) -> None:
    result = run("getParentTopicInfo", "-p", "P", "-n", server.addr, "--json")
    assert (result.code, [(row["brokerName"], row["ttl"], row["groups"]) for row in rows(result)]) == (
        0,
        [("a", 60, ["G"]), ("b", 60, ["G"])],
    )
    brokers[1].handlers[PARENT] = refuse_with(29, "Topic [P] type not match.")
    result = run("getParentTopicInfo", "P", "-n", server.addr, "--json")
    assert (result.code, "type not match" in rows(result)[1]["error"]) == (3, True)
    assert run("getParentTopicInfo", "Q", "-n", server.addr).code == 5


def test_a_lite_topic_and_one_that_is_nowhere(
    run: Run, server: FakeNameServer, brokers: tuple[LiteBroker, LiteBroker]
) -> None:
    brokers[0].topic["subscriber"] = [{"group": "G", "clientId": "c"}]
    done = run("getLiteTopicInfo", "P", "x", "-n", server.addr, "--json")
    first, second = rows(done)
    assert (first["maxOffset"], first["subscribers"], second["subscriberCount"]) == (3, ["G@c"], 0)
    assert first["lastUpdated"] == "2025-02-01T00:00:00.000Z"
    line = ("getLiteTopicInfo", "P", "x", "-n", server.addr)
    assert ["G@c" in run(*line, *more).out for more in ((), ("-s",))] == [False, True]
    for broker in brokers:
        broker.topic |= {"subscriber": [], "topicOffset": {"minOffset": 0, "maxOffset": 0}}
    assert run("getLiteTopicInfo", "P", "x", "-n", server.addr).code == 5


def test_a_client_is_somewhere_or_nowhere(
    run: Run, server: FakeNameServer, brokers: tuple[LiteBroker, LiteBroker]
) -> None:
    brokers[1].client = {"liteTopicCount": -1}
    line = ("getLiteClientInfo", "P", "G", "c", "-n", server.addr)
    result = run(*line, "--json")
    first, second = rows(result)
    assert (result.code, first["liteTopics"], second["liteTopicCount"]) == (0, ["x"], None)
    brokers[0].client = {"liteTopicCount": -1}
    assert run(*line).code == 5


def test_a_group_over_all_its_lite_topics_and_on_one(
    run: Run, server: FakeNameServer, brokers: tuple[LiteBroker, LiteBroker]
) -> None:
    brokers[1].group = {"parentTopic": "other", "totalLagCount": 9}
    result = run("getLiteGroupInfo", "P", "G", "-k", "3", "-n", server.addr, "--json")
    group_rows = rows(result)
    assert result.code == 3
    assert [(row["brokerName"], row["liteTopic"], row["lag"]) for row in group_rows] == [
        ("a", None, 2),
        ("a", "x", 2),
        ("b", None, None),
    ]
    assert 'the group "G" is bound to the parent topic "other", not "P"' in group_rows[2]["error"]
    assert brokers[0].asked[-1].ext == {"group": "G", "topK": "3"}
    result = run("getLiteGroupInfo", "P", "G", "-l", "x", "-n", server.addr, "--json")
    assert [(row["brokerOffset"], row["consumerOffset"], row["lag"]) for row in rows(result)] == [
        (3, 1, 2)
    ] * 2


@pytest.mark.parametrize(
    "line",
    [
        ("getLiteGroupInfo", "P", "nobody"),
        ("getLiteClientInfo", "P", "nobody", "c"),
        ("triggerLiteDispatch", "P", "nobody", "-y"),
    ],
)
def test_of_a_group_that_is_nowhere_no_broker_is_asked_for_it_would_make_it(
    run: Run, server: FakeNameServer, brokers: tuple[LiteBroker, LiteBroker], line: tuple[str, ...]
) -> None:
    result = run(*line, "-n", server.addr)
    assert (result.code, 'no broker of "P" has the consumer group "nobody"' in result.err) == (5, True)
    assert {*brokers[0].asked_codes(), *brokers[1].asked_codes()} == {201}


def test_only_brokers_that_know_the_group_get_the_order(
    run: Run, server: FakeNameServer, brokers: tuple[LiteBroker, LiteBroker]
) -> None:
    brokers[1].groups = {}
    line = ("triggerLiteDispatch", "P", "G", "-n", server.addr, "--json")
    done = run(*line, "--dry-run")
    assert [row["result"] for row in rows(done)] == ["dry-run", "not found"]
    assert DISPATCH not in brokers[0].asked_codes()
    done = run(*line, "-c", "c", "-y")
    assert [row["result"] for row in rows(done)] == ["done", "not found"]
    assert brokers[0].asked[-1].ext == {"group": "G", "clientId": "c"}
    assert DISPATCH not in brokers[1].asked_codes()
    assert run(*line, "-b", "a", "-y").code == 0
    assert run(*line, "-b", "z", "-y").code == 5
