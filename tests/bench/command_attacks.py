"""Attacks on commands (`python -m tests.bench.command_attacks`): servers that lie, and producers of bombs.

A name server, a broker, messages on loopback, and files are hostile. Each command must end, within
MAX_SECONDS and with less than MAX_MIB, and say what it refused. The exporter must answer scrapes while a peer
asks for pages and leaves, and while a broker reports a number of 401 digits. With `--write` the tables go to
docs/explanation/reliability.md.
"""

import argparse
import contextlib
import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import BinaryIO, NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin.client.verified_archive import MANIFEST
from tests.bench import exporter, figures
from tests.support.bundles import NAMESRV, write_bundle
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.dead_letter_brokers import DEAD, DeadLetterBroker
from tests.support.fake_servers import Answer, FakeNameServer, answer_json
from tests.support.kube_clusters import StubCluster, make_pod
from tests.support.name_servers import ROOT

MAX_SECONDS, MAX_MIB = 60.0, 300
MAX_SCRAPE_SECONDS = 5.0
MAX_FILE_BYTES = 1 << 20
MOST_INT, MOST_LONG = 2**31 - 1, 2**63 - 1
_BOMB_BYTES = 63 << 20
_ALL_CODES = (0, 1, 2, 3, 5)
"""Exit codes of a command that ended by itself."""


class Lies(NamedTuple):
    """What the servers claim: the queues of T, its mapping, and what the broker and the name server change.

    `write_files` fills the folder before the command. The last of `runs` is measured. `stdin_lines` stay
    unended until the output has `refusal`, which it must have.
    """

    queue_count: int = 8
    mapping: Mapping[str, object] = {}
    spoil_broker: Callable[[DeadLetterBroker], object] = lambda broker: None
    remark: str = ""
    perm: object = 6
    spoil_server: Callable[[FakeNameServer], object] = lambda server: None
    write_files: Callable[[Path], object] = lambda folder: None
    runs: int = 1
    stdin_lines: tuple[str, ...] = ()
    refusal: str = ""


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


def list_fresh_brokers(server: FakeNameServer) -> None:
    """Each list of brokers has a thousand that were never listed before and will not be again."""
    numbers = count()

    def answer_fresh(asked: RemotingCommand) -> RemotingCommand:
        names = [f"b-{next(numbers)}" for _ in range(1000)]
        brokers = {name: {"brokerName": name, "cluster": "C", "brokerAddrs": {"0": UNUSED}} for name in names}
        return answer_json(asked, {"brokerAddrTable": brokers, "clusterAddrTable": {"C": names}})

    server.handlers[RequestCode.GET_BROKER_CLUSTER_INFO] = answer_fresh


def list_database(server: FakeNameServer) -> None:
    server.clusters = {"C": {"broker-a": {0: "postgres-0:5432"}}}


def write_cluster(folder: Path) -> None:
    """The stub of kubectl, with a name server and a database."""
    stub = StubCluster(folder)
    stub.items = [
        make_pod("names-0", "10.1.0.5", [9876], labels={"component": "nameserver"}),
        make_pod("postgres-0", "10.1.0.7", [5432], labels={"app": "postgres"}),
    ]
    stub.save_objects()


def write_inflating_bundle(folder: Path) -> None:
    """1.2 MB that inflate to 1.1 GB."""
    with (
        zipfile.ZipFile(folder / BUNDLE, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open(MANIFEST, "w", force_zip64=True) as member,
    ):
        for _ in range(1100):
            member.write(bytes(1 << 20))


def write_greedy_bundle(method: int) -> Callable[[Path], None]:
    """A member by another method; LZMA asks for a dictionary of 4 GiB."""

    def write(folder: Path) -> None:
        with zipfile.ZipFile(folder / BUNDLE, "w") as archive:
            archive.writestr(MANIFEST, b"{}" * 1000, method)
        content = (folder / BUNDLE).read_bytes()
        greedy = re.sub(rb"(\x05\x00\]).{4}", b"\\1\xff\xff\xff\xff", content, count=1, flags=re.DOTALL)
        (folder / BUNDLE).write_bytes(greedy)

    return write


def write_deep_bundle(folder: Path) -> None:
    write_bundle(folder / BUNDLE, {NAMESRV: {}}, files={"servers/0.json": b"[" * 100_000 + b"]" * 100_000})


def ask_for_a_billion_messages() -> tuple[str, ...]:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "attacker", "version": "1"},
    }
    call = {"name": "consume", "arguments": {"topic": "T", "limit": 10**9}}
    messages: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    ]
    return tuple(json.dumps({"jsonrpc": "2.0", **message}) for message in messages)


