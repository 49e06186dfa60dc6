"""Soak test (`python -m tests.bench.soak`): a mixed load for a long time, and a check for growth.

Brokers register every second and sometimes change their topics. Clients look up routes and reconnect. An
operator writes KV config and wipes brokers. Metrics are scraped, a journal is written, and bad peers send
garbage, half frames or nothing. The test samples memory, descriptors, threads, tasks and latency. The first
tenth, in which caches fill, does not count. With `--write` the table goes to docs/explanation/reliability.md.
"""

import argparse
import contextlib
import json
import os
import random
import sys
import threading
import time
import urllib.request
from collections import Counter
from typing import NamedTuple

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import build_request
from namesrv_core.protocol.json_bodies import DataVersion
from tests.bench import figures
from tests.bench.attacks import measure_latencies, register_brokers, resident_mib, start_victim
from tests.bench.crude_peers import connect
from tests.interop.our_server import OurNameServer
from tests.interop.processes import free_port
from tests.support.name_servers import call_server
from tests.support.wire import broker_ext, registration_body

BROKERS = 8
SHOWN = 12
"""Rows of the table that is written; each is the mean of its share of the samples."""
_TOKEN = "soak"


class Sample(NamedTuple):
    """A sample: memory in MiB, counts, and latencies in milliseconds."""

    memory: float
    files: int
    threads: int
    tasks: int
    p50: float
    p99: float


HEAD = f"{'minute':>6} {'MiB':>7} {'files':>6} {'threads':>7} {'tasks':>6} {'p50 ms':>7} {'p99 ms':>7}"


