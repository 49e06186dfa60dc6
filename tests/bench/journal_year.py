"""Benchmark of a large journal (`python -m tests.bench.journal_year`): queries on a year, 2 GB of segments.

64 brokers have 10,000 topics, each on four brokers. A full segment (16 MiB) has restarts of brokers, hourly
snapshots, heartbeats, and changes of single topics. Eight segments are built, and copied until the folder is
as large as `--megabytes` says. A copy has the name of its own time, but the times of the original inside. The
segments in the middle of the year are no copies. One topic is in two segments a week, one is in every segment
(and in many lines of it), one is in none.

Commands are timed as processes, including their start; the files are in the page cache. CPU seconds are the
more reliable figures if other programs use the machine too.
"""

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from namesrv_core.events import (
    AlikeTopics,
    BrokerChanged,
    BrokerInfo,
    BrokerRegistered,
    BrokerUnregistered,
    DataVersion,
    Event,
    Heartbeats,
    QueueData,
    Snapshot,
    TopicChange,
    TopicsChanged,
    WritePermWiped,
    group_topic_changes,
)
from namesrv_core.history.record_lines import encode_record_line
from namesrv_core.history.records import RecordOrigin
from namesrv_core.storage.journal import index, segments
from tests.interop.our_server import ROOT
from tests.support.journals import make_snapshot

RARE, FREQUENT = "the-rare-topic", "the-frequent-topic"
BROKERS, TOPICS, ON_EACH = 64, 10_000, 4
YEAR = 365 * 86_400_000
BEGIN = 1_735_689_600_000
FULL = 16 << 20
KINDS, TRUE_ONES = 8, 3


