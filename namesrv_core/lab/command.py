"""The program `lab` (up, run, list): simulated RocketMQ clusters on this machine, and faults in them."""

import argparse
import asyncio
import re
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from namesrv_core.errors import RocketMQError
from namesrv_core.flag_parser import FlagParser
from namesrv_core.fleet.fleet import BrokerFleet, FleetPlan
from namesrv_core.lab import java_logs, report, scenario_reader, virtual_time
from namesrv_core.lab.lab_cluster import LabCluster
from namesrv_core.lab.scenario import Scenario
from namesrv_core.lab.scenario_player import judge_run, play_scenario
from namesrv_core.transport import event_loop
from namesrv_core.transport.address import split_addr

_LEAVE_PATIENCE_SECONDS = 0.8
_FLEET_SIZE_FLAGS = ("clusters", "groups", "replicas", "topics")
_BANNER_HINTS = """\
# Try these commands in another terminal:
#   nsadmin clusterList
#   nsadmin topicRoute orders
#   nsadmin consumerProgress warehouse
#   nsadmin printMsg payments --maxNum 5
#   nsadmin wipeWritePerm broker-a-0
# Ctrl-C stops everything."""

AnnounceNameServers = Callable[[Sequence[str], Sequence[str]], tuple[str, Callable[[], None]]]
"""Publishes the addresses and journal folders of name servers; returns a line to print and an undo action."""


def build_flag_parser(program_name: str = "nsadmin lab") -> argparse.ArgumentParser:
    flag_parser = FlagParser(
        program_name, "Run simulated RocketMQ clusters on this machine, with or without faults."
    )
    subcommands = flag_parser.add_subparsers(dest="command", required=True, metavar="up|run|list")
    _add_up_flags(subcommands.add_parser("up", help="start name servers and brokers; Ctrl-C stops them"))
    run_parser = subcommands.add_parser(
        "run", help="play a scenario to its end, and check the journals for the expected events"
    )
    _add_scenario_argument(run_parser, "scenario")
    run_parser.add_argument(
        "--until",
        type=_parse_duration,
        metavar="TIME",
        help="duration of the run (the scenario's): 90s, 10m, 2h",
    )
    run_parser.add_argument(
        "--java-logs", choices=java_logs.LOG_DIALECTS,
        help="also write the logs that Java name servers of this release would write",
    )  # fmt: skip
    for command_parser in (subcommands.choices["up"], run_parser):
        command_parser.add_argument(
            "--speed", type=_parse_speed, metavar="N",
            help="virtual seconds per real second at most, or max (up: 1, run: max)",
        )  # fmt: skip
        command_parser.add_argument(
            "--dir", type=Path, metavar="DIR",
            help="folder for journals and truth.jsonl (a temporary folder)",
        )  # fmt: skip
        command_parser.add_argument(
            "--seed",
            type=int,
            metavar="N",
            help="seed of the random numbers that choose the topics and clients (1, or the scenario's)",
        )
    subcommands.add_parser("list", help="list the built-in scenarios")
    return flag_parser


def _add_scenario_argument(
    flag_parser: argparse.ArgumentParser, argument_name: str, **extra_settings: Any
) -> None:
    """Add an argument that is a scenario. The `values` of its action are the values to complete."""
    help_text = "scenario to play: a built-in name or a YAML file" + (
        "; the cluster keeps running after its end" if argument_name != "scenario" else ""
    )
    scenario_action: Any = flag_parser.add_argument(
        argument_name, metavar="SCENARIO", help=help_text, **extra_settings
    )
    scenario_action.values = scenario_reader.list_scenario_names()


def _add_up_flags(up_parser: argparse.ArgumentParser) -> None:
    default_plan = FleetPlan()
    for size_name, help_text in (
        ("clusters", "clusters"),
        ("groups", "broker groups in each cluster"),
        ("replicas", "brokers in each group, master included"),
        ("topics", "topics in each cluster, without system topics"),
    ):
        up_parser.add_argument(
            f"--{size_name}",
            type=_parse_size,
            metavar="N",
            help=f"{help_text} ({getattr(default_plan, size_name)})",
        )
    up_parser.add_argument(
        "--namesrvs", type=_parse_namesrv_count, metavar="N", help="number of name servers (1)"
    )
    _add_scenario_argument(up_parser, "word", nargs="?")
    _add_scenario_argument(up_parser, "--scenario")
    up_parser.add_argument(
        "--namesrv-port", type=int, default=0, metavar="PORT",
        help="port of the first name server, the others get the next ports; 0 selects free ports (0)",
    )  # fmt: skip
    up_parser.add_argument(
        "--broker-port", type=int, default=0, metavar="PORT",
        help="port of the first broker, the others get every tenth port; 0 selects free ports (0)",
    )  # fmt: skip
    up_parser.add_argument("--no-context", action="store_true", help='do not write the context "lab"')
    up_parser.add_argument(
        "-n", "--namesrvAddr", type=_parse_addresses, metavar="ADDRS",
        help="register the brokers with these name servers (separated by ; or ,) and start none",
    )  # fmt: skip


