"""Benchmark of attacks (`python -m tests.bench.attacks`): the latency of good clients beside hostile peers.

The server runs in its own process. During an attack good clients request a route, one request after the
other, and measure the latency of each answer. All processes share this machine, so part of the delay is the
load of the attackers. The command fails if an answer is wrong or missing, if p99 exceeds 100 ms, or if the
server has needed 300 MiB or more. With `--write` the table goes to docs/explanation/reliability.md.
"""

import argparse
import contextlib
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import build_request
from tests.bench import crude_peers, figures, hostile_peers
from tests.bench.crude_peers import ROUTE_REQUEST, connect
from tests.bench.hostile_peers import FENCED_FILES, HTTP_SETTINGS, JOURNAL_SETTINGS, Peer
from tests.interop.our_server import OurNameServer
from tests.support.wire import broker_ext, registration_body

MAX_P99_MS = 100
MAX_SERVER_MIB = 300


class Attack(NamedTuple):
    """An attack by `peer_count` processes on a server with these settings and files.

    `prepare` registers brokers over a connection before the good clients measure. With `hangs_up` the
    connection is reset when they begin.
    """

    run: Callable[[int, Event], None]
    peer_count: int = 1
    settings: Mapping[str, str] = {}
    files: Mapping[str, str] = {}
    prepare: Callable[[int], Peer] | None = None
    hangs_up: bool = False


ATTACKS: dict[str, Attack] = {
    "none": Attack(crude_peers.stay_away),
    "one flood of route lookups": Attack(crude_peers.flood_with_lookups),
    "eight floods of route lookups": Attack(crude_peers.flood_with_lookups, 8),
    "lists of all topics, 4 peers": Attack(crude_peers.ask_for_all_topics, 4),
    "50 peers that do not read": Attack(crude_peers.leave_lists_unread),
    "1,500 peers that do not read": Attack(hostile_peers.leave_answers_unread),
    "1,000 slow senders": Attack(crude_peers.send_bytewise),
    "connects and resets, 4 peers": Attack(crude_peers.connect_and_reset, 4),
    "connects and resets beside 9,900 brokers": Attack(
        hostile_peers.connect_and_reset, prepare=hostile_peers.register_crowd
    ),
    "9,000 idle connections": Attack(crude_peers.stay_idle),
    "2,000 peers that reconnect together, repeatedly": Attack(crude_peers.reconnect_together),
    "garbage, 4 peers": Attack(crude_peers.send_garbage, 4),
    "zip bombs of 200 MB": Attack(crude_peers.send_zip_bombs),
    "TLS 1.3 key updates": Attack(hostile_peers.flood_with_key_updates),
    "bodies of 64 KB that inflate to 63 MiB, 30 peers": Attack(hostile_peers.inflate_bodies),
    "JSON nested 100,000 levels deep": Attack(crude_peers.nest_deeply),
    "10,000 topics that change each time": Attack(crude_peers.change_all_topics),
    "9,900 brokers that leave at once": Attack(
        crude_peers.stay_away, prepare=hostile_peers.register_crowd, hangs_up=True
    ),
    "topic names of 6 MB": Attack(hostile_peers.register_long_names),
    "names that are never used again": Attack(hostile_peers.use_fresh_names),
    "names of a refused peer": Attack(hostile_peers.use_fresh_names, files=FENCED_FILES),
    "one large route, asked in a new way each time": Attack(
        hostile_peers.ask_one_route_differently, prepare=hostile_peers.register_wide_route
    ),
    "900,000 queue ids in a registration, 4 peers": Attack(hostile_peers.register_queue_ids, 4),
    "20,000 queue ids in a registration, 4 peers": Attack(hostile_peers.register_many_queue_ids, 4),
    "bodies of 15 MB without a valid signature, 8 peers": Attack(
        hostile_peers.send_unsigned_bodies, 8, files=FENCED_FILES
    ),
    "requests of 12 MB by a fenced broker": Attack(hostile_peers.register_foreign_topics, files=FENCED_FILES),
    "12 readers of a list of a million topics": Attack(
        hostile_peers.read_all_topics, 12, prepare=hostile_peers.register_million_topics
    ),
    "KV writes": Attack(crude_peers.write_kv_values),
    "KV values of 60 KB, with a journal": Attack(hostile_peers.put_large_values, settings=JOURNAL_SETTINGS),
    "KV namespaces that come and go": Attack(hostile_peers.churn_namespaces),
    "100 idle HTTP connections": Attack(hostile_peers.occupy_http, settings=HTTP_SETTINGS),
    "broker names with control characters": Attack(hostile_peers.forge_lines, settings=HTTP_SETTINGS),
}


PAUSE_SECONDS = 0.002


def ask_repeatedly(port: int, ends_at: float) -> list[float]:
    """A good client, which waits for each answer, for one at least, and then rests a moment.

    Returns the seconds that each answer took, and would have taken for the requests that the client did not
    send while it waited. Raises ConnectionError for a wrong answer.
    """
    answer_seconds: list[float] = []
    with connect(port) as client:
        while not answer_seconds or time.monotonic() < ends_at:
            asked_at = time.perf_counter()
            client.sendall(ROUTE_REQUEST)
            answer = client.recv(1 << 16)
            if b'"code":0,' not in answer:
                raise ConnectionError(f"a good client was answered {answer[:100]!r}")
            answer_seconds += count_omitted(time.perf_counter() - asked_at)
            time.sleep(PAUSE_SECONDS)
    return answer_seconds


def count_omitted(seconds: float) -> list[float]:
    """The latency, and those of the requests that it kept a client from sending ("coordinated omission")."""
    return [seconds - count * PAUSE_SECONDS for count in range(int(seconds / PAUSE_SECONDS) + 1)]


