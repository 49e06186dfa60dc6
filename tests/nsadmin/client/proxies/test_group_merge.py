"""Clients behind proxies, merged into their groups."""

from namesrv_core.errors import RocketMQError
from nsadmin.client.consumers.connected_clients import ConnectedClient, GroupConnections, TopicSubscription
from nsadmin.client.proxies.client_heartbeats import ClientHeartbeat, parse_heartbeat
from nsadmin.client.proxies.group_merge import add_listed_clients, add_synced_clients
from tests.support.proxies import heartbeat_body

NONE = GroupConnections((), None, None, None, (), (), {"b:1": None})
DIRECT = GroupConnections(
    (ConnectedClient("direct", "10.0.0.1:5", "JAVA", "V5_5_0", ("b:1",), "remoting"),),
    "CONSUME_PASSIVELY",
    "CLUSTERING",
    "CONSUME_FROM_LAST_OFFSET",
    (TopicSubscription("T", "TAG", "*"),),
    (),
    {"b:1": None},
)


def heartbeat(client_id: str, age_ms: int = 0, expression: str = "*") -> ClientHeartbeat:
    parsed = parse_heartbeat(heartbeat_body(client_id, expression=expression), age_ms, 0)
    assert parsed is not None
    return parsed


def test_a_group_that_no_broker_knows_gets_everything_from_heartbeats() -> None:
    merged = add_synced_clients(NONE, [heartbeat("a"), heartbeat("gone", 60_000)], {})
    assert [client.client_id for client in merged.clients] == ["a"]
    assert (merged.consume_type, merged.message_model) == ("CONSUME_PASSIVELY", "CLUSTERING")
    assert merged.subscriptions == (TopicSubscription("T", "TAG", "*"),)
    assert (merged.errors, merged.proxy_errors) == ({"b:1": None}, {})


def test_another_subscription_behind_a_proxy_is_a_disagreement() -> None:
    merged = add_synced_clients(DIRECT, [heartbeat("a", expression="TagA")], {})
    assert [client.client_id for client in merged.clients] == ["a", "direct"]
    assert merged.disagreements == ("a has TagA for T, others *",)


def test_unreadable_heartbeats_are_an_error_and_hide_nothing() -> None:
    error = RocketMQError("no")
    merged = add_synced_clients(DIRECT, [], {"broker-a": error})
    assert (merged.clients, merged.proxy_errors) == (DIRECT.clients, {"broker-a": error})


def listed(*client_ids: str, addrs: tuple[str, ...] = ("p:1",), protocol: str = "gRPC") -> GroupConnections:
    clients = tuple(
        ConnectedClient(client_id, "10.0.0.2:6", "JAVA", None, addrs, protocol) for client_id in client_ids
    )
    return DIRECT._replace(clients=clients, errors={"p:1": None, "p:2": RocketMQError("no")})


def test_a_client_that_only_a_configured_proxy_lists_is_behind_it() -> None:
    merged = add_listed_clients(NONE, listed("a"), set())
    assert [(c.client_id, c.broker_addrs, c.proxy_addrs) for c in merged.clients] == [("a", (), ("p:1",))]
    assert (merged.consume_type, [*merged.proxy_errors]) == ("CONSUME_PASSIVELY", ["p:2"])


def test_heartbeats_decide_about_the_clients_in_them() -> None:
    assert add_listed_clients(NONE, listed("gone"), {"gone"}).clients == ()


def test_it_is_unknown_through_which_of_two_proxies_a_client_is_connected() -> None:
    [client] = add_listed_clients(NONE, listed("a", addrs=("p:1", "p:2")), set()).clients
    assert client.proxy_addrs == ()


def test_a_remoting_client_of_a_broker_may_not_be_behind_the_proxy_that_lists_it() -> None:
    [client] = add_listed_clients(DIRECT, listed("direct", protocol="remoting"), set()).clients
    assert (client.broker_addrs, client.proxy_addrs) == (("b:1",), ())
