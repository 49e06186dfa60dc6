"""The journals that the collector writes, and the tables that an existing journal ends with.

Each segment of a name server's journal begins with a snapshot. The journal of brokers has no tables and no
snapshots. If the disk refuses records, the collector goes on. Once the disk has room, it writes an
EventsLost record and a snapshot.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from namesrv_core import __version__
from namesrv_core.errors import RocketMQError
from namesrv_core.events import (
    CollectorStarted,
    CollectorStopping,
    Event,
    EventsLost,
    JournalRepaired,
    JournalResumed,
    Polled,
    PollFailed,
    PollRecovered,
    SnapshotMark,
)
from namesrv_core.history.record_lines import encode_record_line
from namesrv_core.history.records import RecordOrigin
from namesrv_core.history.replay import JournalReplay
from namesrv_core.storage.journal import reader
from namesrv_core.storage.journal.rolling_writer import FileOpener, JournalLimits, JournalWriter
from nsadmin.operations.collector.table_diff import POLL_REASON, build_snapshot

COLLECTOR_SOURCE = "collector"
_HOUR_MS = 3_600_000
_DEFAULT_LIMITS = JournalLimits()
_POLL_EVENT_TYPES = (CollectorStarted, CollectorStopping, PollFailed, PollRecovered, Polled)


class CollectorJournal:
    """A journal that the collector writes.

    `server_name` is the server in the records. `disk_error` is the reason of the last failed write.

    Raises:
        RocketMQError: Another process writes to the folder, or its journal belongs to another server.
        OSError: The folder cannot be opened.
    """

    def __init__(
        self,
        journal_folder: Path,
        server_name: str,
        limits: JournalLimits = _DEFAULT_LIMITS,
        opening: FileOpener | None = None,
    ) -> None:
        self._server_name = server_name
        self._journal = JournalWriter(journal_folder, limits, opening)
        self._lost_count = 0
        self._failing_since_ms: int | None = None
        self.disk_error: str | None = None
        try:
            _require_own_journal(journal_folder, server_name)
        except BaseException:
            self._journal.close()
            raise

    def begin_run(self, now_ms: int, interval_ms: int | None) -> None:
        """Write the first records of this run. An interval of None means a single poll, started by cron."""
        self._append_events(self._list_first_events(interval_ms), now_ms)

    def _list_first_events(self, interval_ms: int | None) -> list[Event]:
        first_events: list[Event] = []
        if self._journal.start_repair is not None:
            first_events.append(JournalRepaired(*self._journal.start_repair))
        if interval_ms is not None:
            first_events.append(CollectorStarted(__version__, os.getpid(), interval_ms))
        return first_events

    def write_events(self, new_events: Sequence[Event], now_ms: int) -> None:
        """Write the events, after a record of earlier losses; then roll a full segment and tidy."""
        if self._lost_count:
            new_events = [*self._list_loss_events(self._lost_count, now_ms), *new_events]
        self._append_events(new_events, now_ms)
        if self.disk_error is None and self._journal.is_segment_full(now_ms):
            self._try_step(self._journal.roll_segment, now_ms)
            self.tidy_segments(now_ms)

    def tidy_segments(self, now_ms: int) -> None:
        """Compress closed segments, and delete expired ones."""
        self._try_step(lambda: self._journal.tidy_segments(now_ms), now_ms)

    def end_run(self, end_reason: str, now_ms: int) -> None:
        """Write the last record of this run."""
        self.write_events([CollectorStopping(end_reason)], now_ms)

    def close(self) -> None:
        """Release the folder."""
        self._journal.close()

    def _list_loss_events(self, lost_count: int, now_ms: int) -> list[Event]:
        return [
            EventsLost(lost_count),
            JournalResumed(self.disk_error or "", now_ms - (self._failing_since_ms or now_ms)),
        ]

    def _append_events(self, new_events: Sequence[Event], now_ms: int) -> bool:
        if not new_events:
            return True
        record_origin = RecordOrigin(now_ms, COLLECTOR_SOURCE, None, COLLECTOR_SOURCE)
        first_number = self._journal.next_seq
        line_bytes = b"".join(
            encode_record_line(first_number + event_index, self._server_name, record_origin, event)
            for event_index, event in enumerate(new_events)
        )
        if self._try_step(lambda: self._journal.append_lines(line_bytes, len(new_events), now_ms), now_ms):
            self._lost_count, self.disk_error, self._failing_since_ms = 0, None, None
            self._try_step(self._journal.sync_segment, now_ms)
            return True
        self._lost_count += sum(not isinstance(event, (EventsLost, JournalResumed)) for event in new_events)
        return False

    def _try_step(self, journal_step: Callable[[], None], now_ms: int) -> bool:
        """Run a step and return whether it succeeded. If not, `disk_error` has the reason."""
        try:
            journal_step()
        except OSError as error:
            self.disk_error = error.strerror or str(error)
            self._failing_since_ms = self._failing_since_ms or now_ms
            return False
        return True


class NameServerJournal(CollectorJournal):
    """The journal of a name server.

    `known_tables` has the tables as last written. `is_known` is False until the journal has any.
    """

    def __init__(
        self,
        journal_folder: Path,
        server_name: str,
        limits: JournalLimits = _DEFAULT_LIMITS,
        opening: FileOpener | None = None,
    ) -> None:
        super().__init__(journal_folder, server_name, limits, opening)
        try:
            self.known_tables = reader.replay_to_end(journal_folder)
        except BaseException:
            self.close()
            raise
        self.is_known = self.known_tables.is_complete
        if not self.is_known:
            self.known_tables = JournalReplay()
        self._snapshot_taken_ms = 0
        self._has_changed = False

    def begin_run(self, now_ms: int, interval_ms: int | None) -> None:
        """Write the first records of this run, after a snapshot of the known tables."""
        first_events = self._list_first_events(interval_ms)
        if self.is_known:
            first_events.insert(
                0, build_snapshot(self.known_tables, "roll" if interval_ms is None else "start")
            )
            self._snapshot_taken_ms = now_ms
        self._append_events(first_events, now_ms)

    def record_poll(self, poll_events: Sequence[Event], now_ms: int) -> None:
        """Write the events that led to `known_tables`. The first poll is written as one snapshot instead."""
        if not self.is_known:
            self.is_known = True
            poll_events = [build_snapshot(self.known_tables, POLL_REASON), *_select_poll_events(poll_events)]
            self._snapshot_taken_ms = now_ms
        self._has_changed = self._has_changed or any(not _is_poll_event(event) for event in poll_events)
        self.write_events(poll_events, now_ms)

    def write_events(self, new_events: Sequence[Event], now_ms: int) -> None:
        """Write the events, after a loss together with a snapshot; then roll a full segment."""
        lost_before = self._lost_count
        if not self._append_events(
            [*self._list_recovery_events(new_events, now_ms), *_select_poll_events(new_events)]
            if lost_before
            else new_events,
            now_ms,
        ):
            self._lost_count = lost_before + len(new_events)
        if self.is_known and self.disk_error is None and self._journal.is_segment_full(now_ms):
            self._roll_segment(now_ms, [event for event in new_events if isinstance(event, PollFailed)])

    def record_proof(self, polled_event: Polled, now_ms: int) -> None:
        """Write the proof that polls succeed, and every hour a snapshot of the known tables."""
        proof_events: list[Event] = [polled_event]
        if now_ms - self._snapshot_taken_ms >= _HOUR_MS:
            proof_events.append(
                build_snapshot(self.known_tables, "interval")
                if self._has_changed
                else SnapshotMark("interval", polled_event.brokers)
            )
            self._snapshot_taken_ms, self._has_changed = now_ms, False
        self.write_events(proof_events, now_ms)
        self.tidy_segments(now_ms)

    def _list_recovery_events(self, new_events: Sequence[Event], now_ms: int) -> list[Event]:
        lost_count = self._lost_count + sum(not _is_poll_event(event) for event in new_events)
        return [
            *self._list_loss_events(lost_count, now_ms),
            *([build_snapshot(self.known_tables, "loss")] if self.is_known else []),
        ]

    def _roll_segment(self, now_ms: int, poll_failures: Sequence[PollFailed]) -> None:
        """Begin a segment with a snapshot, and repeat the poll failures, which make the snapshot doubtful."""
        if self._try_step(self._journal.roll_segment, now_ms):
            self._append_events([build_snapshot(self.known_tables, "roll"), *poll_failures], now_ms)
            self._snapshot_taken_ms, self._has_changed = now_ms, False
            self.tidy_segments(now_ms)


def _is_poll_event(event: Event) -> bool:
    """Whether an event describes the polling itself, not a change of the name server."""
    return isinstance(event, _POLL_EVENT_TYPES)


def _select_poll_events(new_events: Sequence[Event]) -> list[Event]:
    return [event for event in new_events if _is_poll_event(event)]


def _require_own_journal(folder: Path, server_name: str) -> None:
    """Refuse to append to a journal that a name server itself writes, or that is another server's."""
    for record in reader.read_last_records(folder, 1):
        if record.origin.source != COLLECTOR_SOURCE or record.server_name != server_name:
            raise RocketMQError(
                f"{folder} has a journal of another writer, for {record.server_name}: choose another --dir"
            )