def _bounded_integer(minimum: int, maximum: int) -> Callable[[str], int]:
    def parse_integer(number_text: str) -> int:
        if not number_text.isdecimal() or not minimum <= int(number_text) <= maximum:
            raise argparse.ArgumentTypeError(f'invalid number "{number_text}": use {minimum} to {maximum}')
        return int(number_text)

    return parse_integer


_parse_size, _parse_namesrv_count = _bounded_integer(1, 10_000), _bounded_integer(1, 9)


def _parse_speed(speed_text: str) -> float:
    """Parse a speed. 0 stands for max."""
    with suppress(ValueError):
        if speed_text == "max" or 0.01 <= float(speed_text) <= 1e6:
            return 0 if speed_text == "max" else float(speed_text)
    raise argparse.ArgumentTypeError(f'invalid speed "{speed_text}": use 0.01 to 1000000, or max')


def _parse_duration(duration_text: str) -> float:
    try:
        return scenario_reader.parse_duration(duration_text)
    except scenario_reader.InvalidScenarioValue as error:
        raise argparse.ArgumentTypeError(f'invalid time "{duration_text}": {error}') from None


def _parse_addresses(address_list: str) -> list[str]:
    addresses = [address for address in re.split(r"[;,\s]+", address_list) if address]
    try:
        for address in addresses:
            split_addr(address)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not addresses:
        raise argparse.ArgumentTypeError("empty list of name servers: write HOST:PORT;HOST:PORT")
    return addresses


def main(
    argv: list[str], program_name: str = "nsadmin lab", announce_lab: AnnounceNameServers | None = None
) -> int:
    """Run `lab` with these arguments. The exit code: 0 for a clean end, 1 for a failure."""
    flag_parser = build_flag_parser(program_name)
    parsed_flags = flag_parser.parse_args(argv)
    if parsed_flags.command == "up":
        if parsed_flags.word and parsed_flags.scenario:
            flag_parser.error(f'two scenarios, "{parsed_flags.word}" and "{parsed_flags.scenario}": pass one')
        parsed_flags.scenario = parsed_flags.scenario or parsed_flags.word
        _refuse_useless_flags(flag_parser, parsed_flags)
    try:
        if parsed_flags.command == "list":
            print(report.list_scenarios(scenario_reader.load_built_in_scenarios()))
            return 0
        return (
            _run_scenario(parsed_flags)
            if parsed_flags.command == "run"
            else _start_lab(parsed_flags, announce_lab)
        )
    except (RocketMQError, OSError) as error:
        for error_line in str(error).splitlines():
            print(f"{program_name}: {error_line}", file=sys.stderr)
        return 1


def _refuse_useless_flags(flag_parser: argparse.ArgumentParser, parsed_flags: argparse.Namespace) -> None:
    """Refuse flags that would have no effect."""
    given_flags = [
        flag_name
        for flag_name in (*_FLEET_SIZE_FLAGS, "namesrvs")
        if getattr(parsed_flags, flag_name) is not None
    ]
    if parsed_flags.scenario and given_flags:
        flag_parser.error(f"--{given_flags[0]} has no effect: the scenario sets it")
    for flag_name in ("namesrvs", "scenario", "speed", "dir"):
        if parsed_flags.namesrvAddr and getattr(parsed_flags, flag_name) is not None:
            flag_parser.error(f"--{flag_name} has no effect with -n, which starts no name servers")


def _with_seed(scenario: Scenario, seed: int | None) -> Scenario:
    return scenario if seed is None else scenario._replace(plan=scenario.plan._replace(seed=seed))


def _run_scenario(parsed_flags: argparse.Namespace) -> int:
    """Play and check. Return 1 if a journal lacks an expected event or has an unexplained one."""
    scenario = _with_seed(scenario_reader.load_scenario(parsed_flags.scenario), parsed_flags.seed)
    if parsed_flags.until is not None:
        scenario = scenario._replace(duration=parsed_flags.until)
    run_folder = parsed_flags.dir or Path(tempfile.mkdtemp(prefix=f"lab-{scenario.name}-"))
    if run_folder.exists() and any(run_folder.iterdir()):
        raise RocketMQError(f'folder "{run_folder}" is not empty: pass a new or empty folder with --dir')
    report.silence_loggers()
    deeds: list[Any] = []
    _run_until_signal(_collect_deeds(deeds, play_scenario(scenario, run_folder)), parsed_flags.speed or None)
    if parsed_flags.java_logs:
        java_logs.write_logs(run_folder, scenario.server_names(), parsed_flags.java_logs)
    run_verdict = judge_run(scenario, run_folder, deeds)
    print(report.format_report(scenario, run_verdict, run_folder))
    return 1 if run_verdict.missed_findings or run_verdict.unexplained or not deeds else 0


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


