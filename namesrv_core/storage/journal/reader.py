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
    journal_folder: Path, since_ms: int = 0, record_filter: RecordFilter = _ALL_RECORDS
) -> Iterator[JournalRecord]:
    """Read records, oldest first, beginning with the segment that holds the first record at `since_ms`.

    Skips unreadable records, which `record_filter` can report. Raises InvalidSegmentError and OSError.
    """
    for journal_segment in _drop_older_segments(list_segments(journal_folder), since_ms):
        yield from _filter_records(journal_segment, record_filter)


def read_segments_backwards(
    journal_folder: Path, since_ms: int, until_ms: int, record_filter: RecordFilter
) -> Iterator[Iterator[JournalRecord]]:
    """Read the records of each segment in order, the newest segment first. Otherwise like `read_records`.

    Skips segments whose records are all older than `since_ms` or newer than `until_ms`.
    """
    recent_segments = _drop_older_segments(list_segments(journal_folder), since_ms)
    for journal_segment in reversed(
        [journal_segment for journal_segment in recent_segments if journal_segment.started_at_ms < until_ms]
    ):
        yield _filter_records(journal_segment, record_filter)


def _filter_records(journal_segment: JournalSegment, record_filter: RecordFilter) -> Iterator[JournalRecord]:
    for line_bytes in _read_candidate_lines(journal_segment, record_filter):
        if (record_filter.can_match_line is None or record_filter.can_match_line(line_bytes)) and (
            journal_record := _parse_readable(line_bytes, record_filter.report_unreadable)
        ) is not None:
            yield journal_record


def _read_candidate_lines(journal_segment: JournalSegment, record_filter: RecordFilter) -> Iterator[bytes]:
    indexed_lines = (
        index.find_lines(journal_segment.file_path, record_filter.index_terms, record_filter.event_types)
        if journal_segment.is_closed
        else None
    )
    return (
        read_lines(journal_segment)
        if indexed_lines is None
        else read_lines_at(journal_segment, *indexed_lines)
    )


def _drop_older_segments(all_segments: list[JournalSegment], since_ms: int) -> list[JournalSegment]:
    """Drop a segment if the next one began before `since_ms`, because all its records are older."""
    return [
        journal_segment
        for next_index, journal_segment in enumerate(all_segments, 1)
        if next_index == len(all_segments) or all_segments[next_index].started_at_ms > since_ms
    ]


def _readable_records(journal_segment: JournalSegment) -> Iterator[JournalRecord]:
    return (
        journal_record
        for line_bytes in read_lines(journal_segment)
        if (journal_record := _parse_readable(line_bytes)) is not None
    )


def count_records_by_type(journal_folder: Path) -> dict[str, RecordTypeCount]:
    """Count a journal's records by event type. Raises InvalidSegmentError and OSError."""
    counts_by_type: dict[str, RecordTypeCount] = {}
    for journal_segment in list_segments(journal_folder):
        for line_bytes in read_lines(journal_segment):
            journal_record = _parse_readable(line_bytes)
            if journal_record is not None:
                previous_count = counts_by_type.get(
                    journal_record.event_type,
                    RecordTypeCount(0, 0, journal_record.time_ms, journal_record.time_ms),
                )
                counts_by_type[journal_record.event_type] = RecordTypeCount(
                    previous_count.record_count + 1,
                    previous_count.plain_bytes + len(line_bytes),
                    previous_count.first_time_ms,
                    journal_record.time_ms,
                )
    return counts_by_type


def read_last_records(journal_folder: Path, record_count: int) -> list[JournalRecord]:
    """Read the last records, and no more segments than necessary. Raises InvalidSegmentError and OSError."""
    last_records: list[JournalRecord] = []
    for journal_segment in reversed(list_segments(journal_folder)):
        if len(last_records) >= record_count:
            break
        last_records = [
            *deque(_readable_records(journal_segment), record_count - len(last_records)),
            *last_records,
        ]
    return last_records


def replay_to_end(journal_folder: Path) -> JournalReplay:
    """Rebuild the tables at the end of a journal from the last segment with a snapshot and those after it.

    Raises InvalidSegmentError and OSError.
    """
    replayed_segments: list[JournalSegment] = []
    for journal_segment in reversed(list_segments(journal_folder)):
        replayed_segments.insert(0, journal_segment)
        if any(
            journal_record.event_type == Snapshot.__name__
            for journal_record in _readable_records(journal_segment)
        ):
            break
    journal_replay = JournalReplay()
    for journal_segment in replayed_segments:
        for journal_record in _readable_records(journal_segment):
            # The tables are uncertain after a record that cannot be applied.
            with suppress(InvalidRecordError):
                journal_replay.feed_record(journal_record)
    return journal_replay


def follow_records(
    journal_folder: Path,
    after_seq: int,
    pause: Callable[[float], None] = time.sleep,
    period_seconds: float = 0.2,
) -> Iterator[list[JournalRecord]]:
    """Yield batches of records with numbers above `after_seq` as they arrive, forever."""
    for record_batch in poll_records(journal_folder, after_seq):
        if record_batch:
            yield record_batch
        else:
            pause(period_seconds)


