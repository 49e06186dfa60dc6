"""Blocking calls in threads, which end with their tasks."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from threading import Event

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_reply
from nsadmin.aio.call_threads import CallThreads
from nsadmin.client import Access, ClientClosed
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.thread_safe_connections import MAX_CALLS_AT_ONCE
from tests.support.fake_servers import Server
from tests.support.name_servers import DEADLINE, run_on_loop, wait_until

READ = RequestCode.GET_NAMESRV_CONFIG


@asynccontextmanager
async def caller_in_threads() -> AsyncIterator[tuple[Caller, CallThreads]]:
    caller = Caller("h:1", Access(timeout=5))  # type: ignore[arg-type]
    call_threads = CallThreads(caller)
    yield caller, call_threads
    caller.close()
    await call_threads.wait_until_idle()


@run_on_loop
async def test_a_cancelled_task_sends_no_further_request() -> None:
    reached, go_on, ended = Event(), Event(), list[BaseException]()
    with Server({READ: build_reply}) as server:
        async with caller_in_threads() as (caller, call_threads):

            def ask_twice() -> None:
                caller.send_to_each([server.addr], READ)
                reached.set()
                go_on.wait(DEADLINE)
                try:
                    caller.send_to_each([server.addr], READ)
                except BaseException as error:
                    ended.append(error)

            pending = asyncio.create_task(call_threads.run_call(ask_twice))
            await wait_until(reached.is_set)
            pending.cancel()
            # The task does not wait for its thread.
            await asyncio.wait([pending])
            assert ended == []
            go_on.set()
            await wait_until(lambda: ended)
            assert isinstance(ended[0], ClientClosed)
            assert str(ended[0]) == "the call was cancelled"
            await call_threads.run_call(lambda: caller.send_to_each([server.addr], READ))
        assert len(server.asked) == 2


@run_on_loop
async def test_a_task_that_is_cancelled_before_a_thread_is_free_runs_nothing() -> None:
    go_on, began = Event(), list[int]()

    def block() -> None:
        began.append(1)
        go_on.wait(DEADLINE)

    async with caller_in_threads() as (_, call_threads):
        blocking = [asyncio.create_task(call_threads.run_call(block)) for _ in range(MAX_CALLS_AT_ONCE)]
        await wait_until(lambda: len(began) == MAX_CALLS_AT_ONCE)
        waiting = asyncio.create_task(call_threads.run_call(lambda: began.append(2)))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        go_on.set()
        await asyncio.gather(*blocking)
    assert began == [1] * MAX_CALLS_AT_ONCE


@run_on_loop
async def test_items_come_one_by_one_and_the_error_of_the_iterator_with_them() -> None:
    def count_down() -> Iterator[int]:
        yield 2
        yield 1
        raise KeyError("no more")

    async with caller_in_threads() as (_, call_threads):
        items = call_threads.iterate_items(count_down)
        assert [await anext(items), await anext(items)] == [2, 1]
        with pytest.raises(KeyError, match="no more"):
            await anext(items)
        assert [item async for item in call_threads.iterate_items(lambda: iter([None, 0]))] == [None, 0]


@run_on_loop
async def test_a_closed_client_runs_nothing() -> None:
    async with caller_in_threads() as (caller, call_threads):
        caller.close()
        with pytest.raises(ClientClosed):
            await call_threads.run_call(lambda: 1)
