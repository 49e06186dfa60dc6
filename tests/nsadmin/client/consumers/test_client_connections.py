"""Clients of groups, merged over brokers."""

import pytest

from namesrv_core.errors import RequestError
from namesrv_core.protocol.command import build_reply
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.addresses import NameServerList
from nsadmin.client.connection.caller import Caller
from nsadmin.client.consumers.client_connections import (
    is_group_offline,
    read_all_producers,
    read_consumers,
    read_members,
    read_producers,
)
from nsadmin.client.consumers.connected_clients import ConnectedClient, TopicSubscription
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeBroker, closed_port, refuse_with

CALLER = Caller(NameServerList((), "given"), Access(timeout=5))


def test_consumers_are_merged_by_client_id() -> None:
    with ConsumerBroker() as first_broker, ConsumerBroker() as two, ConsumerBroker() as idle:
        first_broker.clients, two.clients = {"G": ["c2", "c1"]}, {"G": ["c1"]}
        two.expressions = {"T": "TagA", "U": "*"}
        dead = f"127.0.0.1:{closed_port()}"
        consumers = read_consumers(CALLER, ["G", "H"], [first_broker.addr, two.addr, idle.addr, dead])
    group = consumers["G"]
    assert group.clients == (
        ConnectedClient("c1", "10.0.0.1:5", "JAVA", "V5_5_0", (first_broker.addr, two.addr), "remoting"),
        ConnectedClient("c2", "10.0.0.1:5", "JAVA", "V5_5_0", (first_broker.addr,), "remoting"),
    )
    assert (group.consume_type, group.message_model) == ("CONSUME_PASSIVELY", "CLUSTERING")
    assert group.consume_from_where == "CONSUME_FROM_LAST_OFFSET"
    assert [str(item) for item in group.subscriptions] == ["*", "*"]
    assert group.disagreements == (f"{two.addr} has TagA for T, others *",)
    assert [error is None for error in group.errors.values()] == [True, True, True, False]
    assert (consumers["H"].clients, consumers["H"].consume_type) == ((), None)


@pytest.mark.parametrize(
    "answer",
    [
        b'{"connectionSet":[{"clientId":"c1"}],"subscriptionTable":{"connectionSet":{"topic":"x"}}}',
        b'{"consumeType":"CONSUME_ACTIVELY","connectionSet":[{"clientId":"c1"}]}',
        b'{"connectionSet":[{"clientId":"c1",7:0}]}',
    ],
)
def test_members_are_read_wherever_the_connections_are(answer: bytes) -> None:
    with FakeBroker() as broker:
        broker.handlers[203] = lambda asked: build_reply(asked, 0, body=answer)
        [members] = read_members(CALLER, "G", [broker.addr])
    assert [client.client_id for client in members.value()] == ["c1"]


def test_an_expression_that_is_no_tag_says_so() -> None:
    assert str(TopicSubscription("T", "SQL92", "a > 1")) == "SQL92: a > 1"


def test_producers_are_merged_and_unknown_groups_are_no_failure() -> None:
    with ConsumerBroker() as first_broker, ConsumerBroker() as two:
        first_broker.producers = {"P": ["p1"]}
        clients, errors = read_producers(CALLER, "P", [first_broker.addr, two.addr])
        assert clients == (
            ConnectedClient("p1", "10.0.0.1:5", "JAVA", "V5_5_0", (first_broker.addr,), "remoting"),
        )
        assert errors == {first_broker.addr: None, two.addr: None}
        two.handlers[204] = refuse_with(1, "other")
        assert str(read_producers(CALLER, "P", [two.addr])[1][two.addr]) == "SYSTEM_ERROR (1): other"


def test_all_producers_of_each_broker() -> None:
    with ConsumerBroker() as first_broker, ConsumerBroker() as old:
        first_broker.producers = {"P": ["p2", "p1"]}
        old.handlers.pop(328)
        first_result, not_told = read_all_producers(CALLER, [first_broker.addr, old.addr])
    assert first_result.result is not None
    assert [
        (item.client_id, item.client_addr, item.version, item.last_heartbeat_ms)
        for item in first_result.result
    ] == [
        ("p1", "10.0.0.1:5", "V4_9_7", 1000),
        ("p2", "10.0.0.1:5", "V4_9_7", 1000),
    ]
    assert isinstance(not_told.error, RequestError)


def test_offline_is_an_answer() -> None:
    assert is_group_offline(RequestError("", 206))
    assert not is_group_offline(RequestError("", 1))
    assert not is_group_offline(None)
