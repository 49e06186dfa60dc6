"""What `nsadmin lab up` starts, in a thread of this process: a name server of ours and simulated brokers."""

import asyncio
import random
import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from namesrv_core.fleet.broker import PRODUCER_PERIOD_SECONDS, SimulatedBroker, wall_clock_ms
from namesrv_core.fleet.fleet import PORT_STEP, BrokerFleet, FleetPlan, write_order_confs
from namesrv_core.transport.event_loop import run_coroutine
from tests.support.name_servers import DEADLINE, start_name_server

DOCUMENTED_NAMESRV = "127.0.0.1:9876"
DOCUMENTED_BROKER_PORT = 10911


class Lab(NamedTuple):
    """`brokers` are addresses by broker name and id; `stand_in` says what documented addresses stand for.

    `kill(name, id)` ends a broker without a word. `skew(name, id, ms)` changes its clock.
    """

    namesrv_addrs: tuple[str, ...]
    brokers: Mapping[tuple[str, int], str]
    stand_in: Mapping[str, str]
    kill: Callable[[str, int], None]
    skew: Callable[[str, int, int], None]

    @property
    def namesrv_addr(self) -> str:
        """All name servers, as -n takes them."""
        return ";".join(self.namesrv_addrs)

    def with_addresses(self, text: str) -> str:
        """The text with this lab's addresses in the place of the documented ones."""
        for documented, real in self.stand_in.items():
            text = text.replace(documented, real)
        return text


class _LabThread:
    """The thread that the lab lives in."""

    def __init__(self, home: Path, plan: FleetPlan, name_servers: int, producer_period: float) -> None:
        self._home, self._plan, self._name_servers = home, plan, name_servers
        self._producer_period = producer_period
        self._started: Future[Lab] = Future()
        # Whatever keeps it from ending shall not keep the tests from ending.
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def started(self) -> Lab:
        return self._started.result(DEADLINE)

    def end(self) -> None:
        if self._started.exception(DEADLINE) is None:
            self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(DEADLINE)

    def _find(self, name: str, broker_id: int) -> SimulatedBroker:
        [broker] = [item for item in self._fleet.brokers if item.spec[1:3] == (name, broker_id)]
        return broker

    def _skew(self, name: str, broker_id: int, skew_ms: int) -> None:
        self._find(name, broker_id)._clock_ms = lambda: wall_clock_ms() + skew_ms

    def _kill(self, name: str, broker_id: int) -> None:
        broker = self._find(name, broker_id)

        async def die() -> None:
            broker.die_abruptly()

        asyncio.run_coroutine_threadsafe(die(), self._loop).result(DEADLINE)

    def _run(self) -> None:
        try:
            run_coroutine(self._live())
        except BaseException as error:
            self._started.set_exception(error)

    async def _live(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        async with AsyncExitStack() as ends:
            addrs = []
            for number in range(self._name_servers):
                home = self._home / f"namesrv-{number}"
                home.mkdir(parents=True)
                addrs.append((await ends.enter_async_context(start_name_server(home))).namesrv_addr)
            self._fleet = fleet = BrokerFleet(self._plan, addrs, producer_period=self._producer_period)
            ends.push_async_callback(fleet.leave_cluster)
            await fleet.start()
            await write_order_confs(self._plan.plan_brokers(), addrs)
            self._started.set_result(_describe_lab(addrs, fleet, self._kill, self._skew))
            await self._end.wait()


def _describe_lab(
    addrs: list[str],
    fleet: BrokerFleet,
    kill: Callable[[str, int], None],
    skew: Callable[[str, int, int], None],
) -> Lab:
    brokers = {(item.spec.broker_name, item.spec.broker_id): item.broker_addr for item in fleet.brokers}
    stand_in = {DOCUMENTED_NAMESRV: addrs[0]}
    for at, broker in enumerate(fleet.brokers):
        stand_in[f"127.0.0.1:{DOCUMENTED_BROKER_PORT + at * PORT_STEP}"] = broker.broker_addr
    return Lab(tuple(addrs), brokers, stand_in, kill, skew)


@contextmanager
def start_lab(
    home: Path,
    plan: FleetPlan | None = None,
    *,
    name_servers: int = 1,
    producer_period: float = PRODUCER_PERIOD_SECONDS,
) -> Iterator[Lab]:
    """A lab on free ports; every broker registers with each of the name servers.

    Its producers look at routes every `producer_period` seconds.
    """
    living = _LabThread(home, plan or FleetPlan(), name_servers, producer_period)
    try:
        yield living.started()
    finally:
        living.end()


def free_ports(number: int) -> int:
    """The first of so many ports that are free now, PORT_STEP apart."""
    # At random, as other tests may look for some at the same time.
    for _ in range(100):
        # Connections end at ports from 32,768 on, and Java servers of other tests listen below.
        first = random.randrange(10_000, 18_000 - number * PORT_STEP)
        try:
            for at in range(number):
                socket.create_server(("127.0.0.1", first + at * PORT_STEP)).close()
        except OSError:
            continue
        return first
    raise AssertionError("no free ports")
