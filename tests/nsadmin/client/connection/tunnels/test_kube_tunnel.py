"""Connections through the stub of kubectl."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.errors import RocketMQError
from nsadmin.client import Access, AdminClient
from nsadmin.client.connection.tunnels.tunnel_leases import report_forwards
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget
from tests.interop.processes import wait_for
from tests.support.fake_servers import FakeNameServer, closed_port
from tests.support.kube_clusters import StubCluster, make_pod, make_service

NAMES = {"component": "nameserver"}


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer() as running:
        yield running


@pytest.fixture
def cluster(tmp_path: Path, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[StubCluster]:
    """A name server in a pod, and a pod whose port is closed."""
    stub = StubCluster(tmp_path)
    for name, value in stub.variables.items():
        monkeypatch.setenv(name, value)
    stub.items = [
        make_pod("names-0", "10.1.0.5", [9876], labels=NAMES, subdomain="names"),
        make_pod("other-0", "10.1.0.6", [10911]),
        make_service("names", NAMES, [(9876, 9876)], "10.96.0.1"),
    ]
    stub.servers = {"names-0:9876": server.addr, "other-0:10911": f"127.0.0.1:{closed_port()}"}
    stub.save_objects()
    yield stub
    wait_for("the end of kubectl", lambda: not stub.processes, 10)


def access(timeout: float = 3, retries: int = 0) -> Access:
    return Access(timeout, retries, tunnel=KubeTarget("mq", "prod"))


def failure(addr: str) -> str:
    with AdminClient(addr, access=access()) as admin, pytest.raises(RocketMQError) as raised:
        admin.topics.list_names()
    return str(raised.value).removeprefix("no name server answered: ")


@pytest.mark.parametrize(
    "addr",
    [
        "10.1.0.5:9876",
        "names-0:9876",
        "names-0.names.mq.svc.cluster.local:9876",
        "names:9876",
        "10.96.0.1:9876",
    ],
)
def test_a_name_server_is_reached_by_each_of_its_addresses(cluster: StubCluster, addr: str) -> None:
    with AdminClient(addr, access=access()) as admin:
        assert admin.topics.list_names() == ()
        assert admin.addresses.addrs == (addr,)
    assert cluster.calls == [
        "--context prod --namespace mq get pods,services --output=json",
        "--context prod --namespace mq port-forward --address=127.0.0.1 --pod-running-timeout=5s "
        "pod/names-0 :9876",
    ]


def test_clients_share_the_forwards_and_the_last_one_ends_them(cluster: StubCluster) -> None:
    with AdminClient("names-0:9876", access=access()) as first:
        first.topics.list_names()
        with AdminClient("10.1.0.5:9876", access=access(timeout=9)) as second:
            second.topics.list_names()
        assert len(cluster.processes) == 1
        first.topics.list_names()
    assert (len(cluster.calls), cluster.processes) == (2, [])


def test_without_addresses_the_pods_of_name_servers_are_asked(cluster: StubCluster) -> None:
    with AdminClient(access=access()) as admin:
        assert admin.topics.list_names() == ()
        assert admin.addresses == (("names-0:9876",), "kubernetes", "kubectl prod/mq", None)
    # One list of pods serves both questions.
    assert len(cluster.calls) == 2


def test_a_namespace_without_name_servers(cluster: StubCluster) -> None:
    cluster.items = cluster.items[1:]
    cluster.save_objects()
    with AdminClient(access=access()) as admin, pytest.raises(RocketMQError) as raised:
        admin.topics.list_names()
    assert str(raised.value) == (
        "kubectl prod/mq: no pod of a name server (port 9876): pass -n SERVICE:PORT, or another namespace"
    )


def test_a_pod_that_was_created_again_is_found_at_its_new_address(
    cluster: StubCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nsadmin.client.connection.tunnels.kube_tunnel._DIRECTORY_SECONDS", 0)
    with AdminClient("names-0:9876", access=access(retries=5)) as admin:
        admin.topics.list_names()
        [before] = cluster.processes
        cluster.items[0] = make_pod("names-0", "10.1.0.99", [9876], labels=NAMES, uid="2")
        cluster.save_objects()
        wait_for("the end of the forward", lambda: before not in cluster.processes, 10)
        assert admin.topics.list_names() == ()
        with AdminClient("10.1.0.99:9876", access=access()) as other:
            assert other.topics.list_names() == ()


def test_after_a_failure_the_pods_are_listed_again(
    cluster: StubCluster, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program can run although its pod is gone, when a node fails."""
    monkeypatch.setattr("nsadmin.client.connection.tunnels.kube_tunnel._DIRECTORY_SECONDS", 0)
    with AdminClient("names-0:9876", access=access(timeout=0.2)) as admin:
        admin.topics.list_names()
        handler = server.handlers.pop(206)
        server.handlers[206] = lambda _: None
        with pytest.raises(RocketMQError, match="no answer within"):
            admin.topics.list_names()
        server.handlers[206] = handler
        assert admin.topics.list_names() == ()
    assert [call.split()[4] for call in cluster.calls] == ["get", "port-forward", "get"]


