"""Proxies of 5.5.0 and the clients behind them: two in cluster mode, one in local mode, gRPC and remoting.

With NSADMIN_PROXIES=full, the tests also wait until the clients of a killed and of a frozen proxy are gone,
for about a minute.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nsadmin import AdminClient
from nsadmin.operations.drain.last_writers import read_last_writers
from tests.interop import command_line
from tests.interop.cluster import create_topic, wait_for_broker, wait_for_topic
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import JavaBroker, JavaNameServer, LiveClients, Running
from tests.interop.popping import create_group
from tests.interop.processes import wait_for
from tests.interop.proxies import GrpcClients, JavaProxy, PythonGrpcClients
from tests.support.examples import list_cases_elsewhere, split_example

FULL_SIZE = os.environ.get("NSADMIN_PROXIES") == "full"
TOPIC, GROUP, LOCAL_TOPIC, LOCAL_GROUP = "Orders", "orders-group", "Parcels", "parcels-group"
DIRECT_TOPIC = "Bills"
"""The topic of a remoting client behind the second proxy."""
ON_LOOPBACK: dict[str, object] = {"bindAddress": "127.0.0.1"}


class Cluster(NamedTuple):
    """`ids` has the client id of each gRPC client by name."""

    server: JavaNameServer
    brokers: list[JavaBroker]
    proxies: list[JavaProxy]
    local: JavaProxy
    local_broker: JavaBroker
    clients: GrpcClients
    ids: dict[str, str]

    def __call__(self, *words: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *words, "--proxies", self.local.remoting_address)

    def found(self, *words: str) -> Any:
        """The rows of a command without an error."""
        result = self(*words)
        assert (result.code, result.err) == (0, ""), result
        return result.rows


@pytest.fixture(scope="module", autouse=True)
def grpc() -> None:
    """The extra nsadmin[proxy]; under CI it must be installed."""
    if not os.environ.get("CI"):
        pytest.importorskip("grpc_channelz.v1.channelz_pb2_grpc")


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("proxies")
    with ExitStack() as ends, ThreadPoolExecutor() as pool:

        def enter(*parts: Running) -> None:
            for part in pool.map(lambda part: part.__enter__(), parts):
                ends.push(part)

        server = JavaNameServer(home / "ns", ON_LOOPBACK)
        enter(server)
        names = [server.address]
        brokers = [
            JavaBroker(home / name, names, name, config=ON_LOOPBACK) for name in ("broker-a", "broker-b")
        ]
        # The proxy in local mode contains this broker, which is never started alone.
        inner = JavaBroker(home / "c", names, "broker-c", "Locals", config=ON_LOOPBACK)
        local = JavaProxy(
            home / "local", names, {"rocketMQClusterName": "Locals"}, broker_config=inner._config
        )
        clients = GrpcClients(home / "clients")
        enter(*brokers, local, clients)
        for broker in brokers:
            wait_for_broker([server], broker.name)
            create_topic(broker.port, TOPIC)
            create_topic(broker.port, DIRECT_TOPIC)
        wait_for_broker([server], "broker-c")
        create_topic(inner.port, LOCAL_TOPIC)
        create_group(inner.port, LOCAL_GROUP)
        proxies = [JavaProxy(home / name, names) for name in ("first", "second")]
        enter(*proxies)
        for topic in (TOPIC, DIRECT_TOPIC, LOCAL_TOPIC):
            wait_for_topic([server], topic)
        enter(LiveClients(home / "remoting", proxies[1].remoting_address, DIRECT_TOPIC))
        ids = {
            "push": clients.open("push", "push", proxies[0].grpc_address, TOPIC, GROUP),
            "simple": clients.open("simple", "simple", proxies[1].grpc_address, TOPIC, GROUP),
            "producer": clients.open("producer", "producer", proxies[0].grpc_address, TOPIC),
            "local": clients.open("push", "local", local.grpc_address, LOCAL_TOPIC, LOCAL_GROUP),
            "sender": clients.open("producer", "sender", local.grpc_address, LOCAL_TOPIC),
        }
        yield Cluster(server, brokers, proxies, local, inner, clients, ids)


def settled(cluster: Cluster) -> None:
    """Wait until each client sent a heartbeat with its settings, which is not the first one."""
    wait_for(
        "heartbeats",
        lambda: (
            {row["clientId"]: row["version"] for row in cluster("consumerConnection", GROUP).rows or ()}
            == dict.fromkeys((cluster.ids["push"], cluster.ids["simple"]), "5.2.0")
        ),
    )


def test_each_client_of_a_group_is_listed_with_its_proxy(cluster: Cluster) -> None:
    settled(cluster)
    rows = {row["clientId"]: row for row in cluster.found("consumerConnection", GROUP)}
    first, second = (proxy.remoting_address for proxy in cluster.proxies)
    columns = ("language", "version", "protocol", "consumeType", "brokerAddrs", "proxyAddrs", "subscriptions")
    assert {client_id: [row[column] for column in columns] for client_id, row in rows.items()} == {
        cluster.ids["push"]: [
            "JAVA", "5.2.0", "gRPC", "CONSUME_PASSIVELY", [], [first], {TOPIC: "TagA || TagB"}
        ],
        cluster.ids["simple"]: [
            "JAVA", "5.2.0", "gRPC", "CONSUME_ACTIVELY", [], [second], {TOPIC: "TagA || TagB"}
        ],
    }  # fmt: skip


def rows_with_lag(cluster: Cluster) -> int:
    return sum(row["lag"] is not None for row in cluster.found("consumerProgress"))


def test_a_healthy_group_behind_a_proxy_is_healthy(cluster: Cluster) -> None:
    result = cluster("check", "lag", GROUP)
    values = {value["name"]: value["value"] for value in result.rows["values"]}
    assert (result.code, values["clients"], result.rows["details"]) == (0, 2, []), result.rows["summary"]
    rows = {row["group"]: row for row in cluster.found("consumerProgress")}
    assert (rows[GROUP]["count"], rows[GROUP]["version"]) == (2, "5.2.0")
    assert (rows[LOCAL_GROUP]["count"], rows[LOCAL_GROUP]["version"]) == (1, None)
    # The remoting consumer commits its first offsets after 10 seconds. The proxies' own group is left out.
    wait_for("first offsets", lambda: rows_with_lag(cluster) == 3)
    result = cluster("startMonitoring", "--once")
    assert (result.code, result.rows["summary"]) == (0, "all 3 groups are healthy"), result.rows


def test_every_client_is_listed_once(cluster: Cluster) -> None:
    first, second = (proxy.remoting_address for proxy in cluster.proxies)
    local, broker = cluster.local.remoting_address, cluster.local_broker.address
    rows = cluster.found("client", "list")
    columns = ("version", "protocol", "role", "groups", "producerGroups", "proxyAddrs", "brokerAddrs")
    by_id = {row["clientId"]: [row[column] for column in columns] for row in rows}
    wanted = {
        "push": ["5.2.0", "gRPC", "consumer", [GROUP], [], [first], []],
        "simple": ["5.2.0", "gRPC", "consumer", [GROUP], [], [second], []],
        "local": [None, "gRPC", "consumer", [LOCAL_GROUP], [], [local], [broker]],
        "sender": [None, "gRPC", "producer", [], [LOCAL_TOPIC], [local], [broker]],
    }
    assert {cluster.ids.get(name): values for name, values in wanted.items()}.items() <= by_id.items()
    # The producer behind the first proxy: its address is all that a server reports.
    assert by_id[None] == [None, "gRPC", None, None, None, [first], []]
    remoting = [row for row in rows if row["protocol"] == "remoting"]
    assert [(row["groups"], row["version"], row["proxyAddrs"]) for row in remoting] == [
        ([f"{DIRECT_TOPIC}-consumer"], "V5_5_0", [second])
    ]
    assert len(rows) == 6


def test_proxies_are_found_by_themselves_or_configured(cluster: Cluster) -> None:
    rows = {row["proxyAddr"]: row for row in cluster.found("proxy", "list")}
    columns = ("grpcAddr", "mode", "version", "state", "consumers", "grpcConnections", "sources")
    first, second = cluster.proxies
    assert {addr: [row[column] for column in columns] for addr, row in rows.items()} == {
        first.remoting_address: [first.grpc_address, "cluster", "V5_5_0", "ok", 1, 2, ["heartbeats"]],
        second.remoting_address: [second.grpc_address, "cluster", "V5_5_0", "ok", 2, 1, ["heartbeats"]],
        cluster.local.remoting_address: [
            cluster.local.grpc_address, "local", "V5_5_0", "ok", None, 2, ["configured"]
        ],
    }  # fmt: skip
    # The gRPC port of a known proxy is the same proxy.
    result = command_line.nsadmin(cluster.server.address, "proxy", "list", "--proxies", first.grpc_address)
    sources = {row["proxyAddr"]: row["sources"] for row in result.rows}
    assert (result.code, sources[first.remoting_address]) == (0, ["heartbeats", "configured"])


def test_old_clients_are_found(cluster: Cluster) -> None:
    # The release of a client whose address alone is known is unknown.
    assert cluster("check", "clients").code == 3
    result = cluster("check", "clients", "--min-version", "5.3.0")
    values = {value["name"]: value["value"] for value in result.rows["values"]}
    assert (result.code, values) == (1, {"old": 2, "unknown": 3, "clients": 6})


def test_clients_that_cannot_be_asked_cost_no_time_and_are_no_failure(cluster: Cluster) -> None:
    result = cluster("consumerStatus", LOCAL_GROUP)
    assert (result.code, [row["clientId"] for row in result.rows]) == (0, [cluster.ids["local"]])
    assert (
        result.err
        == f"nsadmin: gRPC clients and clients behind proxies report no state: {cluster.ids['local']}\n"
    )


def test_examples(cluster: Cluster) -> None:
    for case in list_cases_elsewhere("proxyList", "clientList"):
        for example in case.examples:
            line = [
                {
                    "127.0.0.1:8080": cluster.local.remoting_address,
                    "orders": TOPIC,
                    "broker-a-0": "broker-a",
                }.get(word, word)
                for word in split_example(example)
            ]
            result = command_line.nsadmin(cluster.server.address, *line)
            assert result.code == example.exit_code, (example.command_line, result.err)


def test_the_audit_finds_open_ports_of_proxies(cluster: Cluster) -> None:
    command = [sys.executable, "-m", "nsadmin", "securityAudit", "--format", "json"]
    command += ["-n", cluster.server.address, "--proxies", cluster.local.remoting_address]
    result = subprocess.run(
        command, capture_output=True, text=True, env=command_line.ENVIRONMENT, timeout=60, check=False
    )
    details = {check["check"]: check["details"] for check in json.loads(result.stdout)["checks"]}
    proxies = [*cluster.proxies, cluster.local]
    assert {f"proxy {proxy.remoting_address}" for proxy in proxies} < {*details["openProxy"]}
    grpc_ports = {f"proxy {proxy.grpc_address} (gRPC)" for proxy in proxies}
    assert grpc_ports < {*details["noTls"]}
    assert grpc_ports < {*details["openConnections"]}


def test_the_route_that_clients_of_proxies_get(cluster: Cluster) -> None:
    [row] = [row for row in cluster("routeExplain", TOPIC).rows if row["step"] == "proxyRoute"]
    assert (row["result"], row["seen"]) == ("ok", "all 3 proxies have the brokers that name servers have")


def test_a_drain_names_grpc_clients_that_still_write(cluster: Cluster) -> None:
    cluster.clients.order("send sender 1")
    broker = cluster.local_broker
    with AdminClient(cluster.server.address) as admin:
        writers = read_last_writers(admin, broker.name, broker.address, {LOCAL_TOPIC: 4}, {LOCAL_TOPIC: 1})
    assert writers == {LOCAL_TOPIC: (f"{socket.gethostname()} (gRPC) through 127.0.0.1",)}


def test_what_stops_without_a_proxy(cluster: Cluster) -> None:
    first, second = cluster.proxies
    result = cluster("whatIf", "--down-proxy", first.grpc_address)
    assert result.code == 0
    groups = [row for row in result.rows if row["what"] == "group"]
    assert [(row["name"], row["clients"], row["clientsLeft"]) for row in groups] == [(GROUP, 2, 1)]
    assert [row["count"] for row in result.rows if row["what"] == "connections"] == [1]
    result = cluster("whatIf", "--down-proxy", f"{first.remoting_address},{second.remoting_address}")
    assert (result.code, {row["clientsLeft"] for row in result.rows if row["what"] == "group"}) == (1, {0})
    result = cluster("whatIf", "--down-proxy", cluster.local.remoting_address)
    assert (result.code, result.rows[0]["name"]) == (1, LOCAL_GROUP)
    assert "contains a broker, which stops as well" in result.err


def test_a_message_that_a_grpc_client_consumed_is_consumed(cluster: Cluster) -> None:
    [sent] = cluster.found("sendMessage", "-t", TOPIC, "-p", "x", "-c", "TagA", "--yes")

    def track() -> str:
        rows = cluster("queryMsgByUniqueKey", "-i", sent["msgId"], "-t", TOPIC).rows
        # A broker finds a message a moment after it has stored it.
        return str(rows[0]["tracks"][GROUP]) if rows else ""

    wait_for("consumption", lambda: track() == "CONSUMED", interval=0.5)


@pytest.mark.skipif(not FULL_SIZE, reason="NSADMIN_PROXIES=full is not set: pip brings 30 MB")
def test_a_python_client_has_its_language_and_release(cluster: Cluster, tmp_path: Path) -> None:
    with PythonGrpcClients(tmp_path / "python", cluster.proxies[0].grpc_address, TOPIC, "python-group"):

        def found() -> list[tuple[str, str]]:
            rows = cluster("consumerConnection", "python-group").rows or []
            return [(row["language"], row["version"]) for row in rows]

        wait_for("the settings of the client", lambda: found() == [("PYTHON", PythonGrpcClients.VERSION)])


def test_a_frozen_and_a_killed_proxy_are_reported_and_hide_nothing(cluster: Cluster) -> None:
    first, second = cluster.proxies
    code, report, _ = cluster("check", "proxies")
    assert (code, report["summary"].startswith("3 of 3 known proxies answer")) == (0, True), report
    os.kill(second.child.pid, signal.SIGSTOP)
    try:
        result = cluster("proxy", "list", "--timeout", "1")
        states = {row["proxyAddr"]: row["state"] for row in result.rows}
        assert (result.code, states[first.remoting_address], states[second.remoting_address]) == (
            3, "ok", "silent",
        )  # fmt: skip
        assert result.err.startswith(f"nsadmin: proxy {second.remoting_address}: no answer within 1 s\n")
        result = cluster("check", "proxies", "--timeout", "1")
        assert (result.code, result.rows["details"][0].startswith(f"proxy {second.remoting_address}: ")) == (
            1,
            True,
        ), result
        result = cluster("client", "list", "--timeout", "1")
        assert result.code == 3
        assert {cluster.ids["push"], cluster.ids["local"], cluster.ids["sender"]} <= {
            row["clientId"] for row in result.rows
        }
        if FULL_SIZE:
            wait_for_members(cluster, {cluster.ids["push"]})
    finally:
        os.kill(second.child.pid, signal.SIGCONT)
    if FULL_SIZE:
        wait_for_members(cluster, {cluster.ids["push"], cluster.ids["simple"]})
    first.kill()
    result = cluster("proxy", "list", "--timeout", "1")
    states = {row["proxyAddr"]: row["state"] for row in result.rows}
    assert (result.code, states[first.remoting_address], states[second.remoting_address]) == (
        3,
        "silent",
        "ok",
    )
    result = cluster("check", "proxies", "--timeout", "1")
    assert (result.code, result.rows["summary"].startswith("2 of 3 known proxies answer")) == (1, True), (
        result
    )
    assert result.rows["details"][0].startswith(f"proxy {first.remoting_address}: connection refused")
    if FULL_SIZE:
        wait_for_members(cluster, {cluster.ids["simple"]})


def wait_for_members(cluster: Cluster, client_ids: set[str]) -> None:
    wait_for(
        f"only {client_ids}",
        lambda: {row["clientId"] for row in cluster("consumerConnection", GROUP).rows or ()} == client_ids,
        interval=0.5,
    )
