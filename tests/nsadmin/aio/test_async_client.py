"""The library for asyncio: the same nouns, results and errors, and calls that end with their task."""

import asyncio
import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Barrier
from typing import assert_type

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient, SshTarget
from nsadmin.aio import AsyncAdminClient
from nsadmin.client import ClientClosed, Exchange, NoneReachable, ServerResult
from nsadmin.client.connection.thread_safe_connections import MAX_CALLS_AT_ONCE
from nsadmin.client.messages.send_probes import SendProbe
from nsadmin.client.topic_routes import TopicRoute
from tests.support.fake_servers import FakeBroker, FakeNameServer, Server, answer_nothing, closed_port
from tests.support.message_brokers import MessageBroker
from tests.support.name_servers import DEADLINE, run_on_loop, wait_until

FOREVER = 1e6
READ, CHANGE = RequestCode.GET_NAMESRV_CONFIG, RequestCode.PUT_KV_CONFIG


@asynccontextmanager
async def client_of(*servers: Server) -> AsyncIterator[AsyncAdminClient]:
    async with AsyncAdminClient(";".join(server.addr for server in servers), timeout=FOREVER) as admin:
        yield admin


@run_on_loop
async def test_a_method_is_a_coroutine_with_the_arguments_and_results_of_the_blocking_one() -> None:
    with FakeNameServer({"C": {"broker-a": {0: "127.0.0.1:10911"}}}) as server:
        server.routes = {"T": {"broker-a": 6}}
        async with client_of(server) as admin:
            names = assert_type(await admin.topics.list_names(), tuple[str, ...])
            route = assert_type(await admin.topics.get_route("T"), TopicRoute)
            results = assert_type(await admin.kv.put_value("N", key="k", value="v"), list[ServerResult[str]])
            assert (names, route.queues[0].broker_name, results[0].error) == (("T",), "broker-a", None)
            assert server.kv == {"N": {"k": "v"}}
            assert (await admin.get_addresses()).addrs == (server.addr,)
            with pytest.raises(TypeError, match="wrong"):
                await admin.topics.get_route(wrong="T")  # type: ignore[call-arg]


@run_on_loop
async def test_errors_are_those_of_the_blocking_client() -> None:
    gone = f"127.0.0.1:{closed_port()}"
    async with AsyncAdminClient(gone) as admin:
        with pytest.raises(NoneReachable, match="connection refused"):
            await admin.topics.list_names()
        assert list(admin.unreachable) == [gone]
        assert admin.disagreements == []


@run_on_loop
async def test_an_iterator_is_an_asynchronous_one() -> None:
    with MessageBroker() as holder, FakeNameServer({"C": {"broker-a": {0: holder.addr}}}) as server:
        server.routes = {"broker-a": {"broker-a": 6}}
        async with client_of(server) as admin:
            send_queue = await admin.send_probes.choose_queue("broker-a")
            probes = [
                assert_type(probe, SendProbe)
                async for probe in admin.send_probes.send_probes(send_queue, 5, 3)
            ]
        assert [probe.error for probe in probes] == [None] * 3
        assert len(holder.sent) == 3


@run_on_loop
async def test_calls_of_many_tasks_are_answered_at_once() -> None:
    together = Barrier(MAX_CALLS_AT_ONCE)

    def answer_together(asked: RemotingCommand) -> RemotingCommand:
        together.wait(DEADLINE)
        return build_reply(asked)

    with Server({READ: answer_together}) as server:
        async with client_of(server) as admin:
            calls = (admin.name_servers.get_config_each() for _ in range(2 * MAX_CALLS_AT_ONCE))
            answers = await asyncio.gather(*calls)
    assert [result.error for [result] in answers] == [None] * 2 * MAX_CALLS_AT_ONCE


