"""Every client of a cluster once."""

from collections.abc import Iterator

import pytest

from nsadmin import Access, AdminClient
from nsadmin.client.proxies import grpc_connections
from nsadmin.client.proxies.client_heartbeats import HEARTBEAT_TOPIC, PROXY_GROUP
from nsadmin.client.proxies.cluster_clients import INNER_PRODUCER_GROUP, ClusterClient
from nsadmin.client.proxies.grpc_connections import GrpcConnections
from nsadmin.client.results import ServerResult
from tests.support.fake_servers import FakeNameServer, refuse_with
from tests.support.proxies import FakeProxy, ProxiedBroker, heartbeat_body


@pytest.fixture
def proxied_broker(first_server: FakeNameServer) -> Iterator[ProxiedBroker]:
    with ProxiedBroker() as running:
        first_server.clusters = {"C": {"broker-a": {0: running.addr}}}
        first_server.routes = {HEARTBEAT_TOPIC: {"broker-a": 6}}
        yield running


def connections_at(monkeypatch: pytest.MonkeyPatch, *addrs: str) -> None:
    answer = GrpcConnections(None, addrs)
    monkeypatch.setattr(grpc_connections, "is_grpc_installed", lambda: True)
    monkeypatch.setattr(
        grpc_connections, "read_connections", lambda addr, *more: ServerResult(addr, answer, None)
    )


def test_a_client_of_several_groups_is_one_client(
    first_server: FakeNameServer, proxied_broker: ProxiedBroker
) -> None:
    proxied_broker.configs["H"] = {"groupName": "H"}
    proxied_broker.clients = {"G": ["c"], "H": ["c"]}
    proxied_broker.producers = {"P": ["c", "p"], INNER_PRODUCER_GROUP: ["c", "p", "tool"]}
    with AdminClient(first_server.addr, timeout=5) as admin:
        both, producer = admin.clients.list_clients().clients
        with_system = admin.clients.list_clients(include_system=True).clients
    assert (both.client_id, both.consumer_groups, both.producer_groups) == ("c", ("G", "H"), ("P",))
    assert (both.protocol, both.broker_addrs, both.last_heartbeat_ms) == (
        "remoting",
        (proxied_broker.addr,),
        1000,
    )
    assert (producer.client_id, producer.consumer_groups, producer.producer_groups) == ("p", (), ("P",))
    assert [client.client_id for client in with_system] == ["c", "p", "tool"]


def test_a_group_that_no_broker_has_is_known_from_heartbeats(
    first_server: FakeNameServer, proxied_broker: ProxiedBroker
) -> None:
    proxied_broker.store_heartbeat(heartbeat_body("a", "only-proxied", proxy="127.0.0.1%1%2"))
    proxied_broker.clients = {PROXY_GROUP: ["127.0.0.1@DEFAULT"]}
    with AdminClient(first_server.addr, timeout=5) as admin:
        [client] = admin.clients.list_clients().clients
    assert (client.client_id, client.consumer_groups) == ("a", ("only-proxied",))
    assert (client.version, client.proxy_addrs) == ("5.2.0", ("127.0.0.1:1",))


def test_a_connection_of_no_known_client_has_only_an_address(
    first_server: FakeNameServer, proxied_broker: ProxiedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeProxy() as proxy, AdminClient(first_server.addr, timeout=5) as admin:
        proxied_broker.store_heartbeat(
            heartbeat_body("a", proxy=f"127.0.0.1%{proxy.port}%1", client_addr="10.0.0.1:5")
        )
        connections_at(monkeypatch, "10.0.0.1:5", "10.0.0.4:9")
        known, nameless = admin.clients.list_clients().clients
    assert known.client_id == "a"
    assert nameless == ClusterClient(None, "10.0.0.4:9", None, None, "gRPC", None, None, (proxy.addr,))


def test_a_local_proxy_is_that_with_a_connection_from_the_client(
    first_server: FakeNameServer, proxied_broker: ProxiedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxied_broker.clients = {"G": ["host@1@0@abc", "10.0.0.1@DEFAULT"]}
    connections_at(monkeypatch, "10.0.0.1:5")
    with (
        FakeProxy(is_local=True) as local,
        AdminClient(first_server.addr, access=Access(timeout=5, proxies=(local.addr,))) as admin,
    ):
        remoting, grpc = admin.clients.list_clients().clients
    assert (grpc.protocol, grpc.version, grpc.proxy_addrs) == ("gRPC", None, (local.addr,))
    assert (remoting.protocol, remoting.version, remoting.proxy_addrs) == ("remoting", "V5_5_0", ())


def test_servers_that_refuse_are_errors_and_hide_nothing(
    first_server: FakeNameServer, proxied_broker: ProxiedBroker
) -> None:
    proxied_broker.clients = {"G": ["c"]}
    proxied_broker.handlers[328] = refuse_with(16, "no permission")
    with AdminClient(first_server.addr, timeout=5) as admin:
        clients = admin.clients.list_clients()
    assert ([client.client_id for client in clients.clients], [*clients.errors]) == (
        ["c"],
        [proxied_broker.addr],
    )
