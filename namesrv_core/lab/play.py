"""Play a scenario: each fault at its time, the truth written down as it happens."""

import asyncio
import resource
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from namesrv_core.lab.faults import FAULTS
from namesrv_core.lab.scenario import Fault, Scenario, matching
from namesrv_core.lab.stage import Stage
from namesrv_core.lab.truth import FILE, Deed, Truth
from namesrv_core.lab.verdict import Verdict, judge
from namesrv_core.lab.world import World
from namesrv_core.storage import reading

Started = Callable[[World], Awaitable[None]]


async def _nothing(world: World) -> None:
    pass


async def play(
    scenario: Scenario,
    folder: Path,
    *,
    namesrv_port: int = 0,
    broker_port: int = 0,
    started: Started = _nothing,
    stays: bool = False,
) -> list[Deed]:
    """Everything that was done, once it is; the files are in `folder`. RocketMQError, OSError.

    `started` is awaited when all brokers are there. With `stays` all go on when the scenario is over.
    """
    loop = asyncio.get_running_loop()
    began = time.time() if scenario.start is None else scenario.start / 1000
    origin = began - loop.time()
    allow_files()
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    world = World(scenario, folder, lambda: origin + loop.time(), namesrv_port, broker_port)
    with Truth(folder / FILE) as truth:
        stage = Stage(world, truth, began)
        try:
            await world.start()
            await started(world)
            addresses = {name: site.place.address for name, site in world.sites.items()}
            own: dict[str, Any] = {"name": scenario.name, "seed": scenario.plan.seed}
            stage.tell(
                "run", "begin", list(world.seats), (), **own, duration=scenario.duration, namesrvs=addresses
            )
            if scenario.faults or not stays:
                await _until_end(stage, scenario, began)
                stage.tell("run", "end")
            if stays:
                await loop.create_future()
        finally:
            await world.stop()
        return truth.deeds


def allow_files() -> None:
    """As many as the system lets us have: a broker takes a dozen."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def _until_end(stage: Stage, scenario: Scenario, began: float) -> None:
    """What is not over by then, stays as it is."""
    try:
        async with asyncio.timeout(scenario.duration - (stage.world.clock() - began)):
            async with asyncio.TaskGroup() as group:
                for fault in scenario.single():
                    for later, single in _apart(stage, fault):
                        group.create_task(_act(stage, single, began + later))
            await asyncio.get_running_loop().create_future()
    except TimeoutError:
        pass


def _apart(stage: Stage, fault: Fault) -> Iterator[tuple[float, Fault]]:
    """The brokers of a staggered fault, one after the other, each with its time."""
    if not fault.stagger:
        yield fault.at, fault
        return
    for turn, name in enumerate(matching(fault.brokers, stage.world.seats)):
        yield fault.at + turn * fault.stagger, fault._replace(brokers=(name,))


async def _act(stage: Stage, fault: Fault, when: float) -> None:
    await asyncio.sleep(when - stage.world.clock())
    await FAULTS[fault.kind](stage, fault)


def verdict(scenario: Scenario, folder: Path, deeds: list[Deed]) -> Verdict:
    """What the journals in a folder have of the deeds."""
    journals = {name: list(reading.records(folder / name / "journal")) for name in scenario.servers()}
    return judge(deeds, journals)
