"""Benchmark of the name servers (`python -m tests.bench`): nsadmin's and Java's 5.5.0 in one run.

It measures CPU time, waits, memory and the start time of commands. With `--write` the figures also go to
docs/explanation/performance.md. Run it on an idle machine.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from namesrv_core.server.connection_limits import raise_file_limit
from tests.bench import command_start, figures, rmqload_generator
from tests.bench.requests import lookups
from tests.bench.rust_server import NAME, Rust
from tests.bench.server_cost import (
    SERVERS,
    Work,
    beside_lookups,
    beside_registrations,
    cost,
    least,
    memory_of,
    running,
    share_of_pollers,
    together,
    works,
)
from tests.interop.our_server import ROOT

PAGE = ROOT / "docs" / "explanation" / "performance.md"
GROWTH = {
    "topics": [(4, number, 64) for number in (100, 1000, 10_000)],
    "brokers a topic": [(number, 1000, 64) for number in (1, 4, 16, 64)],
    "connections": [(4, 1000, number) for number in (16, 64, 256, 1024)],
}

_PLACE = {"brokers a topic": 0, "topics": 1, "connections": 2}


def main() -> int:
    flags = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    flags.add_argument("--scale", type=float, default=1.0, help="factor for the number of requests (1.0)")
    flags.add_argument("--only", default="", metavar="TEXT", help="run only loads with TEXT in their names")
    flags.add_argument("--starts", action="store_true", help="measure only the times of commands")
    flags.add_argument(
        "--rmqload", type=Path, metavar="PATH", help="load generator in C, for additional tables"
    )
    flags.add_argument("--write", action="store_true", help=f"write the figures to docs/{PAGE.name}")
    asked = flags.parse_args()
    raise_file_limit()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        lines: list[str] = []
        if not asked.starts:
            for line in serving(home, asked.scale, asked.only, asked.rmqload):
                print(line, flush=True)
                lines.append(line)
        if asked.write:
            figures.write(PAGE, "figures", [figures.machine(_java()), "", *lines])
        if not asked.only:
            command_start.report(home)
    return 0


def serving(home: Path, scale: float, only: str, rmqload: Path | None) -> Iterator[str]:
    """Yield the tables in Markdown, line by line."""
    rust = Rust()
    yield f"| server CPU time per request, µs | nsadmin | Java 5.5.0 | Java/nsadmin |{rust.cell(NAME)}"
    yield f"|---|---:|---:|---:|{rust.cell('---:')}"
    for number, work in enumerate(work for work in works(scale) if only in work.name):
        with together(SERVERS, home / f"work-{number}") as servers:
            ours, java = least(servers, work).values()
        third = rust.cost(work, home / f"rust-{number}")
        yield f"| {work.name} | {ours:.1f} | {java:.1f} | {java / ours:.1f} |{third}"
    yield ""
    yield rust.note
    if only:
        return
    yield ""
    yield "| wait of other clients, ms: median, p99, longest | nsadmin | Java 5.5.0 |"
    yield "|---|---:|---:|"
    for title, look in (
        ("first answer of 1,000 new connections beside 64 busy ones", beside_lookups),
        (
            "a lookup every ms during registrations with 10,000 changed topics",
            lambda it: beside_registrations(it, 10_000),
        ),
        (
            "a lookup every ms during registrations with 80,000 changed topics",
            lambda it: beside_registrations(it, 80_000),
        ),
    ):
        cells = []
        for name, begin in SERVERS.items():
            with running(begin, home / f"{name}-{len(title)}") as server:
                cells.append(" / ".join(f"{value:.1f}" for value in look(server)))
        yield f"| {title} | {' | '.join(cells)} |"
    yield ""
    yield "| memory | nsadmin | Java 5.5.0 |"
    yield "|---|---:|---:|"
    used = []
    for name, begin in SERVERS.items():
        with running(begin, home / f"{name}-memory") as server:
            used.append(memory_of(server))
    for title, values in zip(
        ("idle, MiB", "additional for 64 brokers with 10,000 topics each, MiB", "per idle connection, KiB"),
        zip(*used, strict=True),
        strict=True,
    ):
        yield f"| {title} | {values[0]:.1f} | {values[1]:.1f} |"
    yield f"| longest garbage collection with all 640,000 topics, ms | {garbage_pause()} | |"
    yield ""
    yield "| clients that send a request every 30 s | nsadmin, percent of a processor |"
    yield "|---|---:|"
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    clients = min(20_000, files - 1_200) if files != resource.RLIM_INFINITY else 20_000
    with running(SERVERS["nsadmin"], home / "pollers") as server:
        share = share_of_pollers(server, clients, 1_000, 30.0, 15.0)
    yield f"| {clients:,} clients, 1,000 brokers, 2,500 topics | {share:.1f} |"
    yield ""
    yield from command_start.on_large_fleets(home)
    if rmqload is not None:
        yield ""
        yield from rmqload_generator.tables(rmqload, home, rust)
    yield from growth(home, scale)


def garbage_pause() -> str:
    """Milliseconds, of a process that has the tables of the fleet."""
    command = [sys.executable, "-m", "tests.bench.garbage_collection"]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()


def growth(home: Path, scale: float) -> Iterator[str]:
    """How the CPU time of a lookup grows with one of: 4 brokers, 1,000 topics, 64 connections."""
    requests = int(60_000 * scale)
    for workload, cases in GROWTH.items():
        values = []
        for brokers, topics, connections in cases:
            work = Work(
                "", brokers, topics, lookups(connections, 1, topics=topics), 1, requests // 2, requests
            )
            with running(SERVERS["nsadmin"], home / f"{workload}-{brokers}-{topics}-{connections}") as server:
                values.append(cost(server, work).cpu)
        numbers = [str(case[_PLACE[workload]]) for case in cases]
        yield ""
        yield "```mermaid"
        yield "xychart-beta"
        yield f'    title "server CPU time of a lookup, µs, by {workload}"'
        yield f"    x-axis [{', '.join(numbers)}]"
        yield f"    line [{', '.join(f'{value:.1f}' for value in values)}]"
        yield "```"


def _java() -> str:
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    return java.splitlines()[0]


if __name__ == "__main__":
    sys.exit(main())
