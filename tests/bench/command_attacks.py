"""Attacks on commands (`python -m tests.bench.command_attacks`): servers that lie, and producers of bombs.

A name server, a broker and messages on loopback are hostile. Each command must end, within MAX_SECONDS and
with less than MAX_MIB. The exporter must answer scrapes while a peer asks for pages and leaves. With
`--write` the tables go to docs/explanation/reliability.md.
"""

import argparse
import contextlib
import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from tests.bench import exporter, figures
from tests.support.dead_letter_brokers import DEAD, DeadLetterBroker
from tests.support.name_servers import ROOT
from tests.support.servers import FakeNameServer, answer_json

MAX_SECONDS, MAX_MIB = 60.0, 300
MAX_SCRAPE_SECONDS = 5.0
MOST_INT, MOST_LONG = 2**31 - 1, 2**63 - 1
_BOMB_BYTES = 63 << 20
_ALL_CODES = (0, 1, 3, 5)
"""Exit codes of a command that ended by itself."""


class Lies(NamedTuple):
    """What the servers claim: the queues of T, its mapping, and what the broker changes."""

    queue_count: int = 8
    mapping: Mapping[str, object] = {}
    spoil_broker: Callable[[DeadLetterBroker], object] = lambda broker: None
    remark: str = ""


def claim_endless_queues(broker: DeadLetterBroker) -> None:
    """Queues end at 2^63-1, and each answer advances by one without a message."""
    broker.handlers[RequestCode.GET_MAX_OFFSET] = lambda asked: build_reply(
        asked, ext={"offset": str(MOST_LONG)}
    )

    def answer_nothing(asked: RemotingCommand) -> RemotingCommand:
        next_offset = int((asked.ext or {}).get("queueOffset") or 0) + 1
        return build_reply(asked, 20, ext={"nextBeginOffset": str(next_offset)})

    broker.handlers[RequestCode.PULL_MESSAGE] = answer_nothing


def store_bombs(broker: DeadLetterBroker) -> None:
    """Messages of 64 KB that inflate to 63 MiB; an answer has 256 KB, as a released broker's."""
    broker.page = 4
    bomb = zlib.compress(bytes(_BOMB_BYTES), 9)
    for topic, queue_count in (("T", 8), (DEAD, 1)):
        for queue_id in range(queue_count):
            for _ in range(8):
                broker.store_message(bomb, topic, queue_id, 1)


def store_gzip_bombs(broker: DeadLetterBroker) -> None:
    """Bodies that the application compressed."""
    broker.page = 4
    bomb = gzip.compress(bytes(_BOMB_BYTES), 9)
    for queue_id in range(8):
        for _ in range(8):
            broker.store_message(bomb, "T", queue_id)


ENDLESS = Lies(spoil_broker=claim_endless_queues)
BOMBS = Lies(spoil_broker=store_bombs)
CROWDED = Lies(queue_count=MOST_INT)
MAPPED = Lies(mapping={"broker-a": {"totalQueues": MOST_INT, "currIdMap": {"0": 0}}})

