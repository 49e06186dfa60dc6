"""The list of proxies."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import build_reply
from nsadmin import Access, AdminClient
from nsadmin.client.connection.addresses import NameServerList
from nsadmin.client.connection.caller import Caller
from nsadmin.client.consumers.connected_clients import ConnectedClient, GroupConnections, TopicSubscription
from nsadmin.client.proxies import grpc_connections
from nsadmin.client.proxies.client_heartbeats import (
    HEARTBEAT_TOPIC,
    PROXY_GROUP,
    ClientHeartbeat,
    parse_heartbeat,
)
from nsadmin.client.proxies.grpc_connections import GrpcConnections
from nsadmin.client.proxies.proxies import (
    PortAnswer,
    ProxyStatus,
    add_listed_clients,
    add_synced_clients,
    probe_ports,
)
from nsadmin.client.results import ServerResult, is_not_found
from nsadmin.operations.bundles.answer_recorder import AnswerRecorder
from tests.support.bundles import MANIFEST_FIELDS, write_bundle
from tests.support.fake_servers import FakeNameServer, Server, closed_port, refuse_with
from tests.support.proxies import FakeProxy, ProxiedBroker, heartbeat_body


@pytest.fixture
def proxied_broker(first_server: FakeNameServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProxiedBroker]:
    """Without gRPC: tests of it say so."""
    monkeypatch.setattr(grpc_connections, "is_grpc_installed", lambda: False)
    with ProxiedBroker() as running:
        first_server.clusters = {"C": {"broker-a": {0: running.addr}}}
        first_server.routes = {HEARTBEAT_TOPIC: {"broker-a": 6}}
        yield running


@pytest.fixture
def proxy() -> Iterator[FakeProxy]:
    with FakeProxy() as running:
        yield running


def listed(first_server: FakeNameServer, *proxies: str) -> dict[str, ProxyStatus]:
    with AdminClient(first_server.addr, access=Access(timeout=5, proxies=proxies)) as admin:
        return {status.proxy_addr: status for status in admin.proxies.list_proxies().proxies}


def identity(proxy: FakeProxy) -> str:
    return f"127.0.0.1%{proxy.port}%{proxy.port + 1}"


def test_a_proxy_is_known_from_heartbeats(
    first_server: FakeNameServer, proxied_broker: ProxiedBroker, proxy: FakeProxy
) -> None:
    proxied_broker.store_heartbeat(heartbeat_body("a", proxy=identity(proxy)))
    proxied_broker.store_heartbeat(heartbeat_body("a", "other", proxy=identity(proxy)))
    proxied_broker.store_heartbeat(heartbeat_body("gone", proxy=identity(proxy)), 60)
    [status] = listed(first_server).values()
    assert (status.proxy_addr, status.grpc_addr) == (proxy.addr, f"127.0.0.1:{proxy.port + 1}")
    assert (status.mode, status.version, status.is_answering) == ("cluster", "V5_5_0", True)
    assert (status.consumer_count, status.connection_addrs) == (1, None)
    assert (status.sources, status.error) == (("heartbeats",), None)


def test_a_proxy_that_is_configured_by_another_name_is_the_same(
    first_server: FakeNameServer, proxied_broker: ProxiedBroker, proxy: FakeProxy
) -> None:
    proxied_broker.store_heartbeat(heartbeat_body("a", proxy=identity(proxy)))
    by_name, by_grpc_port = f"localhost:{proxy.port}", f"127.0.0.1:{proxy.port + 1}"
    for configured_addr in (by_name, by_grpc_port):
        [status] = listed(first_server, configured_addr).values()
        assert (status.proxy_addr, status.sources) == (proxy.addr, ("heartbeats", "configured"))


def test_silent_and_local_proxies(first_server: FakeNameServer, proxied_broker: ProxiedBroker) -> None:
    gone = f"127.0.0.1:{closed_port()}"
    with FakeProxy(is_local=True) as local:
        clients = listed(first_server, gone, local.addr)
    assert (clients[local.addr].mode, clients[local.addr].grpc_addr) == ("local", "10.0.0.7:8081")
    assert clients[local.addr].consumer_count is None
    assert (clients[gone].is_answering, clients[gone].mode, clients[gone].version) == (False, None, None)
    assert clients[gone].error is not None


def test_a_proxy_that_only_brokers_see_has_no_ports(
    first_server: FakeNameServer, proxied_broker: ProxiedBroker, proxy: FakeProxy
) -> None:
    proxied_broker.clients = {PROXY_GROUP: ["10.0.0.1@DEFAULT"]}
    [status] = listed(first_server).values()
    assert (status.proxy_addr, status.mode, status.is_answering) == ("10.0.0.1", "cluster", None)
    assert status.sources == ("brokers",)
    proxied_broker.store_heartbeat(heartbeat_body("a", proxy="10.0.0.1%8080%8081"))
    proxied_broker.clients = {PROXY_GROUP: ["10.0.0.1@DEFAULT"]}
    with AdminClient(first_server.addr, access=Access(timeout=0.2)) as admin:
        assert [item.proxy_addr for item in admin.proxies.list_proxies().proxies] == ["10.0.0.1:8080"]


def test_the_grpc_port_adds_connections_and_may_be_all_that_answers(
    first_server: FakeNameServer, proxied_broker: ProxiedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = f"127.0.0.1:{closed_port()}"
    monkeypatch.setattr(grpc_connections, "is_grpc_installed", lambda: True)
    answer = GrpcConnections(8081, ("10.0.0.1:5",))
    monkeypatch.setattr(grpc_connections, "read_connections", lambda a, *more: ServerResult(a, answer, None))
    [status] = listed(first_server, gone).values()
    assert (status.is_answering, status.error) == (True, None)
    assert (status.grpc_addr, status.connection_addrs) == ("127.0.0.1:8081", ("10.0.0.1:5",))


def test_brokers_that_refuse_are_errors(first_server: FakeNameServer, proxied_broker: ProxiedBroker) -> None:
    proxied_broker.handlers[203] = refuse_with(16, "no permission")
    with AdminClient(first_server.addr, timeout=5) as admin:
        assert [*admin.proxies.list_proxies().errors] == [proxied_broker.addr]


def test_configured_proxies_add_clients_to_groups(
    first_server: FakeNameServer, proxied_broker: ProxiedBroker, proxy: FakeProxy
) -> None:
    proxy.clients = {"G": ["host@1@0@abc"]}
    gone = f"127.0.0.1:{closed_port()}"
    with AdminClient(first_server.addr, access=Access(timeout=5, proxies=(proxy.addr, gone))) as admin:
        connections = admin.consumers.get_connections("G")
    assert [client.proxy_addrs for client in connections.clients] == [(proxy.addr,)]
    assert [*connections.proxy_errors] == [gone]


def test_the_route_of_each_proxy(
    first_server: FakeNameServer, proxied_broker: ProxiedBroker, proxy: FakeProxy
) -> None:
    proxied_broker.store_heartbeat(heartbeat_body("a", proxy=identity(proxy)))
    with FakeProxy() as other:
        other.handlers[105] = refuse_with(17, "No topic route info")
        with AdminClient(first_server.addr, access=Access(timeout=5, proxies=(other.addr,))) as admin:
            routes_by_addr = {result.addr: result for result in admin.proxies.get_topic_routes("T")}
    assert routes_by_addr[proxy.addr].result == ("broker-a",)
    assert is_not_found(routes_by_addr[other.addr].error)


def test_a_bundle_has_the_proxies_and_their_heartbeats(
    first_server: FakeNameServer, proxied_broker: ProxiedBroker, proxy: FakeProxy, tmp_path: Path
) -> None:
    proxied_broker.store_heartbeat(heartbeat_body("a", proxy=identity(proxy)))
    recorder, configured_addrs = AnswerRecorder(), (proxy.addr,)
    access = Access(timeout=5, proxies=configured_addrs, answers=recorder)
    with AdminClient(first_server.addr, access=access) as admin:
        live_list = admin.proxies.list_proxies()
    manifest = MANIFEST_FIELDS._replace(namesrv_addrs=(first_server.addr,), proxies=configured_addrs)
    path = write_bundle(tmp_path / "a.nsbundle.zip", recorder.tables, manifest, recorder.probes)
    with AdminClient.from_context(bundle=path) as admin:
        assert admin.proxies.list_proxies() == live_list
    assert [status.sources for status in live_list.proxies] == [("heartbeats", "configured")]


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


def listed_clients(
    *client_ids: str, addrs: tuple[str, ...] = ("p:1",), protocol: str = "gRPC"
) -> GroupConnections:
    clients = tuple(
        ConnectedClient(client_id, "10.0.0.2:6", "JAVA", None, addrs, protocol) for client_id in client_ids
    )
    return DIRECT._replace(clients=clients, errors={"p:1": None, "p:2": RocketMQError("no")})


def test_a_client_that_only_a_configured_proxy_lists_is_behind_it() -> None:
    merged = add_listed_clients(NONE, listed_clients("a"), set())
    assert [(c.client_id, c.broker_addrs, c.proxy_addrs) for c in merged.clients] == [("a", (), ("p:1",))]
    assert (merged.consume_type, [*merged.proxy_errors]) == ("CONSUME_PASSIVELY", ["p:2"])


def test_heartbeats_decide_about_the_clients_in_them() -> None:
    assert add_listed_clients(NONE, listed_clients("gone"), {"gone"}).clients == ()


def test_it_is_unknown_through_which_of_two_proxies_a_client_is_connected() -> None:
    [client] = add_listed_clients(NONE, listed_clients("a", addrs=("p:1", "p:2")), set()).clients
    assert client.proxy_addrs == ()


def test_a_remoting_client_of_a_broker_may_not_be_behind_the_proxy_that_lists_it() -> None:
    [client] = add_listed_clients(DIRECT, listed_clients("direct", protocol="remoting"), set()).clients
    assert (client.broker_addrs, client.proxy_addrs) == (("b:1",), ())


CALLER = Caller(NameServerList((), "given"), Access(timeout=5))


def test_the_mode_follows_from_the_address_in_the_route() -> None:
    with FakeProxy() as cluster, FakeProxy(is_local=True) as local:
        answers = probe_ports(CALLER, [cluster.addr, local.addr, cluster.addr], ["broker-a"])
    assert answers == {
        cluster.addr: PortAnswer("V5_5_0", "cluster", cluster.addr, None, None),
        local.addr: PortAnswer("V5_5_0", "local", None, "10.0.0.7:8081", None),
    }


def test_a_refusal_has_the_release_and_silence_an_error() -> None:
    gone = f"127.0.0.1:{closed_port()}"
    with FakeProxy() as denying, FakeProxy() as broken:
        denying.handlers[105] = refuse_with(16, "no permission")
        broken.handlers[105] = lambda asked: build_reply(asked, body=b"{")
        answers = probe_ports(CALLER, [denying.addr, broken.addr, gone], ["broker-a"])
    assert answers[denying.addr] == PortAnswer("V5_5_0", None, None, None, None)
    assert answers[broken.addr] == PortAnswer("V5_5_0", None, None, None, None)
    assert answers[gone].error is not None


def test_a_server_without_routes_is_not_a_proxy() -> None:
    with Server() as other:
        answers = probe_ports(CALLER, [other.addr], ["broker-a"])
    assert str(answers[other.addr].error) == "this is not a proxy: it returns no routes"