BUNDLE = "bundle.zip"
UNUSED = "127.0.0.1:1"
SHOW_BUNDLE = ("bundle", "show", f"{{folder}}/{BUNDLE}")
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
    "a permission that is a list: collect": (
        Lies(perm=[6], refusal='perm is "[6]", not a finite number'),
        ("collect", "{folder}/collected", "--once", "-n", "{namesrv};{honest}"),
    ),
    "a bundle of 1.2 MB that inflates to 1.1 GB: bundle show": (
        Lies(write_files=write_inflating_bundle, refusal="it inflates to more than"),
        SHOW_BUNDLE,
    ),
    "a bundle whose LZMA asks for 4 GiB: bundle show": (
        Lies(write_files=write_greedy_bundle(zipfile.ZIP_LZMA), refusal="another method than deflate"),
        SHOW_BUNDLE,
    ),
    "a bundle in bzip2: bundle show": (
        Lies(write_files=write_greedy_bundle(zipfile.ZIP_BZIP2), refusal="another method than deflate"),
        SHOW_BUNDLE,
    ),
    "a bundle with JSON of 100,000 levels: bundle show": (
        Lies(write_files=write_deep_bundle, refusal="nested too deeply"),
        SHOW_BUNDLE,
    ),
    "a broker at the address of a database pod: clusterList --kube": (
        Lies(spoil_server=list_database, write_files=write_cluster, refusal="is not forwarded"),
        ("clusterList", "--kube", "prod/mq", "-n", "names-0:9876"),
    ),
    "1,000 brokers that were never listed before, 5 times: clusterList": (
        Lies(spoil_server=list_fresh_brokers, runs=5),
        ("clusterList",),
    ),
    "a limit of 10^9 messages: consume through mcp": (
        Lies(stdin_lines=ask_for_a_billion_messages(), refusal="1000000000 is greater than"),
        ("mcp",),
    ),
}


class CommandFigures(NamedTuple):
    """What a command needed, its exit code, the bytes that it printed and wrote, and whether it refused."""

    seconds: float
    peak_mib: float
    exit_code: int
    output_bytes: int
    file_bytes: int
    has_refused: bool

    @property
    def is_within_bounds(self) -> bool:
        return (
            self.seconds < MAX_SECONDS
            and self.peak_mib < MAX_MIB
            and self.file_bytes < MAX_FILE_BYTES
            and self.exit_code in _ALL_CODES
            and self.has_refused
        )


