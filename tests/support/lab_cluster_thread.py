"""A lab's world in a thread of this process: name servers, simulated brokers, and links to cut."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import time
from typing import Any

from namesrv_core.fleet.broker import SimulatedBroker
from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.lab.lab_cluster import LabCluster
from namesrv_core.lab.scenario import Scenario
from namesrv_core.transport.event_loop import run_coroutine
from tests.support.name_servers import DEADLINE

Deed = Callable[[LabCluster], Coroutine[Any, Any, Any]]


class LabClusterThread:
    """`do(deed)` does something in the world and returns when it is done."""

    def __init__(self, scenario: Scenario, folder: Path, prepare: Callable[[LabCluster], None]) -> None:
        self._scenario, self._folder, self._prepare = scenario, folder, prepare
        self._started = Event()
        self._thread = Thread(target=lambda: run_coroutine(self._live()), daemon=True)
        self._thread.start()
        assert self._started.wait(DEADLINE)

    async def _live(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        self.world = LabCluster(self._scenario, self._folder, time)
        try:
            self._prepare(self.world)
            await self.world.start_all()
            self._started.set()
            await self._end.wait()
        finally:
            await self.world.stop_all()

    def run_deed(self, deed: Deed) -> Any:
        return asyncio.run_coroutine_threadsafe(deed(self.world), self._loop).result(DEADLINE)

    @property
    def addresses(self) -> list[str]:
        """Of the name servers, in order."""
        return self.world.namesrv_addrs

    def broker(self, name: str) -> SimulatedBroker:
        return self.world.lab_brokers[name].simulated_broker

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(DEADLINE)


@contextmanager
def start_lab_cluster(
    folder: Path,
    *,
    namesrvs: int = 3,
    groups: int = 2,
    topics: int = 20,
    prepare: Callable[[LabCluster], None] = lambda world: None,
) -> Iterator[LabClusterThread]:
    """A world of one cluster without slaves; `prepare` sees it before anything is started."""
    plan = FleetPlan(clusters=1, groups=groups, replicas=1, topics=topics)
    cluster_thread = LabClusterThread(Scenario("test", plan=plan, namesrvs=namesrvs), folder, prepare)
    try:
        yield cluster_thread
    finally:
        cluster_thread.close()
