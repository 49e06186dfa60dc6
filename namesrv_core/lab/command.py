"""`lab`: up, run and list: a simulated RocketMQ on this machine, and what can go wrong with one."""

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
from namesrv_core.flags import Flags
from namesrv_core.fleet.fleet import Fleet, FleetPlan
from namesrv_core.lab import java_logs, reading, report, virtual
from namesrv_core.lab.play import play, verdict
from namesrv_core.lab.scenario import Scenario
from namesrv_core.lab.world import World
from namesrv_core.transport import loop
from namesrv_core.transport.address import split_addr

_PATIENCE = 0.8
_SIZES = ("clusters", "groups", "replicas", "topics")
_HINTS = """\
# Try, in another terminal:
#   nsadmin clusterList
#   nsadmin topicRoute orders
#   nsadmin consumerProgress warehouse
#   nsadmin printMsg payments --maxNum 5
#   nsadmin wipeWritePerm broker-a-0
# Ctrl-C stops everything."""

Announce = Callable[[Sequence[str]], tuple[str, Callable[[], None]]]
"""Tells others where the name servers are: what to say of that, and how to take it back."""


def parser(prog: str = "nsadmin lab") -> argparse.ArgumentParser:
    flags = Flags(prog, "A simulated RocketMQ to play with, and what can go wrong with one.")
    commands = flags.add_subparsers(dest="command", required=True, metavar="up|run|list")
    _up_flags(commands.add_parser("up", help="start name servers and brokers, until Ctrl-C"))
    run = commands.add_parser("run", help="play a scenario to its end, and compare journals with the truth")
    _scenario(run, "scenario")
    run.add_argument("--until", type=_duration, metavar="TIME", help="end it earlier or later: 90s, 10m, 2h")
    run.add_argument(
        "--java-logs", choices=java_logs.DIALECTS,
        help="write beside the journals what Java's name servers would have logged, of that release",
    )  # fmt: skip
    for command in (commands.choices["up"], run):
        command.add_argument(
            "--speed", type=_speed, metavar="N",
            help="virtual time: so many seconds in one, at most; max: as fast as it goes (up: 1, run: max)",
        )  # fmt: skip
        command.add_argument(
            "--dir", type=Path, metavar="DIR",
            help="keep journals and truth.jsonl there (a temporary folder)",
        )  # fmt: skip
        command.add_argument("--seed", type=int, metavar="N", help="another fleet (1, or the scenario's)")
    commands.add_parser("list", help="list the built-in scenarios")
    return flags


def _scenario(flags: argparse.ArgumentParser, name: str, **more: Any) -> None:
    """An argument that is a scenario; its action's `values` are what there is to offer."""
    text = "one to play: the name of a built-in one, or a YAML file" + (
        "; it stays when that is over" if name != "scenario" else ""
    )
    action: Any = flags.add_argument(name, metavar="SCENARIO", help=text, **more)
    action.values = reading.names()


def _up_flags(up: argparse.ArgumentParser) -> None:
    plan = FleetPlan()
    for name, text in (
        ("clusters", "clusters"),
        ("groups", "broker groups in each cluster"),
        ("replicas", "brokers in each group: a master and its slaves"),
        ("topics", "topics in each cluster, beside the system's"),
    ):
        up.add_argument(f"--{name}", type=_number, metavar="N", help=f"{text} ({getattr(plan, name)})")
    up.add_argument("--namesrvs", type=_few, metavar="N", help="name servers (1)")
    _scenario(up, "word", nargs="?")
    _scenario(up, "--scenario")
    up.add_argument(
        "--namesrv-port", type=int, default=0, metavar="PORT",
        help="the first name server's, the others follow; 0 takes free ones (0)",
    )  # fmt: skip
    up.add_argument(
        "--broker-port", type=int, default=0, metavar="PORT",
        help="the first broker's, the others take every tenth after it; 0 takes free ones (0)",
    )  # fmt: skip
    up.add_argument("--no-context", action="store_true", help="do not write a context lab while it runs")
    up.add_argument(
        "-n", "--namesrvAddr", type=_addresses, metavar="ADDRS",
        help="register with these name servers instead of starting some; separated by ; or ,",
    )  # fmt: skip


def _within(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text} is not in {least}..{most}")
        return int(text)

    return read


_number, _few = _within(1, 10_000), _within(1, 9)


def _speed(text: str) -> float:
    """0 for max."""
    with suppress(ValueError):
        if text == "max" or 0.01 <= float(text) <= 1e6:
            return 0 if text == "max" else float(text)
    raise argparse.ArgumentTypeError(f"{text} is neither a number in 0.01..1000000 nor max")


def _duration(text: str) -> float:
    try:
        return reading.duration(text)
    except reading.Wrong as error:
        raise argparse.ArgumentTypeError(f"{text} {error}") from None


def _addresses(text: str) -> list[str]:
    addresses = [address for address in re.split(r"[;,\s]+", text) if address]
    try:
        for address in addresses:
            split_addr(address)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not addresses:
        raise argparse.ArgumentTypeError("the list of name servers is empty: write HOST:PORT;HOST:PORT")
    return addresses


