"""Plays scenarios: applies each fault at its time, and writes the truth log."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from namesrv_core.lab.fault_context import FaultContext
from namesrv_core.lab.faults import ACTIONS_BY_FAULT
from namesrv_core.lab.lab_cluster import LabCluster
from namesrv_core.lab.scenario import Fault, Scenario, match_names
from namesrv_core.lab.truth_log import TRUTH_FILE, Deed, TruthLog
from namesrv_core.lab.verdict import RunVerdict, judge_journals
from namesrv_core.server.connection_limits import raise_file_limit
from namesrv_core.storage.journal import reader

StartHook = Callable[[LabCluster], Awaitable[None]]


async def _ignore_start(cluster: LabCluster) -> None:
    pass


async def play_scenario(
    scenario: Scenario,
    run_folder: Path,
    *,
    namesrv_port: int = 0,
    broker_port: int = 0,
    on_started: StartHook = _ignore_start,
    stays_running: bool = False,
) -> list[Deed]:
    """Play a scenario, with its files in `run_folder`. Return what was done. Raises RocketMQError, OSError.

    `on_started` is awaited when all brokers are registered. With `stays_running` the cluster goes on after
    the scenario.
    """
    event_loop = asyncio.get_running_loop()
    began_seconds = time.time() if scenario.start is None else scenario.start / 1000
    clock_origin = began_seconds - event_loop.time()
    raise_file_limit()
    await asyncio.to_thread(run_folder.mkdir, parents=True, exist_ok=True)
    cluster = LabCluster(
        scenario, run_folder, lambda: clock_origin + event_loop.time(), namesrv_port, broker_port
    )
    with TruthLog(run_folder / TRUTH_FILE) as truth_log:
        context = FaultContext(cluster, truth_log, began_seconds)
        try:
            await cluster.start_all()
            await on_started(cluster)
            namesrv_addrs = {n: s.reserved_port.socket_addr for n, s in cluster.name_servers.items()}
            run_details: dict[str, Any] = {"name": scenario.name, "seed": scenario.plan.seed}
            context.record_deed(
                "run",
                "begin",
                list(cluster.lab_brokers),
                (),
                **run_details,
                duration=scenario.duration,
                namesrvs=namesrv_addrs,
            )
            if scenario.faults or not stays_running:
                await _play_until_end(context, scenario, began_seconds)
                context.record_deed("run", "end")
            if stays_running:
                await event_loop.create_future()
        finally:
            await cluster.stop_all()
        return truth_log.deeds


async def _play_until_end(context: FaultContext, scenario: Scenario, began_seconds: float) -> None:
    """Play until the end of the scenario. Faults that have not ended by then stay."""
    rest_seconds = scenario.duration - (context.cluster.clock_seconds() - began_seconds)
    with suppress(TimeoutError):
        async with asyncio.timeout(rest_seconds):
            async with asyncio.TaskGroup() as task_group:
                for fault in scenario.expand_repetitions():
                    for delay_seconds, single_fault in _stagger_fault(context, fault):
                        task_group.create_task(
                            _apply_fault_at(context, single_fault, began_seconds + delay_seconds)
                        )
            await asyncio.get_running_loop().create_future()


def _stagger_fault(context: FaultContext, fault: Fault) -> Iterator[tuple[float, Fault]]:
    """Yield the brokers of a staggered fault one by one, each with its time."""
    if not fault.stagger:
        yield fault.at, fault
        return
    for index, broker_name in enumerate(match_names(fault.brokers, context.cluster.lab_brokers)):
        yield fault.at + index * fault.stagger, fault._replace(brokers=(broker_name,))


async def _apply_fault_at(context: FaultContext, fault: Fault, due_seconds: float) -> None:
    await asyncio.sleep(due_seconds - context.cluster.clock_seconds())
    await ACTIONS_BY_FAULT[fault.kind](context, fault)


def judge_run(scenario: Scenario, run_folder: Path, deeds: list[Deed]) -> RunVerdict:
    journal_by_server = {
        name: list(reader.read_records(run_folder / name / "journal")) for name in scenario.server_names()
    }
    return judge_journals(deeds, journal_by_server)
