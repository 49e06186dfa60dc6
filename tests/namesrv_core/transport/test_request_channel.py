"""Outgoing connections: answers matched, deadlines, peers that go."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.transport.command_stream import CommandStream
from namesrv_core.transport.request_channel import RequestChannel
from tests.namesrv_core.transport.test_command_stream import echoing
from tests.support.name_servers import run_on_loop, wait_until


@asynccontextmanager
async def channel_to(address: str, patience: float = 3.0) -> AsyncIterator[RequestChannel]:
    channel = RequestChannel(address, patience)
    try:
        yield channel
    finally:
        channel.close()


async def test_answers_find_the_requests_they_belong_to() -> None:
    async with echoing() as (echo, address), channel_to(address) as channel:
        asked = [build_request(1, body=b"%d" % number) for number in range(50)]
        answers = await asyncio.gather(*map(channel.send_request, asked))
        assert [answer.body for answer in answers] == [command.body for command in asked]
        assert len(echo.streams) == 1


async def test_a_oneway_request_is_sent_and_not_waited_for() -> None:
    async with echoing() as (echo, address), channel_to(address) as channel:
        await channel.send_oneway(build_request(905, {"a": "b"}, is_oneway=True))
        await wait_until(lambda: echo.seen)
        assert echo.seen[0].code == 905


async def test_a_request_that_is_not_answered_in_time_is_a_timeout_and_later_ones_work() -> None:
    async with echoing() as (_, address), channel_to(address, 0.05) as channel:
        silent = RemotingCommand(1, opaque=-1, flag=2)
        with pytest.raises(TimeoutError):
            await channel.send_request(silent)
        assert (await channel.send_request(build_request(1, body=b"x"))).body == b"x"


async def test_an_answer_that_nobody_waits_for_is_dropped() -> None:
    async with echoing() as (echo, address), channel_to(address) as channel:
        await channel.send_request(build_request(1))
        echo.streams[0].send_command(RemotingCommand(0, opaque=-99, flag=1))
        assert (await channel.send_request(build_request(1, body=b"x"))).body == b"x"


async def test_a_connection_that_closes_fails_all_who_wait_and_the_next_one_connects_again() -> None:
    async with echoing() as (echo, address), channel_to(address) as channel:
        await channel.send_request(build_request(1))
        waiting = [
            asyncio.ensure_future(channel.send_request(RemotingCommand(1, opaque=-i, flag=2))) for i in (1, 2)
        ]
        await wait_until(lambda: len(echo.seen) == 3)
        echo.streams[0].close()
        for failed in waiting:
            with pytest.raises(ConnectionResetError, match="closed the connection"):
                await failed
        assert (await channel.send_request(build_request(1, body=b"x"))).body == b"x"
        assert len(echo.streams) == 2


async def test_a_server_that_is_not_there_is_an_os_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(OSError, match=r"."):
        await RequestChannel(f"127.0.0.1:{port}").send_request(build_request(1))


@pytest.mark.parametrize("how", [RequestChannel.close, RequestChannel.abort])
def test_a_channel_that_ends_is_seen_at_the_other_end(how: object) -> None:
    @run_on_loop
    async def test() -> None:
        async with echoing() as (echo, address), channel_to(address) as channel:
            await channel.send_request(build_request(1))
            assert callable(how)
            how(channel)
            await wait_until(lambda: echo.gone)

    test()


async def test_a_channel_that_was_never_used_can_be_closed() -> None:
    channel = RequestChannel("127.0.0.1:1")
    channel.close()
    channel.abort()
    assert isinstance(channel.server_addr, str)


def test_a_stream_needs_a_running_loop() -> None:
    with pytest.raises(RuntimeError):
        CommandStream(RequestChannel("127.0.0.1:1"))
