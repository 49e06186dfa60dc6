"""`lab up`: a name server and a fleet to play with, in the foreground until Ctrl-C."""

import argparse
import asyncio
import re
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from namesrv_core.errors import RocketMQError
from namesrv_core.flags import Flags
from namesrv_core.fleet.fleet import Fleet, FleetPlan
from namesrv_core.transport import loop
from namesrv_core.transport.address import split_addr

_BOOT_LINE = re.compile(rb"The Name Server boot success\..* address (\S+)")
_LOG = "namesrv.log"
_PATIENCE = 0.8
_HINTS = """\
# Try, in another terminal:
#   nsadmin clusterList
#   nsadmin topicRoute orders
#   nsadmin consumerProgress warehouse
#   nsadmin printMsg payments --maxNum 5
#   nsadmin wipeWritePerm broker-a-0
# Ctrl-C stops everything."""


def parser(prog: str = "nsadmin lab") -> argparse.ArgumentParser:
    flags = Flags(prog, "A simulated RocketMQ to play with.")
    commands = flags.add_subparsers(dest="command", required=True, metavar="up")
    up = commands.add_parser("up", help="start a name server and a fleet of brokers, until Ctrl-C")
    plan = FleetPlan()
    for name, text in (
        ("clusters", "clusters"),
        ("groups", "broker groups in each cluster"),
        ("replicas", "brokers in each group: a master and its slaves"),
        ("topics", "topics in each cluster, beside the system's"),
    ):
        default = getattr(plan, name)
        up.add_argument(f"--{name}", type=_number, default=default, metavar="N", help=f"{text} ({default})")
    up.add_argument("--seed", type=int, default=plan.seed, metavar="N", help=f"another fleet ({plan.seed})")
    up.add_argument("--namesrv-port", type=int, default=0, metavar="PORT", help="0 takes a free one (0)")
    up.add_argument(
        "--broker-port", type=int, default=0, metavar="PORT",
        help="the first broker's, the others take every tenth after it; 0 takes free ones (0)",
    )  # fmt: skip
    up.add_argument(
        "-n", "--namesrvAddr", type=_addresses, metavar="ADDRS",
        help="register with these name servers instead of starting one; separated by ; or ,",
    )  # fmt: skip
    return flags


def _number(text: str) -> int:
    if not 1 <= int(text) <= 10_000:
        raise argparse.ArgumentTypeError(f"{text} is not in 1..10000")
    return int(text)


def _addresses(text: str) -> list[str]:
    addresses = [address for address in re.split(r"[;,\s]+", text) if address]
    try:
        for address in addresses:
            split_addr(address)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return addresses


def main(argv: list[str], prog: str = "nsadmin lab") -> int:
    """Run `lab` with these arguments. The exit code: 0 for a clean end, 1 for a failure."""
    flags = parser(prog).parse_args(argv)
    plan = FleetPlan(flags.clusters, flags.groups, flags.replicas, flags.topics, flags.seed)
    try:
        loop.run(_up(flags, plan))
    except (RocketMQError, OSError) as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 1
    return 0


async def _up(flags: argparse.Namespace, plan: FleetPlan) -> None:
    """Until a signal: it cancels whatever goes on, and everything is stopped on the way out."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with suppress(asyncio.CancelledError):
        if flags.namesrvAddr:
            fleet = Fleet(plan, flags.namesrvAddr, port=flags.broker_port)
            await _run_fleet(fleet, _banner(plan, flags.namesrvAddr), _for_ever)
        else:
            await _with_name_server(flags, plan)


async def _with_name_server(flags: argparse.Namespace, plan: FleetPlan) -> None:
    with tempfile.TemporaryDirectory(prefix="nsadmin-lab-") as home:
        server = await _start_name_server(flags.namesrv_port, Path(home))
        try:
            address = await _boot_address(server, Path(home))
            fleet = Fleet(plan, [address], port=flags.broker_port)
            # Its own name server only: others have a KV config of theirs.
            await fleet.write_order_confs()
            await _run_fleet(fleet, _banner(plan, [address]), server.wait)
        finally:
            await _end(server)
    raise RocketMQError(f"the name server ended with exit code {server.returncode}")


async def _for_ever() -> None:
    await asyncio.get_running_loop().create_future()


async def _run_fleet(fleet: Fleet, banner: str, end: Callable[[], Awaitable[object]]) -> None:
    try:
        await fleet.start()
        print(banner, flush=True)
        await end()
    finally:
        await fleet.leave(_PATIENCE)


def _banner(plan: FleetPlan, name_servers: Sequence[str]) -> str:
    brokers = plan.clusters * plan.groups * plan.replicas
    size = (
        f"# {brokers} brokers: {plan.clusters} clusters x {plan.groups} groups x {plan.replicas} replicas, "
        f"{plan.topics} topics in each cluster"
    )
    return f"export NAMESRV_ADDR='{';'.join(name_servers)}'\n{size}\n{_HINTS}"


async def _start_name_server(port: int, home: Path) -> asyncio.subprocess.Process:
    """Our own, with a session of its own: Ctrl-C reaches only us, and brokers can still say goodbye to it."""
    flags = ("--port", str(port), "--bind", "127.0.0.1", "--home", str(home))
    with (home / _LOG).open("wb") as log:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "namesrv_core", *flags,
            stdout=asyncio.subprocess.PIPE, stderr=log, start_new_session=True,
        )  # fmt: skip


async def _boot_address(server: asyncio.subprocess.Process, home: Path) -> str:
    assert server.stdout is not None
    async for line in server.stdout:
        found = _BOOT_LINE.match(line)
        if found:
            return found[1].decode()
    said = await asyncio.to_thread((home / _LOG).read_text, errors="replace")
    raise RocketMQError(f"the name server did not start: {said.strip()}")


async def _end(server: asyncio.subprocess.Process) -> None:
    if server.returncode is not None:
        return
    server.terminate()
    try:
        async with asyncio.timeout(_PATIENCE):
            await server.wait()
    except TimeoutError:
        server.kill()
        await server.wait()
