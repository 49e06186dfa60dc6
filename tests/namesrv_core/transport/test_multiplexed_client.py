"""Calls against real sockets on loopback: what comes back, and which error where nothing does."""

import socket
import sys
from collections.abc import Iterator
from time import monotonic
from typing import Any

import pytest

from namesrv_core.protocol.codec import encode_command
from namesrv_core.protocol.command import RemotingCommand, build_reply, build_request
from namesrv_core.transport.multiplexed_client import CallError, Exchange, MultiplexedClient
from tests.support.clock import hold_timeouts_until, set_calls_clock
from tests.support.fake_servers import Server, answer_garbage, answer_hang_up, answer_nothing, closed_port


def echo(asked: RemotingCommand) -> RemotingCommand:
    return build_reply(asked, ext=dict(asked.ext or {}), body=asked.body)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server({1: echo, 2: answer_nothing, 3: answer_garbage, 4: answer_hang_up}) as running:
        yield running


@pytest.fixture
def calls() -> Iterator[MultiplexedClient]:
    with MultiplexedClient() as pool:
        yield pool


def ask_one(calls: MultiplexedClient, addr: str, code: int = 1, timeout: float = 5) -> RemotingCommand:
    [answer] = calls.send_requests([(addr, build_request(code))], timeout)
    assert isinstance(answer, RemotingCommand)
    return answer


def error_of(calls: MultiplexedClient, addr: str, code: int = 1, timeout: float = 5) -> CallError:
    [answer] = calls.send_requests([(addr, build_request(code))], timeout)
    assert isinstance(answer, CallError)
    assert answer.addr == addr
    return answer


def test_many_calls_come_back_in_the_order_they_were_asked(server: Server, calls: MultiplexedClient) -> None:
    with Server({1: echo}) as other:
        addrs = [server.addr, other.addr, server.addr, other.addr]
        asked = [(addr, build_request(1, {"n": str(n)})) for n, addr in enumerate(addrs)]
        answers = calls.send_requests(asked, 5)
    assert [answer.ext for answer in answers if isinstance(answer, RemotingCommand)] == [
        {"n": "0"},
        {"n": "1"},
        {"n": "2"},
        {"n": "3"},
    ]


def test_nothing_to_ask_is_answered_by_nothing(calls: MultiplexedClient) -> None:
    assert calls.send_requests([], 5) == []


def test_more_calls_than_may_be_unanswered_at_once_all_get_their_answer(server: Server) -> None:
    with MultiplexedClient(max_unanswered=2) as calls:
        answers = calls.send_requests([(server.addr, build_request(1, {"n": str(n)})) for n in range(20)], 5)
    assert [a.ext for a in answers if isinstance(a, RemotingCommand)] == [{"n": str(n)} for n in range(20)]


def test_a_large_body_goes_both_ways(server: Server, calls: MultiplexedClient) -> None:
    [answer] = calls.send_requests([(server.addr, build_request(1, body=b"x" * 5_000_000))], 20)
    assert isinstance(answer, RemotingCommand)
    assert answer.body == b"x" * 5_000_000


def test_ipv6_in_brackets(calls: MultiplexedClient) -> None:
    with Server({1: echo}, host="::1") as server:
        ask_one(calls, server.addr)