def _start_lab(parsed_flags: argparse.Namespace, announce_lab: AnnounceNameServers | None) -> int:
    given_sizes = {
        size_name: getattr(parsed_flags, size_name)
        for size_name in _FLEET_SIZE_FLAGS
        if getattr(parsed_flags, size_name) is not None
    }
    fleet_plan = FleetPlan(**given_sizes)
    if parsed_flags.seed is not None:
        fleet_plan = fleet_plan._replace(seed=parsed_flags.seed)
    if parsed_flags.namesrvAddr:
        fleet = BrokerFleet(fleet_plan, parsed_flags.namesrvAddr, first_port=parsed_flags.broker_port)
        _run_until_signal(_run_fleet(fleet, _banner_text(fleet_plan, parsed_flags.namesrvAddr)), 1)
        return 0
    scenario = Scenario("up", plan=fleet_plan, namesrvs=parsed_flags.namesrvs or 1)
    if parsed_flags.scenario:
        scenario = _with_seed(scenario_reader.load_scenario(parsed_flags.scenario), parsed_flags.seed)
    speed = 1 if parsed_flags.speed is None else parsed_flags.speed or None
    with tempfile.TemporaryDirectory(prefix="nsadmin-lab-") as temporary_folder:
        run_folder = parsed_flags.dir or Path(temporary_folder)
        _run_until_signal(
            _play_and_stay(
                scenario, run_folder, parsed_flags, None if parsed_flags.no_context else announce_lab
            ),
            speed,
        )
    return 0


async def _play_and_stay(
    scenario: Scenario,
    run_folder: Path,
    parsed_flags: argparse.Namespace,
    announce_lab: AnnounceNameServers | None,
) -> None:
    async with _announce_servers(announce_lab) as announce_servers:

        async def print_banner(lab_cluster: LabCluster) -> None:
            banner_notes = [
                f"# Journals and truth.jsonl: {run_folder}",
                *announce_servers(
                    lab_cluster.namesrv_addrs,
                    [
                        str((run_folder / server_name / "journal").absolute())
                        for server_name in scenario.server_names()
                    ],
                ),
            ]
            print(_banner_text(scenario.plan, lab_cluster.namesrv_addrs, banner_notes), flush=True)

        first_ports = {"namesrv_port": parsed_flags.namesrv_port, "broker_port": parsed_flags.broker_port}
        await play_scenario(scenario, run_folder, **first_ports, on_started=print_banner, stays_running=True)


@asynccontextmanager
async def _announce_servers(
    announce_lab: AnnounceNameServers | None,
) -> AsyncIterator[Callable[[Sequence[str], Sequence[str]], list[str]]]:
    """Announce the name servers, and undo the announcement at the end."""
    undo_actions: list[Callable[[], None]] = []

    def announce_servers(addresses: Sequence[str], journal_folders: Sequence[str]) -> list[str]:
        if announce_lab is None:
            return []
        announced_text, undo_action = announce_lab(addresses, journal_folders)
        undo_actions.append(undo_action)
        return [f"# {announced_text}"]

    try:
        yield announce_servers
    finally:
        for undo_action in undo_actions:
            undo_action()


async def _run_fleet(fleet: BrokerFleet, banner_text: str) -> None:
    try:
        await fleet.start()
        print(banner_text, flush=True)
        await asyncio.get_running_loop().create_future()
    finally:
        await fleet.leave_cluster(_LEAVE_PATIENCE_SECONDS)


def _banner_text(
    fleet_plan: FleetPlan, namesrv_addrs: Sequence[str], banner_notes: Sequence[str] = ()
) -> str:
    broker_count = fleet_plan.clusters * fleet_plan.groups * fleet_plan.replicas
    size_line = (
        f"# {broker_count} brokers: {fleet_plan.clusters} clusters x {fleet_plan.groups} "
        f"groups x {fleet_plan.replicas} replicas, "
        f"{fleet_plan.topics} topics in each cluster"
    )
    return "\n".join(
        [f"export NAMESRV_ADDR='{';'.join(namesrv_addrs)}'", size_line, *banner_notes, _BANNER_HINTS]
    )
