"""`python -m tests.bench`: ours and Java's 5.5.0 in one run: server CPU time per request, starts of commands.

The server has the first processor for itself, the load the second. Java's server is measured warm.
"""

import argparse
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

from namesrv_core.protocol import codec, headers, registration
from namesrv_core.protocol.bodies import DataVersion
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from tests.bench import start
from tests.bench.load import Cost, run
from tests.interop.java_parts import JavaNameServer
from tests.interop.our_server import OurNameServer

_opaques = count(1)


class Work(NamedTuple):
    """One load: what is registered before it, and the batches that each connection sends in turn."""

    name: str
    brokers: int
    topics: int
    batches: list[list[bytes]]
    depth: int
    warm_up: int
    requests: int


def topics(number: int) -> dict[str, dict[str, object]]:
    return {
        f"topic-{i}": {
            "attributes": {}, "order": False, "perm": 6, "readQueueNums": 8, "topicFilterType": "SINGLE_TAG",
            "topicName": f"topic-{i}", "topicSysFlag": 0, "writeQueueNums": 8,
        }
        for i in range(number)
    }  # fmt: skip


def register(broker: int, number: int, counter: int = 1) -> bytes:
    header = headers.RegisterBroker(
        f"broker-{broker}", f"127.0.0.1:{20000 + broker}", "bench", f"127.0.0.1:{30000 + broker}", 0,
        enable_acting_master=False,
    )  # fmt: skip
    body = registration.encode(DataVersion(counter, 0, 1_700_000_000_000), topics(number))
    return codec.encode(request(RequestCode.REGISTER_BROKER, headers.write(header), body))


def lookup(topic: int) -> bytes:
    ext = {"topic": f"topic-{topic}"}
    return codec.encode(Command(RequestCode.GET_ROUTEINFO_BY_TOPIC, ext, opaque=next(_opaques)))


def lookups(connections: int, depth: int, batches: int = 50) -> list[list[bytes]]:
    numbers = count()
    return [
        [b"".join(lookup(next(numbers) % 1000) for _ in range(depth)) for _ in range(batches)]
        for _ in range(connections)
    ]


def works(scale: float) -> Iterator[Work]:
    for brokers in (4, 64):
        for connections, depth in ((64, 1), (16, 32)):
            name = f"route lookup, {brokers} brokers a topic, {connections} x {depth}"
            requests = int((200_000 if brokers == 4 else 80_000) * scale)
            yield Work(name, brokers, 1000, lookups(connections, depth), depth, 2 * requests, requests)
    for number in (1_000, 10_000):
        times = max(int(200_000 / number * scale), 20)
        same = [[register(0, number)]]
        yield Work(f"registration, {number} topics, unchanged", 1, number, same, 1, times, times)
        changed = [[register(0, number, counter) for counter in (1, 2)]]
        yield Work(f"registration, {number} topics, changed", 1, number, changed, 1, times, times)


def measure(port: int, pid: int, work: Work) -> Cost:
    """Registers the brokers over connections that stay open meanwhile."""
    open_ones = []
    try:
        for broker in range(work.brokers):
            open_ones.append(socket.create_connection(("127.0.0.1", port)))
            open_ones[-1].sendall(register(broker, work.topics))
            open_ones[-1].recv(4096)
        return run(port, pid, work.batches, work.depth, work.warm_up, work.requests)
    finally:
        for one in open_ones:
            one.close()


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """What is started in here runs on that processor alone."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def main() -> int:
    flags = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    flags.add_argument("--scale", type=float, default=1.0, help="how many requests, as a factor (1.0)")
    flags.add_argument("--only", default="", metavar="TEXT", help="only the loads with TEXT in their names")
    flags.add_argument("--starts", action="store_true", help="only how long commands take from start to end")
    asked = flags.parse_args()
    if not asked.starts:
        serve(asked.scale, asked.only)
    if not asked.only:
        with tempfile.TemporaryDirectory() as folder:
            start.report(Path(folder))
    return 0


def serve(scale: float, only: str) -> None:
    """Print what each load costs the servers."""
    server_core, load_core = (sorted(os.sched_getaffinity(0)) * 2)[:2]
    print(f"{'server CPU microseconds a request':44} {'ours':>10} {'Java 5.5.0':>10} {'Java/ours':>9}")
    with tempfile.TemporaryDirectory() as folder, on_core(load_core):
        starts: list[Callable[[Path], OurNameServer | JavaNameServer]] = [
            OurNameServer, lambda home: JavaNameServer(home, jvm_flags=()),
        ]  # fmt: skip
        for number, work in enumerate(work for work in works(scale) if only in work.name):
            costs = []
            for which, begin in enumerate(starts):
                with on_core(server_core):
                    server = begin(Path(folder) / f"{number}-{which}")
                    server.start()
                try:
                    costs.append(measure(server.port, server.child.pid, work))
                finally:
                    server.kill()
            ours, java = costs
            print(f"{work.name:44} {ours.cpu:10.1f} {java.cpu:10.1f} {java.cpu / ours.cpu:9.2f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
