"""Reading a journal: its records in order, new records as they arrive, and an integrity check."""

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from namesrv_core.events import Snapshot
from namesrv_core.history.record_lines import parse_record_line
from namesrv_core.history.record_shapes import require_record_shape
from namesrv_core.history.records import InvalidRecordError, JournalRecord, event_of_record
from namesrv_core.history.replay import JournalReplay
from namesrv_core.storage.journal import index
from namesrv_core.storage.journal.segments import (
    InvalidSegmentError,
    JournalSegment,
    list_segments,
    read_lines,
    read_lines_at,
)

_MAX_SHOWN_PROBLEMS = 5


class SegmentCheck(NamedTuple):
    """The result of checking a segment. Numbers and times are None if it has no record.

    `torn_bytes` counts the bytes after the last whole line. In the open segment they are a record that is
    being written, or that a killed server left incomplete.
    """

    journal_segment: JournalSegment
    record_count: int
    first_seq: int | None
    last_seq: int | None
    first_time_ms: int | None
    last_time_ms: int | None
    file_bytes: int
    plain_bytes: int
    torn_bytes: int
    problem_texts: tuple[str, ...]


class RecordTypeCount(NamedTuple):
    """The number of records of a type, their uncompressed size, and the times of the first and the last."""

    record_count: int
    plain_bytes: int
    first_time_ms: int
    last_time_ms: int


class RecordFilter(NamedTuple):
    """A coarse filter, which also lets some unwanted records pass. None matches all.

    `can_match_line` applies to every line. `index_terms` and `event_types` apply to segments with an index.
    `report_unreadable` is called for each line that passes the filter and is no readable record.
    """

    can_match_line: Callable[[bytes], bool] | None = None
    index_terms: Sequence[str] | None = None
    event_types: Collection[str] | None = None
    report_unreadable: Callable[[InvalidRecordError], object] | None = None


_ALL_RECORDS = RecordFilter()


def read_records(
    folder: Path, since_ms: int = 0, wanted: RecordFilter = _ALL_RECORDS
) -> Iterator[JournalRecord]:
    """Read records, oldest first, beginning with the segment that holds the first record at `since_ms`.

    Skips unreadable records, which `wanted` can report. Raises InvalidSegmentError and OSError.
    """
    for segment in _drop_older_segments(list_segments(folder), since_ms):
        yield from _filter_records(segment, wanted)


def read_segments_backwards(
    folder: Path, since_ms: int, until_ms: int, wanted: RecordFilter
) -> Iterator[Iterator[JournalRecord]]:
    """Read the records of each segment in order, the newest segment first. Otherwise like `read_records`.

    Skips segments whose records are all older than `since_ms` or newer than `until_ms`.
    """
    recent = _drop_older_segments(list_segments(folder), since_ms)
    for segment in reversed([segment for segment in recent if segment.started_at_ms < until_ms]):
        yield _filter_records(segment, wanted)


def _filter_records(segment: JournalSegment, wanted: RecordFilter) -> Iterator[JournalRecord]:
    for line in _read_candidate_lines(segment, wanted):
        if (wanted.can_match_line is None or wanted.can_match_line(line)) and (
            record := _parse_readable(line, wanted.report_unreadable)
        ) is not None:
            yield record


def _read_candidate_lines(segment: JournalSegment, wanted: RecordFilter) -> Iterator[bytes]:
    lines = (
        index.find_lines(segment.file_path, wanted.index_terms, wanted.event_types)
        if segment.is_closed
        else None
    )
    return read_lines(segment) if lines is None else read_lines_at(segment, *lines)


def _drop_older_segments(segments: list[JournalSegment], since_ms: int) -> list[JournalSegment]:
    """Drop a segment if the next one began before `since_ms`, because all its records are older."""
    return [
        s for n, s in enumerate(segments, 1) if n == len(segments) or segments[n].started_at_ms > since_ms
    ]


def _readable_records(segment: JournalSegment) -> Iterator[JournalRecord]:
    return (record for line in read_lines(segment) if (record := _parse_readable(line)) is not None)


def count_records_by_type(folder: Path) -> dict[str, RecordTypeCount]:
    """Count a journal's records by event type. Raises InvalidSegmentError and OSError."""
    counts: dict[str, RecordTypeCount] = {}
    for segment in list_segments(folder):
        for line in read_lines(segment):
            record = _parse_readable(line)
            if record is not None:
                previous = counts.get(
                    record.event_type, RecordTypeCount(0, 0, record.time_ms, record.time_ms)
                )
                counts[record.event_type] = RecordTypeCount(
                    previous.record_count + 1,
                    previous.plain_bytes + len(line),
                    previous.first_time_ms,
                    record.time_ms,
                )
    return counts


def read_last_records(folder: Path, record_count: int) -> list[JournalRecord]:
    """Read the last records, and no more segments than necessary. Raises InvalidSegmentError and OSError."""
    last_records: list[JournalRecord] = []
    for segment in reversed(list_segments(folder)):
        if len(last_records) >= record_count:
            break
        last_records = [*deque(_readable_records(segment), record_count - len(last_records)), *last_records]
    return last_records


