"""Measured by `rmqload`, a load generator in C, where somebody has it: `--rmqload PATH`.

It is quicker than ours, so that servers are never idle between two requests, and it keeps to a schedule of
30,000 a second. "bare" is a server whose every answer is the same: what uvloop and CPython cost alone.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.rust import BRIEFLY, NAME, Rust
from tests.bench.serving import SERVERS, Server, registered, running
from tests.interop.java_parts import Running
from tests.interop.our_server import ROOT
from tests.interop.processes import Child

ROUNDS, RATE = 3, 30_000


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
    """All answers are the same."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.bench.bare"]
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
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def tables(program: Path, home: Path, rust: Rust) -> Iterator[str]:
    """Tables in Markdown, line by line as they come."""
    title = "by a load generator in C, µs of CPU a request"
    yield f"| {title} | ours | Java 5.5.0 | Java/ours |{rust.cell(NAME)}"
    yield f"|---|---:|---:|---:|{rust.cell('---:')}"
    for load in LOADS:
        cells = []
        for name, begin in SERVERS.items():
            with running(begin, home / f"{name}-{load.brokers}-{load.depth}") as server:
                cells.append(_least(program, server, load))
        third = rust.measured(home / f"rust-{load.brokers}-{load.depth}", partial(_once, program, load))
        yield f"| {load} | {cells[0]:.1f} | {cells[1]:.1f} | {cells[1] / cells[0]:.1f} |{third}"
    bare: Callable[[Path], Any] = BareServer
    for load in LOADS[:2]:
        with running(bare, home / f"bare-{load.depth}") as server:
            least = min(_cost(program, server, load, load.requests // 10) for _ in range(ROUNDS))
        yield f"| bare, {load.connections} x {load.depth} | {least:.1f} | | |{rust.cell('')}"
    yield ""
    yield f"| paced, {RATE:,} lookups a second: ms | median | p99 | p99.9 | longest |"
    yield "|---|---:|---:|---:|---:|"
    begins: Mapping[str, Callable[[Path], Any]] = {"bare": bare, **SERVERS}
    for name, begin in begins.items():
        with running(begin, home / f"{name}-paced") as server, ExitStack() as stack:
            if name != "bare":
                stack.enter_context(registered(server.port, PACED.brokers, 1000))
            runs = [_run(program, server, PACED, RATE * (3 if name in SERVERS else 1)) for _ in range(ROUNDS)]
        cells = [min(run[f"{what}_us"] for run in runs) / 1000 for what in ("p50", "p99", "p999", "max")]
        yield f"| {name} | {' | '.join(f'{cell:.2f}' for cell in cells)} |"


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


def _cost(program: Path, server: Any, load: Load, warm_up: int) -> float:
    return float(_run(program, server, load, warm_up)["server_cpu_us"])


def _run(program: Path, server: Server, load: Load, warm_up: int) -> dict[str, Any]:
    return run(program, server.port, server.child.pid, load, warm_up)
