"""The limits, and the order in which peers come, are the same for those who ask through TLS."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import build_request
from namesrv_core.server.name_server import NameServer
from namesrv_core.state.tls_settings import TlsSettings
from namesrv_core.transport import protocol_detection
from tests.support.certificates import Authority
from tests.support.name_servers import Peer, run_on_loop, start_name_server, wait_until
from tests.support.wire import broker_ext, registration_body


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def tls_settings(authority: Authority) -> TlsSettings:
    pair = authority.issue("name server")
    return TlsSettings("enforcing", str(pair.cert), str(pair.key))


@pytest.fixture(scope="module")
def client_context(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(authority.ca))


def met(server: NameServer) -> dict[str, int]:
    return {limit: times for limit, times in server.state.limit_hits.hit_counts.items() if times}


@asynccontextmanager
async def both(
    home: Path, offered: TlsSettings, tls: ssl.SSLContext, **more: Any
) -> AsyncIterator[tuple[NameServer, Peer, Peer]]:
    """A server, one who will go over a limit, and one who does nothing wrong."""
    async with (
        start_name_server(home, tls=offered, **more) as server,
        Peer.connect(server.namesrv_addr, tls) as bad,
        Peer.connect(server.namesrv_addr, tls) as good,
    ):
        yield server, bad, good
        assert (await good.send_request(106)).code == 0


HALF = codec.encode_command(build_request(106, body=bytes(1 << 20)))[:-1]
TOPICS = registration_body([f"topic-{number:0>100}" for number in range(5000)])


@pytest.mark.parametrize(
    ("limit", "value", "sent"),
    [
        ("maxFrameBytes", 1000, codec.encode_command(build_request(106, body=bytes(1000)))),
        ("maxHeaderBytes", 200, codec.encode_command(build_request(106, {"key": "k" * 200}))),
        ("maxExtFields", 2, codec.encode_command(build_request(106, dict.fromkeys("abc", "v")))),
        ("maxSecondsPerFrame", 1, HALF),
        ("maxBufferedBytes", 1 << 19, HALF),
    ],
)
def test_frames_over_a_limit_end_their_connection(
    tmp_path: Path,
    tls_settings: TlsSettings,
    client_context: ssl.SSLContext,
    limit: str,
    value: int,
    sent: bytes,
) -> None:
    @run_on_loop
    async def test() -> None:
        async with both(tmp_path, tls_settings, client_context, **{limit: value}) as (server, bad, _):
            bad.send(sent)
            assert await bad.is_closed()
            assert met(server) == {limit: 1}

    test()


@pytest.mark.parametrize(("limit", "value"), [("maxUnsentSeconds", 1), ("maxUnsentBytes", 1)])
def test_who_takes_no_answers_is_cut_off(
    tmp_path: Path, tls_settings: TlsSettings, client_context: ssl.SSLContext, limit: str, value: int
) -> None:
    @run_on_loop
    async def test() -> None:
        async with both(tmp_path, tls_settings, client_context, **{limit: value}) as (server, bad, good):
            assert (await good.send_request(103, broker_ext(), TOPICS)).code == 0
            bad.send(codec.encode_command(build_request(206)) * 100)
            await wait_until(lambda: met(server))
            assert met(server) == {limit: 1}
            await wait_until(lambda: len(server.open_streams) == 1)

    test()


@pytest.mark.parametrize(
    ("limit", "value", "body"), [("maxFramesPerSecond", 25, b""), ("maxBytesPerSecond", 10_000, bytes(400))]
)
def test_who_sends_faster_than_he_may_is_read_later_and_answered(
    tmp_path: Path,
    tls_settings: TlsSettings,
    client_context: ssl.SSLContext,
    limit: str,
    value: int,
    body: bytes,
) -> None:
    @run_on_loop
    async def test() -> None:
        async with both(tmp_path, tls_settings, client_context, **{limit: value}) as (server, bad, good):
            bad.send(codec.encode_command(build_request(106, body=body)) * 60)
            await wait_until(lambda: limit in met(server))
            assert (await good.send_request(106)).code == 0
            for _ in range(60):
                assert await bad.receive() is not None

    test()


def test_after_a_request_that_took_long_its_connection_rests_and_others_do_not(
    tmp_path: Path, tls_settings: TlsSettings, client_context: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    real = NameServer.command_received

    def received(self: NameServer, stream: Any, command: Any) -> Any:
        clock[0] += 0.1 if command.code == 206 else 0.0
        return real(self, stream, command)

    monkeypatch.setattr(NameServer, "command_received", received)

    @run_on_loop
    async def test() -> None:
        async with both(tmp_path, tls_settings, client_context) as (server, slow, good):
            for stream in server.open_streams:
                stream.work_clock = lambda: clock[0]
            begun = asyncio.get_running_loop().time()
            assert (await slow.send_request(206)).code == 0
            rests = next(stream for stream in server.open_streams if stream.rate_limiter.is_resting)
            assert not rests._socket_transport.is_reading()
            assert (await good.send_request(106)).code == 0
            assert (await slow.send_request(106)).code == 0
            assert asyncio.get_running_loop().time() - begun > 0.85

    test()


def test_nobody_rests_for_a_pause_of_the_machine(
    tmp_path: Path, tls_settings: TlsSettings, client_context: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = NameServer.command_received

    def received(self: NameServer, stream: Any, command: Any) -> Any:
        time.sleep(0.1)
        return real(self, stream, command)

    monkeypatch.setattr(NameServer, "command_received", received)

    @run_on_loop
    async def test() -> None:
        async with both(tmp_path, tls_settings, client_context) as (server, one, _):
            assert (await one.send_request(206)).code == 0
            assert not any(stream.rate_limiter.is_resting for stream in server.open_streams)

    test()


def test_a_handshake_that_goes_on_and_on_ends_and_makes_room(
    tmp_path: Path, tls_settings: TlsSettings, client_context: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol_detection, "HANDSHAKE_SECONDS", 0.5)
    # The beginning of a record of 16 KiB: there is always a byte more of it, and never all.
    record = b"\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03" + bytes(10_000)

    @run_on_loop
    async def test() -> None:
        async with start_name_server(tmp_path, tls=tls_settings) as server, AsyncExitStack() as stack:
            good = await stack.enter_async_context(Peer.connect(server.namesrv_addr, client_context))
            drips = [await stack.enter_async_context(Peer.connect(server.namesrv_addr)) for _ in range(20)]
            for byte in record:
                for drip in drips:
                    if not drip._writer.is_closing():
                        drip.send(bytes([byte]))
                assert (await good.send_request(106)).code == 0
                if len(server.open_streams) == 1:
                    break
                await asyncio.sleep(0.005)
            assert server.tls_certificates.refused_count == len(drips)
            assert all([await drip.is_closed() for drip in drips])

    test()


def test_those_whose_handshake_is_not_done_count_as_connections(
    tmp_path: Path, tls_settings: TlsSettings, client_context: ssl.SSLContext
) -> None:
    @run_on_loop
    async def test() -> None:
        async with (
            start_name_server(tmp_path, tls=tls_settings, maxConnectionsPerAddress=2) as server,
            Peer.connect(server.namesrv_addr) as silent,
            Peer.connect(server.namesrv_addr) as begun,
        ):
            begun.send(b"\x16\x03")
            await wait_until(lambda: len(server.open_streams) == 2)
            async with Peer.connect(server.namesrv_addr) as third:
                assert await third.is_closed()
            assert met(server) == {"maxConnectionsPerAddress": 1}
            await silent.close()
            await begun.close()
            await wait_until(lambda: not server.open_streams)
            async with Peer.connect(server.namesrv_addr, client_context) as another:
                assert (await another.send_request(106)).code == 0

    test()
