"""Benchmark of the collector (`python -m tests.bench.collector_load`): three polls of three name servers.

Each name server has 10,000 topics. With `--ask-brokers` the collector also polls four simulated brokers for
runtime and lag. Prints the time of each poll, the most requests that began within a second, the most requests
in progress at a time (both over all servers), and the memory of this process, with the meter.
"""

import argparse
import resource
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from namesrv_core.transport.multiplexed_client import Exchange
from nsadmin import AdminClient
from nsadmin.operations.collector.broker_poller import BrokerQuestions
from nsadmin.operations.collector.name_server_watch import MessageSink
from nsadmin.operations.collector.runner import Collector, CollectorPlan
from tests.bench.requests import register
from tests.interop.our_server import ROOT, OurNameServer
from tests.interop.processes import Child

SERVERS, BROKERS, POLLS = 3, 4, 3


class Meter:
    """The begin and end times of requests."""

    def __init__(self) -> None:
        self._spans: list[tuple[float, float]] = []
        self._lock = threading.Lock()

    def __call__(self, exchange: Exchange) -> None:
        with self._lock:
            self._spans.append((exchange.began, exchange.began + exchange.seconds))

    def most_within_a_second(self) -> int:
        times, first, most = sorted(began for began, _ in self._spans), 0, 0
        for at, began in enumerate(times):
            while times[first] <= began - 1:
                first += 1
            most = max(most, at - first + 1)
        return most

    def most_under_way(self) -> int:
        steps = [step for began, ended in self._spans for step in ((began, 1), (ended, -1))]
        now = most = 0
        for _, step in sorted(steps):
            now += step
            most = max(most, now)
        return most


class Polls:
    """Prints each poll as it ends, and stops the collector after the last one."""

    def __init__(self, wanted: int) -> None:
        self._left = wanted
        self._lock = threading.Lock()
        self.are_done = threading.Event()

    def __call__(self, text: str) -> None:
        print(text, flush=True)
        if "polled in" not in text:
            return
        with self._lock:
            self._left -= 1
            if self._left <= 0:
                self.are_done.set()


@contextmanager
def fleet(folder: Path, addrs: list[str], topics: int) -> Iterator[None]:
    """Brokers in a process of their own, registered with all."""
    sizes = ("--clusters", "1", "--groups", str(BROKERS), "--replicas", "1", "--topics", str(topics))
    command = [sys.executable, "-m", "nsadmin", "lab", "up", "-n", ";".join(addrs), *sizes]
    child = Child(command, folder / "fleet.log", env={"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"})
    try:
        child.wait_for_line("Ctrl-C stops", 300)
        yield
    finally:
        child.kill()


def main() -> int:
    flags = argparse.ArgumentParser(prog="python -m tests.bench.collector_load", description=__doc__)
    flags.add_argument("--topics", type=int, default=10_000)
    flags.add_argument("--rate", type=int, default=1000)
    flags.add_argument("--concurrency", type=int, default=64)
    flags.add_argument("--ask-brokers", action="store_true")
    asked = flags.parse_args()
    meter, polls = Meter(), Polls(SERVERS * POLLS)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        addrs = []
        for number in range(SERVERS):
            home = Path(folder) / f"ns-{number}"
            home.mkdir()
            server = stack.enter_context(OurNameServer(home))
            addrs.append(server.address)
            for broker in range(0 if asked.ask_brokers else BROKERS):
                # A broker that hangs up is forgotten.
                connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
                connection.sendall(register(broker, asked.topics))
                connection.recv(1 << 16)
        if asked.ask_brokers:
            stack.enter_context(fleet(Path(folder), addrs, asked.topics))
        questions = BrokerQuestions(asked.ask_brokers, asked.ask_brokers)
        plan = CollectorPlan(
            addrs, Path(folder) / "collected", 1.0, asked.concurrency, asked.rate, broker_questions=questions,
            broker_interval_seconds=1,
        )  # fmt: skip
        voice = MessageSink(print, print, polls)
        collector = Collector(plan, lambda: AdminClient(addrs, observer=meter), voice)
        running = threading.Thread(target=collector.poll_until_stopped)
        running.start()
        polls.are_done.wait(600)
        collector.request_stop()
        running.join()
        size = sum(path.stat().st_size for path in plan.folder.rglob("*") if path.is_file())
    print(f"most requests started within a second: {meter.most_within_a_second()} (--rate {asked.rate})")
    print(
        f"most requests in progress at a time: {meter.most_under_way()} (--concurrency {asked.concurrency})"
    )
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB; journals: {size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
