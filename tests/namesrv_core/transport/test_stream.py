"""Streams over real sockets: pieces, garbage, flow control."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import Command, reply, request
from namesrv_core.transport.stream import Stream
from tests.support.running import Peer, listening, on_a_loop, until

GARBAGE = b"\xff\xff\xff\xff"


class Echo:
    """Answers every request with its own body, and knows who is there."""

    def __init__(self) -> None:
        self.streams: list[Stream] = []
        self.gone: list[int] = []
        self.seen: list[Command] = []

    def opened(self, stream: Stream) -> None:
        self.streams.append(stream)

    def received(self, stream: Stream, command: Command) -> Command | None:
        self.seen.append(command)
        return None if command.is_oneway or command.is_reply else reply(command, body=command.body)

    def closed(self, stream: Stream) -> None:
        self.gone.append(stream.number)


@asynccontextmanager
async def echoing(host: str = "127.0.0.1") -> AsyncIterator[tuple[Echo, str]]:
    echo = Echo()
    async with listening(echo, host) as listener:
        try:
            yield echo, f"{host}:{listener.port}"
        finally:
            for stream in echo.streams:
                stream.abort()


@on_a_loop
async def test_a_frame_in_two_halves_is_answered_when_it_is_whole() -> None:
    async with echoing() as (echo, address), Peer.to(address) as peer:
        first, second = codec.encode(request(1, body=b"one")), codec.encode(request(1, body=b"two"))
        peer.send(first + second[:10])
        answer = await peer.receive()
        assert answer is not None
        assert (answer.body, len(echo.seen)) == (b"one", 1)
        peer.send(second[10:])
        answer = await peer.receive()
        assert answer is not None
        assert answer.body == b"two"


@on_a_loop
async def test_many_frames_in_one_read_are_answered_in_their_order() -> None:
    async with echoing() as (_, address), Peer.to(address) as peer:
        peer.send(b"".join(codec.encode(request(1, body=b"%d" % number)) for number in range(500)))
        answers = [await peer.receive() for _ in range(500)]
        assert [answer.body for answer in answers if answer] == [b"%d" % number for number in range(500)]


@on_a_loop
async def test_garbage_closes_its_own_connection_and_no_other() -> None:
    async with echoing() as (echo, address), Peer.to(address) as bad, Peer.to(address) as good:
        bad.send(GARBAGE)
        assert await bad.is_closed()
        assert (await good.ask(1, body=b"still here")).body == b"still here"
        await until(lambda: echo.gone)
        assert len(echo.gone) == 1


@on_a_loop
async def test_what_stood_before_garbage_is_answered_before_the_connection_closes() -> None:
    async with echoing() as (_, address), Peer.to(address) as peer:
        peer.send(codec.encode(request(1, body=b"one")) + GARBAGE)
        answer = await peer.receive()
        assert answer is not None
        assert answer.body == b"one"
        assert await peer.is_closed()


@on_a_loop
async def test_every_stream_has_a_number_of_its_own_and_knows_its_peer() -> None:
    async with echoing() as (echo, address), Peer.to(address) as one, Peer.to(address) as other:
        await one.ask(1)
        await other.ask(1)
        assert len({stream.number for stream in echo.streams}) == 2
        assert all(stream.peer.startswith("127.0.0.1:") for stream in echo.streams)


@on_a_loop
async def test_a_peer_on_ipv6_is_in_brackets() -> None:
    async with echoing("::1") as (echo, address), Peer.to(address) as peer:
        await peer.ask(1)
        assert echo.streams[0].peer.startswith("[::1]:")


@on_a_loop
async def test_a_peer_that_takes_no_answers_is_not_read_until_it_does() -> None:
    body = bytes(1 << 18)
    total = 200
    async with echoing() as (echo, address), Peer.to(address) as peer:
        peer.send(b"".join(codec.encode(request(1, body=body)) for _ in range(total)))
        await until(lambda: echo.seen)
        (stream,) = echo.streams
        transport = stream._transport
        await until(lambda: not transport.is_reading())
        assert len(echo.seen) < total
        for _ in range(total):
            answer = await peer.receive()
            assert answer is not None
            assert len(answer.body) == len(body)
        assert len(echo.seen) == total


@on_a_loop
async def test_receiving_and_sending_are_signs_of_activity() -> None:
    async with echoing() as (echo, address), Peer.to(address) as peer:
        await peer.ask(1)
        (stream,) = echo.streams
        stream.active_at = -1.0
        await peer.ask(1)
        assert stream.active_at > 0
        stream.active_at = -1.0
        stream.send(Command(905, flag=2))
        assert stream.active_at > 0
        notice = await peer.receive()
        assert notice is not None
        assert notice.code == 905


@on_a_loop
async def test_what_is_sent_to_a_stream_that_has_closed_is_lost_silently() -> None:
    async with echoing() as (echo, address), Peer.to(address) as peer:
        await peer.ask(1)
        (stream,) = echo.streams
        stream.close()
        stream.send(Command(1))
        stream.ask(request(1))
        stream.resume_writing()
        assert await peer.is_closed()


@on_a_loop
async def test_the_owner_is_told_once_when_a_peer_goes() -> None:
    async with echoing() as (echo, address):
        async with Peer.to(address) as peer:
            await peer.ask(1)
        await until(lambda: echo.gone)
        assert echo.gone == [echo.streams[0].number]
        await asyncio.sleep(0)
        assert len(echo.gone) == 1
