"""Records of connected clients, read from brokers and merged."""

import pytest

from namesrv_core.errors import RequestError
from namesrv_core.protocol.command import build_reply
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.addresses import NameServerList
from nsadmin.client.connection.caller import Caller
from nsadmin.client.consumers.connected_clients import (
    ConnectedClient,
    TopicSubscription,
    infer_protocol,
    is_group_offline,
    merge_clients,
    read_consumers,
    read_members,
)
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeBroker, closed_port

CALLER = Caller(NameServerList((), "given"), Access(timeout=5))


@pytest.mark.parametrize(
    ("client_id", "protocol"),
    [
        ("10.0.0.1@DEFAULT", "remoting"),
        ("10.0.0.1@4711#123456789", "remoting"),
        ("10.0.0.1@4711@unit", "remoting"),
        ("host@4711@0@4mg4kizz3", "gRPC"),
        ("host.example.com@1@12@dn3hxjkrof98", "gRPC"),
    ],
)
def test_the_protocol_follows_from_the_form_of_the_id(client_id: str, protocol: str) -> None:
    assert infer_protocol(client_id) == protocol


def test_the_first_known_value_counts_and_addresses_are_joined() -> None:
    of_broker = ConnectedClient("c", "10.0.0.1:5", "JAVA", None, ("b:1",), "gRPC")
    of_proxy = ConnectedClient(
        "c", "10.0.0.2:6", "GO", "5.2.0", ("b:1", "b:2"), "remoting", ("p:1",), last_heartbeat_ms=7
    )
    other = ConnectedClient("a", None, None, None, ())
    assert merge_clients([of_broker, of_proxy, other]) == (
        other,
        ConnectedClient(
            "c", "10.0.0.1:5", "JAVA", "5.2.0", ("b:1", "b:2"), "gRPC", ("p:1",), last_heartbeat_ms=7
        ),
    )


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


def test_offline_is_an_answer() -> None:
    assert is_group_offline(RequestError("", 206))
    assert not is_group_offline(RequestError("", 1))
    assert not is_group_offline(None)
