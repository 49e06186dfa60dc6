"""Streams over real sockets: pieces, garbage, flow control."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import RemotingCommand, build_reply, build_request
from namesrv_core.protocol.size_limits import NO_LIMITS
from namesrv_core.transport.command_stream import AnswerSteps, CommandStream
from namesrv_core.transport.rate_limits import ObservedStream, StreamQuotas
from tests.support.name_servers import Peer, open_listener, wait_until

GARBAGE = b"\xff\xff\xff\xff"


class Echo:
    """Answers every request with its own body, and knows who is there."""

    def __init__(self) -> None:
        self.streams: list[CommandStream] = []
        self.gone: list[int] = []
        self.seen: list[RemotingCommand] = []

    def stream_opened(self, stream: CommandStream) -> None:
        self.streams.append(stream)

    def command_received(
        self, stream: CommandStream, command: RemotingCommand
    ) -> RemotingCommand | AnswerSteps | None:
        return self.answer(command)

    def answer(self, command: RemotingCommand) -> RemotingCommand | None:
        self.seen.append(command)
        return None if command.is_oneway or command.is_reply else build_reply(command, body=command.body)

    def stream_closed(self, stream: CommandStream) -> None:
        self.gone.append(stream.channel_id)


class Overseer:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.held: list[int] = []

    def report_over_limit(self, stream: ObservedStream, limit: str, text: str) -> None:
        self.told.append(limit)

    def report_held_bytes(self, stream: ObservedStream, size: int) -> None:
        self.held.append(size)


@asynccontextmanager
async def echoing(
    host: str = "127.0.0.1", allowance: StreamQuotas | None = None, owner: Echo | None = None
) -> AsyncIterator[tuple[Echo, str]]:
    echo = owner or Echo()
    async with open_listener(echo, host, allowance=allowance) as listener:
        try:
            yield echo, f"{host}:{listener.bound_port}"
        finally:
            for stream in echo.streams:
                stream.abort()


async def test_a_frame_in_two_halves_is_answered_when_it_is_whole() -> None:
    async with echoing() as (echo, address), Peer.connect(address) as peer:
        first, second = (
            codec.encode_command(build_request(1, body=b"one")),
            codec.encode_command(build_request(1, body=b"two")),
        )
        peer.send(first + second[:10])
        answer = await peer.receive()
        assert answer is not None
        assert (answer.body, len(echo.seen)) == (b"one", 1)
        peer.send(second[10:])
        answer = await peer.receive()
        assert answer is not None
        assert answer.body == b"two"


async def test_many_frames_in_one_read_are_answered_in_their_order() -> None:
    async with echoing() as (_, address), Peer.connect(address) as peer:
        peer.send(b"".join(codec.encode_command(build_request(1, body=b"%d" % n)) for n in range(500)))
        answers = [await peer.receive() for _ in range(500)]
        assert [answer.body for answer in answers if answer] == [b"%d" % number for number in range(500)]


async def test_garbage_closes_its_own_connection_and_no_other() -> None:
    async with echoing() as (echo, address), Peer.connect(address) as bad, Peer.connect(address) as good:
        bad.send(GARBAGE)
        assert await bad.is_closed()
        assert (await good.send_request(1, body=b"still here")).body == b"still here"
        await wait_until(lambda: echo.gone)
        assert len(echo.gone) == 1


async def test_what_stood_before_garbage_is_answered_before_the_connection_closes() -> None:
    async with echoing() as (_, address), Peer.connect(address) as peer:
        peer.send(codec.encode_command(build_request(1, body=b"one")) + GARBAGE)
        answer = await peer.receive()
        assert answer is not None
        assert answer.body == b"one"
        assert await peer.is_closed()


async def test_every_stream_has_a_number_of_its_own_and_knows_its_peer() -> None:
    async with echoing() as (echo, address), Peer.connect(address) as peer, Peer.connect(address) as other:
        await peer.send_request(1)
        await other.send_request(1)
        assert len({stream.channel_id for stream in echo.streams}) == 2
        assert all(stream.peer_addr.startswith("127.0.0.1:") for stream in echo.streams)
        assert {(stream.host, stream.subject) for stream in echo.streams} == {("127.0.0.1", None)}


async def test_a_peer_on_ipv6_is_in_brackets() -> None:
    async with echoing("::1") as (echo, address), Peer.connect(address) as peer:
        await peer.send_request(1)
        assert echo.streams[0].peer_addr.startswith("[::1]:")
        assert echo.streams[0].host == "::1"


async def test_a_peer_that_takes_no_answers_is_not_read_until_it_does() -> None:
    body = bytes(1 << 18)
    total = 200
    async with echoing() as (echo, address), Peer.connect(address) as peer:
        peer.send(b"".join(codec.encode_command(build_request(1, body=body)) for _ in range(total)))
        await wait_until(lambda: echo.seen)
        (stream,) = echo.streams
        transport = stream._transport
        await wait_until(lambda: not transport.is_reading())
        assert len(echo.seen) < total
        assert stream.full_since is not None
        for _ in range(total):
            answer = await peer.receive()
            assert answer is not None
            assert len(answer.body) == len(body)
        assert len(echo.seen) == total


async def test_receiving_and_sending_are_signs_of_activity() -> None:
    async with echoing() as (echo, address), Peer.connect(address) as peer:
        await peer.send_request(1)
        (stream,) = echo.streams
        stream.active_at = -1.0
        await peer.send_request(1)
        assert stream.active_at > 0
        stream.active_at = -1.0
        stream.send_command(RemotingCommand(905, flag=2))
        assert stream.active_at > 0
        notice = await peer.receive()
        assert notice is not None
        assert notice.code == 905


async def test_what_is_sent_to_a_stream_that_has_closed_is_lost_silently() -> None:
    async with echoing() as (echo, address), Peer.connect(address) as peer:
        await peer.send_request(1)
        (stream,) = echo.streams
        stream.close()
        stream.send_command(RemotingCommand(1))
        stream.send_request(build_request(1))
        stream.resume_writing()
        assert await peer.is_closed()


async def test_the_owner_is_told_once_when_a_peer_goes() -> None:
    async with echoing() as (echo, address):
        async with Peer.connect(address) as peer:
            await peer.send_request(1)
        await wait_until(lambda: echo.gone)
        assert echo.gone == [echo.streams[0].channel_id]
        await asyncio.sleep(0)
        assert len(echo.gone) == 1


async def test_what_came_with_the_connection_waits_as_long_as_the_stream_is_held() -> None:
    class Frozen(Echo):
        def stream_opened(self, stream: CommandStream) -> None:
            super().stream_opened(stream)
            stream.hold_reading()

    frozen = Frozen()
    async with (
        open_listener(frozen, "127.0.0.1") as listener,
        Peer.connect(f"127.0.0.1:{listener.bound_port}") as peer,
    ):
        await wait_until(lambda: frozen.streams)
        # As a socket may do that was readable before it was told to rest.
        frozen.streams[0].data_received(codec.encode_command(build_request(1, body=b"one")))
        peer.send(codec.encode_command(build_request(1, body=b"two")))
        await asyncio.sleep(0.05)
        assert frozen.seen == []
        frozen.streams[0].release_reading()
        assert [(await peer.receive() or build_request(0)).body for _ in range(2)] == [b"one", b"two"]
        frozen.streams[0].abort()


async def test_whoever_asks_for_much_lets_others_in_between() -> None:
    large_frame = codec.encode_command(build_request(1, body=b"much"))
    allowance = StreamQuotas(work_clock=time.perf_counter)
    async with (
        echoing(allowance=allowance) as (echo, address),
        Peer.connect(address) as greedy,
        Peer.connect(address) as modest,
    ):
        await greedy.send_request(1)
        await modest.send_request(1)
        echo.streams[0].data_received(large_frame * 50_000)
        modest.send(codec.encode_command(build_request(1, body=b"little")))
        await wait_until(lambda: any(command.body == b"little" for command in echo.seen))
        assert len(echo.seen) < 50_000
        for _ in range(50_000):
            assert await greedy.receive() is not None
        assert len(echo.seen) == 50_003


async def test_what_is_kept_for_a_peer_is_told_while_it_is_much() -> None:
    overseer = Overseer()
    data = codec.encode_command(build_request(1, body=bytes(1 << 20)))
    async with echoing(allowance=StreamQuotas(overseer)) as (_, address), Peer.connect(address) as peer:
        peer.send(data[:-1])
        await wait_until(lambda: overseer.held and overseer.held[-1] == len(data))
        peer.send(data[-1:])
        assert await peer.receive() is not None
        await wait_until(lambda: overseer.held[-1] == 0)


async def test_requests_that_wait_and_answers_that_stay_unsent_count_as_held() -> None:
    overseer = Overseer()
    large_frame = codec.encode_command(build_request(1, body=bytes(1000)))
    async with echoing(allowance=StreamQuotas(overseer)) as (echo, address), Peer.connect(address) as peer:
        await peer.send_request(1)
        [stream] = echo.streams
        while stream.full_since is None:
            peer.send(large_frame * 500)
            await asyncio.sleep(0.001)
        waiting = len(stream._unread_bytes) + sum(map(len, stream._payloads))
        assert overseer.held[-1] >= waiting + stream._transport.get_write_buffer_size()


class UnreadTransport(asyncio.Transport):
    """A socket whose peer reads nothing: all that is written stays."""

    def __init__(self) -> None:
        super().__init__()
        self.written = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += len(data)

    def get_write_buffer_size(self) -> int:
        return self.written

    def is_closing(self) -> bool:
        return False


async def test_a_small_answer_that_stays_unsent_is_noticed_by_a_check() -> None:
    overseer, echo, transport = Overseer(), Echo(), UnreadTransport()
    stream = CommandStream(echo, stream_quotas=StreamQuotas(overseer))
    stream.connection_made(transport)
    stream.check_held_bytes()
    assert overseer.held == []
    stream.data_received(codec.encode_command(build_request(1, body=b"small")))
    stream.check_held_bytes()
    assert overseer.held == [transport.written]
    transport.written = 0
    stream.check_held_bytes()
    assert overseer.held[-1] == 0


async def test_a_peer_that_leaves_more_unread_than_may_be_is_cut_off() -> None:
    overseer = Overseer()
    allowance = StreamQuotas(overseer, max_unsent_bytes=1 << 22)
    async with echoing(allowance=allowance) as (echo, address), Peer.connect(address) as peer:
        # One answer may be larger than all that the sockets hold.
        peer.send(codec.encode_command(build_request(1, body=bytes(15 << 20))))
        await wait_until(lambda: overseer.told)
        assert overseer.told == ["maxUnsentBytes"]
        await wait_until(lambda: echo.gone)


async def test_a_frame_over_a_limit_is_told_and_closes() -> None:
    overseer = Overseer()
    allowance = StreamQuotas(overseer, NO_LIMITS._replace(ext_fields=2))
    async with echoing(allowance=allowance) as (_, address), Peer.connect(address) as peer:
        peer.send(codec.encode_command(build_request(1, dict.fromkeys("abc", "v"))))
        assert await peer.is_closed()
        assert overseer.told == ["maxExtFields"]


class Diligent(Echo):
    """Takes so many steps for a request as its body says."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[bytes] = []

    def command_received(
        self, stream: CommandStream, command: RemotingCommand
    ) -> RemotingCommand | AnswerSteps | None:
        return self._work(stream, command) if command.code == 2 else super().command_received(stream, command)

    def _work(self, stream: CommandStream, command: RemotingCommand) -> AnswerSteps:
        for _ in range(int(command.body)):
            self.steps.append(command.body)
            yield None
        return self.answer(command)