def replay_to_end(folder: Path) -> JournalReplay:
    """Rebuild the tables at the end of a journal from the last segment with a snapshot and those after it.

    Raises InvalidSegmentError and OSError.
    """
    segments: list[JournalSegment] = []
    for segment in reversed(list_segments(folder)):
        segments.insert(0, segment)
        if any(record.event_type == Snapshot.__name__ for record in _readable_records(segment)):
            break
    replay = JournalReplay()
    for segment in segments:
        for record in _readable_records(segment):
            # The tables are uncertain after a record that cannot be applied.
            with suppress(InvalidRecordError):
                replay.feed_record(record)
    return replay


def follow_records(
    folder: Path, after_seq: int, pause: Callable[[float], None] = time.sleep, period_seconds: float = 0.2
) -> Iterator[list[JournalRecord]]:
    """Yield batches of records with numbers above `after_seq` as they arrive, forever."""
    for batch in poll_records(folder, after_seq):
        if batch:
            yield batch
        else:
            pause(period_seconds)


def poll_records(folder: Path, after_seq: int) -> Iterator[list[JournalRecord]]:
    """Yield the new records of each poll, possibly none, forever. Record numbers are above `after_seq`."""
    seq, open_segment_reader = after_seq, _OpenSegmentReader()
    while True:
        segments = list_segments(folder)
        started_indexes = [
            segment_index for segment_index, segment in enumerate(segments) if segment.first_seq <= seq + 1
        ][-1:] or [0]
        batch: list[JournalRecord] = []
        for segment in segments[started_indexes[0] :]:
            new = (
                _readable_records(segment)
                if segment.is_closed
                else open_segment_reader.read_new_records(segment.file_path)
            )
            batch = [record for record in new if record.seq > seq]
            if batch:
                break
        seq = batch[-1].seq if batch else seq
        yield batch


class _OpenSegmentReader:
    """Reads what was appended to an open segment since the previous read."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._read_offset = 0

    def read_new_records(self, path: Path) -> list[JournalRecord]:
        if path != self._path:
            self._path, self._read_offset = path, 0
        try:
            with path.open("rb") as file:
                file.seek(self._read_offset)
                new = file.read()
        except FileNotFoundError:
            # The segment was just compressed. The next poll finds it under its new name.
            return []
        whole = new.rfind(b"\n") + 1
        self._read_offset += whole
        return [record for line in new[:whole].splitlines() if (record := _parse_readable(line)) is not None]


def _parse_readable(
    line: bytes, report_unreadable: Callable[[InvalidRecordError], object] | None = None
) -> JournalRecord | None:
    try:
        return require_record_shape(parse_record_line(line))
    except InvalidRecordError as error:
        if report_unreadable is not None:
            report_unreadable(error)
        return None


def check_journal(folder: Path) -> Iterator[SegmentCheck]:
    """Check a whole journal: readable records, record numbers without gaps, and consistent snapshots.

    Replaying a snapshot and the events after it must give the tables of the next snapshot. Raises OSError.
    """
    replay = JournalReplay()
    for segment in list_segments(folder):
        yield _SegmentChecker(segment, replay).check_segment()


class _SegmentChecker:
    def __init__(self, segment: JournalSegment, replay: JournalReplay) -> None:
        self._segment = segment
        self._replay = replay
        self._problems: list[str] = []

    def check_segment(self) -> SegmentCheck:
        first_and_last: list[JournalRecord] = []
        record_count = plain = line_number = 0
        try:
            for line_number, line in enumerate(read_lines(self._segment), 1):
                plain += len(line)
                record = self._check_line(line_number, line)
                if record is not None:
                    record_count += 1
                    first_and_last = [*first_and_last[:1], record]
        except InvalidSegmentError as error:
            self._problems.append(str(error))
        path = self._segment.file_path
        file_bytes = path.stat().st_size if path.exists() else plain
        torn = 0 if self._segment.is_closed else max(file_bytes - plain, 0)
        first, last = (first_and_last[0], first_and_last[-1]) if first_and_last else (None, None)
        return SegmentCheck(
            self._segment,
            record_count,
            first and first.seq,
            last and last.seq,
            first and first.time_ms,
            last and last.time_ms,
            file_bytes,
            plain,
            torn,
            self._shown_problems(),
        )

    def _check_line(self, line_number: int, line: bytes) -> JournalRecord | None:
        try:
            record = require_record_shape(parse_record_line(line))
            self._check_record(record)
        except InvalidRecordError as error:
            self._problems.append(f"line {line_number}: {error}")
            return None
        return record

    def _check_record(self, record: JournalRecord) -> None:
        replay, previous_seq = self._replay, self._replay.last_seq
        if previous_seq is not None and record.seq != previous_seq + 1:
            self._problems.append(f"record {previous_seq} is followed by {record.seq}")
        if record.event_type != Snapshot.__name__:
            replay.feed_record(record)
            return
        was_certain = replay.is_certain and previous_seq is not None and record.seq == previous_seq + 1
        before = dict(replay.table_contents()) if was_certain else {}
        replay.feed_record(record)
        event = event_of_record(record)
        if was_certain and isinstance(event, Snapshot) and event.reason not in ("start", "poll"):
            differing = [name for name, table in replay.table_contents().items() if table != before[name]]
            if differing:
                names = ", ".join(differing)
                self._problems.append(f"snapshot {record.seq} contradicts the events before it: {names}")

    def _shown_problems(self) -> tuple[str, ...]:
        hidden = len(self._problems) - _MAX_SHOWN_PROBLEMS
        hidden_text = (f"and {hidden} more",) if hidden > 0 else ()
        return (*self._problems[:_MAX_SHOWN_PROBLEMS], *hidden_text)
