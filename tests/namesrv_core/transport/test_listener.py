"""Listening: free ports, taken ports, ports that cannot be."""

import asyncio
import errno
import socket
from contextlib import AsyncExitStack

import pytest

from namesrv_core.transport import listener as listener_module
from namesrv_core.transport.listener import StreamListener
from tests.namesrv_core.transport.test_command_stream import Echo
from tests.support.name_servers import Peer, open_listener, run_on_loop, wait_until


async def test_port_0_takes_a_free_port_and_says_which() -> None:
    async with open_listener(Echo()) as listener, open_listener(Echo()) as other:
        assert listener.bound_host == "127.0.0.1"
        assert 0 < listener.bound_port != other.bound_port > 0


async def test_a_port_that_is_taken_is_an_os_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        await StreamListener.open(Echo(), "127.0.0.1", taken.getsockname()[1])


@pytest.mark.parametrize(
    ("host", "port"), [("127.0.0.1", 65536), ("127.0.0.1", -1), ("no.such.host.invalid", 0)]
)
def test_an_address_that_cannot_be_is_an_os_error(host: str, port: int) -> None:
    @run_on_loop
    async def attempt() -> None:
        await StreamListener.open(Echo(), host, port)

    with pytest.raises(OSError, match=r"."):
        attempt()


async def test_connections_that_are_open_outlive_the_listener() -> None:
    echo = Echo()
    async with open_listener(echo) as listener, Peer.connect(f"127.0.0.1:{listener.bound_port}") as peer:
        await peer.send_request(1)
        listener.close()
        assert (await peer.send_request(1, body=b"still")).body == b"still"
    with pytest.raises(OSError, match=r"."):
        async with Peer.connect(f"127.0.0.1:{listener.bound_port}"):
            pass


async def test_a_port_can_be_listened_on_again_at_once() -> None:
    echo = Echo()
    async with open_listener(echo) as listener, Peer.connect(f"127.0.0.1:{listener.bound_port}") as peer:
        await peer.send_request(1)
        listener.close()
        echo.streams[0].close()
        assert await peer.is_closed()
        async with open_listener(echo, port=listener.bound_port) as again:
            assert again.bound_port == listener.bound_port


async def test_however_many_wait_only_few_are_on_their_way_in_at_a_time() -> None:
    far = Echo()
    async with open_listener(far) as listener:
        crowd = [socket.create_connection(("127.0.0.1", listener.bound_port)) for _ in range(200)]
        most = 0
        async with asyncio.timeout(20):
            while len(far.streams) < len(crowd):
                await asyncio.sleep(0)
                most = max(most, len(listener._arriving_tasks))
        assert 1 < most <= 24
        for waiting_client in crowd:
            waiting_client.close()
        for stream in far.streams:
            stream.abort()


async def test_whoever_waits_is_let_in() -> None:
    echo = Echo()
    async with open_listener(echo) as listener, AsyncExitStack() as open_ones:
        waiting = [socket.create_connection(("127.0.0.1", listener.bound_port)) for _ in range(50)]
        for waiting_client in waiting:
            open_ones.callback(waiting_client.close)
        await wait_until(lambda: len(echo.streams) == len(waiting))


class OutOfDescriptors:
    """A listening socket that once can accept nothing."""

    def __init__(self, real: socket.socket) -> None:
        self._real = real
        self.failed = 0

    def accept(self) -> tuple[socket.socket, object]:
        if not self.failed:
            self.failed += 1
            raise OSError(errno.EMFILE, "Too many open files")
        return self._real.accept()

    def fileno(self) -> int:
        return self._real.fileno()

    def close(self) -> None:
        self._real.close()


async def test_without_descriptors_it_waits_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(listener_module, "_PAUSE_SECONDS", 0.05)
    async with open_listener(Echo()) as listener:
        listener._socket = short = OutOfDescriptors(listener._socket)  # type: ignore[assignment]
        async with Peer.connect(f"127.0.0.1:{listener.bound_port}") as peer:
            assert (await peer.send_request(1, body=b"let in")).body == b"let in"
        assert short.failed == 1
    assert "Too many open files" in caplog.text
