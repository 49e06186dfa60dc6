"""One client in several threads and processes."""

import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Event, Lock
from time import sleep
from typing import Any

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.transport.multiplexed_client import MultiplexedClient
from nsadmin.client import Access, AdminClient, ClientClosed, Exchange, Pool, RocketMQError
from nsadmin.client.connection.thread_safe_connections import MAX_CALLS_AT_ONCE, ThreadSafeConnections
from tests.support.fake_servers import FakeBroker, FakeNameServer, Server, answer_nothing, closed_port
from tests.support.name_servers import DEADLINE

FOREVER = 1e6
READ = RequestCode.GET_NAMESRV_CONFIG


def wait_until(happened: Callable[[], bool]) -> None:
    for _ in range(int(DEADLINE / 0.01)):
        if happened():
            return
        sleep(0.01)
    raise AssertionError("it never happened")


@contextmanager
def silent_server() -> Iterator[Server]:
    with Server({code: answer_nothing for code in RequestCode}) as running:
        yield running


@contextmanager
def threads(count: int) -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(count) as pool:
        yield pool


def assert_closed(pending: list[Future[Any]]) -> None:
    for future in pending:
        with pytest.raises(ClientClosed, match="this client is closed"):
            future.result(DEADLINE)


def test_each_thread_gets_its_own_answer() -> None:
    with FakeNameServer() as server:

        def echo(asked: RemotingCommand) -> RemotingCommand:
            return build_reply(asked, ext={"value": str((asked.ext or {})["key"])})

        server.handlers[RequestCode.GET_KV_CONFIG] = echo
        with AdminClient(server.addr) as admin, threads(8) as pool:
            values = list(pool.map(lambda key: admin.kv.get_value("N", str(key)), range(200)))
        assert values == [str(key) for key in range(200)]
        assert len(server.connections) <= 8


def test_calls_one_after_the_other_share_a_connection_whatever_thread_makes_them() -> None:
    with FakeNameServer() as server, AdminClient(server.addr) as admin:
        for _ in range(5):
            with threads(1) as pool:
                pool.submit(admin.topics.list_names).result()
        assert len(server.connections) == 1


def test_a_call_does_not_wait_for_a_hung_broker_of_another_thread() -> None:
    with silent_server() as hung, FakeBroker() as healthy, threads(1) as pool:
        with AdminClient("h:1", timeout=FOREVER) as admin:
            pending = pool.submit(admin.brokers.get_runtime_info, [hung.addr])
            wait_until(lambda: bool(hung.asked))
            [result] = admin.brokers.get_runtime_info([healthy.addr])
            assert result.error is None
            assert not pending.done()
        assert_closed([pending])


def test_sixteen_threads_are_answered_at_once() -> None:
    together = Barrier(16)

    def answer_together(asked: RemotingCommand) -> RemotingCommand:
        together.wait(DEADLINE)
        return build_reply(asked)

    with (
        Server({READ: answer_together}) as server,
        AdminClient(server.addr, timeout=FOREVER) as admin,
        threads(16) as pool,
    ):
        pending = [pool.submit(admin.name_servers.get_config_each) for _ in range(16)]
        assert [future.result(DEADLINE)[0].error for future in pending] == [None] * 16


def test_more_threads_than_connections_wait_for_one() -> None:
    lock, at_once, most, go_on = Lock(), [0], [0], Event()

    def answer(asked: RemotingCommand) -> RemotingCommand:
        with lock:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        go_on.wait(DEADLINE)
        with lock:
            at_once[0] -= 1
        return build_reply(asked)

    thread_count = MAX_CALLS_AT_ONCE + 8
    with (
        Server({READ: answer}) as server,
        AdminClient(server.addr, timeout=FOREVER) as admin,
        threads(thread_count) as pool,
    ):
        pending = [pool.submit(admin.name_servers.get_config_each) for _ in range(thread_count)]
        wait_until(lambda: at_once[0] == MAX_CALLS_AT_ONCE)
        go_on.set()
        assert [future.result(DEADLINE)[0].error for future in pending] == [None] * thread_count
        assert most[0] == len(server.connections) == MAX_CALLS_AT_ONCE


def test_an_observer_is_told_by_one_thread_at_a_time() -> None:
    busy, overlaps = Lock(), list[Exchange]()

    def observe(exchange: Exchange) -> None:
        if not busy.acquire(blocking=False):
            overlaps.append(exchange)
            return
        sleep(0)
        busy.release()

    with FakeNameServer() as server, AdminClient(server.addr, observer=observe) as admin, threads(8) as pool:
        list(pool.map(lambda _: admin.topics.list_names(), range(200)))
    assert overlaps == []


def test_closing_a_client_ends_every_call_of_its_threads() -> None:
    thread_count = MAX_CALLS_AT_ONCE + 4
    with silent_server() as server, threads(thread_count) as pool:
        admin = AdminClient(server.addr, timeout=FOREVER)
        pending = [pool.submit(admin.name_servers.get_config_each) for _ in range(thread_count)]
        # The others wait for a free connection.
        wait_until(lambda: len(server.asked) == MAX_CALLS_AT_ONCE)
        admin.close()
        assert_closed(pending)
        assert len(server.asked) == MAX_CALLS_AT_ONCE


def test_closing_a_client_under_load_raises_nothing_but_the_documented_error() -> None:
    def ask_on(admin: AdminClient) -> BaseException:
        try:
            while True:
                admin.topics.list_names()
        except BaseException as error:
            return error

    with FakeNameServer() as server, threads(8) as pool:
        for _ in range(20):
            admin = AdminClient(server.addr, timeout=FOREVER)
            asked_before = len(server.asked)
            pending = [pool.submit(ask_on, admin) for _ in range(8)]
            wait_until(lambda before=asked_before: len(server.asked) > before + 20)  # type: ignore[misc]
            admin.close()
            assert {type(future.result(DEADLINE)) for future in pending} == {ClientClosed}


