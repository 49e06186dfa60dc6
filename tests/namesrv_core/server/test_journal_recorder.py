"""The recorder: nobody waits for it, and it tells what it could not write."""

import random
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.events import (
    Event,
    EventsLost,
    JournalResumed,
    KvDeleted,
    KvPut,
    MappingChange,
    MappingInfo,
    MappingsChanged,
    MinBrokerIdChanged,
    SettingChange,
    SettingsChanged,
    Snapshot,
    TopicChange,
    TopicsChanged,
    group_topic_changes,
)
from namesrv_core.history.record_lines import parse_record_line
from namesrv_core.history.records import JournalRecord, RecordOrigin, event_of_record
from namesrv_core.server.journal_recorder import JournalFigures, JournalRecorder, QueuedSnapshot
from namesrv_core.state.snapshot import copy_tables
from namesrv_core.storage.journal.rolling_writer import JournalLimits, JournalWriter
from namesrv_core.storage.journal.segments import list_segments, read_lines
from tests.support.brokers import make_queue
from tests.support.wire import STARTED_AT, Wire

ORIGIN = RecordOrigin(1_700_000_000_000, "test", "10.0.0.1:5")


def put(number: int) -> KvPut:
    return KvPut("n", f"k{number}", None, "v")


def records(folder: Path) -> list[JournalRecord]:
    return [parse_record_line(text) for segment in list_segments(folder) for text in read_lines(segment)]


def written(folder: Path) -> list[Event | None]:
    written_records = records(folder)
    assert [record.seq for record in written_records] == list(range(1, len(written_records) + 1))
    return [event_of_record(record) for record in written_records]


class Disk:
    """A file whose writes wait until `gate` is open, or fail while `error` is set."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115
        self.gate = threading.Event()
        self.gate.set()
        self.reached = threading.Event()
        self.error: OSError | None = None

    def write(self, data: memoryview) -> int:
        self.reached.set()
        assert self.gate.wait(20)
        if self.error is not None:
            raise self.error
        return self._file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class Bench:
    """A recorder on such a disk, with a clock in the test's hand; `turn` does what its thread would do."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, **more: Any) -> None:
        self.folder = folder
        self.disk: Any = None
        self.now = 1_700_000_000.0
        limits = more.pop("limits", JournalLimits())

        def opening(path: Path) -> Any:
            error = None if self.disk is None else self.disk.error
            self.disk = Disk(path)
            self.disk.error = error
            return self.disk

        self.journal = JournalWriter(folder, limits, opening)
        self.recorder = JournalRecorder(self.journal, "s", wall_clock=lambda: self.now, **more)
        monkeypatch.setattr("namesrv_core.server.journal_recorder._RETRY_SECONDS", 0.001)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    new_bench = Bench(tmp_path, monkeypatch, max_waiting_changes=10)
    yield new_bench
    if not new_bench.recorder._writer_thread.ident:
        new_bench.journal.close()


def until(event: threading.Event) -> None:
    assert event.wait(20)


def test_events_are_written_in_their_order_with_their_origin(bench: Bench) -> None:
    for number in range(5):
        bench.recorder.put_event(ORIGIN, put(number))
    bench.recorder.write_waiting()
    assert written(bench.folder) == [put(number) for number in range(5)]
    assert {record.origin for record in records(bench.folder)} == {ORIGIN}
    assert {record.server_name for record in records(bench.folder)} == {"s"}
    assert bench.recorder.status_text == "ok"


def test_what_waits_is_written_at_the_end(bench: Bench) -> None:
    bench.recorder.start()
    for number in range(5):
        bench.recorder.put_event(ORIGIN, put(number))
    bench.recorder.stop()
    assert written(bench.folder) == [put(number) for number in range(5)]


def test_a_disk_that_hangs_holds_up_nobody_and_what_it_did_not_take_is_counted(bench: Bench) -> None:
    bench.recorder.start()
    bench.recorder.put_event(ORIGIN, put(0))
    while bench.disk is None:
        pass
    until(bench.disk.reached)
    bench.disk.gate.clear()
    bench.disk.reached.clear()
    bench.recorder.put_event(ORIGIN, put(1))
    until(bench.disk.reached)
    # The thread hangs in a write now; ten events have room, whatever comes then has not.
    taken = [bench.recorder.put_event(ORIGIN, put(number)) for number in range(2, 50)]
    assert taken == [True] * 9 + [False] * 39
    assert bench.recorder.has_gap
    bench.disk.gate.set()
    while not bench.recorder.put_event(ORIGIN, put(99)):
        pass
    bench.recorder.stop()
    events = written(bench.folder)
    assert events[:11] == [put(number) for number in range(11)]
    assert events[-1] == put(99)
    (lost,) = [event for event in events if isinstance(event, EventsLost)]
    assert len(events) - 2 - 1 + lost.lost >= 49 - 1
    assert lost.lost >= 39


