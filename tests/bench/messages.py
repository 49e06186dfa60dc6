"""`python -m tests.bench.messages`: `nsadmin bench` next to the Java client, on one real broker.

Both send the same number of messages with 64 under way, and read them all. They take turns, `--rounds` times.
The table has the median of each side, and nsadmin's as a ratio of Java's.
"""

import argparse
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from tests.interop import jars
from tests.interop.cluster import create_topic, wait_for_broker, wait_for_topic
from tests.interop.command_line import nsadmin
from tests.interop.java_parts import QUICK_START, QUIET_LOGBACK, JavaBroker
from tests.interop.our_server import OurNameServer


def measure_java(
    home: Path, server: OurNameServer, broker: JavaBroker, count: int, size: int
) -> dict[str, float]:
    topic = f"java-{os.urandom(4).hex()}"
    create_topic(broker.port, topic)
    wait_for_topic([server], topic)
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
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, cwd=home)
    lines = (line.split() for line in done.stdout.splitlines())
    rates = {line[0]: float(line[1]) for line in lines if line[0] in ("produced", "consumed", "failed")}
    assert "failed" not in rates, done.stdout
    return rates


def measure_nsadmin(server: OurNameServer, count: int, size: int) -> dict[str, float]:
    rates = {}
    for word, kind in (("produced", "produce"), ("consumed", "consume")):
        done = nsadmin(server.address, "bench", kind, "--count", str(count), "--size", str(size), "--yes")
        assert done.code == 0, done.said
        [row] = done.rows
        rates[word] = float(row["messagesPerSecond"])
    return rates


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.messages", description=__doc__)
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
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
    print(f"{options.count} messages of {options.size} bytes, median of {options.rounds} rounds, per second:")
    for word in ("produced", "consumed"):
        our_rate, java_rate = (median(rates[word] for rates in side) for side in (ours, theirs))
        ratio = our_rate / java_rate
        print(f"{word} nsadmin {our_rate:9.0f}   Java client {java_rate:9.0f}   ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
