"""Tunnels that a program shares with the commands that it starts."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.transport.exchange import CallError
from nsadmin.client.connection.addresses import NameServerList
from nsadmin.client.connection.tunnels.shared_tunnel import SharedTunnel
from nsadmin.client.connection.tunnels.tunnel_leases import SOCKET_VARIABLE, lease_tunnel, return_lease
from nsadmin.client.connection.tunnels.tunnel_server import end_sharing, share_tunnels
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget, SshTarget
from tests.interop.processes import wait_for
from tests.support.fake_servers import closed_port
from tests.support.kube_clusters import StubCluster, make_pod

TARGET, PROXY = KubeTarget("mq"), {"component": "proxy"}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StubCluster]:
    """A name server, and a proxy whose port is closed. The process has a lease of the tunnel to them."""
    stub = StubCluster(tmp_path)
    for name, value in stub.variables.items():
        monkeypatch.setenv(name, value)
    stub.items = [
        make_pod("names-0", "10.1.0.5", [9876]),
        make_pod("proxy-0", "10.1.0.6", [8080], labels=PROXY),
    ]
    stub.servers = {"proxy-0:8080": f"127.0.0.1:{closed_port()}"}
    stub.save_objects()
    lease_tunnel(TARGET)
    yield stub
    end_sharing()
    return_lease(TARGET)
    wait_for("the end of kubectl", lambda: not stub.processes, 10)


def shared_tunnel() -> SharedTunnel:
    return SharedTunnel(TARGET, share_tunnels()[SOCKET_VARIABLE])


def test_without_a_tunnel_nothing_is_shared() -> None:
    assert share_tunnels() == {}


def test_commands_get_the_ways_of_this_process(cluster: StubCluster) -> None:
    first, second = shared_tunnel(), shared_tunnel()
    assert first.list_name_servers() == NameServerList(("names-0:9876",), "kubernetes", "kubectl mq")
    assert first.list_proxies() == ("proxy-0:8080",)
    way = first.find_addrs("names-0:9876")
    assert way == second.find_addrs("10.1.0.5:9876") == lease_tunnel(TARGET).find_addrs("names-0:9876")
    return_lease(TARGET)
    assert [call.split()[2] for call in cluster.calls] == ["get", "port-forward"]


def test_commands_get_the_errors_of_this_process(cluster: StubCluster) -> None:
    with pytest.raises(CallError) as raised:
        shared_tunnel().find_addrs("other-0:1")
    assert (raised.value.addr, raised.value.kind) == ("other-0:1", "unconnected")
    assert raised.value.reason.startswith('kubectl mq: no pod or service has the address "other-0"')


def test_a_tunnel_that_only_a_command_uses_stays_open_for_the_next_one(cluster: StubCluster) -> None:
    socket_path = share_tunnels()[SOCKET_VARIABLE]
    other_target = KubeTarget("other")
    for _ in range(2):
        assert SharedTunnel(other_target, socket_path).list_proxies() == ("proxy-0:8080",)
    assert cluster.calls == ["--namespace other get pods,services --output=json"]


def test_nothing_is_left_at_the_end(cluster: StubCluster) -> None:
    tunnel = shared_tunnel()
    socket_path = share_tunnels()[SOCKET_VARIABLE]
    assert os.stat(os.path.dirname(socket_path)).st_mode & 0o777 == 0o700
    end_sharing()
    assert not os.path.exists(os.path.dirname(socket_path))
    with pytest.raises(CallError, match="the program that opened the tunnel has ended"):
        tunnel.list_proxies()


def test_a_tunnel_that_asked_at_its_login_is_shared() -> None:
    asking = SshTarget("jump", may_ask=True)
    tunnel = lease_tunnel(asking)
    assert lease_tunnel(SshTarget("jump")) is tunnel
    return_lease(SshTarget("jump"))
    return_lease(asking)
