"""Heartbeats of clients behind proxies."""

import json

import pytest

from nsadmin.client.consumers.connected_clients import TopicSubscription
from nsadmin.client.proxies.client_heartbeats import (
    ClientHeartbeat,
    ProxyIdentity,
    parse_heartbeat,
    select_latest,
)
from tests.support.proxies import heartbeat_body


def parsed(message_body: bytes, age_ms: int = 0) -> ClientHeartbeat:
    heartbeat = parse_heartbeat(message_body, age_ms, 10_000_000)
    assert heartbeat is not None
    return heartbeat


def test_a_grpc_client_has_its_own_release_and_not_that_of_the_proxy() -> None:
    heartbeat = parsed(heartbeat_body("c", "G", expression="TagA"), 2000)
    assert heartbeat.proxy == ProxyIdentity("10.0.0.9", 8080, 8081)
    assert (heartbeat.proxy.remoting_addr, heartbeat.proxy.grpc_addr) == ("10.0.0.9:8080", "10.0.0.9:8081")
    assert (heartbeat.group, heartbeat.message_model) == ("G", "CLUSTERING")
    client = heartbeat.client
    assert (client.client_id, client.client_addr, client.language) == ("c", "10.0.0.1:5", "JAVA")
    assert (client.version, client.protocol, client.proxy_addrs) == ("5.2.0", "gRPC", ("10.0.0.9:8080",))
    assert client.subscriptions == (TopicSubscription("T", "TAG", "TagA"),)
    assert (client.last_heartbeat_ms, client.broker_addrs) == (9_998_000, ())


def test_a_remoting_client_has_the_release_of_the_record() -> None:
    heartbeat = parsed(heartbeat_body(protocol="REMOTING", version=None))
    assert (heartbeat.client.version, heartbeat.client.protocol) == ("V5_5_0", "remoting")


@pytest.mark.parametrize(
    ("protocol", "kind", "age_seconds", "is_connected"),
    [
        ("GRPC_V2", "REGISTER", 34, True),
        ("GRPC_V2", "REGISTER", 36, False),
        ("REMOTING", "REGISTER", 94, True),
        ("REMOTING", "REGISTER", 96, False),
        ("GRPC_V2", "UNREGISTER", 1, False),
        ("OTHER", "REGISTER", 99, True),
    ],
)
def test_a_client_is_connected_until_it_leaves_or_misses_three_heartbeats(
    protocol: str, kind: str, age_seconds: int, is_connected: bool
) -> None:
    heartbeat = parsed(heartbeat_body(protocol=protocol, kind=kind), age_seconds * 1000)
    assert heartbeat.is_connected is is_connected


@pytest.mark.parametrize(
    "changes",
    [
        {"localProxyId": "10.0.0.9"},
        {"localProxyId": "10.0.0.9%a%b"},
        {"channelData": "{"},
        {"channelData": None},
        {"clientId": None, "subscriptionDataSet": 5},
    ],
)
def test_a_message_that_is_no_heartbeat_is_left_out(changes: dict[str, object]) -> None:
    assert parse_heartbeat(json.dumps({**json.loads(heartbeat_body()), **changes}).encode(), 0, 0) is None
    assert parse_heartbeat(b"\xff[]", 0, 0) is None
    assert parse_heartbeat(b"[]", 0, 0) is None


def test_the_last_heartbeat_counts_with_the_release_of_an_earlier_one() -> None:
    joined = parsed(heartbeat_body("c", sent_ms=1, version="5.1.0"))
    again = parsed(heartbeat_body("c", sent_ms=2, version=None))
    left = parsed(heartbeat_body("d", sent_ms=9, kind="UNREGISTER"))
    before = parsed(heartbeat_body("d", sent_ms=8))
    elsewhere = parsed(heartbeat_body("c", sent_ms=1, proxy="10.0.0.8%8080%8081"))
    latest = select_latest([left, again, before, joined, elsewhere])
    assert [(item.client.client_id, item.client.version, item.is_leaving) for item in latest] == [
        ("c", "5.2.0", False),
        ("c", "5.1.0", False),
        ("d", "5.2.0", True),
    ]