def test_a_loss_is_told_before_the_next_event_and_without_one(bench: Bench) -> None:
    for number in range(13):
        bench.recorder.put_event(ORIGIN, put(number))
    bench.recorder.write_waiting()
    bench.recorder.record_losses(ORIGIN)
    bench.recorder.record_losses(ORIGIN)
    bench.recorder.write_waiting()
    assert written(bench.folder) == [*map(put, range(10)), EventsLost(3)]


def test_an_event_that_is_larger_than_all_room_is_taken_by_an_idle_recorder(bench: Bench) -> None:
    changes = group_topic_changes(TopicChange(f"T{number}", None, make_queue()) for number in range(50))
    large = TopicsChanged("a", "registration", changes)
    assert bench.recorder.put_event(ORIGIN, large)
    assert not bench.recorder.put_event(ORIGIN, put(1))
    bench.recorder.write_waiting()
    assert bench.recorder.put_event(ORIGIN, put(2))
    bench.recorder.write_waiting()
    assert written(bench.folder) == [large, EventsLost(1), put(2)]


def test_a_full_disk_is_told_and_when_there_is_room_again_nothing_is_missing(bench: Bench) -> None:
    bench.recorder.put_event(ORIGIN, put(0))
    bench.recorder.write_waiting()
    bench.disk.error = OSError(28, "No space left on device")
    bench.recorder.start()
    bench.disk.reached.clear()
    bench.recorder.put_event(ORIGIN, put(1))
    until(bench.disk.reached)
    while bench.recorder.status_text == "ok":
        pass
    assert bench.recorder.status_text == "failing: No space left on device"
    bench.now += 7
    bench.disk.error = None
    while bench.recorder.status_text != "ok":
        pass
    bench.recorder.put_event(ORIGIN, put(2))
    bench.recorder.stop()
    first, *rest = [event for event in written(bench.folder) if not isinstance(event, JournalResumed)]
    assert [first, *rest] == [put(0), put(1), put(2)]
    (resumed,) = [event for event in written(bench.folder) if isinstance(event, JournalResumed)]
    assert resumed == JournalResumed("No space left on device", 7000)


def test_a_server_ends_though_the_disk_takes_nothing(bench: Bench) -> None:
    bench.recorder.put_event(ORIGIN, put(0))
    bench.recorder.write_waiting()
    bench.disk.error = OSError(28, "No space left on device")
    bench.recorder.start()
    bench.recorder.put_event(ORIGIN, put(1))
    bench.recorder.stop()
    assert written(bench.folder) == [put(0)]


def test_a_failure_that_nobody_expected_is_told_and_does_not_end_the_recorder(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(now: int, is_hurried: bool) -> None:
        raise ValueError("out of the blue")

    with monkeypatch.context() as broken:
        broken.setattr(bench.journal, "tidy_segments", fails)
        bench.recorder.write_waiting()
        assert bench.recorder.status_text == "failing: out of the blue"
    bench.now += 61
    bench.recorder.write_waiting()
    assert bench.recorder.status_text == "ok"
    assert written(bench.folder) == [JournalResumed("out of the blue", 61_000)]


def test_an_event_that_cannot_be_written_down_is_lost_and_said_so(bench: Bench) -> None:
    bench.recorder.put_event(ORIGIN, KvPut("n", "k", None, object()))  # type: ignore[arg-type]
    bench.recorder.put_event(ORIGIN, put(1))
    bench.recorder.write_waiting()
    assert written(bench.folder) == [EventsLost(1), put(1)]
    assert bench.recorder.has_gap


def test_a_snapshot_rolls_a_segment_that_is_full_and_begins_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, monkeypatch, limits=JournalLimits(segment_bytes=300))
    wire = Wire()
    wire.register_broker("a", "T", "U")
    taken = QueuedSnapshot(copy_tables(wire.state, STARTED_AT, {}, {}), "roll", rolls_segment=True)
    for number in range(3):
        bench.recorder.put_event(ORIGIN, put(number))
    bench.recorder.write_waiting()
    assert bench.recorder.is_segment_full
    bench.recorder.put_event(ORIGIN, put(3))
    bench.recorder.put_event(ORIGIN, taken)
    bench.recorder.put_event(ORIGIN, put(4))
    bench.now += 61
    bench.recorder.write_waiting()
    first, second = list_segments(tmp_path)
    assert (first.is_closed, second.is_closed) == (True, False)
    assert len(list(read_lines(first))) == 4
    snapshot, last = [event_of_record(parse_record_line(text)) for text in read_lines(second)]
    assert isinstance(snapshot, Snapshot)
    assert last == put(4)
    bench.journal.close()