@run_on_loop
async def test_a_call_does_not_wait_for_a_hung_broker_of_another_task() -> None:
    with Server({RequestCode.GET_BROKER_RUNTIME_INFO: answer_nothing}) as hung, FakeBroker() as healthy:
        async with client_of(hung) as admin:
            pending = asyncio.create_task(admin.brokers.get_runtime_info([hung.addr]))
            await wait_until(lambda: hung.asked)
            [result] = await admin.brokers.get_runtime_info([healthy.addr])
            assert result.error is None
            assert not pending.done()
            pending.cancel()


@run_on_loop
async def test_a_task_that_is_cancelled_ends_its_call_and_later_calls_are_answered() -> None:
    with FakeNameServer() as server:
        server.handlers[READ] = answer_nothing
        async with client_of(server) as admin:
            # More calls than threads: each of them gives its thread back.
            for count in range(1, 2 * MAX_CALLS_AT_ONCE):
                pending = asyncio.create_task(admin.name_servers.get_config_each())
                await wait_until(lambda count=count: server.asked_codes().count(READ) == count)  # type: ignore[misc]
                pending.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await pending
            assert await admin.topics.list_names() == ()
    assert server.asked_codes()[-1] == RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER


@run_on_loop
async def test_a_time_limit_of_asyncio_ends_a_call() -> None:
    with Server({READ: answer_nothing}) as server:
        async with client_of(server) as admin:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await admin.name_servers.get_config_each()


@run_on_loop
async def test_a_late_answer_to_a_cancelled_call_is_no_answer_to_a_later_one() -> None:
    held: list[RemotingCommand] = []

    def hold_first(asked: RemotingCommand) -> RemotingCommand | None:
        held.append(asked)
        return build_reply(asked, body=b"which=later\n") if len(held) > 1 else None

    with Server({READ: hold_first}) as server:
        async with client_of(server) as admin:
            pending = asyncio.create_task(admin.name_servers.get_config_each())
            await wait_until(lambda: held)
            pending.cancel()
            await asyncio.wait([pending])
            [result] = await admin.name_servers.get_config_each()
            assert result.result == {"which": "later"}
            # The connection of the cancelled call was closed, or another one is used: never that one.
            assert len(server.connections) == 2


@run_on_loop
async def test_a_cancelled_change_that_was_sent_is_told_to_the_observer() -> None:
    exchanges: list[Exchange] = []
    with Server({CHANGE: answer_nothing}) as server:
        async with AsyncAdminClient(server.addr, timeout=FOREVER, observer=exchanges.append) as admin:
            pending = asyncio.create_task(admin.kv.put_value("N", "k", "v"))
            await wait_until(lambda: server.asked)
            pending.cancel()
            await wait_until(lambda: exchanges)
    assert [str(exchange.outcome) for exchange in exchanges] == [
        f"{server.addr}: interrupted before the answer"
    ]


@run_on_loop
async def test_closing_the_client_ends_every_call_of_its_tasks() -> None:
    with Server({READ: answer_nothing}) as server:
        admin = AsyncAdminClient(server.addr, timeout=FOREVER)
        call_count = MAX_CALLS_AT_ONCE + 4
        pending = [asyncio.create_task(admin.name_servers.get_config_each()) for _ in range(call_count)]
        await wait_until(lambda: len(server.asked) == MAX_CALLS_AT_ONCE)
        await admin.aclose()
        errors = await asyncio.gather(*pending, return_exceptions=True)
        assert {type(error) for error in errors} == {ClientClosed}
        assert len(server.asked) == MAX_CALLS_AT_ONCE
        with pytest.raises(ClientClosed, match="this client is closed"):
            await admin.name_servers.get_config_each()
        await admin.aclose()


def test_a_context_takes_the_same_arguments_as_without_asyncio() -> None:
    both = [inspect.signature(client.from_context) for client in (AdminClient, AsyncAdminClient)]
    assert both[0].parameters.keys() == both[1].parameters.keys()

    async def find_tunnel() -> object:
        async with AsyncAdminClient.from_context(namesrv_addr="a:1", ssh="ops@gate") as admin:
            return admin._admin_client._caller.access.tunnel

    assert str(asyncio.run(find_tunnel())) == str(SshTarget("ops@gate"))
