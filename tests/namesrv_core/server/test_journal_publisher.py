"""What a server's journal says, with the clock in the test's hand."""

import random
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from namesrv_core import __version__
from namesrv_core.events import (
    Event,
    EventsLost,
    Heartbeats,
    JournalRepaired,
    KvPut,
    ServerPaused,
    ServerReady,
    ServerStarted,
    ServerStopping,
    Snapshot,
    SnapshotMark,
)
from namesrv_core.server.journal_publisher import JournalPublisher, open_journal
from namesrv_core.server.journal_recorder import JournalRecorder
from namesrv_core.state.settings import NameServerSettings
from namesrv_core.storage.journal.reader import check_journal, count_records_by_type
from namesrv_core.storage.journal.rolling_writer import JournalLimits
from namesrv_core.storage.journal.segments import list_segments, read_lines
from tests.namesrv_core.server.test_journal_recorder import written
from tests.support.brokers import make_queue
from tests.support.name_servers import Peer, start_name_server
from tests.support.wire import STARTED_AT, Wire


class Desk:
    """A server's state and its journal; `pass_by` lets seconds go by, and does what the threads would."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
        self.folder = folder
        self.wire = Wire(settings=NameServerSettings(journalDir=str(folder), **settings))
        self.now = STARTED_AT
        self.kv: dict[str, dict[str, str | None]] = {}
        journal = open_journal(
            self.wire.state, lambda: ({n: dict(t) for n, t in self.kv.items()}, {}), lambda: self.now / 1000
        )
        assert journal is not None
        self.journaling: JournalPublisher = journal
        monkeypatch.setattr(JournalRecorder, "start", lambda recorder: None)
        monkeypatch.setattr(JournalRecorder, "stop", lambda recorder: recorder.write_waiting())
        self._journal = journal._journal_writer

    def start(self) -> None:
        self.journaling.start("127.0.0.1:9876", "s", self.now)
        self.turn()

    def turn(self) -> None:
        if self.journaling._recorder is not None:
            self.journaling._recorder.write_waiting()

    def pass_by(self, seconds: int, step: int = 1) -> None:
        for _ in range(0, seconds, step):
            self.now += step * 1000
            self.journaling.handle_tick(self.now)
            self.turn()

    def written(self, start: int = 0) -> list[Event | None]:
        return written(self.folder)[start:]

    def close(self) -> None:
        self._journal.close()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    new_desk = Desk(tmp_path, monkeypatch)
    yield new_desk
    new_desk.close()


def test_there_is_no_journal_unless_a_folder_is_set() -> None:
    assert open_journal(Wire().state, lambda: ({}, {})) is None


def test_a_journal_begins_with_a_snapshot_and_who_wakes_up_with_it(desk: Desk) -> None:
    desk.start()
    snapshot, started, ready = desk.written()
    assert isinstance(snapshot, Snapshot)
    assert snapshot.reason == "start"
    assert isinstance(started, ServerStarted)
    assert started.version == __version__
    assert ready == ServerReady("127.0.0.1:9876")


def test_it_ends_with_why_the_server_stops(desk: Desk) -> None:
    desk.start()
    desk.journaling.stop("SIGTERM")
    assert desk.written()[-1] == ServerStopping("SIGTERM")


def test_a_server_that_waits_for_brokers_is_ready_when_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path, monkeypatch, needWaitForService=True, waitSecondsForService=5)
    desk.start()
    desk.pass_by(4)
    assert ServerReady("127.0.0.1:9876") not in desk.written()
    desk.pass_by(2)
    assert desk.written().count(ServerReady("127.0.0.1:9876")) == 1
    desk.close()


def test_what_a_kill_left_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Desk(tmp_path, monkeypatch)
    first.start()
    first.close()
    (path,) = tmp_path.glob("*.jsonl")
    path.write_bytes(path.read_bytes()[:-9])
    desk = Desk(tmp_path, monkeypatch)
    desk.start()
    (repaired,) = [event for event in desk.written() if isinstance(event, JournalRepaired)]
    assert repaired.file == path.name
    assert repaired.cut_bytes > 9
    desk.close()


def test_every_minute_one_line_proves_the_life_of_all_brokers(desk: Desk) -> None:
    desk.start()
    desk.wire.register_broker("a", "T", "U", addr="x:1", now=desk.now)
    desk.wire.register_broker("b", "T", "U", addr="y:1", now=desk.now + 20_000)
    desk.pass_by(120)
    assert desk.written(3) == [Heartbeats(2, 60_000, "x:1"), Heartbeats(2, 120_000, "x:1")]


def test_a_server_without_brokers_says_so(desk: Desk) -> None:
    desk.start()
    desk.pass_by(60)
    assert desk.written(3) == [Heartbeats(0, None, None)]


def test_an_hour_without_a_change_is_marked_and_one_with_a_change_has_a_snapshot(desk: Desk) -> None:
    desk.start()
    desk.wire.state.settings.journalSnapshotMinutes = 1
    desk.pass_by(60)
    assert desk.written(3) == [SnapshotMark("interval", 0), Heartbeats(0, None, None)]
    desk.journaling.publish_events([KvPut("n", "k", None, "v")], "PUT_KV_CONFIG", "10.0.0.1:5")
    desk.pass_by(60)
    put, snapshot, _ = desk.written(5)
    assert put == KvPut("n", "k", None, "v")
    assert isinstance(snapshot, Snapshot)
    assert snapshot.reason == "interval"


def test_a_snapshot_can_be_asked_for(desk: Desk) -> None:
    desk.start()
    desk.journaling.take_snapshot("request", desk.now)
    desk.turn()
    (snapshot,) = desk.written(3)
    assert isinstance(snapshot, Snapshot)
    assert snapshot.reason == "request"


def test_after_a_loss_comes_a_snapshot(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.start()
    recorder = desk.journaling._recorder
    assert recorder is not None
    monkeypatch.setattr(recorder, "_max_waiting_changes", 2)
    desk.journaling.publish_events([KvPut("n", f"k{number}", None, "v") for number in range(5)], "test")
    desk.turn()
    desk.pass_by(2)
    *kept, lost, snapshot = desk.written(3)
    assert len(kept) == 2
    assert lost == EventsLost(3)
    assert isinstance(snapshot, Snapshot)
    assert snapshot.reason == "loss"
    desk.pass_by(5)
    assert desk.written()[-1] == snapshot


def test_a_full_segment_is_followed_by_one_that_begins_with_a_snapshot(desk: Desk) -> None:
    desk.start()
    desk.pass_by(24 * 3600 + 120, step=5)
    first, second = sorted(desk.folder.glob("*.jsonl*"))
    assert first.name.endswith(".zst")
    assert b'"type":"Snapshot","cause":"name server","reason":"roll"' in second.read_bytes().splitlines()[0]
    assert [type(event).__name__ for event in desk.written()].count("Snapshot") == 2


def test_a_full_segment_is_rolled_at_the_next_event_and_the_journal_keeps_its_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path, monkeypatch, journalSegmentMegabytes=1, journalKeepMegabytes=2)
    desk.start()
    chance, value, rolls, sizes = random.Random(1), None, 0, list[int]()
    for _ in range(300):
        # No tick: all of this happens within a second.
        before, value = value, chance.randbytes(30_000).hex()
        desk.kv["n"] = {"k": value}
        if desk.journaling.publish_events([KvPut("n", "k", before, value)], "PUT_KV_CONFIG", "10.0.0.1:5"):
            desk.journaling.take_snapshot("roll", desk.now)
            rolls += 1
        desk.turn()
        sizes.append(sum(path.stat().st_size for path in tmp_path.iterdir()))
    assert rolls > 20
    # What is kept, and the open segment with what it gets until the roll.
    assert max(sizes) < 4 << 20
    assert not any(problem.problem_texts for problem in check_journal(tmp_path))
    desk.close()


def test_a_large_snapshot_does_not_roll_a_segment_each_second(desk: Desk) -> None:
    for number in range(30):
        desk.wire.register_broker("a", *(f"{'x' * 120}-{number}-{t}" for t in range(1000)), now=desk.now)
    desk.journaling._journal_writer._limits = JournalLimits(segment_bytes=1 << 20)
    desk.start()
    desk.pass_by(20)
    assert len(list(desk.folder.glob("*.jsonl*"))) == 1


def test_a_server_that_could_do_nothing_for_a_while_says_for_how_long(desk: Desk) -> None:
    desk.start()
    desk.pass_by(3)
    desk.now += 30_000
    desk.pass_by(3)
    assert desk.written(3) == [ServerPaused(30_000)]


def test_the_status_is_what_the_configuration_shows(desk: Desk) -> None:
    desk.start()
    assert b"\njournal=ok\n" in desk.wire.send_request(319).body
    recorder = desk.journaling._recorder
    assert recorder is not None
    recorder._errors["write"] = "No space left on device"
    desk.pass_by(1)
    assert desk.wire.send_request(319).body.endswith(b"\njournal=failing: No space left on device\n")


def named(count: int) -> list[str]:
    """Topic names as teams choose them: two words and a number."""
    chance = random.Random(3)
    words = ["".join(chance.choices(string.ascii_lowercase, k=chance.randrange(3, 9))) for _ in range(2000)]
    return [f"{chance.choice(words)}_{chance.choice(words)}_{number}" for number in range(count)]


@pytest.mark.parametrize("spread", [64, 4])
def test_a_quiet_day_of_64_brokers_and_10000_topics_takes_less_than_a_megabyte(
    desk: Desk, spread: int
) -> None:
    chance = random.Random(5)
    tables = desk.wire.state.tables
    for number in range(64):
        desk.wire.register_broker(f"broker-{number}", "T", "U", addr=f"10.0.0.{number}:10911", now=desk.now)
    for topic in named(10_000):
        queues = chance.choice((4, 8, 16))
        for number in sorted(chance.sample(range(64), spread)):
            tables.set_queue(topic, make_queue(f"broker-{number}", queues=queues))
    desk.start()
    for _ in range(24 * 60):
        for live in tables.live_brokers.values():
            live.heard_at_ms = desk.now - chance.randrange(30_000)
        desk.pass_by(60, step=5)
    desk.pass_by(120, step=5)
    closed, _ = sorted(desk.folder.glob("*.jsonl*"))
    assert closed.suffix == ".zst"
    assert closed.stat().st_size < 1 << 20
    assert [problem.problem_texts for problem in check_journal(desk.folder)] == [(), ()]
    kinds = count_records_by_type(desk.folder)
    assert kinds["Heartbeats"].record_count in (1441, 1442)
    assert kinds["SnapshotMark"].record_count == 24


async def test_a_flood_of_large_values_rolls_segments_between_two_ticks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No tick comes by itself.
    monkeypatch.setattr("namesrv_core.server.journal_publisher.TICK_MS", 1_000_000)
    journal, megabyte = tmp_path / "journal", 1 << 20
    async with (
        start_name_server(tmp_path, journalDir=str(journal), journalSegmentMegabytes=1) as server,
        Peer.connect(server.namesrv_addr) as peer,
    ):
        for number in range(60):
            value = f"{number:03}" * 20_000
            assert (await peer.send_request(100, {"namespace": "n", "key": "k", "value": value})).code == 0
    sizes = [sum(map(len, read_lines(segment))) for segment in list_segments(journal)]
    assert len(sizes) > 5
    assert max(sizes) < 2 * megabyte
    assert not any(problem.problem_texts for problem in check_journal(journal))