def test_a_closed_port_is_reported_with_the_reason_of_kubectl(cluster: StubCluster) -> None:
    assert failure("10.1.0.6:10911") == ("10.1.0.6:10911: kubectl prod/mq: pod other-0: connection refused")


def test_a_port_that_opens_later_is_reached(cluster: StubCluster, server: FakeNameServer) -> None:
    with AdminClient("other-0:10911", access=access()) as admin:
        with pytest.raises(RocketMQError, match="connection refused"):
            admin.topics.list_names()
        cluster.servers["other-0:10911"] = server.addr
        cluster.save_objects()
        assert admin.topics.list_names() == ()


@pytest.mark.parametrize(
    ("addr", "reason"),
    [
        (
            "10.9.9.9:10911",
            'no pod or service has the address "10.9.9.9": if it is reachable another way, map it with '
            "--addressMap 10.9.9.9=POD",
        ),
        ("other-0.nowhere:1", None),
    ],
)
def test_an_address_of_no_pod(cluster: StubCluster, addr: str, reason: str | None) -> None:
    assert failure(addr).startswith(f"{addr}: kubectl prod/mq: {reason or 'no pod or service'}")


@pytest.mark.parametrize(
    ("addr", "target"),
    [
        ("postgres-0:5432", "5432 of pod postgres-0"),
        ("10.1.0.7:5432", "5432 of pod postgres-0"),
        ("postgres:5432", "5432 of pod postgres-0"),
        ("10.1.0.5:22", "22 of pod names-0"),
    ],
)
def test_only_ports_of_rocketmq_are_forwarded(cluster: StubCluster, addr: str, target: str) -> None:
    cluster.items += [
        make_pod("postgres-0", "10.1.0.7", [5432], labels={"app": "postgres"}),
        make_service("postgres", {"app": "postgres"}, [(5432, 5432)], "10.96.0.7"),
    ]
    cluster.save_objects()
    assert failure(addr) == (
        f"{addr}: kubectl prod/mq: port {target} is not forwarded: nsadmin forwards to name servers, "
        "brokers, proxies and controllers only, at ports that their pods declare"
    )
    assert not any("port-forward" in call for call in cluster.calls)


def test_a_pod_that_does_not_run(cluster: StubCluster) -> None:
    cluster.items[0] = make_pod("names-0", "10.1.0.5", [9876], phase="Pending")
    cluster.save_objects()
    assert failure("names-0:9876") == (
        "names-0:9876: kubectl prod/mq: error: unable to forward port because pod is not running. "
        "Current status=Pending"
    )


def test_an_operator_without_rights(cluster: StubCluster) -> None:
    cluster.error = "error: You must be logged in to the server (Unauthorized)"
    cluster.save_objects()
    assert failure("names-0:9876") == f"names-0:9876: kubectl prod/mq: {cluster.error}"


def test_an_operator_who_may_list_pods_only(cluster: StubCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_FORBIDDEN", "services")
    with AdminClient("10.1.0.5:9876", access=access()) as admin:
        assert admin.topics.list_names() == ()


def test_a_machine_without_kubectl(cluster: StubCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert failure("names-0:9876") == (
        "names-0:9876: kubectl prod/mq: kubectl not found: install it, or add its folder to PATH"
    )


def test_many_servers_wait_for_one_failing_start(cluster: StubCluster) -> None:
    cluster.error = "Unable to connect to the server: dial tcp: i/o timeout"
    cluster.save_objects()
    with (
        AdminClient(
            [f"10.1.0.{number}:9876" for number in range(30)], access=access(), ask_all=True
        ) as admin,
        pytest.raises(RocketMQError, match="i/o timeout"),
    ):
        admin.topics.list_names()
    assert len(cluster.calls) == 1


def test_what_is_forwarded_is_reported(cluster: StubCluster) -> None:
    lines: list[str] = []
    report_forwards(lines.append)
    with AdminClient("names:9876", access=access()) as admin:
        admin.topics.list_names()
    report_forwards(None)
    [line] = lines
    assert line.startswith("kubectl prod/mq: forwards 127.0.0.1:")
    assert line.endswith(" to names-0:9876")
