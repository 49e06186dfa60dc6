"""Whether `nsadmin tui` can be trusted with 1,000 brokers on a busy machine: `make tui-fleet`.

Everything is real but the brokers. A child of low priority burns a core. The program records what it polls,
and the recording says whether it raised a false alarm, and when all groups were complete.
"""

import argparse
import asyncio
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from namesrv_core.fleet.broker import SimulatedBroker
from namesrv_core.fleet.broker_model import BrokerSpec, PeerModels
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.transport.event_loop import run_coroutine
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import BrokerPolled, GroupPolled, GroupsPolled, NameServerPolled
from nsadmin.tui.recording.recording_file import Recording
from nsadmin.tui.views import display_states
from tests.bench.tui import Watched
from tests.support.name_servers import ServerProgram, start_name_server
from tests.support.terminal import PtyTerminal

_READERS = ("billing", "warehouse", "analytics", "notifier", "search-indexer", "risk", "ledger")
_NAME_SERVERS = 3
_STARTED_AT_ONCE = 10
_ALARMS = (display_states.FROZEN, display_states.DOWN, display_states.GONE, display_states.REFUSES)


class FleetSize(NamedTuple):
    """Broker groups (a multiple of ten) of two brokers, topics of each, and the time of the watch (s)."""

    broker_groups: int = 500
    topics_per_group: int = 20
    watched_seconds: float = 300.0
    key_presses: int = 200


SMALL = FleetSize(broker_groups=30, topics_per_group=10, watched_seconds=3.0, key_presses=10)


def list_specs(size: FleetSize) -> list[BrokerSpec]:
    """Ten clusters. Each broker group has topics of its own, and every group reads on every broker."""
    specs = []
    for broker_id in (0, 1):
        for number in range(size.broker_groups):
            topics = [f"topic-{number:03}-{index:02}" for index in range(size.topics_per_group)]
            readers = {topic: (group,) for topic, group in zip(topics, _READERS, strict=False)}
            configs = tuple(make_topic_config(topic, 8) for topic in topics)
            specs.append(
                BrokerSpec(
                    f"cluster-{number % 10}", f"broker-{number:03}", broker_id, configs, readers, number
                )
            )
    return specs


async def _run_name_servers(home: Path) -> None:
    """Name servers, until standard input ends."""
    async with AsyncExitStack() as ends:
        addrs = []
        for number in range(_NAME_SERVERS):
            folder = home / f"namesrv-{number}"
            folder.mkdir(parents=True)
            addrs.append((await ends.enter_async_context(start_name_server(folder))).namesrv_addr)
        print(";".join(addrs), flush=True)
        await asyncio.to_thread(sys.stdin.read)


async def _run_brokers(addrs: list[str], size: FleetSize) -> None:
    """Brokers, until standard input ends. Their slaves copy tables seldom: the machine is for the program."""
    peers: PeerModels = {}
    brokers = [
        SimulatedBroker(
            spec, addrs, peer_models=peers, first_delay_seconds=5 + index * 0.03, metadata_period=120.0
        )
        for index, spec in enumerate(list_specs(size))
    ]
    for first in range(0, len(brokers), _STARTED_AT_ONCE):
        await asyncio.gather(*(broker.start() for broker in brokers[first : first + _STARTED_AT_ONCE]))
    print("started", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for broker in brokers:
        broker.die_abruptly()


@contextmanager
def _running_part(*arguments: str) -> Iterator[str]:
    """The first line of a process that ends with its standard input."""
    command = [sys.executable, "-m", "tests.bench.tui_fleet", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as part:
        assert part.stdout is not None
        assert part.stdin is not None
        try:
            yield part.stdout.readline().strip()
        finally:
            part.stdin.close()


@contextmanager
def running_fleet(home: Path, size: FleetSize) -> Iterator[str]:
    """The addresses of the name servers of a fleet in two other processes."""
    sizes = ("--broker-groups", str(size.broker_groups), "--topics", str(size.topics_per_group))
    with _running_part("--name-servers", str(home)) as addrs, _running_part("--brokers", addrs, *sizes):
        yield addrs


@contextmanager
def burning_core(seconds: float) -> Iterator[None]:
    """A child of low priority that burns a core, for this time at most."""
    code = f"import time\nend = time.monotonic() + {seconds}\nwhile time.monotonic() < end: pass"
    with subprocess.Popen(["nice", "-n", "10", sys.executable, "-c", code]) as child:
        try:
            yield
        finally:
            child.send_signal(signal.SIGTERM)


class RecordedRun(NamedTuple):
    """What a recording says: brokers and name servers with an alarm, and the time until all groups (s)."""

    false_alarms: tuple[str, ...]
    groups_seconds: float | None
    poll_count: int


def judge_recording(recording_file: Path) -> RecordedRun:
    """Apply all polls to a model, as the screen did, and look for alarms: every server was well."""
    model, alarms = ClusterModel(), set()
    begin_ms, complete_ms = 0, None
    read_groups: set[str] = set()
    for poll in Recording(recording_file).start(0):
        begin_ms = begin_ms or poll.at
        model.apply_poll(poll)
        if isinstance(poll, BrokerPolled) and poll.error is not None:
            alarms |= {
                f"{broker.key.name} {state.name}"
                for broker in model.brokers.values()
                if broker.key.addr == poll.addr
                and (state := display_states.state_of_broker(broker)) in _ALARMS
            }
        elif isinstance(poll, NameServerPolled):
            alarms |= {f"{poll.addr} {poll.error}"} if poll.error is not None else set()
            alarms |= {
                f"{broker.key.name} gone"
                for broker in model.brokers.values()
                if broker.gone_since_ms is not None
            }
        elif isinstance(poll, GroupPolled) and complete_ms is None:
            read_groups.add(poll.group)
            names = model.group_names_answer.last_poll
            if isinstance(names, GroupsPolled) and read_groups >= set(names.names):
                complete_ms = poll.at
    seconds = None if complete_ms is None else (complete_ms - begin_ms) / 1000
    return RecordedRun(tuple(sorted(alarms)), seconds, model.poll_count)


def _time_progress(addrs: str) -> float:
    """How long `consumerProgress` takes for all groups (s)."""
    begun = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "nsadmin", "consumerProgress", "-n", addrs, "--timeout", "30"],
        check=True, stdout=subprocess.DEVNULL, env=ServerProgram.make_environment(), timeout=300,
    )  # fmt: skip
    return time.perf_counter() - begun


