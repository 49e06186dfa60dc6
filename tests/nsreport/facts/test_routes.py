"""Route facts, compared with what routeAt answers from the same journals."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import Row, SparkSession

from namesrv_core.events import (
    AlikeTopics,
    CollectorStarted,
    CollectorStopping,
    Event,
    EventsLost,
    PollFailed,
    PollRecovered,
    QueueData,
    ServerStarted,
    ServerStopping,
    Snapshot,
    TopicChange,
    TopicsChanged,
    WritePermWiped,
    group_topic_changes,
)
from namesrv_core.history.record_lines import encode_record_line
from namesrv_core.history.records import RecordOrigin
from namesrv_core.history.replay import JournalReplay
from namesrv_core.storage.journal import past_state, reader
from nsreport.facts.routes import QUEUE_COLUMNS
from nsreport.sources import input_files, journals
from nsreport.sources.input_files import InputSource
from nsreport.tables import unique_lines
from tests.support.silver_rows import routed, turned

Known = dict[tuple[str, str], tuple[int, ...]]


def at(facts: list[Row], server: str, moment: int) -> tuple[Known, bool]:
    """What a server knew by the facts, and whether any of them is not known."""
    when = datetime.fromtimestamp(moment / 1000)
    rows = [
        row
        for row in facts
        if row.server == server and row.validFrom <= when and (row.validTo is None or when < row.validTo)
    ]
    found = {
        (row.topic, row.brokerName): tuple(row[name] for name in QUEUE_COLUMNS) for row in rows if row.known
    }
    assert len(found) == sum(row.known for row in rows)
    return found, any(not row.known for row in rows)


def replayed(folder: Path, moment: int) -> Known | None:
    seen = past_state.load_past_state(folder, moment)
    if seen.journal_replay is None:
        return None
    return {
        (topic, name): (queue.read_queue_nums, queue.write_queue_nums, queue.perm, queue.topic_sys_flag)
        for topic, brokers in seen.journal_replay.queues_by_topic.items()
        for name, queue in brokers.items()
    }


def compared(facts: list[Row], folders: dict[str, Path]) -> int:
    """How many moments were looked at: there the facts are what a replay of each journal gives."""
    count = 0
    for server, folder in folders.items():
        times = sorted({record.time_ms for record in reader.read_records(folder)})
        ends = [times[0] - 1, times[-1] + 119_999, times[-1] + 120_000, times[-1] + 10_000_000]
        for moment in [moment for time in times for moment in (time - 1, time, time + 1)] + ends:
            known, is_unknown = at(facts, server, moment)
            expected = replayed(folder, moment)
            assert known == (expected or {}), (server, moment)
            assert not (is_unknown and expected is not None), (server, moment)
            count += 1
    return count


class Life:
    """A journal in which everything happens that a journal can tell of, by chance."""

    def __init__(self, seed: int) -> None:
        self.random, self.tables, self.seq, self.time = Random(seed), JournalReplay(), 0, 1_738_400_000_000
        self.server = f"life-{seed}"
        self.lines: list[bytes] = []
        # A journal may have lost its first snapshot: that of every second life has.
        if seed % 2:
            self.say(ServerStarted("1", 1))
        self.say(self.snapshot("interval" if seed % 2 else "start"))
        while len(self.lines) < 80:
            self.step()

    def say(self, event: Event) -> None:
        # Clocks are set back, and nothing may be written for minutes.
        self.time += self.random.choice([0, 1, 1000, 60_000, 200_000, -5000])
        self.seq += 1
        self.tables.apply_event(event)
        self.lines.append(
            encode_record_line(self.seq, self.server, RecordOrigin(self.time, "test", "10.0.0.1:1"), event)
        )

    def snapshot(self, reason: str) -> Snapshot:
        queues = [queue for brokers in self.tables.queues_by_topic.values() for queue in brokers.values()]
        alike, at = [], 0
        for topic, brokers in self.tables.queues_by_topic.items():
            alike.append(AlikeTopics((topic,), tuple(range(at, at + len(brokers)))))
            at += len(brokers)
        return Snapshot(reason, (), (), (), tuple(queues), tuple(alike), (), {}, {})

    def step(self) -> None:
        chance = self.random.random()
        if chance < 0.6:
            self.change()
        elif chance < 0.7:
            self.say(self.snapshot("interval"))
        else:
            rare = [
                self.lose, self.skip, self.restart, self.end, self.look_away, self.look_again, self.poll
            ]  # fmt: skip
            self.random.choice(rare)()

    def change(self) -> None:
        topic, broker = self.random.choice("ABC"), self.random.choice("xy")
        before = self.tables.queues_by_topic.get(topic, {}).get(broker)
        after = QueueData(broker, 4, self.random.choice([0, 4]), self.random.choice([4, 6]), 0)
        gone = before is not None and self.random.random() < 0.4
        change = group_topic_changes([TopicChange(topic, before, None if gone else after)])
        wiped = WritePermWiped(broker, 1, change)
        self.say(wiped if after.perm == 4 else TopicsChanged(broker, "x", change))

    def lose(self) -> None:
        self.say(EventsLost(3))
        self.tables.queues_by_topic.pop("A", None)

    def skip(self) -> None:
        self.seq += 2
        self.tables.queues_by_topic.setdefault("B", {})["x"] = QueueData("x", 8, 8, 6, 0)

    def restart(self) -> None:
        self.say(ServerStopping("told to"))
        self.end()

    def end(self) -> None:
        self.tables.queues_by_topic.clear()
        self.say(self.snapshot("start"))
        self.say(ServerStarted("1", 1))

    def look_away(self) -> None:
        self.say(
            self.random.choice([PollFailed("x", 1), CollectorStarted("1", 1, 1), CollectorStopping("x")])
        )

    def poll(self) -> None:
        self.say(self.snapshot("poll"))

    def look_again(self) -> None:
        self.say(PollRecovered(1, 1))


@pytest.fixture(scope="module")
def journals_of(played: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The journals of a scenario, and of lives: folders by server."""
    folders = {path.parent.name: path for path in played("undone-wipe").glob("ns-*/journal")}
    for seed in range(8):
        life = Life(seed)
        folder = folders[life.server] = tmp_path_factory.mktemp(life.server)
        (folder / "0000000000000001-20250201T085320000Z.jsonl").write_bytes(b"".join(life.lines))
    return folders


@pytest.fixture(scope="module")
def facts(spark: SparkSession, journals_of: dict[str, Path]) -> list[Row]:
    found = [
        file
        for folder in journals_of.values()
        for file in input_files.list_files(spark, InputSource(str(folder)))[0]
    ]
    lines = unique_lines.key_journal_lines(input_files.read_lines(spark, found))
    events = journals.parse_events(unique_lines.keep_first_copies(lines, datetime.now(UTC)))
    events = events.localCheckpoint()
    return routed(events, turned(events).localCheckpoint()).collect()


def test_whatever_happens_facts_are_what_a_replay_gives(
    facts: list[Row], journals_of: dict[str, Path]
) -> None:
    assert compared(facts, journals_of) > 1000


def test_a_fact_tells_who_began_and_ended_it(facts: list[Row]) -> None:
    wiped = [row for row in facts if row.fromType == "WritePermWiped" and row.server == "ns-1"]
    assert wiped
    assert {(row.fromCause, row.perm & 2, row.known) for row in wiped} == {
        ("WIPE_WRITE_PERM_OF_BROKER", 0, True)
    }
    assert all(row.fromClient and row.cluster != "-" for row in wiped)
    assert {row.toType for row in wiped} <= {"TopicsChanged", "WritePermAdded", "silent", "ServerStopping"}