COMMAND_ATTACKS: dict[str, tuple[Lies, tuple[str, ...]]] = {
    "2^31-1 queues: allocateMQ": (CROWDED, ("allocateMQ", "T", "10.0.0.1")),
    "2^31-1 queues: printMsg": (CROWDED, ("printMsg", "T")),
    "2^31-1 queues: consume": (CROWDED, ("consume", "T")),
    "2^31-1 queues: consumeMessage": (CROWDED, ("consumeMessage", "T")),
    "2^31-1 queues: printMsgByQueue": (CROWDED, ("printMsgByQueue", "T", "broker-a", "0")),
    "2^31-1 logical queues: topicRoute": (MAPPED, ("topicRoute", "T")),
    "2^31-1 logical queues: route explain": (MAPPED, ("route", "explain", "T")),
    "2^31-1 logical queues: snapshot save": (MAPPED, ("snapshot", "save", "{folder}/snapshot")),
    "empty answers up to 2^63-1: printMsg": (ENDLESS, ("printMsg", "T")),
    "empty answers up to 2^63-1: consume": (ENDLESS, ("consume", "T")),
    "empty answers up to 2^63-1: consumeMessage": (ENDLESS, ("consumeMessage", "T")),
    "empty answers up to 2^63-1: printMsgByQueue": (ENDLESS, ("printMsgByQueue", "T", "broker-a", "0")),
    "bodies that inflate to 63 MiB: printMsg": (BOMBS, ("printMsg", "T", "--output", "json")),
    "bodies that inflate to 63 MiB: consume --limit 5": (BOMBS, ("consume", "T", "--limit", "5")),
    "bodies that inflate to 63 MiB: consume": (BOMBS, ("consume", "T", "--output", "json")),
    "bodies that inflate to 63 MiB: dlq show": (BOMBS, ("dlq", "show", "G", "--output", "json")),
    "bodies that inflate to 63 MiB: consume --decode gzip": (
        Lies(spoil_broker=store_gzip_bombs),
        ("consume", "T", "--decode", "gzip", "--output", "jsonl"),
    ),
    "a remark of 14 MB: topicRoute": (Lies(remark="x" * 14_000_000), ("topicRoute", "T")),
}


class CommandFigures(NamedTuple):
    """What a command needed, its exit code, and the bytes that it printed."""

    seconds: float
    peak_mib: float
    exit_code: int
    output_bytes: int

    @property
    def is_within_bounds(self) -> bool:
        return self.seconds < MAX_SECONDS and self.peak_mib < MAX_MIB and self.exit_code in _ALL_CODES


@contextlib.contextmanager
def start_liars(lies: Lies) -> Iterator[str]:
    """The address of a name server that knows one broker with the topic T."""
    with DeadLetterBroker() as broker, FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as server:
        server.routes = {"T": {"broker-a": 6}, DEAD: {"broker-a": 6}}
        lies.spoil_broker(broker)

        def answer_route(asked: RemotingCommand) -> RemotingCommand:
            if lies.remark:
                return build_reply(asked, 1, remark=lies.remark)
            counts = {"readQueueNums": lies.queue_count, "writeQueueNums": lies.queue_count}
            route = {
                "brokerDatas": [
                    {"brokerName": "broker-a", "cluster": "C", "brokerAddrs": {"0": broker.addr}}
                ],
                "queueDatas": [{"brokerName": "broker-a", "perm": 6, "topicSysFlag": 0, **counts}],
                "topicQueueMappingByBroker": dict(lies.mapping),
            }
            return answer_json(asked, route)

        server.handlers[RequestCode.GET_ROUTEINFO_BY_TOPIC] = answer_route
        yield server.addr


def make_environment(folder: str) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": f"{ROOT}:{ROOT / 'cli'}",
        "NSADMIN_STATE": folder,
        "NSADMIN_CONFIG": f"{folder}/config.yaml",
        "XDG_CACHE_HOME": folder,
    }


def measure_command(lies: Lies, words: tuple[str, ...]) -> CommandFigures:
    with start_liars(lies) as namesrv_addr, tempfile.TemporaryDirectory() as folder:
        filled_words = [word.format(folder=folder) for word in words]
        command = [sys.executable, "-m", "nsadmin", *filled_words, "-n", namesrv_addr]
        began_at = time.monotonic()
        with tempfile.TemporaryFile(dir=folder) as output:
            process = subprocess.Popen(command, stdout=output, stderr=output, env=make_environment(folder))
            killer = threading.Timer(MAX_SECONDS, process.send_signal, (signal.SIGKILL,))
            killer.start()
            _, status, usage = os.wait4(process.pid, 0)
            killer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds = time.monotonic() - began_at
            return CommandFigures(
                seconds, usage.ru_maxrss / 1024, process.returncode, os.fstat(output.fileno()).st_size
            )


class ScrapeFigures(NamedTuple):
    """What a good Prometheus noticed: sorted seconds of its scrapes, and the exporter's memory in MiB."""

    seconds: list[float]
    memory: float


