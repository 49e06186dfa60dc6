"""The journal of one name server as its collector writes it."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest

from namesrv_core.errors import RocketMQError
from namesrv_core.events import (
    BrokersPolled,
    CollectorStarted,
    CollectorStopping,
    Event,
    EventsLost,
    JournalRepaired,
    JournalResumed,
    KvPut,
    Polled,
    PollFailed,
    PollRecovered,
    Snapshot,
)
from namesrv_core.history.record_lines import encode_record_line
from namesrv_core.history.records import JournalRecord, RecordOrigin, event_of_record
from namesrv_core.history.replay import JournalReplay
from namesrv_core.storage.journal import reader
from namesrv_core.storage.journal.rolling_writer import JournalLimits, JournalWriter
from nsadmin.operations.collector.journals import CollectorJournal, NameServerJournal

HOUR = 3_600_000


@contextmanager
def keeping(folder: Path, **more: object) -> Iterator[NameServerJournal]:
    new_journal = NameServerJournal(folder, "ns:1", **more)  # type: ignore[arg-type]
    try:
        yield new_journal
    finally:
        new_journal.close()


def put(keeping: NameServerJournal, value: str, now: int) -> None:
    """As if a poll had seen a value."""
    event = KvPut("N", "k", None, value)
    keeping.known_tables.apply_event(event)
    keeping.record_poll([event], now)


def records(folder: Path) -> list[JournalRecord]:
    assert [problem.problem_texts for problem in reader.check_journal(folder) if problem.problem_texts] == []
    return list(reader.read_records(folder))


def kinds(folder: Path) -> list[str]:
    return [record.event_type for record in records(folder)]


def replayed(found: list[JournalRecord]) -> JournalReplay:
    replay = JournalReplay()
    for record in found:
        replay.feed_record(record)
    return replay


def test_what_was_seen_first_is_a_snapshot_and_what_follows_are_events(tmp_path: Path) -> None:
    with keeping(tmp_path) as journal:
        journal.begin_run(1, 15_000)
        put(journal, "1", 2)
        put(journal, "2", 3)
        journal.end_run("SIGTERM", 4)
    assert kinds(tmp_path) == ["CollectorStarted", "Snapshot", "KvPut", "CollectorStopping"]
    origins = {record.origin._replace(time_ms=0) for record in records(tmp_path)}
    assert origins == {RecordOrigin(0, "collector", None, "collector")}
    assert replayed(records(tmp_path)).kv_tables == {"N": {"k": "2"}}


def test_who_starts_again_knows_what_was_known_and_that_nobody_looked_meanwhile(tmp_path: Path) -> None:
    with keeping(tmp_path) as journal:
        journal.begin_run(1, 15_000)
        put(journal, "1", 2)
        assert replayed(records(tmp_path)).is_certain
        journal.end_run("SIGINT", 3)
    assert not replayed(records(tmp_path)).is_certain
    with keeping(tmp_path) as again:
        assert again.is_known
        assert again.known_tables.kv_tables == {"N": {"k": "1"}}
        again.begin_run(10, 15_000)
        assert not replayed(records(tmp_path)).is_certain
        again.write_events([PollRecovered(0, 1)], 11)
        assert replayed(records(tmp_path)).is_certain
    assert kinds(tmp_path)[3:] == ["Snapshot", "CollectorStarted", "PollRecovered"]


def test_a_poll_by_cron_is_one_among_others(tmp_path: Path) -> None:
    for number in range(3):
        with keeping(tmp_path) as journal:
            journal.begin_run(number, None)
            put(journal, str(number), number)
    assert kinds(tmp_path) == ["Snapshot", "Snapshot", "KvPut", "Snapshot", "KvPut"]
    assert replayed(records(tmp_path)).is_certain


def test_two_do_not_write_to_one_folder_nor_to_a_name_servers_own(tmp_path: Path) -> None:
    with keeping(tmp_path), pytest.raises(RocketMQError, match="another process writes the journal"):
        NameServerJournal(tmp_path, "ns:1")
    own = JournalWriter(tmp_path)
    own.append_lines(
        encode_record_line(1, "ns:1", RecordOrigin(1, "name server"), KvPut("N", "k", None, "v")), 1, 1
    )
    own.close()
    for _ in range(2):
        # The second time shows that the first one let go of the folder.
        with pytest.raises(RocketMQError, match="a journal of another writer"):
            NameServerJournal(tmp_path, "ns:1")


def test_a_torn_end_is_cut_and_told(tmp_path: Path) -> None:
    with keeping(tmp_path) as journal:
        journal.begin_run(1, 15_000)
        put(journal, "1", 2)
    (path,) = tmp_path.glob("*.jsonl")
    path.write_bytes(path.read_bytes() + b'{"v":1,')
    with keeping(tmp_path) as again:
        again.begin_run(3, 15_000)
    assert JournalRepaired(path.name, 7) in list(map(event_of_record, records(tmp_path)))


def test_a_full_segment_is_followed_by_one_that_begins_with_a_snapshot(tmp_path: Path) -> None:
    with keeping(tmp_path, limits=JournalLimits(segment_bytes=2000)) as journal:
        journal.begin_run(1, 15_000)
        for number in range(40):
            put(journal, str(number), number + 2)
        journal.record_proof(Polled(40, 0, 0, 1), 50)
    closed = [problem for problem in reader.check_journal(tmp_path) if problem.journal_segment.is_closed]
    assert len(closed) > 1
    assert replayed(records(tmp_path)).kv_tables == {"N": {"k": "39"}}
    for problem in closed[1:]:
        first = next(record for record in records(tmp_path) if record.seq == problem.first_seq)
        assert (first.event_type, first.event_fields["reason"]) == ("Snapshot", "roll")


def test_a_segment_that_ends_while_polls_fail_says_so_again_in_the_next(tmp_path: Path) -> None:
    with keeping(tmp_path, limits=JournalLimits(segment_bytes=1000)) as journal:
        journal.begin_run(1, 15_000)
        put(journal, "1", 2)
        for number in range(20):
            journal.write_events([PollFailed("no", number + 1)], 3 + number)
            assert not replayed(records(tmp_path)).is_certain
    assert "Snapshot" in kinds(tmp_path)[3:]


def test_each_hour_has_a_snapshot_or_a_mark(tmp_path: Path) -> None:
    with keeping(tmp_path) as journal:
        journal.begin_run(1, 15_000)
        put(journal, "1", 2)
        put(journal, "2", 3)
        for hour in range(1, 4):
            journal.record_proof(Polled(1, 0, 0, 1), hour * HOUR + 2)
            journal.record_proof(Polled(1, 0, 0, 1), hour * HOUR + 3)
    marks = [kind for kind in kinds(tmp_path) if kind in ("Snapshot", "SnapshotMark")]
    assert marks == ["Snapshot", "Snapshot", "SnapshotMark", "SnapshotMark"]


class Disk:
    """Files that take nothing while `is_full`."""

    def __init__(self) -> None:
        self.is_full = False

    def __call__(self, path: Path) -> BinaryIO:
        if self.is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        file = open(path, "ab", buffering=0)  # noqa: SIM115
        return _Watched(file, self)  # type: ignore[return-value]


class _Watched:
    def __init__(self, file: BinaryIO, disk: Disk) -> None:
        self._file, self._disk = file, disk

    def write(self, data: bytes) -> int:
        if self._disk.is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self._file.write(data)

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)


def test_a_full_disk_is_told_as_a_loss_once_there_is_room(tmp_path: Path) -> None:
    disk = Disk()
    with keeping(tmp_path, opening=disk) as journal:
        journal.begin_run(1, 15_000)
        put(journal, "1", 2)
        disk.is_full = True
        put(journal, "2", 1000)
        journal.write_events([PollFailed("no", 1)], 2000)
        assert journal.disk_error == "No space left on device"
        disk.is_full = False
        journal.known_tables.apply_event(KvPut("N", "k", "2", "3"))
        journal.record_poll([KvPut("N", "k", "2", "3"), PollRecovered(1, 5)], 3000)
        assert journal.disk_error is None
    events: list[Event | None] = list(map(event_of_record, records(tmp_path)))[2:]
    assert events[:2] == [EventsLost(3), JournalResumed("No space left on device", 2000)]
    assert isinstance(events[2], Snapshot)
    assert events[3:] == [PollRecovered(1, 5)]
    assert replayed(records(tmp_path)).kv_tables == {"N": {"k": "3"}}


def test_the_first_record_tells_who_looks_and_how_often(tmp_path: Path) -> None:
    with keeping(tmp_path) as journal:
        journal.begin_run(1, 15_000)
    [event] = list(map(event_of_record, records(tmp_path)))
    assert isinstance(event, CollectorStarted)
    assert event.interval_millis == 15_000


def test_a_journal_without_tables_rolls_and_keeps_what_was_not_lost(tmp_path: Path) -> None:
    disk = Disk()
    journal = CollectorJournal(tmp_path, "brokers", JournalLimits(segment_bytes=2000, keep_bytes=3000), disk)
    journal.begin_run(1, None)
    for number in range(60):
        disk.is_full = number == 58
        journal.write_events([BrokersPolled(number, 0, 0, 1)], number + 2)
    journal.end_run("SIGTERM", 99)
    journal.tidy_segments(100)
    journal.close()
    closed = [problem for problem in reader.check_journal(tmp_path) if problem.journal_segment.is_closed]
    assert len(closed) > 2
    assert list(map(event_of_record, records(tmp_path)))[-4:] == [
        EventsLost(1),
        JournalResumed("No space left on device", 1),
        BrokersPolled(59, 0, 0, 1),
        CollectorStopping("SIGTERM"),
    ]
    # What is too much goes at the next look, the oldest first.
    again = CollectorJournal(tmp_path, "brokers", JournalLimits(keep_bytes=1000))
    again.tidy_segments(101)
    again.close()
    assert records(tmp_path)[0].seq > 1


def test_what_is_too_much_goes_when_a_segment_ends_not_only_at_the_next_proof(tmp_path: Path) -> None:
    limits = JournalLimits(segment_bytes=2000, keep_bytes=5000)
    brokers = CollectorJournal(tmp_path / "brokers", "brokers", limits)
    with keeping(tmp_path / "ns", limits=limits) as name_server:
        for journal in (brokers, name_server):
            journal.begin_run(1, 15_000)
        for number in range(300):
            brokers.write_events([BrokersPolled(number, 0, 0, 1)], number)
            put(name_server, f"{number}" * 20, number)
    brokers.close()
    for folder in ("brokers", "ns"):
        assert sum(path.stat().st_size for path in (tmp_path / folder).iterdir()) < 5000 + 2500
        assert records(tmp_path / folder)[0].seq > 1
