"""Benchmark of a growing fleet (`python -m tests.bench.scale`): registrations beside lookups of topics.

The fleet runs in its own process, and each of its brokers registers all its topics once. The lookups are for
topics of the first broker, then of more and more brokers. It prints figures without a verdict.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from namesrv_core.fleet.broker import SimulatedBroker
from namesrv_core.fleet.broker_model import BrokerSpec
from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.protocol import codec
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.server.connection_limits import raise_file_limit
from namesrv_core.transport import event_loop
from tests.bench.load import cpu_seconds, run
from tests.interop.our_server import OurNameServer

_AT_ONCE = 10
_CONNECTIONS, _DEPTH, _LOOKUPS = 8, 1, 160
_NEVER = 1e9
_HEAD = " brokers  seconds  server CPU s  server MiB  fleet MiB  lookups/s"


def memory(pid: int) -> float:
    """The resident memory of a process in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def fleet(plan: FleetPlan, address: str, told: Connection) -> None:
    """Start all brokers, a few at a time; says how many there are, and stays until it is told to go."""
    raise_file_limit()
    event_loop.run_coroutine(_start(plan.plan_brokers(), address, told))


@contextmanager
def standing(plan: FleetPlan, address: str) -> Iterator[tuple[int, Connection]]:
    """The process of such a fleet, and what tells again and again how many of its brokers are there."""
    processes = get_context("spawn")
    here, there = processes.Pipe()
    child = processes.Process(target=fleet, args=(plan, address, there))
    child.start()
    try:
        assert child.pid is not None
        there.close()
        yield child.pid, here
        here.send("go")
        child.join()
    finally:
        child.kill()


async def _start(specs: Sequence[BrokerSpec], address: str, told: Connection) -> None:
    brokers = [SimulatedBroker(spec, [address], heartbeat_period=_NEVER) for spec in specs]
    for at in range(0, len(brokers), _AT_ONCE):
        await asyncio.gather(*(broker.start() for broker in brokers[at : at + _AT_ONCE]))
        told.send(min(at + _AT_ONCE, len(brokers)))
    await asyncio.to_thread(told.recv)
    for broker in brokers:
        broker.die_abruptly()


def _lookups(topics: Sequence[str]) -> list[list[bytes]]:
    """What each connection asks for, in turn."""
    asked = [
        codec.encode_command(
            RemotingCommand(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}, opaque=number)
        )
        for number, topic in enumerate(topics)
    ]
    return [asked[first::_CONNECTIONS] for first in range(_CONNECTIONS)]


def measure(plan: FleetPlan, home: Path) -> Iterator[str]:
    """A line whenever another tenth of the fleet is there."""
    topics = [config["topicName"] for config in plan.plan_brokers()[0].topic_configs][:_LOOKUPS]
    with OurNameServer(home) as server:
        began = time.perf_counter()
        with standing(plan, server.address) as (pid, told):
            done = 0
            while done < plan.groups:
                goal = done + max(plan.groups // 10, 1)
                done = told.recv()
                rates = []
                while done < min(goal, plan.groups):
                    load = (_lookups(topics), _DEPTH, 0, _LOOKUPS)
                    rates.append(run(server.port, server.child.pid, *load).rate)
                    while told.poll():
                        done = told.recv()
                seconds = time.perf_counter() - began
                figures = (seconds, cpu_seconds(server.child.pid), memory(server.child.pid))
                rate = sum(rates) / len(rates) if rates else 0
                yield (
                    f"{done:8} {figures[0]:8.1f} {figures[1]:13.1f} {figures[2]:11.0f} "
                    f"{memory(pid):10.0f} {rate:10.0f}"
                )


def main() -> int:
    flags = argparse.ArgumentParser(prog="python -m tests.bench.scale", description=__doc__)
    flags.add_argument("--brokers", type=int, default=1000, metavar="N", help="masters in one cluster (1000)")
    flags.add_argument(
        "--topics", type=int, default=10_000, metavar="N", help="topics in the cluster (10000)"
    )
    asked = flags.parse_args()
    plan = FleetPlan(clusters=1, groups=asked.brokers, replicas=1, topics=asked.topics)
    print(_HEAD)
    with tempfile.TemporaryDirectory() as folder:
        for line in measure(plan, Path(folder)):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
