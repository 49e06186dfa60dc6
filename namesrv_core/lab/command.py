"""The lab (up, run, list): simulated RocketMQ clusters on this machine, and faults in them."""

import asyncio
import signal
import tempfile
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.file_shapes import InvalidValue as InvalidValue
from namesrv_core.fleet.fleet import BrokerFleet, FleetPlan
from namesrv_core.lab import java_logs, report, scenario_reader, virtual_time
from namesrv_core.lab.java_logs import LOG_DIALECTS as LOG_DIALECTS
from namesrv_core.lab.lab_cluster import LabCluster
from namesrv_core.lab.scenario import Scenario
from namesrv_core.lab.scenario_player import judge_run, play_scenario
from namesrv_core.lab.scenario_reader import parse_duration as parse_duration
from namesrv_core.transport import event_loop

_LEAVE_PATIENCE_SECONDS = 0.8
_BANNER_HINTS = """\
# Try these commands in another terminal:
#   nsadmin clusterList
#   nsadmin topicRoute orders
#   nsadmin consumerProgress warehouse
#   nsadmin printMsg payments --limit 5
#   nsadmin wipeWritePerm broker-a-0
# Ctrl-C stops everything."""

AnnounceNameServers = Callable[[Sequence[str], Sequence[str]], tuple[str, Callable[[], None]]]
"""Publishes the addresses and journal folders of name servers; returns a line to print and an undo action."""


class LabPlan(NamedTuple):
    """What `lab up` starts. `namesrv_addrs` are those of servers that run already; None starts `namesrvs`.

    `sizes` are fields of FleetPlan. `speed` is virtual seconds per real second; None for as fast as possible.
    """

    sizes: Mapping[str, int]
    namesrvs: int = 1
    scenario_name: str | None = None
    seed: int | None = None
    speed: float | None = 1
    run_folder: Path | None = None
    namesrv_port: int = 0
    broker_port: int = 0
    namesrv_addrs: Sequence[str] | None = None


def _with_seed(scenario: Scenario, seed: int | None) -> Scenario:
    return scenario if seed is None else scenario._replace(plan=scenario.plan._replace(seed=seed))


def list_scenarios() -> str:
    return report.list_scenarios(scenario_reader.load_built_in_scenarios())


def run_scenario(
    scenario_name: str,
    *,
    duration_seconds: float | None = None,
    seed: int | None = None,
    speed: float | None = None,
    run_folder: Path | None = None,
    java_logs_dialect: str | None = None,
) -> int:
    """Play a scenario, print the findings, and return 1 if the journals are not as expected.

    Raises RocketMQError if the scenario is invalid, with a line per mistake, or the folder is not empty.
    """
    scenario = _with_seed(scenario_reader.load_scenario(scenario_name), seed)
    if duration_seconds is not None:
        scenario = scenario._replace(duration=duration_seconds)
    run_folder = run_folder or Path(tempfile.mkdtemp(prefix=f"lab-{scenario.name}-"))
    if run_folder.exists() and any(run_folder.iterdir()):
        raise RocketMQError(f'folder "{run_folder}" is not empty: pass a new or empty folder with --dir')
    report.silence_loggers()
    deeds: list[Any] = []
    _run_until_signal(_collect_deeds(deeds, play_scenario(scenario, run_folder)), speed)
    if java_logs_dialect:
        java_logs.write_logs(run_folder, scenario.server_names(), java_logs_dialect)
    verdict = judge_run(scenario, run_folder, deeds)
    print(report.format_report(scenario, verdict, run_folder))
    return 1 if verdict.missed_findings or verdict.unexplained or not deeds else 0


async def _collect_deeds(collected_deeds: list[Any], scenario_run: Coroutine[Any, Any, list[Any]]) -> None:
    collected_deeds += await scenario_run


def _run_until_signal(main_coroutine: Coroutine[Any, Any, None], speed: float | None) -> None:
    """Run a coroutine to its end, or until a signal cancels it. Speed 1 is real time."""

    async def run_cancellable() -> None:
        current_task = asyncio.current_task()
        assert current_task is not None
        for stop_signal in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(stop_signal, current_task.cancel)
        with suppress(asyncio.CancelledError):
            await main_coroutine

    if speed == 1:
        event_loop.run_coroutine(run_cancellable())
    else:
        virtual_time.run_virtual(run_cancellable(), speed)


def start_lab(plan: LabPlan, announce_lab: AnnounceNameServers | None) -> None:
    fleet_plan = FleetPlan(**plan.sizes)
    if plan.seed is not None:
        fleet_plan = fleet_plan._replace(seed=plan.seed)
    if plan.namesrv_addrs is not None:
        fleet = BrokerFleet(fleet_plan, plan.namesrv_addrs, first_port=plan.broker_port)
        _run_until_signal(_run_fleet(fleet, _banner_text(fleet_plan, plan.namesrv_addrs)), 1)
        return
    scenario = Scenario("up", plan=fleet_plan, namesrvs=plan.namesrvs)
    if plan.scenario_name:
        scenario = _with_seed(scenario_reader.load_scenario(plan.scenario_name), plan.seed)
    with tempfile.TemporaryDirectory(prefix="nsadmin-lab-") as temporary_folder:
        run_folder = plan.run_folder or Path(temporary_folder)
        _run_until_signal(_play_and_stay(scenario, run_folder, plan, announce_lab), plan.speed)


async def _play_and_stay(
    scenario: Scenario, run_folder: Path, plan: LabPlan, announce_lab: AnnounceNameServers | None
) -> None:
    with ExitStack() as undo_actions:

        async def print_banner(cluster: LabCluster) -> None:
            banner_notes = [f"# Journals and truth.jsonl: {run_folder}"]
            if announce_lab is not None:
                journals = [str((run_folder / n / "journal").absolute()) for n in scenario.server_names()]
                announced_text, undo_action = announce_lab(cluster.namesrv_addrs, journals)
                undo_actions.callback(undo_action)
                banner_notes.append(f"# {announced_text}")
            print(_banner_text(scenario.plan, cluster.namesrv_addrs, banner_notes), flush=True)

        first_ports = {"namesrv_port": plan.namesrv_port, "broker_port": plan.broker_port}
        await play_scenario(scenario, run_folder, **first_ports, on_started=print_banner, stays_running=True)


async def _run_fleet(fleet: BrokerFleet, banner_text: str) -> None:
    try:
        await fleet.start()
        print(banner_text, flush=True)
        await asyncio.get_running_loop().create_future()
    finally:
        await fleet.leave_cluster(_LEAVE_PATIENCE_SECONDS)


def _banner_text(fleet_plan: FleetPlan, addrs: Sequence[str], banner_notes: Sequence[str] = ()) -> str:
    broker_count = fleet_plan.clusters * fleet_plan.groups * fleet_plan.replicas
    clusters = "1 cluster" if fleet_plan.clusters == 1 else f"{fleet_plan.clusters} clusters"
    line = (
        f"# {broker_count} brokers: {clusters} x {fleet_plan.groups} "
        f"groups x {fleet_plan.replicas} replicas, "
        f"{fleet_plan.topics} topics in each cluster"
    )
    return "\n".join([f"export NAMESRV_ADDR='{';'.join(addrs)}'", line, *banner_notes, _BANNER_HINTS])
