"""What a service manager hears, on a datagram socket of the test's own."""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from namesrv_core.server.systemd_notify import SystemdNotifier
from tests.support.name_servers import ServerProgram, start_program, wait_until


class Manager:
    """The other end of NOTIFY_SOCKET."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + path[1:] if path.startswith("@") else path)
        self.socket.settimeout(20)
        self.environ = {"NOTIFY_SOCKET": path}

    def hears(self) -> dict[str, str]:
        """The next datagram."""
        lines = self.socket.recv(4096).decode().split("\n")
        return dict(line.split("=", 1) for line in lines)


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    path = str(tmp_path / "notify") if request.param == "path" else f"@nsadmin-test-{os.getpid()}"
    new_manager = Manager(path)
    yield new_manager
    new_manager.socket.close()


def test_it_hears_when_the_server_is_ready_and_when_it_is_about_to_end(manager: Manager) -> None:
    service = SystemdNotifier(manager.environ)
    service.notify_ready("serving at 127.0.0.1:9876")
    assert manager.hears() == {
        "READY": "1", "STATUS": "serving at 127.0.0.1:9876", "MAINPID": str(os.getpid()),
    }  # fmt: skip
    service.notify_stopping("stopping: SIGTERM", 30)
    assert manager.hears() == {
        "STOPPING": "1", "STATUS": "stopping: SIGTERM", "EXTEND_TIMEOUT_USEC": "45000000",
    }  # fmt: skip
    service.stop_watchdog()


def test_a_status_can_neither_add_a_line_nor_stop_the_notification(tmp_path: Path) -> None:
    manager = Manager(str(tmp_path / "notify"))
    service = SystemdNotifier(manager.environ)
    service.notify_stopping("a\nMAINPID=1\x1b\ud800", 1)
    assert manager.hears()["STATUS"] == r"a\nMAINPID=1\x1b\ud800"
    manager.socket.close()


async def test_the_loop_says_that_it_is_alive_until_it_is_stopped(tmp_path: Path) -> None:
    manager = Manager(str(tmp_path / "notify"))
    manager.socket.setblocking(False)
    service = SystemdNotifier(manager.environ | {"WATCHDOG_USEC": "20000", "WATCHDOG_PID": str(os.getpid())})
    service.notify_ready("x")
    heard: list[dict[str, str]] = []

    def listen() -> int:
        with suppress(BlockingIOError):
            while True:
                heard.append(manager.hears())
        return len(heard)

    await wait_until(lambda: listen() > 4)
    assert heard[1:] == [{"WATCHDOG": "1"}] * (len(heard) - 1)
    service.stop_watchdog()
    count = listen()
    await asyncio.sleep(0.1)
    assert listen() == count
    manager.socket.close()


@pytest.mark.parametrize(
    "environ", [{}, {"WATCHDOG_USEC": "x"}, {"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}]
)
def test_where_no_sign_of_life_is_wanted_of_this_process_there_is_none(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    manager = Manager(str(tmp_path / "notify"))
    SystemdNotifier(manager.environ | environ).notify_ready("x")
    assert manager.hears()["READY"] == "1"
    manager.socket.setblocking(False)
    with pytest.raises(BlockingIOError):
        manager.hears()
    manager.socket.close()


def test_without_a_manager_nothing_is_told(caplog: pytest.LogCaptureFixture) -> None:
    service = SystemdNotifier({"WATCHDOG_USEC": "1000"})
    service.notify_ready("x")
    service.notify_stopping("x", 0)
    service.stop_watchdog()
    assert caplog.messages == []


def test_a_manager_that_is_gone_harms_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    SystemdNotifier({"NOTIFY_SOCKET": str(tmp_path / "none")}).notify_ready("x")
    assert "could not notify systemd (READY=1)" in caplog.text


def test_the_program_tells_its_manager_and_a_second_signal_ends_it_at_once(
    manager: Manager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = ServerProgram.make_environment() | manager.environ | {"WATCHDOG_USEC": "200000"}
    monkeypatch.setattr(ServerProgram, "make_environment", staticmethod(lambda: environment))
    graceful = ("-DenableShutdownGracefully=true", "-DshutdownWaitTimeSeconds=600")
    with start_program("--home", str(tmp_path), "--bind", "127.0.0.1", "--port", "0", *graceful) as server:
        heard = manager.hears()
        assert heard["MAINPID"] == str(server.process.pid)
        assert heard["STATUS"] == f"serving at {server.address}"
        assert [manager.hears() for _ in range(3)] == [{"WATCHDOG": "1"}] * 3
        server.process.send_signal(signal.SIGTERM)
        while "STOPPING" not in (heard := manager.hears()):
            assert heard == {"WATCHDOG": "1"}
        assert heard["STATUS"] == "stopping: SIGTERM"
        assert int(heard["EXTEND_TIMEOUT_USEC"]) > 600_000_000
        # It goes on saying that it is alive.
        assert manager.hears() == {"WATCHDOG": "1"}
        assert server.end(signal.SIGTERM)[0] == 0
