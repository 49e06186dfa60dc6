"""Reads of many servers in threads: a slow one delays only itself."""

from collections.abc import Iterator
from threading import Event
from time import monotonic

import pytest

from nsadmin.operations.exporter.figures import ServerIdentity
from nsadmin.operations.exporter.server_lanes import ServerLanes

SERVERS = [ServerIdentity(f"h:{number}", "C", f"b{number}", "0") for number in range(6)]


@pytest.fixture
def lanes() -> Iterator[ServerLanes]:
    opened = ServerLanes("test", 2)
    yield opened
    opened.close()


def test_all_servers_are_read(lanes: ServerLanes) -> None:
    read: list[str] = []

    def read_server(server: ServerIdentity) -> bool:
        read.append(server.address)
        return server != SERVERS[3]

    assert lanes.run_pass(SERVERS, read_server, monotonic() + 30) == 1
    assert sorted(read) == [server.address for server in SERVERS]


def test_a_frozen_server_is_read_once_and_the_others_again_and_again(lanes: ServerLanes) -> None:
    release, reads = Event(), dict.fromkeys(SERVERS, 0)

    def read_server(server: ServerIdentity) -> bool:
        reads[server] += 1
        return server != SERVERS[0] or not release.wait(30)

    for _ in range(3):
        assert lanes.run_pass(SERVERS, read_server, monotonic() + 0.3) >= 1
    release.set()
    assert reads[SERVERS[0]] == 1
    assert {reads[server] for server in SERVERS[1:]} == {3}


def test_a_server_that_was_slow_once_keeps_no_thread_of_the_others(
    lanes: ServerLanes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nsadmin.operations.exporter.server_lanes._SLOW_SECONDS", 0.0)
    lanes.run_pass(SERVERS[:2], lambda server: False, monotonic() + 30)
    release, reads = Event(), list[str]()

    def read_server(server: ServerIdentity) -> bool:
        if server in SERVERS[:2]:
            return release.wait(30)
        reads.append(server.address)
        return True

    began = monotonic()
    assert lanes.run_pass(SERVERS, read_server, began + 30) == 2
    assert monotonic() - began < 20
    release.set()
    assert len(reads) == 4


def test_no_read_begins_after_the_deadline(lanes: ServerLanes) -> None:
    read: list[str] = []

    def read_server(server: ServerIdentity) -> bool:
        read.append(server.address)
        return True

    assert lanes.run_pass(SERVERS, read_server, monotonic() - 1) == len(SERVERS)
    assert read == []
