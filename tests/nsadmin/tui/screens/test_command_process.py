"""A command in a process of its own, line by line."""

from pathlib import Path

import pytest

from nsadmin.client.connection.tunnels.tunnel_leases import use_tunnel
from nsadmin.client.connection.tunnels.tunnel_server import end_sharing
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget
from nsadmin.tui.screens.command_process import CommandProcess
from tests.support.fake_servers import FakeNameServer
from tests.support.hostile_folder import HostileFolder
from tests.support.kube_clusters import StubCluster, make_pod


def test_what_it_says_comes_with_its_exit_code() -> None:
    running = CommandProcess(["mqadminMap", "--no-headers"], [])
    lines = list(running.read_lines())
    assert running.exit_code == 0
    assert any("topicRoute" in line for line in lines)


def test_mistakes_come_as_lines_too() -> None:
    running = CommandProcess(["topicRoute"], ["-n", "127.0.0.1:1"])
    assert "missing argument TOPIC" in "".join(running.read_lines())
    assert running.exit_code == 2


def test_who_leaves_ends_it() -> None:
    running = CommandProcess(["where", "--watch", "0.1"], ["-n", "127.0.0.1:1"])
    lines = running.read_lines()
    next(lines)
    assert running.exit_code is None
    running.interrupt_process()
    assert [line for line in lines if "Traceback" in line] == []
    assert running.exit_code is not None


def test_what_was_left_before_it_began_does_not_begin() -> None:
    running = CommandProcess(["where"])
    running.interrupt_process()
    assert list(running.read_lines()) == []
    assert running.exit_code is None


def test_modules_in_the_current_folder_do_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = HostileFolder(tmp_path)
    monkeypatch.chdir(hostile.folder)
    running = CommandProcess(["mqadminMap", "--no-headers", "--output", "yaml"], [])
    lines = list(running.read_lines())
    assert (hostile.traces, running.exit_code) == ([], 0), lines


def test_commands_share_the_tunnel_of_the_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = StubCluster(tmp_path)
    for name, value in cluster.variables.items():
        monkeypatch.setenv(name, value)
    with FakeNameServer() as server, use_tunnel(KubeTarget("mq")):
        cluster.items, cluster.servers = (
            [make_pod("names-0", "10.1.0.5", [9876])],
            {"names-0:9876": server.addr},
        )
        cluster.save_objects()
        for _ in range(2):
            running = CommandProcess(["topicList"], ["--kube", "mq"])
            lines = list(running.read_lines())
            assert running.exit_code == 0, lines
        end_sharing()
    assert [call.split()[2] for call in cluster.calls] == ["get", "port-forward"]