async def test_work_is_done_in_turns_and_what_comes_behind_it_waits() -> None:
    diligent, allowance = Diligent(), StreamQuotas(work_clock=time.perf_counter)
    async with (
        echoing(allowance=allowance, owner=diligent) as (_, address),
        Peer.connect(address) as peer,
        Peer.connect(address) as other,
    ):
        await other.send_request(1)
        peer.send(
            codec.encode_command(build_request(2, body=b"100000"))
            + codec.encode_command(build_request(1, body=b"after"))
        )
        await wait_until(lambda: diligent.steps)
        assert (await other.send_request(1, body=b"meanwhile")).body == b"meanwhile"
        assert len(diligent.steps) < 100_000
        for body in (b"100000", b"after"):
            answer = await peer.receive()
            assert answer is not None
            assert answer.body == body
        assert [command.body for command in diligent.seen] == [b"", b"meanwhile", b"100000", b"after"]


async def test_work_for_one_who_hangs_up_ends() -> None:
    diligent, allowance = Diligent(), StreamQuotas(work_clock=time.perf_counter)
    async with echoing(allowance=allowance, owner=diligent) as (_, address):
        async with Peer.connect(address) as peer:
            peer.send(codec.encode_command(build_request(2, body=b"1000000000")))
            await wait_until(lambda: diligent.steps)
            diligent.streams[0].abort()
            await wait_until(lambda: diligent.gone)
        steps = len(diligent.steps)
        await asyncio.sleep(0.01)
        assert len(diligent.steps) == steps
        assert len(allowance.fair_scheduler) == 0