def main(argv: list[str], prog: str = "nsadmin lab", announce: Announce | None = None) -> int:
    """Run `lab` with these arguments. The exit code: 0 for a clean end, 1 for a failure."""
    flags_of = parser(prog)
    flags = flags_of.parse_args(argv)
    if flags.command == "up":
        if flags.word and flags.scenario:
            flags_of.error(f"one scenario at a time: {flags.word} or {flags.scenario}")
        flags.scenario = flags.scenario or flags.word
        _check(flags_of, flags)
    try:
        if flags.command == "list":
            print(report.listing(reading.built_in()))
            return 0
        return _run(flags) if flags.command == "run" else _up(flags, announce)
    except (RocketMQError, OSError) as error:
        for line in str(error).splitlines():
            print(f"{prog}: {line}", file=sys.stderr)
        return 1


def _check(flags_of: argparse.ArgumentParser, flags: argparse.Namespace) -> None:
    """A flag that would do nothing is refused."""
    given = [name for name in (*_SIZES, "namesrvs") if getattr(flags, name) is not None]
    if flags.scenario and given:
        flags_of.error(f"--{given[0]} is said by the scenario")
    for name in ("namesrvs", "scenario", "speed", "dir"):
        if flags.namesrvAddr and getattr(flags, name) is not None:
            flags_of.error(f"--{name} is for name servers of the lab's own, and -n names others")


def _seeded(scenario: Scenario, seed: int | None) -> Scenario:
    return scenario if seed is None else scenario._replace(plan=scenario.plan._replace(seed=seed))


def _run(flags: argparse.Namespace) -> int:
    """Play, then compare: 1 where a journal misses something, or has what nobody did."""
    scenario = _seeded(reading.load(flags.scenario), flags.seed)
    if flags.until is not None:
        scenario = scenario._replace(duration=flags.until)
    folder = flags.dir or Path(tempfile.mkdtemp(prefix=f"lab-{scenario.name}-"))
    if folder.exists() and any(folder.iterdir()):
        raise RocketMQError(f"--dir {folder} is not empty: a run takes a folder of its own")
    report.hush()
    deeds: list[Any] = []
    _until_told(_into(deeds, play(scenario, folder)), flags.speed or None)
    if flags.java_logs:
        java_logs.write(folder, scenario.servers(), flags.java_logs)
    found = verdict(scenario, folder, deeds)
    print(report.written(scenario, found, folder))
    return 1 if found.missed or found.unexplained or not deeds else 0


async def _into(found: list[Any], playing: Coroutine[Any, Any, list[Any]]) -> None:
    found += await playing


def _until_told(main: Coroutine[Any, Any, None], speed: float | None) -> None:
    """To its end or until a signal, which cancels whatever goes on; speed 1 is real time."""

    async def guarded() -> None:
        task = asyncio.current_task()
        assert task is not None
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        with suppress(asyncio.CancelledError):
            await main

    if speed == 1:
        loop.run(guarded())
    else:
        virtual.run(guarded(), speed)


def _up(flags: argparse.Namespace, announce: Announce | None) -> int:
    given = {name: getattr(flags, name) for name in _SIZES if getattr(flags, name) is not None}
    plan = FleetPlan(**given)
    if flags.seed is not None:
        plan = plan._replace(seed=flags.seed)
    if flags.namesrvAddr:
        fleet = Fleet(plan, flags.namesrvAddr, port=flags.broker_port)
        _until_told(_run_fleet(fleet, _banner(plan, flags.namesrvAddr)), 1)
        return 0
    scenario = Scenario("up", plan=plan, namesrvs=flags.namesrvs or 1)
    if flags.scenario:
        scenario = _seeded(reading.load(flags.scenario), flags.seed)
    speed = 1 if flags.speed is None else flags.speed or None
    with tempfile.TemporaryDirectory(prefix="nsadmin-lab-") as temporary:
        folder = flags.dir or Path(temporary)
        _until_told(_play_on(scenario, folder, flags, None if flags.no_context else announce), speed)
    return 0


async def _play_on(
    scenario: Scenario, folder: Path, flags: argparse.Namespace, announce: Announce | None
) -> None:
    async with _announced(announce) as tell:

        async def started(world: World) -> None:
            said = [f"# Journals and truth.jsonl: {folder}", *tell(world.addresses)]
            print(_banner(scenario.plan, world.addresses, said), flush=True)

        ports = {"namesrv_port": flags.namesrv_port, "broker_port": flags.broker_port}
        await play(scenario, folder, **ports, started=started, stays=True)


@asynccontextmanager
async def _announced(announce: Announce | None) -> AsyncIterator[Callable[[Sequence[str]], list[str]]]:
    """What was announced is taken back at the end."""
    undo: list[Callable[[], None]] = []

    def tell(addresses: Sequence[str]) -> list[str]:
        if announce is None:
            return []
        text, back = announce(addresses)
        undo.append(back)
        return [f"# {text}"]

    try:
        yield tell
    finally:
        for back in undo:
            back()


async def _run_fleet(fleet: Fleet, banner: str) -> None:
    try:
        await fleet.start()
        print(banner, flush=True)
        await asyncio.get_running_loop().create_future()
    finally:
        await fleet.leave(_PATIENCE)


def _banner(plan: FleetPlan, name_servers: Sequence[str], said: Sequence[str] = ()) -> str:
    brokers = plan.clusters * plan.groups * plan.replicas
    size = (
        f"# {brokers} brokers: {plan.clusters} clusters x {plan.groups} groups x {plan.replicas} replicas, "
        f"{plan.topics} topics in each cluster"
    )
    return "\n".join([f"export NAMESRV_ADDR='{';'.join(name_servers)}'", size, *said, _HINTS])
