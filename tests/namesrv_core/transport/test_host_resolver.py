"""Host names: what they resolve to, and what happens while they do."""

import socket
from collections.abc import Iterator
from threading import Event

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.transport.multiplexed_client import CallError, Exchange, MultiplexedClient
from tests.namesrv_core.transport.test_multiplexed_client import ask_one, echo, error_of
from tests.support.clock import hold_timeouts_until
from tests.support.fake_servers import Server, closed_port


@pytest.fixture
def server() -> Iterator[Server]:
    with Server({1: echo}) as running:
        yield running


@pytest.fixture
def calls() -> Iterator[MultiplexedClient]:
    with MultiplexedClient() as pool:
        yield pool


def test_a_host_name_is_resolved_and_each_of_its_addresses_tried(
    server: Server, calls: MultiplexedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo

    def two_addresses(host: bytes, port: int, **more: int) -> list[tuple[object, ...]]:
        if host != b"broker.example":
            return list(real(host, port, **more))
        if more.get("flags"):
            raise socket.gaierror(socket.EAI_NONAME, "no number")
        dead = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", closed_port()))
        return [dead, (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", server.port))]

    monkeypatch.setattr(socket, "getaddrinfo", two_addresses)
    ask_one(calls, "broker.example:9876")


def test_a_name_that_does_not_resolve(calls: MultiplexedClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    error = error_of(calls, "nowhere.invalid:9876")
    assert (error.kind, error.reason) == (
        "unresolvable",
        "the host name does not resolve: Name or service not known",
    )


def test_a_name_that_cannot_be_one(calls: MultiplexedClient) -> None:
    error = error_of(calls, "\udce9:9876")
    assert (error.kind, error.reason) == ("unresolvable", "the host name does not resolve: invalid name")


def test_a_resolver_that_hangs_holds_up_nobody(
    server: Server, calls: MultiplexedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, release = socket.getaddrinfo, Event()

    def hang(host: bytes, port: int, **more: int) -> object:
        if host != b"slow.example":
            return real(host, port, **more)
        if more.get("flags"):
            raise socket.gaierror(socket.EAI_NONAME, "no number")
        release.wait(60)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    results_seen: list[Exchange] = []
    hold_timeouts_until(monkeypatch, lambda: bool(results_seen))
    slow, fine = calls.send_requests(
        [("slow.example:1", build_request(1)), (server.addr, build_request(1))], 0.2, results_seen.append
    )
    release.set()
    assert isinstance(slow, CallError)
    assert (slow.kind, slow.reason) == ("unconnected", "host name not resolved within 0.2 s")
    assert isinstance(fine, RemotingCommand)
