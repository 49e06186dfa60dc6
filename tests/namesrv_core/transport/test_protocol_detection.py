"""The first byte decides: plain text, TLS, both, and what is refused in so many words."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Event

import pytest

from namesrv_core.errors import BadSettings
from namesrv_core.protocol import codec
from namesrv_core.protocol.command import RemotingCommand, build_reply, build_request
from namesrv_core.transport import protocol_detection, tls_server
from namesrv_core.transport.command_stream import CommandStream
from namesrv_core.transport.protocol_detection import TlsPolicy
from tests.namesrv_core.transport.test_command_stream import Echo
from tests.support.name_servers import Peer, open_listener, wait_until

HELLO = bytes.fromhex("1603010200")


def trusting() -> ssl.SSLContext:
    """A client that takes any certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@asynccontextmanager
async def behind(terms: TlsPolicy) -> AsyncIterator[tuple[Echo, str]]:
    """An echo behind a doorway, and its address."""
    echo = Echo()
    async with open_listener(echo, terms=terms) as listener:
        try:
            yield echo, f"127.0.0.1:{listener.bound_port}"
        finally:
            for stream in echo.streams:
                stream.abort()


def told(said: list[str], context: ssl.SSLContext | None = None, is_demanded: bool = False) -> TlsPolicy:
    return TlsPolicy(context, is_demanded, None, lambda peer, reason: said.append(reason))


async def test_one_port_understands_both() -> None:
    terms = TlsPolicy(tls_server.build_self_signed_context())
    async with (
        behind(terms) as (_, address),
        Peer.connect(address) as plain,
        Peer.connect(address, trusting()) as secured,
    ):
        for peer, text in ((plain, b"plain"), (secured, b"secured"), (plain, b"again")):
            assert (await peer.send_request(1, body=text)).body == text


async def test_plain_text_that_comes_byte_by_byte_is_understood() -> None:
    async with behind(told([])) as (echo, address), Peer.connect(address) as peer:
        for byte in codec.encode_command(build_request(1, body=b"slow")):
            peer.send(bytes([byte]))
            await asyncio.sleep(0)
        answer = await peer.receive()
        assert answer is not None
        assert answer.body == b"slow"
        assert len(echo.streams) == 1


async def test_who_says_nothing_holds_nobody_up() -> None:
    refusals: list[str] = []
    async with behind(told(refusals, tls_server.build_self_signed_context())) as (echo, address):
        silent = [await asyncio.open_connection(*address.split(":")) for _ in range(50)]
        begun = await asyncio.open_connection(*address.split(":"))
        begun[1].write(HELLO[:1])
        async with Peer.connect(address) as plain, Peer.connect(address, trusting()) as secured:
            assert (await plain.send_request(1)).code == 0
            assert (await secured.send_request(1)).code == 0
            assert len(echo.streams) == 53
        for _, writer in (*silent, begun):
            writer.close()
        await wait_until(lambda: len(echo.gone) == 53)


async def test_where_tls_is_demanded_plain_text_is_closed_unanswered() -> None:
    refusals: list[str] = []
    async with behind(told(refusals, tls_server.build_self_signed_context(), True)) as (echo, address):
        async with Peer.connect(address) as plain:
            plain.send(codec.encode_command(build_request(1)))
            assert await plain.is_closed()
        async with Peer.connect(address, trusting()) as secured:
            assert (await secured.send_request(1, body=b"x")).body == b"x"
        assert [command.body for command in echo.seen] == [b"x"]
    assert refusals == ["sent plain text, but this server requires TLS"]


async def test_where_tls_is_demanded_silence_ends_after_a_while() -> None:
    refusals: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(protocol_detection, "HANDSHAKE_SECONDS", 0.05)
        async with behind(told(refusals, None, True)) as (_, address), Peer.connect(address) as peer:
            assert await peer.is_closed()
    assert refusals == ["did not start a TLS handshake within 0.05 s"]


