"""client list."""

from collections.abc import Iterator

import pytest

from nsadmin.client.proxies import grpc_connections
from nsadmin.client.proxies.client_heartbeats import HEARTBEAT_TOPIC
from nsadmin.client.proxies.cluster_clients import ClusterClient
from nsadmin.commands.proxies.client_list import describe_role
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer
from tests.support.proxies import FakeProxy, ProxiedBroker, heartbeat_body


@pytest.fixture
def proxied_broker(first_server: FakeNameServer) -> Iterator[ProxiedBroker]:
    with ProxiedBroker() as running:
        first_server.clusters = {"C": {"broker-a": {0: running.addr}}}
        first_server.routes = {HEARTBEAT_TOPIC: {"broker-a": 6}}
        yield running


def test_clients_of_brokers_and_proxies(ask: Run, proxied_broker: ProxiedBroker) -> None:
    with FakeProxy() as proxy:
        proxied_broker.clients = {"G": ["direct"]}
        proxied_broker.store_heartbeat(heartbeat_body("proxied", "G", proxy=f"127.0.0.1%{proxy.port}%1"))
        result = ask("client", "list", "--json")
        table = ask("client", "list")
    assert table.err == "nsadmin: 2 clients were found: JAVA V5_5_0 1, JAVA 5.2.0 1\n"
    direct, proxied = result.json
    assert (result.code, result.err) == (0, "")
    assert (direct["clientId"], direct["protocol"], direct["brokerAddrs"]) == (
        "direct", "remoting", [proxied_broker.addr],
    )  # fmt: skip
    assert (proxied["clientId"], proxied["protocol"], proxied["proxyAddrs"]) == (
        "proxied", "gRPC", [proxy.addr],
    )  # fmt: skip
    assert (direct["role"], proxied["groups"], direct["lastHeartbeat"]) == ("consumer", ["G"], None)


def test_the_clients_of_one_broker(
    ask: Run, first_server: FakeNameServer, proxied_broker: ProxiedBroker
) -> None:
    proxied_broker.clients = {"G": ["here"]}
    proxied_broker.store_heartbeat(heartbeat_body("proxied", "G", proxy="127.0.0.1%1%1"))
    with ProxiedBroker("broker-b") as other:
        other.clients = {"G": ["elsewhere"]}
        first_server.clusters = {"C": {**first_server.clusters["C"], "broker-b": {0: other.addr}}}
        for words in (["-b", "broker-a"], ["--broker", proxied_broker.addr]):
            result = ask("client", "list", *words, "--json")
            assert (result.code, [row["clientId"] for row in result.json]) == (0, ["here"])
    assert ask("client", "list", "-b", "broker-a", "-c", "C").code == 2


def test_a_silent_proxy_changes_the_exit_code_and_hides_nothing(
    ask: Run, proxied_broker: ProxiedBroker, dead_addr: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nsadmin.commands.proxies.client_list.is_grpc_installed", lambda: False)
    monkeypatch.setattr(grpc_connections, "is_grpc_installed", lambda: False)
    host, port = dead_addr.split(":")
    proxied_broker.store_heartbeat(heartbeat_body("proxied", proxy=f"{host}%{port}%1"))
    result = ask("client", "list", "--json")
    assert (result.code, [row["clientId"] for row in result.json]) == (3, ["proxied"])
    assert result.err.splitlines()[0].startswith(f"nsadmin: proxy {dead_addr}: connection refused")
    assert (
        "gRPC producers behind proxies are not shown: the Python package grpcio-channelz is missing: run"
        in result.err
    )


def test_a_silent_proxy_is_not_called_a_broker(
    ask: Run, proxied_broker: ProxiedBroker, dead_addr: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grpc_connections, "is_grpc_installed", lambda: False)
    proxied_broker.clients = {"G": ["direct"]}
    result = ask("client", "list", "--proxies", dead_addr)
    assert (result.code, result.err.count(dead_addr)) == (3, 1)
    assert f"proxy {dead_addr}: connection refused" in result.err


def test_the_consumers_of_a_topic(
    ask: Run, first_server: FakeNameServer, proxied_broker: ProxiedBroker
) -> None:
    first_server.routes["T"] = {"broker-a": 6}
    proxied_broker.clients = {"G": ["reads T"], "H": ["reads another topic"]}
    proxied_broker.topics["T"] = ["G"]
    result = ask("client", "list", "-t", "T", "--json")
    assert (result.code, [row["clientId"] for row in result.json]) == (0, ["reads T"])
    assert "nsadmin producer --topic T shows who sent the newest messages\n" in result.err
    assert "without a connected client" not in result.err
    assert ask("client", "list", "-t", "Unknown").code == 5
    proxied_broker.topics["T"] = ["G", "Offline"]
    result = ask("client", "list", "-t", "T", "--json")
    assert "nsadmin: groups of T without a connected client: Offline\n" in result.err


@pytest.mark.parametrize(
    ("consumer_groups", "producer_groups", "role"),
    [
        (("G",), (), "consumer"),
        ((), ("P",), "producer"),
        (("G",), ("P",), "consumer,producer"),
        ((), (), "none"),
        (None, None, None),
    ],
)
def test_the_role_follows_from_the_groups(
    consumer_groups: tuple[str, ...] | None, producer_groups: tuple[str, ...] | None, role: str | None
) -> None:
    client = ClusterClient("c", None, None, None, "gRPC", consumer_groups, producer_groups)
    assert describe_role(client) == role