class Work:
    """What goes on beside the clients: a thread each, until `stop`. `done` counts it."""

    def __init__(self, server: OurNameServer, http: str) -> None:
        self.port, self.http = server.port, http
        self.stop = threading.Event()
        self.done: Counter[str] = Counter()

    def threads(self) -> list[threading.Thread]:
        work = [threading.Thread(target=self.broker, args=(number,)) for number in range(BROKERS)]
        others = (self.steady, self.nuisance, self.operator, self.scraper)
        return [*work, *(threading.Thread(target=thread) for thread in others)]

    def steady(self) -> None:
        """The brokers that clients ask for, which never change."""
        with connect(self.port) as peer:
            while not self.stop.wait(20):
                register_brokers(peer)

    def broker(self, number: int) -> None:
        """Registers each second; each tenth time with other topics, sometimes over a new connection."""
        rng, counter = random.Random(number), 0
        while not self.stop.is_set():
            with contextlib.suppress(OSError), connect(self.port) as peer:
                for _ in range(rng.randrange(5, 60)):
                    counter += 1
                    topics = [f"soak-{counter // 10 % 7}-{n}" for n in range(200)]
                    version = DataVersion(counter // 10, 0, 1)
                    ext = broker_ext(f"soak-{number}", addr=f"10.1.0.{number}:1")
                    peer.sendall(
                        codec.encode_command(build_request(103, ext, registration_body(topics, version)))
                    )
                    if not peer.recv(1 << 16) or self.stop.wait(1):
                        break
                    self.done["registrations"] += 1

    def nuisance(self) -> None:
        """Garbage, half frames, silence, and names that nobody has asked for before."""
        rng = random.Random(0)
        whole = codec.encode_command(build_request(106))
        while not self.stop.wait(0.05):
            with contextlib.suppress(OSError), connect(self.port) as peer:
                # What is remembered of questions is full within the first minutes.
                topics = (f"nobody-{rng.randrange(10**9)}" for _ in range(20))
                asked = b"".join(
                    codec.encode_command(build_request(105, {"topic": topic})) for topic in topics
                )
                peer.send(rng.choice((rng.randbytes(50), whole[:9], b"", asked)))
                self.done["bad peers"] += 1

    def operator(self) -> None:
        """KV config put, read and deleted; writing to a broker forbidden and allowed; every list read."""
        rng = random.Random(1)
        while not self.stop.is_set():
            with contextlib.suppress(OSError), connect(self.port) as peer:
                while not self.stop.wait(0.5):
                    key = {"namespace": "soak", "key": f"k{rng.randrange(50)}"}
                    broker = {"brokerName": f"soak-{rng.randrange(BROKERS)}"}
                    for asked in (
                        build_request(100, {**key, "value": "v" * rng.randrange(500)}),
                        build_request(101, key),
                        build_request(102, {**key, "key": f"k{rng.randrange(50)}"}),
                        build_request(205, broker),
                        build_request(327, broker),
                        build_request(206),
                        build_request(106),
                    ):
                        call_server(asked, peer)
                        self.done["operator's requests"] += 1

    def scraper(self) -> None:
        while not self.stop.wait(5):
            page(self.http, "/metrics")
            self.done["scrapes"] += 1


def page(http: str, path: str) -> bytes:
    asked = urllib.request.Request(f"http://{http}{path}", headers={"Authorization": f"Bearer {_TOKEN}"})
    with urllib.request.urlopen(asked, timeout=30) as answer:
        return bytes(answer.read())


def sample(server: OurNameServer, http: str, seconds: float, done: Counter[str]) -> Sample:
    latencies_ms = [1000 * value for value in measure_latencies(server.port, seconds)]
    done["lookups"] += len(latencies_ms)
    pid = server.child.pid
    files = len(os.listdir(f"/proc/{pid}/fd"))
    threads = len(os.listdir(f"/proc/{pid}/task"))
    tasks = json.loads(page(http, "/debug/state"))["process"]["tasks"]
    return Sample(
        resident_mib(pid),
        files,
        threads,
        tasks,
        latencies_ms[len(latencies_ms) // 2],
        latencies_ms[len(latencies_ms) * 99 // 100],
    )


def mean(samples: list[Sample]) -> Sample:
    return Sample(*(sum(column) / len(samples) for column in zip(*samples, strict=True)))


def shown(minute: float, one: Sample) -> str:
    return (
        f"{minute:6.1f} {one.memory:7.1f} {one.files:6.1f} {one.threads:7.1f} {one.tasks:6.1f} "
        f"{one.p50:7.2f} {one.p99:7.2f}"
    )


def verdict(samples: list[Sample]) -> list[str]:
    """Compare each figure of the last third with the first third, after the warm-up, in one line each."""
    warm = samples[max(len(samples) // 10, 1) :] or samples
    third = max(len(warm) // 3, 1)
    first, last = mean(warm[:third]), mean(warm[-third:])
    lines = []
    for name, room in (("memory", 4.0), ("files", 8.0), ("threads", 2.0), ("tasks", 4.0), ("p50", 1.0)):
        before, after = getattr(first, name), getattr(last, name)
        is_flat = after <= before * 1.1 + room
        lines.append(f"{name}: {before:.1f} -> {after:.1f} {'flat' if is_flat else 'GROWS'}")
    return lines


def table(samples: list[Sample], minutes: float, done: Counter[str]) -> list[str]:
    """The table to write, with at most SHOWN rows."""
    lines, rows = [HEAD], min(SHOWN, len(samples))
    for row in range(rows):
        begin, end = (len(samples) * number // rows for number in (row, row + 1))
        lines.append(shown(minutes * end / len(samples), mean(samples[begin:end])))
    work = ", ".join(f"{count:,} {kind}".replace(",", " ") for kind, count in sorted(done.items()))
    return ["```", *lines, *verdict(samples), work, "```", "", figures.machine()]


def soaked(minutes: float) -> list[str]:
    """Its table."""
    http, samples = f"127.0.0.1:{free_port()}", list[Sample]()
    # Many small segments of the journal: each is compressed and indexed, which takes memory for a moment.
    config = {"journalDir": "journal", "journalSegmentMegabytes": "1"}
    config |= {"httpAddress": http, "httpTokenFile": "token"}
    with start_victim(config, {"token": _TOKEN}) as server:
        work = Work(server, http)
        threads = work.threads()
        for thread in threads:
            thread.start()
        until = time.monotonic() + 60 * minutes
        print(HEAD)
        try:
            while time.monotonic() < until:
                first_sample = sample(server, http, min(10.0, minutes * 3), work.done)
                samples.append(first_sample)
                print(shown(minutes - (until - time.monotonic()) / 60, first_sample), flush=True)
        finally:
            work.stop.set()
            for thread in threads:
                thread.join()
    return table(samples, minutes, work.done)


def main() -> int:
    flags = argparse.ArgumentParser(prog="python -m tests.bench.soak", description=__doc__)
    flags.add_argument("--minutes", type=float, default=30.0, help="duration in minutes (30)")
    flags.add_argument(
        "--write", action="store_true", help="write the table to docs/explanation/reliability.md"
    )
    asked = flags.parse_args()
    lines = soaked(asked.minutes)
    print(*lines, sep="\n")
    if asked.write:
        figures.write(figures.RELIABILITY, "soak", lines)
    return int(any("GROWS" in line for line in lines))


if __name__ == "__main__":
    sys.exit(main())
