"""Measurements with `rmqload`, a load generator in C, if it is available: `--rmqload PATH`.

It is faster than the generator in Python, so servers are never idle between two requests, and it keeps to a
schedule of 30,000 requests per second. "bare" is a server that sends the same answer to every request: the
cost of uvloop and CPython alone.
"""

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from tests.bench import client_waits
from tests.bench.requests import lookup
from tests.bench.rust_server import BRIEFLY, NAME, Rust
from tests.bench.server_cost import SERVERS, Server, registered, running
from tests.interop.java_parts import Running
from tests.interop.our_server import ROOT
from tests.interop.processes import Child

ROUNDS, RATE = 3, 30_000
STARTS = 3
"""How often each server is started: Java's compiler makes something else of it each time."""
PACED_ROUNDS = 6


class Load(NamedTuple):
    brokers: int
    connections: int
    depth: int
    requests: int
    rate: int = 0

    def __str__(self) -> str:
        return f"route lookup, {self.brokers} brokers a topic, {self.connections} x {self.depth}"


LOADS = (
    Load(4, 64, 1, 200_000),
    Load(4, 16, 32, 600_000),
    Load(64, 64, 1, 80_000),
    Load(64, 16, 32, 80_000),
)
PACED = Load(4, 64, 1, 10 * RATE, RATE)


class BareServer(Running):
    """All answers are the same, of so many bytes."""

    def __init__(self, home: Path, length: int) -> None:
        self.home, self.length = home, length

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.bench.bare_server", str(self.length)]
        self.child = Child(command, self.home / "stdout.log", env={"PYTHONPATH": str(ROOT)})
        self.port = int(self.child.wait_for_line("port ", 20).split()[1])


def run(program: Path, port: int, pid: int, load: Load, warm_up: int) -> dict[str, Any]:
    """What it says of a run; CalledProcessError where an answer was wrong."""
    command = [
        program,
        "-p",
        port,
        "-c",
        load.connections,
        "-d",
        load.depth,
        "-n",
        load.requests,
        "-w",
        warm_up,
    ]
    command += ["-t", "topic-:1000", "-P", pid, "-j", "-b", 100, *(["-r", load.rate] if load.rate else [])]
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    return dict(json.loads(result.stdout))


def tables(program: Path, home: Path, rust: Rust) -> Iterator[str]:
    """Tables in Markdown, line by line as they come."""
    title = "by a load generator in C, µs of CPU per request"
    yield f"| {title} | bare | nsadmin | Java 5.5.0 | Java/nsadmin |{rust.cell(NAME)}"
    yield f"|---|---:|---:|---:|---:|{rust.cell('---:')}"
    bares = {brokers: _bare(home / f"length-{brokers}", brokers) for brokers in (4, 64)}
    for load in LOADS:
        cells = [
            _usual(program, home / f"{name}-{load.brokers}-{load.depth}", begin, load)
            for name, begin in _begins(bares[load.brokers]).items()
        ]
        third = rust.measured(home / f"rust-{load.brokers}-{load.depth}", partial(_once, program, load))
        yield f"| {load} | {' | '.join(f'{cell:.1f}' for cell in (*cells, cells[2] / cells[1]))} |{third}"
    yield ""
    yield f"| paced, {RATE:,} lookups a second: ms | median | p99 | p99.9 | longest |"
    yield "|---|---:|---:|---:|---:|"
    for name, begin in _begins(bares[PACED.brokers]).items():
        with (
            running(begin, home / f"{name}-paced") as server,
            registered(server.port, PACED.brokers, 1000),
        ):
            runs = [_run(program, server, PACED, 3 * RATE) for _ in range(PACED_ROUNDS)]
        cells = [
            min(run[f"{percentile}_us"] for run in runs) / 1000
            for percentile in ("p50", "p99", "p999", "max")
        ]
        yield f"| {name} | {' | '.join(f'{cell:.2f}' for cell in cells)} |"


def _begins(bare: Callable[[Path], Any]) -> Mapping[str, Callable[[Path], Any]]:
    return {"bare": bare, **SERVERS}


def _bare(home: Path, brokers: int) -> Callable[[Path], Any]:
    """A server whose every answer is as long as ours to a lookup with so many brokers a topic."""
    with (
        running(SERVERS["nsadmin"], home) as server,
        registered(server.port, brokers, 1000),
        socket.create_connection(("127.0.0.1", server.port)) as connection,
    ):
        connection.sendall(lookup(0))
        return partial(BareServer, length=len(client_waits.answer(connection)))


def _usual(program: Path, home: Path, begin: Callable[[Path], Any], load: Load) -> float:
    """CPU microseconds of a request: of some starts the one in the middle."""

    def started(number: int) -> float:
        with running(begin, home / str(number)) as server:
            return _least(program, server, load)

    return median(map(started, range(STARTS)))


def _least(program: Path, server: Server, load: Load) -> float:
    """CPU microseconds of a request, the least of some rounds; Java is warm before the first."""
    with registered(server.port, load.brokers, 1000):
        warm_ups = [900_000 if load.brokers == 4 else 240_000, *[load.requests // 10] * (ROUNDS - 1)]
        return min(_cost(program, server, load, warm_up) for warm_up in warm_ups)


def _once(program: Path, load: Load, server: Server) -> float:
    """The same of a server that needs no warming up."""
    brief = load._replace(requests=load.requests // BRIEFLY)
    with registered(server.port, load.brokers, 1000):
        return _cost(program, server, brief, brief.requests // 10)


def _cost(program: Path, server: Server, load: Load, warm_up: int) -> float:
    return float(_run(program, server, load, warm_up)["server_cpu_us"])


def _run(program: Path, server: Server, load: Load, warm_up: int) -> dict[str, Any]:
    return run(program, server.port, server.child.pid, load, warm_up)
