"""`python -m tests.bench.messages`: `nsadmin bench` next to the Java client, on one real broker.

Both send the same number of messages with 64 under way, and read them all. Then they send 500 messages, 100 a
second, to a waiting consumer. They take turns, `--rounds` times. The table has the median of each side, and
nsadmin's as a ratio of Java's. `--write` puts it into docs/explanation/performance.md.
"""

import argparse
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from tests.bench import figures
from tests.interop import jars
from tests.interop.cluster import create_topic, wait_for_broker, wait_for_topic
from tests.interop.command_line import nsadmin
from tests.interop.java_parts import QUICK_START, QUIET_LOGBACK, JavaBroker
from tests.interop.our_server import OurNameServer

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "performance.md"
PRODUCED, CONSUMED = "sent per second", "read per second"
LATENCIES = {
    "ack": ("until the broker answers, ms, median", "until the broker answers, ms, p99"),
    "end": ("until a consumer has the message, ms, median", "until a consumer has the message, ms, p99"),
}


def measure_java(
    home: Path, server: OurNameServer, broker: JavaBroker, count: int, size: int
) -> dict[str, float]:
    topic, latency_topic = (f"java-{os.urandom(4).hex()}" for _ in range(2))
    create_topic(broker.port, topic)
    create_topic(broker.port, latency_topic, 1)
    for name in (topic, latency_topic):
        wait_for_topic([server], name)
    logback = home / "logback.xml"
    logback.write_text(QUIET_LOGBACK)
    settings = [f"-Duser.home={home}", f"-Drmq.logback.configurationFile={logback}"]
    program = jars.program("MessageLoad", broker.version)
    command = [
        "java",
        *QUICK_START,
        "-Xmx512m",
        *settings,
        *program,
        server.address,
        topic,
        str(count),
        str(size),
        latency_topic,
    ]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, cwd=home)
    lines = {line[0]: line[1:] for line in map(str.split, result.stdout.splitlines()) if line}
    assert "failed" not in lines, result.stdout
    measured = {PRODUCED: lines["produced"][0], CONSUMED: lines["consumed"][0]}
    for kind, (median_name, p99_name) in LATENCIES.items():
        measured |= {median_name: lines[kind][0], p99_name: lines[kind][1]}
    return {name: float(text) for name, text in measured.items()}


def measure_nsadmin(server: OurNameServer, count: int, size: int) -> dict[str, float]:
    measured = {}
    for name, kind in ((PRODUCED, "produce"), (CONSUMED, "consume")):
        result = nsadmin(server.address, "bench", kind, "--count", str(count), "--size", str(size), "--yes")
        assert result.code == 0, result.err
        measured[name] = float(result.rows[0]["messagesPerSecond"])
    result = nsadmin(server.address, "bench", "latency", "--size", str(size), "--yes")
    assert result.code == 0, result.err
    for row in result.rows:
        median_name, p99_name = LATENCIES[row["kind"].split()[0]]
        measured |= {median_name: float(row["p50"]), p99_name: float(row["p99"])}
    return measured


def list_lines(
    count: int, size: int, ours: Sequence[Mapping[str, float]], theirs: Sequence[Mapping[str, float]]
) -> Iterator[str]:
    """The table of all figures."""
    yield f"| {count:,} messages of {size:,} bytes | nsadmin | Java client 5.5.0 | nsadmin/Java |"
    yield "|---|---:|---:|---:|"
    for name in ours[0]:
        our_figure, java_figure = (median(measured[name] for measured in side) for side in (ours, theirs))
        digits = 0 if name in (PRODUCED, CONSUMED) else 2
        yield (
            f"| {name} | {our_figure:,.{digits}f} | {java_figure:,.{digits}f} | "
            f"{our_figure / java_figure:.2f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.messages", description=__doc__)
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    ours, theirs = list[dict[str, float]](), list[dict[str, float]]()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with (
            OurNameServer(home / "ns") as server,
            JavaBroker(
                home / "broker", [server.address], config={"mappedFileSizeCommitLog": 1 << 28}
            ) as broker,
        ):
            wait_for_broker([server], broker.name)
            for _ in range(options.rounds):
                theirs.append(measure_java(home, server, broker, options.count, options.size))
                ours.append(measure_nsadmin(server, options.count, options.size))
    lines = [figures.machine(), "", *list_lines(options.count, options.size, ours, theirs)]
    print(*lines, sep="\n")
    if options.write:
        figures.write(PAGE, "messages", lines)


if __name__ == "__main__":
    main()
