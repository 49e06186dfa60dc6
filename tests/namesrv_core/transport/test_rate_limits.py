"""Rate limits: what is granted, how long a stream rests, and that it is read again."""

import asyncio
from collections.abc import Callable, Iterator
from contextvars import Context
from typing import TypeVarTuple

import pytest

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.transport.command_stream import AnswerSteps, CommandStream
from namesrv_core.transport.rate_limits import RateLimiter, StreamQuotas
from tests.namesrv_core.transport.test_command_stream import Echo, Overseer, echoing
from tests.support.name_servers import Peer, open_listener

Args = TypeVarTuple("Args")


class CountedStream:
    """Writes down what its limiter has it do."""

    def __init__(self) -> None:
        self.frame_count = self.byte_count = 0
        self.deeds: list[str] = []

    def update_reading(self) -> None:
        self.deeds.append("update reading")

    def resume_work(self) -> None:
        self.deeds.append("resume work")

    def report_over_limit(self, limit_key: str, hits: str) -> None:
        self.deeds.append(f"{limit_key}: {hits}")


class ClockLoop(asyncio.SelectorEventLoop):
    """A loop whose time the test sets; it keeps what is to be called later."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        self.later: list[float] = []

    def time(self) -> float:
        return self.now

    def call_later(
        self, delay: float, callback: Callable[[*Args], object], *args: *Args, context: Context | None = None
    ) -> asyncio.TimerHandle:
        self.later.append(round(delay, 6))
        return super().call_later(delay, callback, *args, context=context)

    def run_until(self, now: float) -> None:
        """Call what is due by then."""
        self.now = now
        self.call_soon(self.stop)
        self.run_forever()


@pytest.fixture
def loop() -> Iterator[ClockLoop]:
    running = ClockLoop()
    yield running
    running.close()


def limiter_of(loop: ClockLoop, quotas: StreamQuotas) -> RateLimiter:
    limiter = RateLimiter(quotas, loop)
    limiter.refilled_at = loop.now
    return limiter


def test_the_first_burst_is_a_second_worth(loop: ClockLoop) -> None:
    limiter = limiter_of(loop, StreamQuotas(frames_per_second=100, bytes_per_second=5000))
    assert (limiter.frames_granted, limiter.bytes_granted) == (100, 5000)
    assert not limiter.is_resting
    assert not limiter.is_slow


def test_time_grants_more_and_never_more_than_a_burst(loop: ClockLoop) -> None:
    limiter = limiter_of(loop, StreamQuotas(frames_per_second=100, bytes_per_second=5000))
    stream = CountedStream()
    stream.frame_count, stream.byte_count = 101, 1000
    loop.now += 0.5
    limiter.refill_grants(stream)
    # 100 - 101 + 50 frames, and a whole second of bytes, are left from here on.
    assert (limiter.frames_granted, limiter.bytes_granted) == (150, 6000)
    loop.now += 3600
    limiter.refill_grants(stream)
    assert (limiter.frames_granted, limiter.bytes_granted) == (201, 6000)
    assert stream.deeds == []


@pytest.mark.parametrize(
    ("frames", "size", "told"),
    [
        (110, 0, "maxFramesPerSecond: reading pauses for 0.1 s"),
        (0, 7500, "maxBytesPerSecond: reading pauses for 0.5 s"),
        (110, 7500, "maxFramesPerSecond: reading pauses for 0.5 s"),
    ],
)
def test_over_a_limit_it_rests_until_time_has_granted_it(
    loop: ClockLoop, frames: int, size: int, told: str
) -> None:
    limiter = limiter_of(loop, StreamQuotas(frames_per_second=100, bytes_per_second=5000))
    stream = CountedStream()
    stream.frame_count, stream.byte_count = frames, size
    limiter.refill_grants(stream)
    assert stream.deeds == [told, "update reading"]
    assert limiter.is_resting
    # What was on its way already lengthens no rest and is told no second time.
    stream.frame_count += 50
    limiter.refill_grants(stream)
    assert len(loop.later) == 1
    loop.run_until(loop.now + loop.later[0])
    assert not limiter.is_resting
    assert stream.deeds == [told, "update reading", "resume work"]


@pytest.mark.parametrize(
    ("seconds", "is_slow", "rests"), [(0.0005, False, []), (0.002, True, []), (0.03, True, [0.27])]
)
def test_after_long_work_it_rests_nine_times_as_long(
    loop: ClockLoop, seconds: float, is_slow: bool, rests: list[float]
) -> None:
    limiter, stream = limiter_of(loop, StreamQuotas()), CountedStream()
    limiter.rest_after_work(stream, seconds)
    assert limiter.is_slow is is_slow
    assert loop.later == rests
    assert limiter.is_resting is bool(rests)
    limiter.rest_after_work(stream, 0.0)
    assert not limiter.is_slow
    assert limiter.is_resting is bool(rests)


def test_work_of_no_single_request_is_paid_for_with_rests(loop: ClockLoop) -> None:
    limiter, stream = limiter_of(loop, StreamQuotas()), CountedStream()
    # A tenth of the time is free.
    for second in range(10):
        loop.now = 100.0 + second
        limiter.charge_work(stream, 0.02)
    assert loop.later == []
    limiter.charge_work(stream, 0.01)
    assert loop.later == [0.27]
    limiter.charge_work(stream, 0.01)
    assert loop.later == [0.27]
    assert limiter.is_resting


async def test_one_whose_requests_take_long_waits_for_its_turn() -> None:
    clock = [0.0]

    class Slow(Echo):
        def command_received(
            self, stream: CommandStream, command: RemotingCommand
        ) -> RemotingCommand | AnswerSteps | None:
            clock[0] += 0.002 if command.code == 2 else 0.0
            return super().command_received(stream, command)

    slow, allowance = Slow(), StreamQuotas(work_clock=lambda: clock[0])
    async with (
        open_listener(slow, allowance=allowance) as listener,
        Peer.connect(f"127.0.0.1:{listener.bound_port}") as peer,
    ):
        await peer.send_request(1)
        (stream,) = slow.streams
        assert not stream.rate_limiter.is_slow
        for code, is_slow in ((2, True), (2, True), (1, False)):
            await peer.send_request(code)
            assert stream.rate_limiter.is_slow is is_slow
        # Several at once: one in each turn.
        for _ in range(3):
            peer.send(codec.encode_command(build_request(2)) * 5)
            for _ in range(5):
                assert await peer.receive() is not None
        stream.abort()


async def test_more_frames_than_a_second_may_have_are_read_when_time_has_granted_them() -> None:
    overseer = Overseer()
    async with (
        echoing(allowance=StreamQuotas(overseer, frames_per_second=100)) as (_, address),
        Peer.connect(address) as peer,
    ):
        peer.send(codec.encode_command(build_request(1)) * 110)
        for _ in range(110):
            assert await peer.receive() is not None
        assert overseer.told[0] == "maxFramesPerSecond"
        await peer.send_request(1)


async def test_more_bytes_than_a_second_may_have_are_waited_for() -> None:
    overseer = Overseer()
    async with (
        echoing(allowance=StreamQuotas(overseer, bytes_per_second=100_000)) as (_, address),
        Peer.connect(address) as peer,
    ):
        await peer.send_request(1, body=bytes(110_000))
        await peer.send_request(1)
        assert overseer.told[0] == "maxBytesPerSecond"