async def test_without_a_certificate_tls_is_closed_and_plain_text_goes_on() -> None:
    refusals: list[str] = []
    async with behind(told(refusals)) as (_, address):
        async with Peer.connect(address) as peer:
            peer.send(HELLO)
            assert await peer.is_closed()
        async with Peer.connect(address) as plain:
            assert (await plain.send_request(1)).code == 0
    assert refusals == ["requested TLS, but this server has no certificate: set tls.server.certPath"]


async def test_a_certificate_is_made_when_it_is_first_wanted_and_once() -> None:
    certificates_made: list[int] = []

    def make() -> ssl.SSLContext:
        certificates_made.append(1)
        return tls_server.build_self_signed_context()

    async with behind(TlsPolicy(build_context=make)) as (_, address):
        async with Peer.connect(address) as plain:
            await plain.send_request(1)
            assert certificates_made == []
        for _ in range(2):
            async with Peer.connect(address, trusting()) as peer:
                assert (await peer.send_request(1)).code == 0
    assert certificates_made == [1]


async def test_nobody_waits_for_a_certificate_that_is_being_made() -> None:
    certificates_made, go = [], Event()

    def make() -> ssl.SSLContext:
        certificates_made.append(1)
        go.wait(10)
        return tls_server.build_self_signed_context()

    async def secured(address: str) -> bytes:
        async with Peer.connect(address, trusting()) as peer:
            return (await peer.send_request(1, body=b"in the end")).body

    async with behind(TlsPolicy(build_context=make)) as (echo, address):
        waiting = [asyncio.create_task(secured(address)) for _ in range(2)]
        gone = await asyncio.open_connection(*address.split(":"))
        gone[1].write(HELLO)
        await wait_until(lambda: certificates_made and len(echo.streams) == 3)
        gone[1].close()
        async with Peer.connect(address) as plain:
            assert (await plain.send_request(1, body=b"at once")).body == b"at once"
        # As a server does that goes on after a pause.
        for stream in echo.streams:
            stream.release_reading()
        go.set()
        assert await asyncio.gather(*waiting) == [b"in the end"] * 2
    assert certificates_made == [1]


def test_one_that_cannot_be_made_is_not_tried_again() -> None:
    tries: list[int] = []

    def make() -> ssl.SSLContext:
        tries.append(1)
        raise BadSettings("no room")

    terms = TlsPolicy(build_context=make)
    for _ in range(2):
        with pytest.raises(BadSettings, match=r"^requested TLS, which is not available: no room$"):
            terms.current_context()
    assert tries == [1]


async def test_an_open_connection_outlives_the_context_it_began_with() -> None:
    terms = TlsPolicy(tls_server.build_self_signed_context())
    async with behind(terms) as (_, address), Peer.connect(address, trusting()) as old:
        assert (await old.send_request(1)).code == 0
        terms.ssl_context = tls_server.build_self_signed_context()
        async with Peer.connect(address, trusting()) as new:
            assert (await new.send_request(1)).code == 0
        assert (await old.send_request(1, body=b"still")).body == b"still"


async def test_a_stream_that_is_held_waits_behind_a_doorway_too() -> None:
    class Frozen(Echo):
        def stream_opened(self, stream: CommandStream) -> None:
            super().stream_opened(stream)
            stream.hold_reading()

        def command_received(self, stream: CommandStream, command: RemotingCommand) -> RemotingCommand | None:
            self.seen.append(command)
            return build_reply(command, body=command.body)

    frozen = Frozen()
    async with (
        open_listener(frozen, terms=told([])) as listener,
        Peer.connect(f"127.0.0.1:{listener.bound_port}") as peer,
    ):
        await wait_until(lambda: frozen.streams)
        peer.send(codec.encode_command(build_request(1, body=b"one")))
        await asyncio.sleep(0.05)
        assert frozen.seen == []
        frozen.streams[0].release_reading()
        answer = await peer.receive()
        assert answer is not None
        assert answer.body == b"one"
        frozen.streams[0].abort()