def measure(size: FleetSize, home: Path) -> tuple[dict[str, float], RecordedRun]:
    """The figures of one run, and what its recording says."""
    recording_file = home / "run.zst"
    last_broker = f"broker-{size.broker_groups - 1:03}"
    with running_fleet(home / "lab", size) as addrs, burning_core(2 * size.watched_seconds + 600):
        progress_seconds = _time_progress(addrs)
        begun = time.perf_counter()
        words = ("tui", "brokers", "-n", addrs, "--interval", "5", "--record", str(recording_file))
        with PtyTerminal(*words, home=home, size=(120, 40)) as terminal:
            terminal.wait_for_text(f"{2 * size.broker_groups} brokers")
            first_screen = time.perf_counter() - begun
            terminal.wait_for_text(f" {2 * size.broker_groups} up")
            complete = time.perf_counter() - begun
            # Sorted by broker, the first and the last row stay the same whatever a broker answers.
            terminal.type_keys("ss")
            terminal.read_for(min(size.watched_seconds, 60))
            latencies = sorted(
                _press_key(terminal, "g" if number % 2 else "G", "broker-000" if number % 2 else last_broker)
                for number in range(size.key_presses)
            )
            watched = Watched(terminal.pid)
            idle_from, used = time.perf_counter(), watched.seconds
            terminal.read_for(size.watched_seconds)
            processor_share = (watched.seconds - used) / (time.perf_counter() - idle_from)
            memory = watched.megabytes
            terminal.type_keys("q")
            assert terminal.wait_for_exit() == 0
    recorded_run = judge_recording(recording_file)
    return {
        "load of the machine": os.getloadavg()[0],
        "consumerProgress, s": progress_seconds,
        "all groups on the screen, s": recorded_run.groups_seconds or float("inf"),
        "first screen, s": first_screen,
        "all brokers known, s": complete,
        "key to repaint, ms, median": statistics.median(latencies) * 1000,
        "key to repaint, ms, p99": latencies[max(int(len(latencies) * 0.99) - 1, 0)] * 1000,
        "processor, % of a core": processor_share * 100,
        "memory, MB": memory,
        "polls": recorded_run.poll_count,
        "false alarms": len(recorded_run.false_alarms),
    }, recorded_run


def _press_key(terminal: PtyTerminal, key: str, awaited_text: str) -> float:
    terminal.read_for(0.05)
    begun = time.perf_counter()
    terminal.type_keys(key)
    terminal.wait_for_text(awaited_text)
    return time.perf_counter() - begun


LIMITS = {
    "first screen, s": 2.0,
    "key to repaint, ms, p99": 150.0,
    "processor, % of a core": 10.0,
    "false alarms": 0.0,
}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--name-servers", type=Path)
    parser.add_argument("--brokers")
    parser.add_argument("--broker-groups", type=int, default=500)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=300.0)
    options = parser.parse_args()
    size = FleetSize(options.broker_groups, options.topics, options.seconds)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if options.name_servers is not None:
        run_coroutine(_run_name_servers(options.name_servers))
        return 0
    if options.brokers is not None:
        run_coroutine(_run_brokers(options.brokers.split(";"), size))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        values, recorded_run = measure(size, Path(folder))
    limits = {**LIMITS, "all groups on the screen, s": 2 * values["consumerProgress, s"]}
    for name, value in values.items():
        missed = "  MISSED" if value > limits.get(name, float("inf")) else ""
        limit = f"  limit {limits[name]:.1f}" if name in limits else ""
        print(f"{name:<34}{value:10.1f}{limit}{missed}")
    print(*recorded_run.false_alarms[:20], sep="\n")
    return int(any(values[name] > limit for name, limit in limits.items()))


if __name__ == "__main__":
    sys.exit(main())