@contextlib.contextmanager
def start_liars(lies: Lies) -> Iterator[str]:
    """The address of a name server that knows one broker with the topic T."""
    with DeadLetterBroker() as broker, FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as server:
        server.routes = {"T": {"broker-a": 6}, DEAD: {"broker-a": 6}}
        lies.spoil_broker(broker)
        lies.spoil_server(server)

        def answer_route(asked: RemotingCommand) -> RemotingCommand:
            if lies.remark:
                return build_reply(asked, 1, remark=lies.remark)
            counts = {"readQueueNums": lies.queue_count, "writeQueueNums": lies.queue_count}
            route = {
                "brokerDatas": [
                    {"brokerName": "broker-a", "cluster": "C", "brokerAddrs": {"0": broker.addr}}
                ],
                "queueDatas": [{"brokerName": "broker-a", "perm": lies.perm, "topicSysFlag": 0, **counts}],
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
    with (
        start_liars(lies) as namesrv_addr,
        FakeNameServer() as honest,
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as state_folder,
    ):
        environment = make_environment(state_folder)
        lies.write_files(Path(folder))
        if "--kube" in words:
            stub = json.loads(Path(folder, "cluster.json").read_text())
            Path(folder, "cluster.json").write_text(
                json.dumps(stub | {"servers": {"names-0:9876": namesrv_addr}})
            )
            environment |= {
                "PATH": f"{folder}/programs{os.pathsep}{environment['PATH']}",
                "STUB_CLUSTER": f"{folder}/cluster.json",
                "STUB_CALLS": f"{folder}/calls",
            }
        if "-n" not in words and words[0] != "bundle":
            words = (*words, "-n", "{namesrv}")
        places = {"folder": folder, "namesrv": namesrv_addr, "honest": honest.addr}
        command = [sys.executable, "-m", "nsadmin", *(word.format(**places) for word in words)]
        for _ in range(lies.runs):
            with tempfile.TemporaryFile() as output:
                found = run_command(command, lies, environment, output)
        return found._replace(file_bytes=sum(path.stat().st_size for path in list_files(state_folder)))


def list_files(folder: str) -> list[Path]:
    return [path for path in Path(folder).rglob("*") if path.is_file()]


def run_command(
    command: list[str], lies: Lies, environment: Mapping[str, str], output: BinaryIO
) -> CommandFigures:
    refusal = lies.refusal.encode()

    def read_output() -> bytes:
        return os.pread(output.fileno(), 1 << 24, 0)

    began_at = time.monotonic()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=output, stderr=output, env=dict(environment)
    )
    killer = threading.Timer(MAX_SECONDS, process.send_signal, (signal.SIGKILL,))
    killer.start()
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write("".join(f"{line}\n" for line in lies.stdin_lines).encode())
        process.stdin.flush()
        while lies.stdin_lines and killer.is_alive() and refusal not in read_output():
            time.sleep(0.1)
    _, status, usage = os.wait4(process.pid, 0)
    killer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return CommandFigures(
        time.monotonic() - began_at,
        usage.ru_maxrss / 1024,
        process.returncode,
        os.fstat(output.fileno()).st_size,
        0,
        refusal in read_output(),
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


def spoil_consume_stats(broker: ConsumerBroker) -> None:
    """The rate of the group F has 401 digits."""
    answer_stats = broker.handlers[RequestCode.GET_CONSUME_STATS]
    broker.configs = {group: {"groupName": group} for group in "FGH"}
    broker.offsets |= {("F", "T", 0): 80, ("H", "T", 0): 60}

    def answer_oddly(asked: RemotingCommand) -> Answer:
        reply = answer_stats(asked)
        if isinstance(reply, RemotingCommand) and (asked.ext or {})["consumerGroup"] == "F":
            reply.body = re.sub(rb'"consumeTps": *[^,}]+', b'"consumeTps":' + b"9" * 401, reply.body)
        return reply

    broker.handlers[RequestCode.GET_CONSUME_STATS] = answer_oddly


def measure_odd_scrapes(seconds: float) -> ScrapeFigures:
    """Scrapes while one of three groups has a number of 401 digits; the page must have the two others."""
    with ConsumerBroker() as broker, FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as server:
        server.routes = {"T": {"broker-a": 6}}
        spoil_consume_stats(broker)
        victim = exporter.Exporter(server.addr, "--interval", "1s", "--topic-interval", "1s")
        try:
            ends_at, text = time.monotonic() + 30, ""
            while not re.search(r'nsadmin_read_errors_total\{[^}]*source="groups"', text):
                assert time.monotonic() < ends_at, "the exporter did not count the odd answer"
                time.sleep(0.5)
                text = victim.scrape()[1]
            groups = set(re.findall(r'nsadmin_group_lag_messages\{[^}]*group="(\w)"', text))
            assert groups == {"G", "H"}, groups
            return scrape_for(victim, seconds)
        finally:
            victim.process.kill()
            victim.process.wait()


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
    lines = [
        "| attack | seconds | peak MiB | exit code | bytes printed | bytes kept |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    print(*lines, sep="\n", flush=True)
    problems = []
    for name, (lies, words) in COMMAND_ATTACKS.items():
        if arguments.only not in name:
            continue
        found = measure_command(lies, words)
        lines.append(
            f"| {name} | {found.seconds:.1f} | {found.peak_mib:.0f} | {found.exit_code} "
            f"| {found.output_bytes:,} | {found.file_bytes:,} |"
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
        odd = measure_odd_scrapes(arguments.seconds / 4)
        for name, scrapes in (
            ("alone", before),
            ("25 abandoned requests a second", during),
            ("a number of 401 digits from a broker", odd),
        ):
            lines.append(
                f"| {name} | {len(scrapes.seconds)} | {scrapes.seconds[len(scrapes.seconds) // 2]:.2f} "
                f"| {scrapes.seconds[-1]:.2f} | {scrapes.memory:.0f} |"
            )
            if scrapes.seconds[-1] > MAX_SCRAPE_SECONDS:
                problems.append(name)
        print(*lines[-5:], sep="\n", flush=True)
    lines += ["", figures.machine()]
    if arguments.write:
        figures.write(figures.RELIABILITY, "command attacks", lines)
    for name in problems:
        print(f"over {MAX_SECONDS:g} s or {MAX_MIB} MiB, killed, or not refused: {name}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