def poll_records(journal_folder: Path, after_seq: int) -> Iterator[list[JournalRecord]]:
    """Yield the new records of each poll, possibly none, forever. Record numbers are above `after_seq`."""
    reached_seq, open_segment_reader = after_seq, _OpenSegmentReader()
    while True:
        all_segments = list_segments(journal_folder)
        started_indexes = [
            segment_index
            for segment_index, journal_segment in enumerate(all_segments)
            if journal_segment.first_seq <= reached_seq + 1
        ][-1:] or [0]
        record_batch: list[JournalRecord] = []
        for journal_segment in all_segments[started_indexes[0] :]:
            new_records = (
                _readable_records(journal_segment)
                if journal_segment.is_closed
                else open_segment_reader.read_new_records(journal_segment.file_path)
            )
            record_batch = [
                journal_record for journal_record in new_records if journal_record.seq > reached_seq
            ]
            if record_batch:
                break
        reached_seq = record_batch[-1].seq if record_batch else reached_seq
        yield record_batch


class _OpenSegmentReader:
    """Reads what was appended to an open segment since the previous read."""

    def __init__(self) -> None:
        self._segment_path: Path | None = None
        self._read_offset = 0

    def read_new_records(self, segment_path: Path) -> list[JournalRecord]:
        if segment_path != self._segment_path:
            self._segment_path, self._read_offset = segment_path, 0
        try:
            with segment_path.open("rb") as segment_file:
                segment_file.seek(self._read_offset)
                new_bytes = segment_file.read()
        except FileNotFoundError:
            # The segment was just compressed. The next poll finds it under its new name.
            return []
        whole_bytes = new_bytes.rfind(b"\n") + 1
        self._read_offset += whole_bytes
        return [
            journal_record
            for line_bytes in new_bytes[:whole_bytes].splitlines()
            if (journal_record := _parse_readable(line_bytes)) is not None
        ]


def _parse_readable(
    line_bytes: bytes, report_unreadable: Callable[[InvalidRecordError], object] | None = None
) -> JournalRecord | None:
    try:
        return require_record_shape(parse_record_line(line_bytes))
    except InvalidRecordError as error:
        if report_unreadable is not None:
            report_unreadable(error)
        return None


def check_journal(journal_folder: Path) -> Iterator[SegmentCheck]:
    """Check a whole journal: readable records, record numbers without gaps, and consistent snapshots.

    Replaying a snapshot and the events after it must give the tables of the next snapshot. Raises OSError.
    """
    journal_replay = JournalReplay()
    for journal_segment in list_segments(journal_folder):
        yield _SegmentChecker(journal_segment, journal_replay).check_segment()


class _SegmentChecker:
    def __init__(self, journal_segment: JournalSegment, journal_replay: JournalReplay) -> None:
        self._journal_segment = journal_segment
        self._journal_replay = journal_replay
        self._problem_texts: list[str] = []

    def check_segment(self) -> SegmentCheck:
        first_and_last: list[JournalRecord] = []
        record_count = plain_bytes = line_number = 0
        try:
            for line_number, line_bytes in enumerate(read_lines(self._journal_segment), 1):
                plain_bytes += len(line_bytes)
                journal_record = self._check_line(line_number, line_bytes)
                if journal_record is not None:
                    record_count += 1
                    first_and_last = [*first_and_last[:1], journal_record]
        except InvalidSegmentError as error:
            self._problem_texts.append(str(error))
        segment_path = self._journal_segment.file_path
        file_bytes = segment_path.stat().st_size if segment_path.exists() else plain_bytes
        torn_bytes = 0 if self._journal_segment.is_closed else max(file_bytes - plain_bytes, 0)
        first_record, last_record = (
            (first_and_last[0], first_and_last[-1]) if first_and_last else (None, None)
        )
        return SegmentCheck(
            self._journal_segment,
            record_count,
            first_record and first_record.seq,
            last_record and last_record.seq,
            first_record and first_record.time_ms,
            last_record and last_record.time_ms,
            file_bytes,
            plain_bytes,
            torn_bytes,
            self._shown_problems(),
        )

    def _check_line(self, line_number: int, line_bytes: bytes) -> JournalRecord | None:
        try:
            journal_record = require_record_shape(parse_record_line(line_bytes))
            self._check_record(journal_record)
        except InvalidRecordError as error:
            self._problem_texts.append(f"line {line_number}: {error}")
            return None
        return journal_record

    def _check_record(self, journal_record: JournalRecord) -> None:
        journal_replay, previous_seq = self._journal_replay, self._journal_replay.last_seq
        if previous_seq is not None and journal_record.seq != previous_seq + 1:
            self._problem_texts.append(f"record {previous_seq} is followed by {journal_record.seq}")
        if journal_record.event_type != Snapshot.__name__:
            journal_replay.feed_record(journal_record)
            return
        was_certain = (
            journal_replay.is_certain and previous_seq is not None and journal_record.seq == previous_seq + 1
        )
        contents_before = dict(journal_replay.table_contents()) if was_certain else {}
        journal_replay.feed_record(journal_record)
        event = event_of_record(journal_record)
        if was_certain and isinstance(event, Snapshot) and event.reason not in ("start", "poll"):
            differing_tables = [
                table_name
                for table_name, table in journal_replay.table_contents().items()
                if table != contents_before[table_name]
            ]
            if differing_tables:
                table_names = ", ".join(differing_tables)
                self._problem_texts.append(
                    f"snapshot {journal_record.seq} contradicts the events before it: {table_names}"
                )

    def _shown_problems(self) -> tuple[str, ...]:
        hidden_count = len(self._problem_texts) - _MAX_SHOWN_PROBLEMS
        hidden_text = (f"and {hidden_count} more",) if hidden_count > 0 else ()
        return (*self._problem_texts[:_MAX_SHOWN_PROBLEMS], *hidden_text)