def test_a_journal_that_somebody_removed_goes_on_with_another_file(bench: Bench) -> None:
    bench.recorder.put_event(ORIGIN, put(0))
    bench.recorder.write_waiting()
    shutil.rmtree(bench.folder)
    bench.now += 61
    bench.recorder.write_waiting()
    assert bench.recorder.has_gap
    assert bench.recorder.status_text == "ok"
    bench.recorder.put_event(ORIGIN, put(1))
    bench.recorder.write_waiting()
    assert [(record.seq, event_of_record(record)) for record in records(bench.folder)] == [(2, put(1))]


@pytest.mark.parametrize(("fsync", "times"), [("always", 3), ("interval", 1), ("never", 0)])
def test_the_disk_is_asked_to_keep_always_each_second_or_never(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fsync: str, times: int
) -> None:
    bench = Bench(tmp_path, monkeypatch, fsync_mode=fsync)
    synced: list[None] = []
    monkeypatch.setattr(bench.journal, "sync_segment", lambda: synced.append(None))
    for number in range(3):
        bench.recorder.put_event(ORIGIN, put(number))
        bench.recorder.write_waiting()
    assert len(synced) == times
    bench.now += 1
    bench.recorder.write_waiting()
    assert len(synced) == times + (fsync == "interval")
    bench.journal.close()


def test_its_figures_tell_what_waits_for_how_long_and_what_was_lost(bench: Bench) -> None:
    assert bench.recorder.read_figures() == JournalFigures(True, 0, 0.0, 0, 0)
    for number in range(13):
        bench.recorder.put_event(ORIGIN, put(number))
    assert bench.recorder.read_figures() == JournalFigures(True, 10, 0.0, 10, 3)
    bench.recorder.write_waiting()
    assert bench.recorder.read_figures() == JournalFigures(True, 0, 0.0, 10, 3)


def test_a_disk_that_fails_makes_the_oldest_that_waits_older(bench: Bench) -> None:
    bench.recorder.start()
    bench.recorder.put_event(ORIGIN, put(0))
    while bench.disk is None:
        pass
    until(bench.disk.reached)
    bench.disk.error = OSError(28, "No space left on device")
    bench.recorder.put_event(ORIGIN, put(1))
    while bench.recorder.status_text == "ok":
        pass
    bench.now += 30
    figures = bench.recorder.read_figures()
    assert (figures.is_ok, figures.waiting_changes, figures.behind_seconds) == (False, 1, 30.0)
    bench.disk.error = None
    while bench.recorder.read_figures().behind_seconds:
        pass
    bench.recorder.stop()
    assert bench.recorder.read_figures().is_ok


def large_put(number: int) -> KvPut:
    return KvPut("n", f"k{number}", "x" * 60_000, "y" * 60_000)


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_a_journal_keeps_its_bound_although_the_writer_never_comes_to_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = JournalLimits(segment_bytes=1 << 20, keep_bytes=2 << 20)
    bench = Bench(tmp_path, monkeypatch, limits=limits)
    taken = QueuedSnapshot(copy_tables(Wire().state, STARTED_AT, {}, {}), "roll", rolls_segment=True)
    sizes: list[int] = []

    def opening(path: Path) -> Any:
        sizes.append(folder_bytes(tmp_path))
        return Disk(path)

    monkeypatch.setattr(bench.journal, "_open_file", opening)
    # Hexadecimal digits of random bytes: what compression cannot make small.
    chance = random.Random(1)
    for number in range(200):
        bench.recorder.put_event(ORIGIN, KvPut("n", f"k{number}", None, chance.randbytes(30_000).hex()))
        if number % 25 == 24:
            bench.recorder.put_event(ORIGIN, taken)
    bench.recorder.write_waiting()
    assert len(sizes) == 9
    assert max(sizes) < (2 << 20) + 2 * (25 * 61_000)
    assert len(list_segments(tmp_path)) < 5
    assert records(tmp_path)[-1].seq == 208
    bench.journal.close()


def test_a_segment_is_known_to_be_full_before_the_queue_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, monkeypatch, limits=JournalLimits(segment_bytes=20_000))
    rolls: list[bool] = []
    append_lines = bench.journal.append_lines

    def append_and_look(*args: Any) -> None:
        rolls.append(bench.recorder.needs_roll)
        append_lines(*args)

    monkeypatch.setattr(bench.journal, "append_lines", append_and_look)
    for number in range(600):
        changes = group_topic_changes([TopicChange(f"T{number}", None, make_queue())])
        bench.recorder.put_event(ORIGIN, TopicsChanged("a", "registration", changes))
    bench.recorder.write_waiting()
    assert rolls == [False, True, True]
    taken = QueuedSnapshot(copy_tables(Wire().state, STARTED_AT, {}, {}), "roll", rolls_segment=True)
    bench.recorder.put_event(ORIGIN, taken)
    # One roll is asked for, however long it waits in the queue.
    assert (bench.recorder.is_segment_full, bench.recorder.needs_roll) == (True, False)
    bench.recorder.write_waiting()
    assert (bench.recorder.is_segment_full, bench.recorder.needs_roll) == (False, False)
    bench.journal.close()