@pytest.mark.skipif(sys.platform != "linux", reason="a full backlog holds up a connect only on Linux")
def test_an_address_that_does_not_react_gives_way_to_the_next(
    server: Server, calls: MultiplexedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as deaf, socket.socket() as filler, socket.socket() as more_filler:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for sock in (filler, more_filler):
            sock.setblocking(False)
            sock.connect_ex(deaf.getsockname())
        error = error_of(calls, f"127.0.0.1:{deaf.getsockname()[1]}", timeout=0.1)
        assert (error.kind, error.reason) == ("unconnected", "no connection within 0.1 s")
        candidates = [(socket.AF_INET, deaf.getsockname()), (socket.AF_INET, ("127.0.0.1", server.port))]
        monkeypatch.setattr("namesrv_core.transport.host_resolver.resolve_host", lambda *_: candidates)
        # The first has had its half of the time as soon as it was tried.
        set_calls_clock(monkeypatch, lambda: 0.0 if len(candidates) == 2 else 6.0)
        ask_one(calls, "two.example:1", timeout=10)
    assert candidates == []


def test_what_is_no_address_at_all_is_an_error_of_its_call_only(
    server: Server, calls: MultiplexedClient
) -> None:
    answers = calls.send_requests([("null", build_request(1)), (server.addr, build_request(1))], 5)
    assert isinstance(answers[0], CallError)
    assert answers[0].kind == "unresolvable"
    assert isinstance(answers[1], RemotingCommand)


def test_nothing_listens(calls: MultiplexedClient) -> None:
    error = error_of(calls, f"127.0.0.1:{closed_port()}")
    assert (error.kind, error.reason) == ("unconnected", "connection refused, no server listens on this port")


def test_no_answer_in_time_ends_after_the_timeout_and_holds_up_nobody(
    server: Server, calls: MultiplexedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchanges: list[Exchange] = []
    hold_timeouts_until(monkeypatch, lambda: bool(exchanges and server.asked))
    with Server({1: echo}) as quick:
        slow, fine = calls.send_requests(
            [(server.addr, build_request(2)), (quick.addr, build_request(1))], 0.2, exchanges.append
        )
    assert [exchange.addr for exchange in exchanges] == [quick.addr, server.addr]
    assert isinstance(slow, CallError)
    assert (slow.kind, slow.reason) == ("timeout", "no answer within 0.2 s")
    assert isinstance(fine, RemotingCommand)


def test_one_silent_call_does_not_spoil_the_others_of_its_connection(
    server: Server, calls: MultiplexedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchanges: list[Exchange] = []
    hold_timeouts_until(monkeypatch, lambda: bool(exchanges))
    both = [(server.addr, build_request(2)), (server.addr, build_request(1))]
    silent_one, answered = calls.send_requests(both, 0.2, exchanges.append)
    assert isinstance(silent_one, CallError)
    assert isinstance(answered, RemotingCommand)


def test_after_a_timeout_the_next_call_takes_a_fresh_connection(
    server: Server, calls: MultiplexedClient
) -> None:
    error_of(calls, server.addr, 2, 0.1)
    ask_one(calls, server.addr)
    assert len(server.connections) == 2


def test_an_answer_that_is_no_frame(server: Server, calls: MultiplexedClient) -> None:
    error = error_of(calls, server.addr, 3)
    assert error.kind == "unreadable"
    assert error.reason.startswith("sent data that is not a RocketMQ frame")


def test_a_server_that_hangs_up(server: Server, calls: MultiplexedClient) -> None:
    error = error_of(calls, server.addr, 4)
    reason = "closed the connection without an answer; if the server requires TLS, use --tls"
    assert (error.kind, error.reason) == ("closed", reason)


def test_asyncio_is_not_needed() -> None:
    import subprocess

    code = "import sys, namesrv_core.transport.multiplexed_client; sys.exit('asyncio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=".").returncode == 0


def test_an_observer_is_told_of_each_request_and_its_answer(server: Server) -> None:
    asked = build_request(1, body=b"x" * 1000)
    began = monotonic()
    exchanges: list[Exchange] = []
    with MultiplexedClient() as pool:
        pool.send_requests([(server.addr, asked)], 5, exchanges.append)
    [exchange] = exchanges
    answer = build_reply(asked, ext={}, body=asked.body)
    assert exchange[:2] == (server.addr, 1)
    assert began <= exchange.began <= exchange.began + exchange.seconds <= monotonic()
    assert exchange[4:9] == (0, len(encode_command(asked)), len(encode_command(answer)), 1, 1)


def test_an_observer_is_told_why_there_is_no_answer(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = f"127.0.0.1:{closed_port()}"
    calls = [(server.addr, build_request(2)), (gone, build_request(1)), (server.addr, build_request(1))]
    exchanges_told: list[Exchange] = []
    hold_timeouts_until(monkeypatch, lambda: len(exchanges_told) == 2)
    with MultiplexedClient() as pool:
        pool.send_requests(calls, 0.2, exchanges_told.append)
    exchange_by_call = {exchange[:2]: exchange for exchange in exchanges_told}
    kinds = {key: getattr(exchange.outcome, "kind", 0) for key, exchange in exchange_by_call.items()}
    assert kinds == {(server.addr, 1): 0, (gone, 1): "unconnected", (server.addr, 2): "timeout"}
    assert exchange_by_call[gone, 1].bytes_out == exchange_by_call[server.addr, 2].bytes_in == 0
    assert exchange_by_call[server.addr, 2].seconds == 1000
    assert sorted(exchange.done for exchange in exchange_by_call.values()) == [1, 2, 3]
    assert {exchange.total for exchange in exchange_by_call.values()} == {3}


def test_an_observer_is_told_of_what_was_under_way_when_somebody_interrupted(server: Server) -> None:
    exchanges: list[Exchange] = []

    def interrupt(exchange: Exchange) -> None:
        exchanges.append(exchange)
        if len(exchanges) == 1:
            raise KeyboardInterrupt

    with MultiplexedClient() as pool:
        with pytest.raises(KeyboardInterrupt):
            pool.send_requests(
                [(server.addr, build_request(2)), (server.addr, build_request(1))], 5, interrupt
            )
        assert ask_one(pool, server.addr).code == 0
    outcomes = [(exchange.code, getattr(exchange.outcome, "kind", 0)) for exchange in exchanges]
    # The interrupted observer learns again of the request that it was told of.
    assert outcomes == [(1, 0), (2, "interrupted"), (1, "interrupted")]
    assert exchanges[0].began == exchanges[2].began


def test_an_answer_that_no_observer_learned_of_is_reported_as_interrupted(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C can arrive between the receipt of an answer and the call of the observer."""
    finish_request, exchanges = MultiplexedClient._finish_request, list[Exchange]()

    def interrupt(*args: Any) -> None:
        monkeypatch.setattr(MultiplexedClient, "_finish_request", finish_request)
        raise KeyboardInterrupt

    monkeypatch.setattr(MultiplexedClient, "_finish_request", interrupt)
    with MultiplexedClient() as pool, pytest.raises(KeyboardInterrupt):
        pool.send_requests([(server.addr, build_request(1))], 5, exchanges.append)
    assert [str(e.outcome) for e in exchanges] == [f"{server.addr}: interrupted before the answer"]


def test_a_call_that_is_woken_goes_on_if_its_check_raises_nothing(
    server: Server, calls: MultiplexedClient
) -> None:
    checks: list[str] = []

    def wake(asked: RemotingCommand) -> RemotingCommand:
        calls.wake()
        return echo(asked)

    server.handlers[5] = wake
    for _ in range(20):
        [answer] = calls.send_requests(
            [(server.addr, build_request(5))], 5, wakeup_check=lambda: checks.append("woken")
        )
        assert isinstance(answer, RemotingCommand)
    assert checks


def test_a_call_that_is_woken_ends_with_what_its_check_raises(
    server: Server, calls: MultiplexedClient
) -> None:
    def wake(asked: RemotingCommand) -> None:
        calls.wake()

    def give_up() -> None:
        raise KeyError("enough")

    server.handlers[5], exchanges = wake, list[Exchange]()
    with pytest.raises(KeyError, match="enough"):
        calls.send_requests([(server.addr, build_request(5))], 1e6, exchanges.append, give_up)
    assert [str(e.outcome) for e in exchanges] == [f"{server.addr}: interrupted before the answer"]
    ask_one(calls, server.addr)
    # A late answer to the request that was given up would have come over the first connection.
    assert len(server.connections) == 2