def measure_latencies(port: int, seconds: float, client_count: int = 4) -> list[float]:
    """The seconds that each answer took, sorted. Raises ConnectionError for a wrong answer."""
    ends_at = time.monotonic() + seconds
    with ThreadPoolExecutor(client_count) as pool:
        latencies = list(pool.map(ask_repeatedly, [port] * client_count, [ends_at] * client_count))
    return sorted(chain.from_iterable(latencies))


@contextlib.contextmanager
def run_attack(port: int, attack: Attack, peer_count: int, lead_seconds: float = 1.0) -> Iterator[None]:
    """Run the attack in processes of its own, from `lead_seconds` before the body on."""
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    stop = context.Event()
    processes = [
        context.Process(target=attack.run, args=(port, stop), daemon=True) for _ in range(peer_count)
    ]
    for process in processes:
        process.start()
    time.sleep(lead_seconds)
    try:
        yield
    finally:
        stop.set()
        for process in processes:
            process.join(3)
            process.kill()
            process.join()


@contextlib.contextmanager
def start_victim(
    settings: Mapping[str, str] | None = None, files: Mapping[str, str] | None = None
) -> Iterator[OurNameServer]:
    """A name server with two brokers of 1,000 topics. `files` are written into its home folder first."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for file_name, text in (files or {}).items():
            (home / file_name).write_text(text)
            (home / file_name).chmod(0o600)
        if files and hostile_peers.CREDENTIALS_FILE in files:
            settings = {**(settings or {}), "credentialsFile": str(home / hostile_peers.CREDENTIALS_FILE)}
        if settings and "journalDir" in settings:
            settings = {**settings, "journalDir": str(home / "journal")}
        with OurNameServer(home, settings) as server, connect(server.port) as peer:
            register_brokers(peer)
            yield server


def register_brokers(peer: socket.socket) -> None:
    """Register two brokers, which leave when this connection ends, or after two minutes."""
    body = registration_body([f"topic-{number}" for number in range(1000)])
    for name in "ab":
        ext_fields = broker_ext(name, addr=f"10.0.0.{ord(name)}:1")
        peer.sendall(codec.encode_command(build_request(103, ext_fields, body)))
        peer.recv(1 << 16)


def resident_mib(pid: int) -> float:
    """The memory that a process occupies now."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def peak_mib(pid: int) -> float:
    """The most memory that a process has occupied so far."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"process {pid} has no VmHWM")


def folder_mib(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / (1 << 20)


class AttackFigures(NamedTuple):
    """What good clients noticed of an attack, and what the server needed. `file_mib` includes its log."""

    latencies_ms: list[float]
    prepared_mib: float
    peak_mib: float
    file_mib: float

    @property
    def p99_ms(self) -> float:
        return self.latencies_ms[len(self.latencies_ms) * 99 // 100]

    @property
    def is_within_bounds(self) -> bool:
        """What `prepare` registered counts extra: a million topics are no attack."""
        return self.p99_ms < MAX_P99_MS and self.peak_mib - self.prepared_mib < MAX_SERVER_MIB


def measure_attack(attack: Attack, seconds: float) -> AttackFigures:
    with start_victim(attack.settings, attack.files) as server:
        base_mib = resident_mib(server.child.pid)
        prepared_peer = attack.prepare(server.port) if attack.prepare is not None else None
        prepared_mib = peak_mib(server.child.pid) - base_mib if prepared_peer is not None else 0.0
        with run_attack(server.port, attack, attack.peer_count):
            if prepared_peer is not None and attack.hangs_up:
                prepared_peer.reset()
            latencies_ms = [1000 * value for value in measure_latencies(server.port, seconds)]
        return AttackFigures(latencies_ms, prepared_mib, peak_mib(server.child.pid), folder_mib(server.home))


def render_row(name: str, attack_figures: AttackFigures) -> str:
    latencies_ms = attack_figures.latencies_ms
    cells = (
        name,
        f"{len(latencies_ms):,}",
        f"{latencies_ms[len(latencies_ms) // 2]:.2f}",
        f"{attack_figures.p99_ms:.1f}",
        f"{latencies_ms[-1]:.1f}",
        f"{attack_figures.peak_mib:.0f}",
        f"{attack_figures.file_mib:.0f}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> int:
    flags = argparse.ArgumentParser(prog="python -m tests.bench.attacks", description=__doc__)
    flags.add_argument("--seconds", type=float, default=5.0, help="duration of each attack (5)")
    flags.add_argument("--only", default="", metavar="TEXT", help="run only attacks with TEXT in their names")
    flags.add_argument(
        "--write", action="store_true", help="write the table to docs/explanation/reliability.md"
    )
    arguments = flags.parse_args()
    lines = [
        f"| attack | answers in {arguments.seconds:g} s | p50 ms | p99 ms | longest ms"
        " | peak MiB | files MiB |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    print(*lines, sep="\n", flush=True)
    successful_attacks = []
    for name, attack in ATTACKS.items():
        if arguments.only not in name:
            continue
        try:
            attack_figures = measure_attack(attack, arguments.seconds)
        except OSError as error:
            lines.append(f"| {name} | a good client got no answer: {error} | | | | | |")
            successful_attacks.append(name)
        else:
            lines.append(render_row(name, attack_figures))
            if not attack_figures.is_within_bounds:
                successful_attacks.append(name)
        print(lines[-1], flush=True)
    lines += ["", figures.machine()]
    if arguments.write:
        figures.write(figures.RELIABILITY, "attacks", lines)
    for name in successful_attacks:
        print(f"over {MAX_P99_MS} ms or {MAX_SERVER_MIB} MiB: {name}", file=sys.stderr)
    return 1 if successful_attacks else 0


if __name__ == "__main__":
    sys.exit(main())
