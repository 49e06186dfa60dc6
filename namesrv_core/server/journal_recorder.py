"""JournalRecorder, which queues events and writes them to the journal in a separate thread.

Adding an event never waits for the disk. If the queue is full, the event is lost; the journal then states how
many events are missing at that point.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from namesrv_core.events import (
    Event,
    EventsLost,
    JournalResumed,
    MappingsChanged,
    MinBrokerIdChanged,
    SettingsChanged,
    count_changed_topics,
)
from namesrv_core.history.record_lines import encode_record_line
from namesrv_core.history.records import RecordOrigin
from namesrv_core.server.log import log
from namesrv_core.state.snapshot import TablesCopy, build_snapshot
from namesrv_core.storage.journal.rolling_writer import JournalWriter

MAX_WAITING_CHANGES = 250_000
"""The capacity of the queue: about 60 MB, or 25 registrations with ten thousand topics each."""

_TURN_SECONDS = 1.0
_RETRY_SECONDS = 1.0
_TIDY_SECONDS = 60.0
_STOP_SECONDS = 2.0
_MAX_BATCH_ITEMS = 256
_MAX_BATCH_CHANGES = 10_000
_CHARACTERS_PER_CHANGE = 240


class QueuedSnapshot(NamedTuple):
    """A snapshot to be written. With `rolls_segment` it begins a new segment if the current one is full."""

    tables_copy: TablesCopy
    reason: str
    rolls_segment: bool


QueuedItem = tuple[RecordOrigin, Event | QueuedSnapshot]


class JournalFigures(NamedTuple):
    """The state of a journal. `behind_seconds` is the age of the oldest waiting change."""

    is_ok: bool
    waiting_changes: int
    behind_seconds: float
    record_count: int
    lost_count: int


class JournalRecorder:
    """Writes a journal in a thread.

    `fsync_mode` is "always" (after each batch), "interval" (each second) or "never". `max_waiting_changes`
    bounds the memory of the queue. `wall_clock` returns seconds since 1970. If `needs_roll`, the owner should
    queue a snapshot that rolls the segment. `has_gap` is set when events are lost; the owner resets it.
    """

    def __init__(
        self,
        writer: JournalWriter,
        server_name: str,
        fsync_mode: str = "interval",
        max_waiting_changes: int = MAX_WAITING_CHANGES,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._journal_writer = writer
        self._server_name = server_name
        self._fsync_mode = fsync_mode
        self._max_waiting_changes = max_waiting_changes
        self._wall_clock = wall_clock
        self._queue: deque[tuple[int, QueuedItem]] = deque()
        self._queued_changes = self._written_changes = self._unrecorded_losses = 0
        self._record_count = self._lost_events = self._unwritable_events = 0
        self._oldest_waiting_ms: int | None = None
        self._wake_event, self._stop_event = threading.Event(), threading.Event()
        self._synced_at = self._tidied_at = float("-inf")
        self._errors: dict[str, str] = {}
        self._failing_since_ms = 0
        self.is_segment_full = self.has_gap = False
        self._has_rolled = False
        self._queued_rolls = self._written_rolls = self._text_since_roll = 0
        self._writer_thread = threading.Thread(target=self._run_thread, name="journal", daemon=True)

    @property
    def status_text(self) -> str:
        return next((f"failing: {text}" for text in list(self._errors.values())), "ok")

    @property
    def needs_roll(self) -> bool:
        """Whether the open segment is full, or will be once the queue is written, and no roll is queued."""
        is_roll_waiting = self._queued_rolls != self._written_rolls
        return (
            self.is_segment_full and not is_roll_waiting
        ) or self._text_since_roll >= self._journal_writer.full_bytes

    def read_figures(self) -> JournalFigures:
        oldest_ms = self._oldest_waiting_ms
        behind_seconds = 0.0 if oldest_ms is None else max(self._wall_clock() - oldest_ms / 1000, 0.0)
        waiting = self._queued_changes - self._written_changes
        return JournalFigures(
            not self._errors,
            waiting,
            behind_seconds,
            self._record_count,
            self._lost_events + self._unwritable_events,
        )

    def start(self) -> None:
        """Start writing, beginning with the events that are already queued."""
        self._writer_thread.start()

    def put_event(self, origin: RecordOrigin, event: Event | QueuedSnapshot) -> bool:
        """Queue an event. Return False if the queue is full. Call it from only one thread.

        A snapshot that rolls the segment always has room: without it a full segment would grow on.
        """
        change_count, length = _measure_event(event)
        rolls_segment = isinstance(event, QueuedSnapshot) and event.rolls_segment
        waiting = self._queued_changes - self._written_changes
        if waiting and not rolls_segment and waiting + change_count > self._max_waiting_changes:
            if not isinstance(event, QueuedSnapshot):
                self._unrecorded_losses += 1
                self._lost_events += 1
                self.has_gap = True
            return False
        self.record_losses(origin, must_record=rolls_segment)
        # Counted before the thread can see the item.
        self._queued_rolls += rolls_segment
        self._text_since_roll = 0 if rolls_segment else self._text_since_roll + length
        self._queue_item(change_count, (origin, event))
        return True

    def record_losses(self, origin: RecordOrigin, must_record: bool = False) -> None:
        """Record how many events were lost, if any were and the queue has room or `must_record`."""
        if self._unrecorded_losses and (
            must_record or self._queued_changes - self._written_changes < self._max_waiting_changes
        ):
            self._queue_item(1, (origin, EventsLost(self._unrecorded_losses)))
            self._unrecorded_losses = 0

    def _queue_item(self, change_count: int, item: QueuedItem) -> None:
        self._queued_changes += change_count
        self._record_count += 1
        self._queue.append((change_count, item))
        if not self._wake_event.is_set():
            self._wake_event.set()

    def stop(self) -> None:
        """Write the queue for at most two seconds. The rest is lost."""
        self._stop_event.set()
        self._wake_event.set()
        self._writer_thread.join(_STOP_SECONDS)
        if self._writer_thread.is_alive() or self._queued_changes != self._written_changes:
            log.error("journal: the last %d changes are lost", self._queued_changes - self._written_changes)
        if not self._writer_thread.is_alive():
            self._journal_writer.close()

    # Everything below runs in the writer thread.

    def _run_thread(self) -> None:
        while not self._stop_event.is_set():
            self._wake_event.wait(_TURN_SECONDS)
            self._wake_event.clear()
            self.write_waiting()
        self.write_waiting()
        if self._fsync_mode != "never":
            self._attempt_step("sync", self._journal_writer.sync_segment)

    def write_waiting(self) -> None:
        """Write the queue. After each batch, sync and tidy the files if that is due."""
        while self._queue:
            self._oldest_waiting_ms = self._queue[0][1][0].time_ms
            if not self._write_items(self._take_batch()):
                return
            self._maintain_files()
        self._oldest_waiting_ms = None
        self._maintain_files()

    def _take_batch(self) -> list[tuple[int, QueuedItem]]:
        """Take the next items from the queue, at least one. All lines of a batch are in memory at once."""
        items: list[tuple[int, QueuedItem]] = []
        changes = 0
        while self._queue and len(items) < _MAX_BATCH_ITEMS and changes < _MAX_BATCH_CHANGES:
            items.append(self._queue.popleft())
            changes += items[-1][0]
        return items

    def _maintain_files(self) -> None:
        now = self._wall_clock()
        if self._fsync_mode == "interval" and now - self._synced_at >= _TURN_SECONDS:
            self._synced_at = now
            self._attempt_step("sync", self._journal_writer.sync_segment)
        # At a high rate of writing, segments end long before the interval does.
        is_tidy_due = self._has_rolled or now - self._tidied_at >= _TIDY_SECONDS
        if is_tidy_due and not self._stop_event.is_set():
            self._tidied_at, self._has_rolled = now, False
            self._attempt_step("tidy", self._tidy_journal)
        self.is_segment_full = self._journal_writer.is_segment_full(self._now_ms())

    def _tidy_journal(self) -> None:
        if self._journal_writer.is_segment_removed():
            log.warning("journal: the open segment file was deleted; writing to a new one")
            self._journal_writer.abandon_segment()
            self.has_gap = True
        self._journal_writer.tidy_segments(self._now_ms(), is_hurried=bool(self._queue))

    def _now_ms(self) -> int:
        return int(self._wall_clock() * 1000)

    def _write_items(self, items: list[tuple[int, QueuedItem]]) -> bool:
        """Write all items, however long the disk takes. Return False if `stop` was called first."""
        lines: list[bytes] = []
        for _, (origin, event) in items:
            if isinstance(event, QueuedSnapshot) and event.rolls_segment:
                if not self._append_lines(lines):
                    return False
                lines = []
                if self._journal_writer.is_segment_full(self._now_ms()):
                    self._roll_segment()
            lines.append(self._encode_line(self._journal_writer.next_seq + len(lines), origin, event))
        if not self._append_lines(lines):
            return False
        self._written_changes += sum(change_count for change_count, _ in items)
        self._finish_rolls(items)
        return True

    def _finish_rolls(self, written: list[tuple[int, QueuedItem]]) -> None:
        """Count the rolls after the segment is known to have room, so that no second one is requested."""
        roll_count = sum(isinstance(e, QueuedSnapshot) and e.rolls_segment for _, (_, e) in written)
        if roll_count:
            self.is_segment_full = False
            self._written_rolls += roll_count

    def _roll_segment(self) -> None:
        self._has_rolled = True
        if not self._attempt_step("sync", self._journal_writer.roll_segment):
            # End the segment anyway. A full segment that stays open gets one snapshot after another.
            self._attempt_step("abandon", self._journal_writer.abandon_segment)

    def _encode_line(self, seq: int, origin: RecordOrigin, event: Event | QueuedSnapshot) -> bytes:
        try:
            written = (
                build_snapshot(event.tables_copy, event.reason)
                if isinstance(event, QueuedSnapshot)
                else event
            )
            return encode_record_line(seq, self._server_name, origin, written)
        except Exception:
            # Any error must be recorded, and must not end the thread.
            log.exception("%s could not be written to the journal", type(event).__name__)
            self.has_gap = True
            self._unwritable_events += 1
            return encode_record_line(seq, self._server_name, origin, EventsLost(1))

    def _append_lines(self, lines: list[bytes]) -> bool:
        line, line_count = b"".join(lines), len(lines)
        while lines and not self._attempt_step(
            "write", lambda: self._journal_writer.append_lines(line, line_count, self._now_ms())
        ):
            if self._stop_event.wait(_RETRY_SECONDS):
                return False
        if self._fsync_mode == "always":
            self._attempt_step("sync", self._journal_writer.sync_segment)
        return True

    def _attempt_step(self, name: str, run: Callable[[], None]) -> bool:
        """Run a step and return whether it succeeded. Log the begin and the end of a failure."""
        try:
            run()
        except Exception as error:
            # Catch any error, because a thread that ended would leave the status "ok".
            if not self._errors:
                self._failing_since_ms = self._now_ms()
            if name not in self._errors:
                log.error("journal: %s failed: %s", name, error)
            self._errors[name] = describe_error(error)
            return False
        error_before = self._errors.pop(name, None)
        if error_before is not None and not self._errors:
            log.info("journal: writing again")
            self._record_resumption(error_before)
        return True

    def _record_resumption(self, error_text: str) -> None:
        """Record in the journal how long writing failed."""
        now_ms = self._now_ms()
        resumed = JournalResumed(error_text, now_ms - self._failing_since_ms)
        line = encode_record_line(
            self._journal_writer.next_seq, self._server_name, RecordOrigin(now_ms, "journal"), resumed
        )
        self._attempt_step("write", lambda: self._journal_writer.append_lines(line, 1, now_ms))


def describe_error(error: Exception) -> str:
    """The error's message without the error number."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _measure_event(event: Event | QueuedSnapshot) -> tuple[int, int]:
    """How many changes an event holds in memory, and the length of its texts.

    The event itself counts as one change, and long texts count as several.
    """
    if isinstance(event, QueuedSnapshot):
        return 1 + len(event.tables_copy.queues_by_topic), 0
    length = sum(len(value) for value in vars(event).values() if isinstance(value, str))
    change_count = 1 + count_changed_topics(getattr(event, "changes", ()))
    if isinstance(event, SettingsChanged):
        length += sum(len(text or "") for change in event.setting_changes for text in change)
    elif isinstance(event, MappingsChanged):
        change_count += sum(
            1 + len(mapping.curr_id_map)
            for change in event.mapping_changes
            for mapping in (change.before, change.after)
            if mapping is not None
        )
    elif isinstance(event, MinBrokerIdChanged):
        change_count += len(event.recipients)
    return change_count + length // _CHARACTERS_PER_CHANGE, length
