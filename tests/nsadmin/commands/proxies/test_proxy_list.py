"""proxy list."""

from collections.abc import Iterator

import pytest

from nsadmin.client.extras import describe_missing
from nsadmin.client.proxies import grpc_connections
from nsadmin.client.proxies.client_heartbeats import HEARTBEAT_TOPIC, PROXY_GROUP
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer
from tests.support.proxies import FakeProxy, ProxiedBroker, heartbeat_body


@pytest.fixture
def proxied_broker(first_server: FakeNameServer) -> Iterator[ProxiedBroker]:
    with ProxiedBroker() as running:
        first_server.clusters = {"C": {"broker-a": {0: running.addr}}}
        first_server.routes = {HEARTBEAT_TOPIC: {"broker-a": 6}}
        yield running


def test_a_silent_proxy_is_reported_and_hides_nothing(
    ask: Run, proxied_broker: ProxiedBroker, dead_addr: str
) -> None:
    with FakeProxy() as proxy:
        proxied_broker.store_heartbeat(heartbeat_body("a", proxy=f"127.0.0.1%{proxy.port}%1"))
        result = ask("proxy", "list", "--proxies", dead_addr, "--json")
    rows = {row["proxyAddr"]: row for row in result.json}
    assert (result.code, rows[proxy.addr]["state"], rows[dead_addr]["state"]) == (3, "ok", "silent")
    assert result.err.startswith(f"nsadmin: proxy {dead_addr}: connection refused")
    wanted = {
        "proxyAddr": proxy.addr, "grpcAddr": "127.0.0.1:1", "mode": "cluster", "version": "V5_5_0",
        "state": "ok", "consumers": 1, "grpcConnections": None, "sources": ["heartbeats"], "error": None,
    }  # fmt: skip
    assert wanted.items() <= rows[proxy.addr].items()
    assert rows[dead_addr]["consumers"] is None


def test_a_proxy_with_unknown_ports_is_a_line_with_what_to_pass(
    ask: Run, proxied_broker: ProxiedBroker
) -> None:
    proxied_broker.clients = {PROXY_GROUP: ["10.0.0.1@DEFAULT"]}
    result = ask("proxy", "list", "--json")
    assert (result.code, result.json[0]["state"]) == (0, "unknown")
    assert "pass --proxies 10.0.0.1:8080" in result.err


def test_without_the_extra_a_line_says_what_to_install(
    ask: Run, proxied_broker: ProxiedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nsadmin.commands.proxies.proxy_list.is_grpc_installed", lambda: False)
    monkeypatch.setattr(grpc_connections, "is_grpc_installed", lambda: False)
    with FakeProxy() as proxy:
        result = ask("proxy", "list", "--proxies", proxy.addr)
    assert (
        result.err == f"nsadmin: grpcConnections is unknown: {describe_missing('grpcio-channelz', 'proxy')}\n"
    )
    assert ask("proxy", "list").code == 0


def test_proxies_that_are_no_addresses(run: Run) -> None:
    result = run("proxy", "list", "--proxies", "a/b")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith('nsadmin: invalid value for --proxies: invalid address "a/b"')
