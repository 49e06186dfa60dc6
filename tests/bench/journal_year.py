"""`python -m tests.bench.journal_year`: how long a year of journal takes to answer for one topic.

64 brokers with 10,000 topics; segments are full (16 MiB) of other brokers' restarts. The topic is on two
brokers that restart once a week. Segments in which nothing concerns it are one and the same file.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from namesrv_core.events import BrokerUnregistered, Event, QueueData, TopicChange, TopicsChanged
from namesrv_core.history.records import Origin, line
from namesrv_core.storage import index, segments
from tests.interop.our_server import ROOT
from tests.support.journals import registered, snapshot

TOPICS = [f"business-unit-{number % 97}.orders-{number:05d}" for number in range(10_000)]
TOPIC = "the-topic"
DAY = 86_400_000
BEGIN = 1_735_689_600_000
FULL = 16 << 20


def restart(broker: int, topics: list[str]) -> list[Event]:
    name, addr = f"broker-{broker}", f"10.0.0.{broker}:10911"
    queue = QueueData(name, 8, 8, 6)
    gone = tuple(TopicChange(topic, queue, None) for topic in topics)
    return [
        BrokerUnregistered("c", name, 0, addr, "channel closed", 1),
        TopicsChanged(name, "unregistration", gone),
        *registered(name, *topics, addr=addr),
    ]


def events(concerned: bool) -> Iterator[Event]:
    yield snapshot("roll")
    if concerned:
        yield from restart(0, [*TOPICS, TOPIC])
    for number in range(10_000):
        yield from restart(2 + number % 62, TOPICS)


def write(folder: Path, begun: int, first: int, concerned: bool) -> tuple[Path, int]:
    """A closed and indexed segment; and the number behind its last record."""
    path, size, seq = folder / segments.name(first, begun), 0, first
    with path.open("wb") as file:
        for event in events(concerned):
            size += file.write(line(seq, "s:9876", Origin(begun + seq - first, "REGISTER_BROKER"), event))
            seq += 1
            if size >= FULL:
                break
    closed = segments.compress(path)
    index.build(segments.Segment(closed, first, begun, True))
    return closed, seq


def year(folder: Path, a_day: int) -> None:
    """The journal of a year, with so many segments a day."""
    other: Path | None = None
    seq = 1
    for number in range(365 * a_day):
        begun = BEGIN + number * DAY // a_day
        concerned = number % (7 * a_day) in (0, 3 * a_day)
        if concerned or other is None:
            path, seq = write(folder, begun, seq, concerned)
            other = other if concerned else path
            continue
        name = segments.name(seq, begun)
        os.link(other, folder / f"{name}.zst")
        os.link(index.path_of(other), index.path_of(folder / f"{name}.zst"))
        seq += 200


def timed(*args: str) -> float:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}"}
    begun = perf_counter()
    subprocess.run(
        [sys.executable, "-m", "nsadmin", *args], env=environment, stdout=subprocess.DEVNULL, check=True
    )
    return perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments-a-day", type=int, default=6)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        year(folder, args.segments_a_day)
        sizes = [path.stat().st_size for path in folder.glob("*.zst")]
        indexes = [path.stat().st_size for path in folder.glob("*.idx")]
        plain = len(sizes) * FULL
        print(f"{len(sizes)} segments: {plain >> 30} GiB, {sum(sizes) >> 20} MiB compressed,"
              f" {sum(indexes) >> 20} MiB of indexes")  # fmt: skip
        history = ("history", "topic", TOPIC, "--journal", str(folder))
        print(f"history of a topic that changed 104 times: {timed(*history):.2f} s")
        print(f"history of a topic that is nowhere: {timed('history', 'topic', 'none', *history[3:]):.2f} s")


if __name__ == "__main__":
    main()