def test_a_batch_of_large_events_is_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path, monkeypatch)
    lengths: list[int] = []
    monkeypatch.setattr(bench.journal, "append_lines", lambda line, count, now: lengths.append(len(line)))
    for number in range(256):
        bench.recorder.put_event(ORIGIN, large_put(number))
    bench.recorder.write_waiting()
    assert max(lengths) < 4 << 20
    bench.journal.close()


def test_large_values_count_as_many_changes_so_the_queue_stays_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, monkeypatch)
    accepted = [bench.recorder.put_event(ORIGIN, large_put(number)) for number in range(1000)]
    assert 50 << 20 < 120_000 * sum(accepted) < 70 << 20
    assert accepted == sorted(accepted, reverse=True)
    bench.recorder.write_waiting()
    assert bench.recorder.read_figures().waiting_changes == 0
    bench.journal.close()


def test_a_roll_finds_room_in_a_full_queue_and_the_losses_before_it_are_told_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, monkeypatch, max_waiting_changes=3, limits=JournalLimits(segment_bytes=300))
    for number in range(3):
        bench.recorder.put_event(ORIGIN, put(number))
    bench.recorder.write_waiting()
    for number in range(3, 8):
        bench.recorder.put_event(ORIGIN, put(number))
    taken = QueuedSnapshot(copy_tables(Wire().state, STARTED_AT, {}, {}), "roll", rolls_segment=True)
    assert bench.recorder.put_event(ORIGIN, taken)
    bench.recorder.write_waiting()
    *before, lost, snapshot = written(tmp_path)
    assert (before, lost, isinstance(snapshot, Snapshot)) == ([*map(put, range(6))], EventsLost(2), True)
    assert len(list_segments(tmp_path)) == 2
    bench.journal.close()


def test_a_segment_ends_although_the_disk_refuses_to_flush_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, monkeypatch, fsync_mode="never", limits=JournalLimits(segment_bytes=300))
    for number in range(3):
        bench.recorder.put_event(ORIGIN, put(number))
    bench.recorder.write_waiting()

    def fail() -> None:
        raise OSError(5, "Input/output error")

    taken = QueuedSnapshot(copy_tables(Wire().state, STARTED_AT, {}, {}), "roll", rolls_segment=True)
    with monkeypatch.context() as broken:
        broken.setattr(bench.journal, "roll_segment", fail)
        bench.recorder.put_event(ORIGIN, taken)
        bench.recorder.write_waiting()
    assert bench.recorder.status_text == "failing: Input/output error"
    assert not bench.recorder.needs_roll
    assert len(list_segments(tmp_path)) == 2
    bench.journal.close()


def test_a_roll_is_asked_for_when_the_texts_in_the_queue_fill_the_segment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, monkeypatch, limits=JournalLimits(segment_bytes=1 << 20))
    taken = QueuedSnapshot(copy_tables(Wire().state, STARTED_AT, {}, {}), "roll", rolls_segment=True)
    # The thread writes nothing in the meantime.
    for number in range(90):
        bench.recorder.put_event(ORIGIN, large_put(number))
        if bench.recorder.needs_roll:
            bench.recorder.put_event(ORIGIN, taken)
    bench.recorder.write_waiting()
    sizes = [sum(map(len, read_lines(segment))) for segment in list_segments(tmp_path)]
    assert len(sizes) == 11
    assert max(sizes) < (1 << 20) + 2 * 121_000
    bench.journal.close()


@pytest.mark.parametrize(
    "event",
    [
        KvDeleted("n" * 30_000, "k" * 30_000, None),
        SettingsChanged((SettingChange("productEnvName", "x" * 30_000, "y" * 30_000),)),
        MinBrokerIdChanged("a", 0, "x:1", None, None, ("10.0.0.1:10911",) * 250),
        MappingsChanged("a", (MappingChange("T", "a", None, MappingInfo(curr_id_map=((0, 0),) * 250)),)),
    ],
    ids=lambda event: type(event).__name__,
)
def test_whatever_makes_an_event_large_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, event: Event
) -> None:
    bench = Bench(tmp_path, monkeypatch)
    bench.recorder.put_event(ORIGIN, event)
    assert 250 <= bench.recorder.read_figures().waiting_changes < 260
    bench.journal.close()
