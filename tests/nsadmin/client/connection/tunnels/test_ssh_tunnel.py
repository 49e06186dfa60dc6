"""Connections through an SSH server on this machine."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from namesrv_core.errors import RocketMQError
from nsadmin.client import Access, AdminClient
from nsadmin.client.connection.tunnels.tunnel_leases import lease_tunnel, report_forwards, return_lease
from nsadmin.client.connection.tunnels.tunnel_targets import SshTarget
from tests.interop.processes import wait_for
from tests.support.fake_servers import FakeNameServer, closed_port
from tests.support.ssh_hosts import SshHost

THROUGH_JUMP = Access(tunnel=SshTarget("jump"))


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer() as running:
        yield running


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshHost]:
    yield from ssh_host(tmp_path, monkeypatch)


def ssh_host(folder: Path, monkeypatch: pytest.MonkeyPatch, server_options: str = "") -> Iterator[SshHost]:
    host = SshHost(folder, server_options)
    monkeypatch.setenv("PATH", host.variables["PATH"])
    # The path of `folder` would be too long for sockets.
    with tempfile.TemporaryDirectory(dir="/tmp") as temporary_folder:
        monkeypatch.setattr("tempfile.tempdir", temporary_folder)
        yield host
        wait_for("the end of ssh", lambda: not host.processes())
        wait_for("the end of the sockets", lambda: not os.listdir(temporary_folder))


def failure(addr: str, access: Access = THROUGH_JUMP) -> str:
    with AdminClient(addr, access=access) as admin, pytest.raises(RocketMQError) as raised:
        admin.topics.list_names()
    return str(raised.value).removeprefix("no name server answered: ")


def test_many_servers_are_reached_through_one_ssh(host: SshHost, server: FakeNameServer) -> None:
    lines: list[str] = []
    report_forwards(lines.append)
    with FakeNameServer() as other:
        addrs = [server.addr, other.addr, f"localhost:{server.port}"]
        with AdminClient(addrs, access=THROUGH_JUMP, ask_all=True) as admin:
            assert admin.topics.list_names() == ()
            assert admin.unreachable == {}
    report_forwards(None)
    assert lines[0] == "ssh jump: starts ssh -N jump"
    assert sorted(lines[1:]) == sorted(f"ssh jump: forwards {addr}" for addr in addrs)


def test_only_this_user_can_use_the_sockets(host: SshHost, server: FakeNameServer) -> None:
    tunnel = lease_tunnel(SshTarget("jump"))
    [(_, path)] = tunnel.find_addrs(server.addr)
    modes = [oct(os.stat(part).st_mode & 0o777) for part in (path, os.path.dirname(path))]
    return_lease(SshTarget("jump"))
    assert modes == ["0o600", "0o700"]


def test_sockets_are_in_tmp_if_the_temporary_folder_has_a_long_path(
    host: SshHost, server: FakeNameServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_folder = tmp_path / ("f" * 100)
    long_folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long_folder))
    with AdminClient(server.addr, access=THROUGH_JUMP) as admin:
        assert admin.topics.list_names() == ()
    assert list(long_folder.iterdir()) == []


def test_the_reason_of_the_far_side_is_reported_for_each_server(
    host: SshHost, server: FakeNameServer
) -> None:
    closed = f"127.0.0.1:{closed_port()}"
    assert failure(closed) == f"{closed}: ssh jump: connection refused"
    addrs = [server.addr, closed, "no-such-host.invalid:1"]
    with AdminClient(addrs, access=THROUGH_JUMP, ask_all=True) as admin:
        admin.topics.list_names()
        errors = {addr: str(error) for addr, error in admin.unreachable.items()}
    assert errors[closed] == f"{closed}: ssh jump: connection refused"
    assert errors["no-such-host.invalid:1"].startswith("no-such-host.invalid:1: ssh jump: ")
    assert errors.keys() == set(addrs[1:])


def test_a_connection_that_ended_is_opened_again(host: SshHost, server: FakeNameServer) -> None:
    with AdminClient(server.addr, access=THROUGH_JUMP._replace(retries=3)) as admin:
        admin.topics.list_names()
        for process in host.processes():
            # They end one another, but not the shell that deletes their sockets.
            with suppress(OSError):
                if b"nsadmin-child" not in Path(f"/proc/{process}/cmdline").read_bytes():
                    os.kill(process, 9)
        assert admin.topics.list_names() == ()


def test_a_host_that_forbids_forwards(
    tmp_path: Path, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in ssh_host(tmp_path, monkeypatch, "AllowTcpForwarding no"):
        assert failure(server.addr) == (f"{server.addr}: ssh jump: administratively prohibited: open failed")


def test_a_login_that_fails(host: SshHost, tmp_path: Path, server: FakeNameServer) -> None:
    (tmp_path / "user_key.pub").write_text("")
    error = failure(server.addr)
    assert error.startswith(f"{server.addr}: ssh jump: ")
    assert "Permission denied (publickey" in error


def test_a_host_that_does_not_exist(host: SshHost, server: FakeNameServer) -> None:
    error = failure(server.addr, Access(tunnel=SshTarget("no-such-host.invalid", 22)))
    assert error.startswith(
        f"{server.addr}: ssh no-such-host.invalid:22: Could not resolve hostname no-such-host.invalid: "
    )


def test_a_host_name_that_ssh_could_read_otherwise(host: SshHost) -> None:
    assert failure("${HOME}:1") == '${HOME}:1: ssh jump: invalid host name "${HOME}"'


def test_a_machine_without_ssh(
    host: SshHost, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert failure(server.addr) == (
        f"{server.addr}: ssh jump: ssh not found: install it, or add its folder to PATH"
    )