class World:
    """Who has which topics, and what happens to them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        nouns = ("orders", "payments", "stock", "mail", "audit", "billing")
        layout = random.Random(0)
        names = [f"unit-{layout.randrange(97)}.{layout.choice(nouns)}-{n:05d}" for n in range(TOPICS)]
        self.on: dict[int, list[str]] = {broker: [] for broker in range(BROKERS)}
        self.places: dict[str, list[int]] = {}
        for name in [*names, FREQUENT]:
            self.places[name] = layout.sample(range(BROKERS), ON_EACH)
            for broker in self.places[name]:
                self.on[broker].append(name)
        self.snapshot = self._snapshot()

    def queue(self, broker: int, topic: str, perm: int = 6) -> QueueData:
        number = (4, 8, 16)[len(topic) % 3]
        return QueueData(f"broker-{broker}", number, number, perm)

    def _snapshot(self) -> Snapshot:
        numbers: dict[QueueData, int] = {}
        routes: dict[tuple[int, ...], list[str]] = {}
        for topic, brokers in self.places.items():
            queues = (self.queue(broker, topic) for broker in brokers)
            places = tuple(numbers.setdefault(queue, len(numbers)) for queue in queues)
            routes.setdefault(places, []).append(topic)
        alike = tuple(AlikeTopics(tuple(topics), places) for places, topics in routes.items())
        return make_snapshot("roll", queues=tuple(numbers), routes=alike)

    def restart(self, broker: int, more: tuple[str, ...] = ()) -> Iterator[Event]:
        name, addr = f"broker-{broker}", f"10.0.0.{broker}:10911"
        topics = [*self.on[broker], *more]
        yield BrokerUnregistered("c", name, 0, addr, "channel closed", self.chance.randrange(1000))
        queues = [(topic, self.queue(broker, topic)) for topic in topics]
        yield TopicsChanged(
            name, "unregistration", group_topic_changes(TopicChange(t, queue, None) for t, queue in queues)
        )
        yield BrokerRegistered("c", name, 0, addr, len(topics), info=self._info())
        yield TopicsChanged(
            name, "registration", group_topic_changes(TopicChange(t, None, queue) for t, queue in queues)
        )

    def change(self, broker: int, topic: str) -> Iterator[Event]:
        name = f"broker-{broker}"
        yield BrokerChanged("c", name, 0, f"10.0.0.{broker}:10911", len(self.on[broker]), info=self._info())
        change = TopicChange(topic, self.queue(broker, topic), self.queue(broker, topic, 4))
        yield TopicsChanged(name, "registration", group_topic_changes([change]))

    def _info(self) -> BrokerInfo:
        return BrokerInfo("ha", 120_000, DataVersion(self.chance.randrange(9999), 0, BEGIN), ())

    def events(self, has_rare: bool) -> Iterator[Event]:
        yield self.snapshot
        if has_rare:
            yield from self.restart(0, (RARE,))
            yield WritePermWiped(
                "broker-0", 1, group_topic_changes([TopicChange(RARE, self.queue(0, RARE), None)])
            )
        while True:
            sort, broker = self.chance.random(), self.chance.randrange(BROKERS)
            if sort < 0.02:
                yield from self.restart(broker)
            elif sort < 0.025:
                yield self.snapshot
            elif sort < 0.03:
                yield from self.change(self.places[FREQUENT][0], FREQUENT)
            elif sort < 0.5:
                yield from self.change(broker, self.chance.choice(self.on[broker]))
            else:
                silence = self.chance.randrange(30_000)
                yield Heartbeats(BROKERS, silence, f"10.0.0.{broker}:10911")


class Made(NamedTuple):
    """A closed segment with its index, to be copied."""

    path: Path
    size: int


def write(folder: Path, seed: int, has_rare: bool, first: int = 1, begun: int = BEGIN) -> Made:
    path, size = folder / segments.segment_name(first, begun + seed), 0
    with path.open("wb") as file:
        for seq, event in enumerate(World(seed).events(has_rare), first):
            time = begun + (seq - first) * 997
            origin = RecordOrigin(time, "REGISTER_BROKER", f"10.0.0.{seq % 64}:{40_000 + seq % 1000}")
            size += file.write(encode_record_line(seq, "ns-1:9876", origin, event))
            if size >= FULL:
                break
    closed = segments.compress_segment(path)
    index.build_index(segments.JournalSegment(closed, first, begun, True))
    return Made(closed, closed.stat().st_size + index.index_bytes(closed))


def year(folder: Path, models: Path, total: int) -> int:
    """A journal of that size; how many segments it has."""
    usual = [write(models, number, has_rare=False) for number in range(KINDS)]
    rare = write(models, KINDS, has_rare=True)
    count = total // (sum(made.size for made in usual) // KINDS)
    rare_ones = {(week * 2 + half) * count // 104 for week in range(52) for half in (0, 1)}
    for number in range(count):
        made = rare if number in rare_ones else usual[number % KINDS]
        first, begun = 1 + number * 100_000, BEGIN + number * (YEAR // count)
        if 0 <= number - count // 2 < TRUE_ONES:
            write(folder, 0, False, first, begun)
            continue
        path = folder / f"{segments.segment_name(first, begun)}.zst"
        shutil.copy(made.path, path)
        shutil.copy(index.index_path(made.path), index.index_path(path))
    return count


def timed(*args: str) -> str:
    """How long a command takes, and how many lines it prints."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}"}
    begun, before = perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(
        [sys.executable, "-m", "nsadmin", *args, "--quiet"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    seconds, after = perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{seconds:.2f} s ({cpu:.2f} s of CPU), {result.stdout.count(chr(10))} lines"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=2048)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        folder, models = Path(home) / "journal", Path(home) / "models"
        folder.mkdir()
        models.mkdir()
        count = year(folder, models, args.megabytes << 20)
        sizes = [sum(path.stat().st_size for path in folder.glob(f"*.{kind}")) for kind in ("zst", "idx")]
        print(
            f"{count} segments: {count * FULL >> 30} GiB, {sizes[0] >> 20} MiB compressed,"
            f" {sizes[1] >> 20} MiB of indexes"
        )
        step = YEAR // count
        middle = BEGIN + (count // 2) * step + 1_500_000
        for title, *words in (
            ("topic in 104 segments", "history", "topic", RARE),
            ("topic in every segment, newest 1000 events", "history", "topic", FREQUENT),
            ("the same, on one day in the middle", "history", "topic", FREQUENT, "--since", str(middle),
             "--until", str(middle + 86_400_000)),
            ("topic in no segment", "history", "topic", "none"),
            ("rare event type", "history", "--type", "WritePermWiped"),
            ("all events, newest 1000", "history"),
            ("route at a moment", "routeAt", FREQUENT, "--at", str(middle)),
            ("topic in every segment, all events", "history", "topic", FREQUENT, "--limit", "0"),
        ):  # fmt: skip
            print(f"{title}: {timed(*words, '--journal', str(folder))}", flush=True)


if __name__ == "__main__":
    main()
