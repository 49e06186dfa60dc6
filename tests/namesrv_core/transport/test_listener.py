"""Listening: free ports, taken ports, ports that cannot be."""

import socket

import pytest

from namesrv_core.transport.listener import Listener
from tests.namesrv_core.transport.test_stream import Echo
from tests.support.running import Peer, listening, on_a_loop


@on_a_loop
async def test_port_0_takes_a_free_port_and_says_which() -> None:
    async with listening(Echo()) as one, listening(Echo()) as other:
        assert one.address == "127.0.0.1"
        assert 0 < one.port != other.port > 0


@on_a_loop
async def test_a_port_that_is_taken_is_an_os_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        await Listener.open(Echo(), "127.0.0.1", taken.getsockname()[1])


@pytest.mark.parametrize(
    ("host", "port"), [("127.0.0.1", 65536), ("127.0.0.1", -1), ("no.such.host.invalid", 0)]
)
def test_an_address_that_cannot_be_is_an_os_error(host: str, port: int) -> None:
    @on_a_loop
    async def attempt() -> None:
        await Listener.open(Echo(), host, port)

    with pytest.raises(OSError, match=r"."):
        attempt()


@on_a_loop
async def test_connections_that_are_open_outlive_the_listener() -> None:
    echo = Echo()
    async with listening(echo) as listener, Peer.to(f"127.0.0.1:{listener.port}") as peer:
        await peer.ask(1)
        listener.close()
        assert (await peer.ask(1, body=b"still")).body == b"still"
    with pytest.raises(OSError, match=r"."):
        async with Peer.to(f"127.0.0.1:{listener.port}"):
            pass


@on_a_loop
async def test_a_port_can_be_listened_on_again_at_once() -> None:
    echo = Echo()
    async with listening(echo) as listener, Peer.to(f"127.0.0.1:{listener.port}") as peer:
        await peer.ask(1)
        listener.close()
        echo.streams[0].close()
        assert await peer.is_closed()
        async with listening(echo, port=listener.port) as again:
            assert again.port == listener.port
