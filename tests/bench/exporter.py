"""Benchmark and soak of the exporter (`python -m tests.bench.exporter`).

A name server and simulated masters have many topics and groups. The exporter reads them, with its memory and
the time of scrapes measured. With `--minutes` it goes on for so long, groups and topics come and go, and the
memory must not grow.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

from namesrv_core.fleet import fleet as fleet_module
from namesrv_core.fleet.fleet import BrokerFleet, FleetPlan
from namesrv_core.transport.event_loop import run_coroutine
from nsadmin import AdminClient
from tests.bench.figures import machine
from tests.support.name_servers import ROOT, start_name_server

MASTERS = 2
MOST_SECONDS, MOST_MIB = 5.0, 150.0
_RATE = 5000
_GROWTH = 1.05
"""The mean memory of the last quarter of a soak, compared with that of its second quarter, at most."""
_NAMES = ("nsadmin_passes_total", "nsadmin_pass_duration_seconds", "nsadmin_pass_unfinished_servers")


class Figures(NamedTuple):
    """A scrape: its duration in seconds, bytes and series of the page, and the exporter's memory in MiB."""

    seconds: float
    page_bytes: int
    series: int
    memory: float


def serve(topics: int, groups: int) -> None:
    """Run the cluster in this process until it is killed."""
    vars(fleet_module)["_CONSUMER_GROUPS"] = tuple(f"group-{number}" for number in range(groups))

    async def live() -> None:
        with tempfile.TemporaryDirectory() as home:
            async with start_name_server(Path(home)) as server:
                plan = FleetPlan(clusters=1, groups=MASTERS, replicas=1, topics=topics)
                fleet = BrokerFleet(plan, [server.namesrv_addr])
                await fleet.start()
                print(
                    json.dumps([server.namesrv_addr, *(broker.broker_addr for broker in fleet.brokers)]),
                    flush=True,
                )
                await asyncio.Event().wait()

    run_coroutine(live())


class Exporter:
    """The exporter as a process of its own."""

    def __init__(self, namesrv: str, *options: str) -> None:
        command = [sys.executable, "-m", "nsadmin", "exporter", "-n", namesrv, "--http", "0", *options]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'cli'}"}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        assert self.process.stderr is not None
        address_match = re.search(r"http://\S+", self.process.stderr.readline())
        assert address_match is not None
        self.url = address_match[0].rstrip(";")

    @property
    def memory(self) -> float:
        """MiB."""
        rss_match = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())
        assert rss_match is not None
        return int(rss_match[1]) / 1024

    def scrape(self) -> tuple[Figures, str]:
        began = time.monotonic()
        with urllib.request.urlopen(self.url, timeout=60) as response:
            text = response.read().decode()
        seconds = time.monotonic() - began
        series = int(float(re.findall(r"^nsadmin_series (\S+)$", text, re.M)[0]))
        return Figures(seconds, len(text), series, self.memory), text


def passes(text: str) -> dict[str, float]:
    pass_samples = re.findall(r'^(\w+)\{pass="(\w+)"\} (\S+)$', text, re.M)
    return {f"{name} {kind}": float(value) for name, kind, value in pass_samples if name in _NAMES}


def cpu_seconds(text: str) -> float:
    return float(re.findall(r"^process_cpu_seconds_total (\S+)$", text, re.M)[0])


def shown(figures: Figures) -> str:
    return (
        f"scrape {figures.seconds:.2f} s, {figures.series} series, {figures.page_bytes / 2**20:.1f} MiB, "
        f"memory {figures.memory:.0f} MiB"
    )


def measure(exporter: Exporter, scrapes: int) -> list[str]:
    """Scrape after the first passes; return what is over the limits."""
    deadline = time.monotonic() + 300
    counts: dict[str, float] = {}
    while {counts.get(f"nsadmin_pass_unfinished_servers {kind}") for kind in ("brokers", "topics")} != {0.0}:
        assert time.monotonic() < deadline, f"no pass is complete: {counts}"
        time.sleep(1)
        text = exporter.scrape()[1]
        counts = passes(text)
    scraped_at = cpu_seconds(text)
    found, text = [], ""
    for _ in range(scrapes):
        figures, text = exporter.scrape()
        found.append(figures)
    for name, value in sorted(counts.items()):
        print(f"  {name} {value:.2f}")
    print(f"  processor seconds of the exporter until then: {scraped_at:.1f}")
    worst = Figures(*(max(column) for column in zip(*found, strict=True)))
    print(f"  {shown(worst)} (worst of {scrapes})")
    print(f"  processor seconds of a scrape: {(cpu_seconds(text) - scraped_at) / scrapes:.2f}")
    problems = [f"a scrape took {worst.seconds:.1f} s"] if worst.seconds > MOST_SECONDS else []
    return problems + ([f"memory {worst.memory:.0f} MiB"] if worst.memory > MOST_MIB else [])


def soak(exporter: Exporter, brokers: list[str], minutes: float) -> list[str]:
    """Scrape every ten seconds while topics and groups come and go; return whether the memory grows."""
    memory: list[float] = []
    end = time.monotonic() + minutes * 60
    number = 0
    with AdminClient(brokers[0]) as admin:
        while time.monotonic() < end:
            targets = admin.groups.list_masters("cluster-a")
            number += 1
            admin.groups.update_group(f"soak-{number}", targets, {}, {})
            if number > 3:
                admin.groups.delete_group(f"soak-{number - 3}", targets, clean_offset=True)
            figures, text = exporter.scrape()
            memory.append(figures.memory)
            if number % 6 == 1:
                print(
                    f"  {shown(figures)}, passes {passes(text)['nsadmin_passes_total brokers']:.0f}",
                    flush=True,
                )
            assert text.count('group="soak-') < 40, "deleted groups stay"
            time.sleep(10)
    quarter = max(len(memory) // 4, 1)
    second, last = memory[quarter : 2 * quarter] or memory, memory[-quarter:]
    growth = (sum(last) / len(last)) / (sum(second) / len(second))
    print(f"  memory of the last quarter / of the second quarter: {growth:.3f}")
    return [f"the memory grew by {growth - 1:.1%}"] if growth > _GROWTH else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=5000)
    parser.add_argument("--groups", type=int, default=500)
    parser.add_argument("--scrapes", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--serve", action="store_true", help="only run the cluster")
    given = parser.parse_args()
    if given.serve:
        serve(given.topics, given.groups)
    print(f"{given.topics} topics, {given.groups} groups, {MASTERS} masters; {machine()}")
    words = ["--serve", "--topics", str(given.topics), "--groups", str(given.groups)]
    cluster = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.exporter", *words], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert cluster.stdout is not None
        addrs = json.loads(cluster.stdout.readline())
        # One complete pass of each kind, also on a busy machine; a soak has many.
        interval, topic_interval = ("10s", "30s") if given.minutes else ("4m", "4m")
        limits = ("--rate", str(_RATE), "--max-series", "300000", "--timeout", "30")
        exporter = Exporter(addrs[0], *limits, "--interval", interval, "--topic-interval", topic_interval)
        try:
            problems = measure(exporter, given.scrapes)
            if given.minutes:
                problems += soak(exporter, addrs, given.minutes)
        finally:
            exporter.process.terminate()
            exporter.process.wait(20)
    finally:
        cluster.kill()
        cluster.wait(20)
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