def test_closing_a_client_ends_the_wait_for_a_connection_to_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, release = Event(), Event()

    def hang(host: bytes, port: int, **more: int) -> object:
        if more.get("flags"):
            raise socket.gaierror(socket.EAI_NONAME, "no number")
        asked.set()
        release.wait(DEADLINE)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    with threads(1) as pool:
        admin = AdminClient("slow.example:9876", timeout=FOREVER)
        pending = pool.submit(admin.topics.list_names)
        assert asked.wait(DEADLINE)
        admin.close()
        assert_closed([pending])
        release.set()


def test_a_closed_client_opens_no_connection_for_a_probe() -> None:
    with FakeNameServer() as server:
        admin = AdminClient(server.addr)
        admin.close()
        for probe in (admin.certificates.get_own, admin.exposure.check_reachable):
            with pytest.raises(ClientClosed):
                probe([server.addr])
        assert server.connections == []


def test_closing_a_client_ends_the_pause_before_a_retry() -> None:
    gone, exchanges = f"127.0.0.1:{closed_port()}", list[Exchange]()
    with threads(1) as pool:
        admin = AdminClient(gone, access=Access(retries=1_000_000), observer=exchanges.append)
        pending = pool.submit(admin.topics.list_names)
        wait_until(lambda: len(exchanges) > 1)
        admin.close()
        assert_closed([pending])


def test_a_pause_ends_with_its_client() -> None:
    connections = ThreadSafeConnections(lambda _: MultiplexedClient())
    scope = connections.open_scope()
    with threads(1) as pool:
        pending: Future[Any] = pool.submit(connections.pause, FOREVER, scope)
        # The pause has begun once there is something to notify.
        wait_until(lambda: connections._condition is not None)
        connections.end_scope(scope, "this client is closed")
        assert_closed([pending])
    connections.close("over")


def test_closing_one_client_of_a_pool_leaves_the_calls_of_the_other() -> None:
    go_on = Event()

    def answer(asked: RemotingCommand) -> RemotingCommand:
        go_on.wait(DEADLINE)
        return build_reply(asked)

    with Server({READ: answer}) as server, threads(2) as pool:
        connections = Pool()
        first, second = (AdminClient(server.addr, timeout=FOREVER, pool=connections) for _ in range(2))
        ended, answered = (pool.submit(admin.name_servers.get_config_each) for admin in (first, second))
        wait_until(lambda: len(server.asked) == 2)
        first.close()
        assert_closed([ended])
        go_on.set()
        assert answered.result(DEADLINE)[0].error is None
        with pytest.raises(ClientClosed):
            first.name_servers.get_config_each()
        assert second.name_servers.get_config_each()[0].error is None
        connections.close()
        with pytest.raises(ClientClosed, match="the pool of this client is closed"):
            second.name_servers.get_config_each()


def test_a_pool_that_is_closed_ends_the_calls_of_its_clients() -> None:
    with silent_server() as server, threads(1) as pool:
        connections = Pool()
        admin = AdminClient(server.addr, timeout=FOREVER, pool=connections)
        pending = pool.submit(admin.name_servers.get_config_each)
        wait_until(lambda: bool(server.asked))
        connections.close()
        with pytest.raises(ClientClosed, match="the pool of this client is closed"):
            pending.result(DEADLINE)


def test_an_observer_hears_that_a_change_may_have_been_done() -> None:
    exchanges: list[Exchange] = []
    with silent_server() as server, threads(1) as pool:
        admin = AdminClient(server.addr, timeout=FOREVER, observer=exchanges.append)
        pending = pool.submit(admin.kv.put_value, "N", "k", "v")
        wait_until(lambda: bool(server.asked))
        admin.close()
        assert_closed([pending])
    assert [str(exchange.outcome) for exchange in exchanges] == [
        f"{server.addr}: interrupted before the answer"
    ]


def test_a_forked_process_has_a_connection_of_its_own() -> None:
    with FakeNameServer() as server, AdminClient(server.addr) as admin:
        expected = admin.topics.list_names()
        child = os.fork()
        if child == 0:
            os._exit(0 if admin.topics.list_names() == expected else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert admin.topics.list_names() == expected
        assert len(server.connections) == 2


def test_a_process_that_is_forked_while_threads_ask_can_ask_and_close() -> None:
    with silent_server() as hung, FakeNameServer() as server, threads(4) as pool:
        with AdminClient(server.addr, timeout=FOREVER) as admin:
            pending = [pool.submit(admin.brokers.get_runtime_info, [hung.addr]) for _ in range(4)]
            wait_until(lambda: len(hung.asked) == 4)
            expected = admin.topics.list_names()
            child = os.fork()
            if child == 0:
                is_equal = admin.topics.list_names() == expected
                admin.close()
                os._exit(0 if is_equal else 1)
            assert os.waitpid(child, 0)[1] == 0
            assert not any(future.done() for future in pending)
        assert_closed(pending)


def test_a_closed_client_says_so() -> None:
    with FakeNameServer() as server:
        with AdminClient(server.addr) as admin:
            admin.topics.list_names()
        with pytest.raises(ClientClosed, match="this client is closed: create a new client"):
            admin.topics.list_names()
        admin.close()
    assert issubclass(ClientClosed, RocketMQError)


def test_a_closed_client_looks_for_no_name_servers() -> None:
    def find() -> object:
        raise AssertionError("it was asked")

    admin = AdminClient(find)  # type: ignore[arg-type]
    admin.close()
    with pytest.raises(ClientClosed):
        admin.topics.list_names()
