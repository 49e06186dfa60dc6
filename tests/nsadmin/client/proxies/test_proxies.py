"""The list of proxies."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nsadmin import Access, AdminClient
from nsadmin.client.proxies import grpc_connections
from nsadmin.client.proxies.client_heartbeats import HEARTBEAT_TOPIC, PROXY_GROUP
from nsadmin.client.proxies.grpc_connections import GrpcConnections
from nsadmin.client.proxies.proxies import ProxyStatus
from nsadmin.client.results import ServerResult, is_not_found
from nsadmin.operations.bundles.answer_recorder import AnswerRecorder
from tests.support.bundles import MANIFEST_FIELDS, write_bundle
from tests.support.fake_servers import FakeNameServer, closed_port, refuse_with
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
        proxy_clients = listed(first_server, gone, local.addr)
    assert (proxy_clients[local.addr].mode, proxy_clients[local.addr].grpc_addr) == ("local", "10.0.0.7:8081")
    assert proxy_clients[local.addr].consumer_count is None
    assert (proxy_clients[gone].is_answering, proxy_clients[gone].mode, proxy_clients[gone].version) == (
        False,
        None,
        None,
    )
    assert proxy_clients[gone].error is not None


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
    monkeypatch.setattr(
        grpc_connections, "read_connections", lambda addr, *more: ServerResult(addr, answer, None)
    )
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
    access = Access(timeout=5, proxies=(proxy.addr, gone))
    with AdminClient(first_server.addr, access=access) as admin:
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
    manifest = MANIFEST_FIELDS._replace(name_servers=(first_server.addr,), proxies=configured_addrs)
    path = write_bundle(tmp_path / "a.nsbundle.zip", recorder.tables, manifest, recorder.probes)
    with AdminClient.from_context(bundle=path) as admin:
        assert admin.proxies.list_proxies() == live_list
    assert [status.sources for status in live_list.proxies] == [("heartbeats", "configured")]
