"""Faults of the machine: killed in the middle of writes, a full disk, no more files, a crowd."""

import asyncio
import os
import resource
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from namesrv_core.protocol.command import build_request
from tests.bench.kills import Rounds
from tests.support.name_server_flags import server_command
from tests.support.name_servers import (
    DEADLINE,
    ROOT,
    Peer,
    ServerProgram,
    call_server,
    run_on_loop,
    start_name_server,
    start_program,
)
from tests.support.wire import broker_ext, registration_body

ROUNDS = int(os.environ.get("NSADMIN_KILL_ROUNDS", "60"))


def in_home(home: Path, *args: str) -> tuple[str, ...]:
    return ("--home", str(home), "--bind", "127.0.0.1", "--port", "0", *args)


def put(connection: socket.socket, key: str, value: str) -> int:
    return call_server(build_request(100, {"namespace": "n", "key": key, "value": value}), connection).code


def value(connection: socket.socket, key: str) -> str | None:
    return (call_server(build_request(101, {"namespace": "n", "key": key}), connection).ext or {}).get(
        "value"
    )


def test_nothing_answered_is_lost_by_kills_in_the_middle_of_writes(tmp_path: Path) -> None:
    rounds = Rounds(tmp_path)
    for _ in range(ROUNDS):
        rounds.once()
    counts = rounds.end()
    assert counts["answered"] > 0
    assert counts["kills during changes"] > ROUNDS / 2


def test_without_files_left_good_connections_go_on_and_puts_reach_the_disk(tmp_path: Path) -> None:
    limited = (
        "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200));"
        "sys.argv = ['namesrv', *sys.argv[1:]]; runpy.run_module('namesrv_core', run_name='__main__')"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", limited, *server_command(*in_home(tmp_path))[-1:]],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=ServerProgram.make_environment(),
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = next(text for text in process.stdout if "boot success" in text)
        port = int(line.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), DEADLINE) as good:
            assert put(good, "a", "1") == 0
            crowd = [socket.create_connection(("127.0.0.1", port), DEADLINE) for _ in range(400)]
            assert put(good, "a", "2") == 0
            assert value(good, "a") == "2"
            for connection in crowd:
                connection.close()
            with socket.create_connection(("127.0.0.1", port), DEADLINE) as late:
                assert call_server(build_request(106), late).code == 0
    finally:
        process.kill()
        process.communicate()


def test_a_full_disk_refuses_what_it_cannot_keep_and_nothing_else(tmp_path: Path) -> None:
    with start_program(*in_home(tmp_path)) as server, server.connect() as connection:
        assert put(connection, "a", "1") == 0
        # No file of more than 200 bytes from now on: as a disk without room.
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))
        assert put(connection, "b", "v" * 1000) == 1
        assert value(connection, "a") == "1"
        assert value(connection, "b") is None
        assert put(connection, "a", "2") == 0
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        assert put(connection, "b", "v" * 1000) == 0


def test_a_thousand_idle_connections_and_their_sudden_end_leave_others_alone(tmp_path: Path) -> None:
    with start_program(*in_home(tmp_path)) as server, server.connect() as good:
        for _ in range(2):
            crowd = [server.connect() for _ in range(1000)]
            assert call_server(build_request(106), good).code == 0
            for connection in crowd:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                connection.close()
            assert call_server(build_request(106), good).code == 0


@pytest.mark.parametrize("days", [1, -1])
def test_a_clock_that_is_set_makes_no_broker_expire(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    @run_on_loop
    async def test() -> None:
        async with (
            start_name_server(tmp_path, scanNotActiveBrokerInterval=100) as server,
            Peer.connect(server.namesrv_addr) as peer,
        ):
            assert (await peer.send_request(103, broker_ext(), registration_body(["a", "b"]))).code == 0
            begun, real = server.now_ms(), time.time
            monkeypatch.setattr(time, "time", lambda: real() + days * 86_400)
            await asyncio.sleep(0.4)
            assert 0 <= server.now_ms() - begun < 60_000
            assert (await peer.send_request(105, {"topic": "a"})).code == 0

    test()