async def test_a_request_that_is_worked_on_counts_as_held_and_what_it_took_as_a_whole() -> None:
    clock, overseer, diligent = [0.0], Overseer(), Diligent()

    def passing() -> float:
        clock[0] += 0.0004
        return clock[0]

    async with (
        echoing(allowance=StreamQuotas(overseer, work_clock=passing), owner=diligent) as (_, address),
        Peer.connect(address) as peer,
    ):
        peer.send(codec.encode_command(build_request(2, body=b"200".rjust(100_000))))
        assert await peer.receive() is not None
        assert max(overseer.held) > 100_000
        assert overseer.held[-1] == 0
        # Longer than anybody may take without a rest, though no turn was.
        assert diligent.streams[0].rate_limiter.is_resting


class WrittenPieces(asyncio.Transport):
    """Keeps what is written, piece by piece."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[object] = []

    def write(self, data: object) -> None:
        self.pieces.append(data)

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0


class Generous(Diligent):
    """Answers each request with the same large body: code 2 after some steps, all others at once."""

    body = bytes(1 << 20)

    def answer(self, command: RemotingCommand) -> RemotingCommand:
        return build_reply(command, body=self.body if command.code else b"small")


async def test_a_large_body_is_written_without_a_copy() -> None:
    small, large = (codec.encode_command(build_request(code, body=b"3")) for code in (0, 1))
    in_steps = codec.encode_command(build_request(2, body=b"3"))
    for sent, count in ((large, 1), (small * 3 + large + small, 1), (large * 2, 2), (in_steps, 1)):
        pieces = await written_for(sent, count)
        assert sum(piece is Generous.body for piece in pieces) == count


async def written_for(sent: bytes, count: int) -> list[object]:
    """What is written for these requests until it has so many large bodies."""
    pipe, stream = WrittenPieces(), CommandStream(Generous(), None, StreamQuotas())
    stream.connection_made(pipe)
    stream.data_received(sent)
    await wait_until(lambda: pipe.pieces.count(Generous.body) >= count)
    stream.connection_lost(None)
    return pipe.pieces