def abandon_pages(host: str, port: int, per_second: float, stop: threading.Event) -> None:
    """Ask for /metrics and leave at once."""
    while not stop.wait(1 / per_second):
        with contextlib.suppress(OSError), socket.create_connection((host, port), 1) as peer:
            peer.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            time.sleep(0.005)


def measure_scrapes(seconds: float, per_second: float) -> tuple[ScrapeFigures, ScrapeFigures]:
    """Scrapes of 1,000 topics and 100 groups, before and during the attack."""
    serve_command = [
        sys.executable, "-c", "from tests.bench.exporter import serve; serve(1000, 100)",
    ]  # fmt: skip
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            serve_command, stdout=subprocess.PIPE, text=True, env=make_environment(folder)
        ) as cluster,
    ):
        assert cluster.stdout is not None
        namesrv_addr, *_ = json.loads(cluster.stdout.readline())
        victim = exporter.Exporter(
            namesrv_addr, "--rate", "5000", "--interval", "30s", "--topic-interval", "30s"
        )
        try:
            exporter.measure(victim, 1)
            before = scrape_for(victim, seconds / 4)
            host, _, port = victim.url.split("/")[2].rpartition(":")
            stop = threading.Event()
            peer = threading.Thread(target=abandon_pages, args=(host, int(port), per_second, stop))
            peer.start()
            during = scrape_for(victim, seconds)
            stop.set()
            peer.join()
        finally:
            victim.process.kill()
            victim.process.wait()
            cluster.kill()
        return before, during


def scrape_for(victim: exporter.Exporter, seconds: float) -> ScrapeFigures:
    ends_at = time.monotonic() + seconds
    scraped = []
    while time.monotonic() < ends_at:
        scraped.append(victim.scrape()[0].seconds)
        time.sleep(0.2)
    return ScrapeFigures(sorted(scraped), victim.memory)


def main() -> int:
    flags = argparse.ArgumentParser(prog="python -m tests.bench.command_attacks", description=__doc__)
    flags.add_argument("--only", default="", metavar="TEXT", help="run only attacks with TEXT in their names")
    flags.add_argument("--seconds", type=float, default=20.0, help="duration of the attack on the exporter")
    flags.add_argument(
        "--write", action="store_true", help="write the tables to docs/explanation/reliability.md"
    )
    arguments = flags.parse_args()
    lines = ["| attack | seconds | peak MiB | exit code | bytes printed |", "|---|---:|---:|---:|---:|"]
    print(*lines, sep="\n", flush=True)
    problems = []
    for name, (lies, words) in COMMAND_ATTACKS.items():
        if arguments.only not in name:
            continue
        found = measure_command(lies, words)
        lines.append(
            f"| {name} | {found.seconds:.1f} | {found.peak_mib:.0f} | {found.exit_code} "
            f"| {found.output_bytes:,} |"
        )
        print(lines[-1], flush=True)
        if not found.is_within_bounds:
            problems.append(name)
    if arguments.only in "the exporter":
        lines += [
            "",
            "| scrapes of the exporter | scrapes | p50 s | longest s | MiB |",
            "|---|---:|---:|---:|---:|",
        ]
        before, during = measure_scrapes(arguments.seconds, 25)
        for name, scrapes in (("alone", before), ("25 abandoned requests a second", during)):
            lines.append(
                f"| {name} | {len(scrapes.seconds)} | {scrapes.seconds[len(scrapes.seconds) // 2]:.2f} "
                f"| {scrapes.seconds[-1]:.2f} | {scrapes.memory:.0f} |"
            )
        print(*lines[-4:], sep="\n", flush=True)
        if during.seconds[-1] > MAX_SCRAPE_SECONDS:
            problems.append("25 abandoned requests a second")
    lines += ["", figures.machine()]
    if arguments.write:
        figures.write(figures.RELIABILITY, "command attacks", lines)
    for name in problems:
        print(f"over {MAX_SECONDS:g} s or {MAX_MIB} MiB, or killed: {name}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
