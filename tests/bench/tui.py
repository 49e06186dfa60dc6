"""How `nsadmin tui` fares with 1,000 brokers, 20,000 topics and 3 name servers: `python -m tests.bench.tui`.

Everything is real but the brokers: the program runs on a pseudo terminal of 120x40, and is measured from
outside. SECONDS (60) is how long it is watched.
"""

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from namesrv_core.fleet.broker import SimulatedBroker
from namesrv_core.fleet.broker_model import BrokerSpec, PeerModels
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.transport.event_loop import run_coroutine
from tests.support.name_servers import start_name_server
from tests.support.terminal import PtyTerminal

GROUPS, REPLICAS, TOPICS, NAME_SERVERS = 500, 2, 40, 3
_PRESSES = 200
_AT_ONCE = 10
_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def specs() -> list[BrokerSpec]:
    """Ten clusters; each group of brokers has topics of its own."""
    return [
        BrokerSpec(
            f"cluster-{group % 10}",
            f"broker-{group:03}",
            broker_id,
            tuple(make_topic_config(f"topic-{group:03}-{number:02}", 8) for number in range(TOPICS)),
            traffic_seed=group,
        )
        for broker_id in range(REPLICAS)
        for group in range(GROUPS)
    ]


async def _live(home: Path) -> None:
    """Name servers and brokers, until standard input ends."""
    async with AsyncExitStack() as ends:
        addrs = []
        for number in range(NAME_SERVERS):
            folder = home / f"namesrv-{number}"
            folder.mkdir(parents=True)
            addrs.append((await ends.enter_async_context(start_name_server(folder))).namesrv_addr)
        peers: PeerModels = {}
        brokers = [
            SimulatedBroker(spec, addrs, peer_models=peers, first_delay_seconds=5 + at * 0.03)
            for at, spec in enumerate(specs())
        ]
        for at in range(0, len(brokers), _AT_ONCE):
            await asyncio.gather(*(broker.start() for broker in brokers[at : at + _AT_ONCE]))
        print(";".join(addrs), flush=True)
        await asyncio.to_thread(sys.stdin.read)
        for broker in brokers:
            broker.die_abruptly()


def _fleet(home: str) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    run_coroutine(_live(Path(home)))


class Watched:
    """A process from outside: processor time in seconds, memory in MB."""

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}")

    @property
    def seconds(self) -> float:
        fields = (self._folder / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK

    @property
    def exact(self) -> float:
        """Processor time of all threads in ms, to the microsecond."""
        schedstats = [(task / "schedstat").read_text() for task in (self._folder / "task").iterdir()]
        return sum(int(text.split()[0]) for text in schedstats) / 1e6

    @property
    def megabytes(self) -> float:
        return int((self._folder / "statm").read_text().split()[1]) * _PAGE / 1e6


def measure(addrs: str, seconds: float, home: Path) -> dict[str, float]:
    """The figures of one run."""
    begun = time.perf_counter()
    with PtyTerminal("tui", "-n", addrs, "--interval", "5", home=home, size=(120, 40)) as terminal:
        terminal.wait_for_text("1000 brokers")
        first = time.perf_counter() - begun
        terminal.wait_for_text(" 1000 up")
        complete = time.perf_counter() - begun
        watched = Watched(terminal.pid)
        used = watched.seconds
        terminal.read_for(10)
        pressed = [_press(terminal, watched, at) for at in range(_PRESSES)]
        idle_from, cpu, memory = time.perf_counter(), watched.seconds, watched.megabytes
        terminal.read_for(seconds)
        share = (watched.seconds - cpu) / (time.perf_counter() - idle_from)
        after = watched.megabytes
        terminal.type_keys("2")
        terminal.wait_for_text("application topics")
        terminal.read_for(15)
        topics = watched.megabytes
        terminal.type_keys("q")
        assert terminal.wait_for_exit() == 0
    latencies, costs = (sorted(timings) for timings in zip(*pressed, strict=True))
    last = int(_PRESSES * 0.99) - 1
    return {
        "load of the machine": os.getloadavg()[0],
        "first useful screen, s": first,
        "processor until all known, s": used,
        "all brokers known, s": complete,
        "key answered, ms, median": statistics.median(latencies) * 1000,
        "key answered, ms, p99": latencies[last] * 1000,
        "processor until then, ms, median": statistics.median(costs),
        "processor until then, ms, p99": costs[last],
        "processor, % of a core": share * 100,
        "memory, MB": memory,
        f"memory {seconds:g} s later, MB": after,
        "memory with topics, MB": topics,
    }


def _press(terminal: PtyTerminal, watched: Watched, at: int) -> tuple[float, float]:
    """To the other end of the table: how long until the row there is drawn, and what it cost (ms)."""
    terminal.read_for(0.05)
    used, begun = watched.exact, time.perf_counter()
    terminal.type_keys("g" if at % 2 else "G")
    terminal.wait_for_text("broker-000" if at % 2 else "broker-499")
    return time.perf_counter() - begun, watched.exact - used


def main(seconds: float = 60.0) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.bench.tui", "fleet", f"{folder}/lab"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as fleet:
            assert fleet.stdout is not None
            assert fleet.stdin is not None
            addrs = fleet.stdout.readline().strip()
            try:
                for name, value in measure(addrs, seconds, Path(folder)).items():
                    print(f"{name:<34}{value:10.1f}")
            finally:
                fleet.stdin.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["fleet"]:
        _fleet(sys.argv[2])
    else:
        main(*map(float, sys.argv[1:2]))
