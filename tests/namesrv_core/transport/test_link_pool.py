"""The pool of links: one for each server, and no more open sockets than may be."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.transport.multiplexed_client import MultiplexedClient
from tests.namesrv_core.transport.test_multiplexed_client import ask_one, echo
from tests.support.fake_servers import Server


@pytest.fixture
def server() -> Iterator[Server]:
    with Server({1: echo}) as running:
        yield running


@pytest.fixture
def calls() -> Iterator[MultiplexedClient]:
    with MultiplexedClient() as pool:
        yield pool


def test_a_connection_serves_all_calls_to_its_address(server: Server, calls: MultiplexedClient) -> None:
    for _ in range(3):
        ask_one(calls, server.addr)
    assert len(server.connections) == 1


def test_a_connection_that_died_in_the_meantime_is_made_anew(
    server: Server, calls: MultiplexedClient
) -> None:
    ask_one(calls, server.addr)
    server.hang_up()
    # The end of the connection has to arrive here before the next call can know of it.
    server.connections[0].close()
    ask_one(calls, server.addr)
    assert len(server.connections) == 2


def test_more_servers_than_sockets_take_turns() -> None:
    servers = [Server({1: echo}) for _ in range(5)]
    try:
        with MultiplexedClient(max_sockets=2) as calls:
            for _ in range(2):
                answers = calls.send_requests([(server.addr, build_request(1)) for server in servers], 5)
                assert all(isinstance(answer, RemotingCommand) for answer in answers)
            assert sum(server.tcp_socket is not None for server in calls._pool) <= 2
    finally:
        for server in servers:
            server.close()
