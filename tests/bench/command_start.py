"""Start-to-end times of commands: nsadmin and mqadmin take turns against the same servers.

A released broker takes about 75 ms to answer a request for its runtime. clusterList includes that time.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

from namesrv_core.fleet.fleet import FleetPlan
from tests.bench import client_waits
from tests.bench.requests import register
from tests.bench.scale import standing
from tests.interop import jars
from tests.interop.cluster import create_topic, wait_for_broker, wait_for_runtime_info, wait_for_topic
from tests.interop.java_parts import JavaBroker, JavaNameServer, java
from tests.interop.our_server import OurNameServer

BARE = "python -c pass"
NSADMIN = str(Path(sys.executable).with_name("nsadmin"))
# What bin/tools.sh of the release gives the JVM.
MQADMIN_FLAGS = (
    "-server", "-Xms1g", "-Xmx1g", "-Xmn256m", "-XX:MetaspaceSize=128m", "-XX:MaxMetaspaceSize=128m",
)  # fmt: skip


class Start(NamedTuple):
    """A command; `of_mqadmin` is the one of mqadmin that does the same."""

    name: str
    command: Sequence[str]
    of_mqadmin: str | None = None
    rounds: int = 21


def starts(namesrv: str, home: Path) -> list[Start]:

    def ours(*args: str, of_mqadmin: str | None = None) -> Start:
        return Start(" ".join(("nsadmin", *args)), [NSADMIN, *args, "-n", namesrv], of_mqadmin)

    def mqadmin(*args: str) -> Start:
        main = "org.apache.rocketmq.tools.command.MQAdminStartup"
        command = java(jars.NEWEST, main, home / "mqadmin", MQADMIN_FLAGS, [*args, "-n", namesrv])
        return Start(" ".join(("mqadmin", *args)), command, rounds=5)

    # What shells run for TAB.
    tab = ["env", "_NSADMIN_COMPLETE=1", NSADMIN, "topicRoute", "-n", namesrv, ""]
    lists, routes = mqadmin("clusterList"), mqadmin("topicRoute", "-t", "bench")
    return [
        Start(BARE, [sys.executable, "-c", "pass"]),
        Start("nsadmin --version", [NSADMIN, "--version"]),
        Start("nsadmin --help", [NSADMIN, "--help"]),
        Start("nsadmin topicRoute --help", [NSADMIN, "topicRoute", "--help"]),
        Start("TAB after nsadmin topicRoute", tab),
        ours("clusterList", of_mqadmin=lists.name),
        ours("topicRoute", "-t", "bench", of_mqadmin=routes.name),
        lists,
        routes,
    ]


def measure(found: Sequence[Start], environment: Mapping[str, str]) -> dict[str, list[float]]:
    """Milliseconds of each run by name. Commands take turns, so that a busy moment affects all of them."""
    taken: dict[str, list[float]] = {start.name: [] for start in found}
    for number in range(-1, max(start.rounds for start in found)):
        for start in found:
            if number >= start.rounds:
                continue
            began = time.perf_counter()
            result = subprocess.run(start.command, env=environment, capture_output=True, check=False)
            seconds = time.perf_counter() - began
            # The first time, files are read and compiled, and TAB has no names yet.
            is_first = number < 0
            if result.returncode or not (result.stdout or start.name == BARE or is_first):
                raise AssertionError(f"{start.name}: {result.returncode} {result.stderr.decode()}")
            if not is_first:
                taken[start.name].append(seconds * 1000)
    return taken


def on_large_fleets(home: Path) -> Iterator[str]:
    """Yield a table in Markdown: nsadmin's commands on large fleets that a name server of nsadmin knows."""
    yield "| command on a large fleet, start to end (median of five) | s |"
    yield "|---|---:|"
    with _named(home / "brokers") as server, standing(FleetPlan(1, 1000, 1, 1000), server.address) as fleet:
        while fleet[1].recv() < 1000:
            pass
        yield f"| clusterList of 1,000 brokers | {_seconds(home, 'clusterList', server.address):.2f} |"
    with _named(home / "topics") as server, ExitStack() as stack:
        for broker in range(2):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            client.sendall(register(broker, 50_000, first=broker * 50_000))
            client_waits.answer(client)
        yield f"| topicList of 100,000 topics | {_seconds(home, 'topicList', server.address):.2f} |"


def _named(home: Path) -> OurNameServer:
    home.mkdir()
    return OurNameServer(home)


def _seconds(home: Path, command: str, namesrv: str) -> float:
    """The median of what it takes."""
    environment = {**os.environ, "NSADMIN_CONFIG": str(home / "none.yaml")}
    it = Start(command, [NSADMIN, command, "-n", namesrv], rounds=5)
    return median(measure([it], environment)[command]) / 1000


def report(home: Path) -> None:
    """Print what all of them take; how often bare Python's start, and how much less than mqadmin."""
    environment = {
        **os.environ,
        "NSADMIN_CONFIG": str(home / "none.yaml"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "JAVA_TOOL_OPTIONS": "",
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with (
        JavaNameServer(home / "namesrv") as namesrv,
        JavaBroker(home / "broker", [namesrv.address]) as broker,
    ):
        wait_for_broker([namesrv], "broker-a")
        wait_for_runtime_info(broker.port)
        create_topic(broker.port, "bench")
        wait_for_topic([namesrv], "bench")
        start_times = starts(namesrv.address, home)
        taken = measure(start_times, environment)
    middle = {name: median(times) for name, times in taken.items()}
    print(f"{'milliseconds, start to end':44} {'median':>10} {'minimum':>10} {'x python':>9} {'mqadmin/':>9}")
    for start in start_times:
        theirs = f"{middle[start.of_mqadmin] / middle[start.name]:9.1f}" if start.of_mqadmin else ""
        times = f"{middle[start.name]:10.1f} {min(taken[start.name]):10.1f}"
        print(f"{start.name:44} {times} {middle[start.name] / middle[BARE]:9.1f} {theirs}", flush=True)
