"""JournalPublisher, which decides what a server writes to its journal and when.

It publishes events, snapshots and proofs of life, and requests the roll of a full segment.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from namesrv_core import __version__
from namesrv_core.events import (
    Event,
    Heartbeats,
    JournalRepaired,
    ServerPaused,
    ServerReady,
    ServerStarted,
    ServerStopping,
    SnapshotMark,
)
from namesrv_core.history.records import RecordOrigin
from namesrv_core.server import journal_recorder
from namesrv_core.server.journal_recorder import JournalFigures, JournalRecorder, QueuedSnapshot
from namesrv_core.state import snapshot
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.storage.journal.rolling_writer import JournalLimits, JournalWriter

TICK_MS = 1000
"""The interval between calls of `handle_tick`."""

_MINUTE_MS, _MEGABYTE_BYTES = 60_000, 1 << 20
_PROOF_INTERVAL_MS = _MINUTE_MS
_MIN_PAUSE_MS = 5_000
_OWN_CAUSE = "name server"

ReadPersisted = Callable[[], tuple[snapshot.KvTables, Mapping[str, str]]]


class JournalPublisher:
    """The journal of a running server.

    `read_persisted` returns KV config and settings as they are on disk. `wall_clock` returns seconds since
    1970. `now_ms` is always the server's steady time.
    """

    def __init__(
        self,
        writer: JournalWriter,
        state: NameServerState,
        read_persisted: ReadPersisted,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._journal_writer = writer
        self._server_state = state
        self._read_persisted = read_persisted
        self._wall_clock = wall_clock
        self._recorder: JournalRecorder | None = None
        self._is_ready = False
        self._has_changed = False
        self._ticked_at = self._proven_at = self._snapshot_taken_at = 0
        self._namesrv_addr = ""

    def start(self, namesrv_addr: str, server_name: str, now_ms: int) -> None:
        """Begin the journal of this run with a snapshot and ServerStarted. The server listens already."""
        settings = self._server_state.settings
        self._recorder = JournalRecorder(
            self._journal_writer,
            server_name,
            settings.journalFsync,
            journal_recorder.MAX_WAITING_CHANGES,
            self._wall_clock,
        )
        self._namesrv_addr = namesrv_addr
        self._ticked_at = self._proven_at = now_ms
        self.take_snapshot("start", now_ms)
        self._record_event(ServerStarted(__version__, os.getpid()))
        if self._journal_writer.start_repair is not None:
            self._record_event(JournalRepaired(*self._journal_writer.start_repair))
        self._record_readiness(now_ms)
        self._recorder.start()
        self._server_state.journal_status = self._recorder.status_text

    def publish_events(self, events: Sequence[Event], cause: str, client_addr: str | None = None) -> bool:
        """Queue events for writing. Does not wait for the disk.

        Return whether the segment is full, so that `handle_tick` should be called soon. It must not be called
        before all events of changes that the tables already contain are published.
        """
        if self._recorder is None or not events:
            return False
        self._has_changed = True
        origin = RecordOrigin(int(self._wall_clock() * 1000), cause, client_addr)
        for event in events:
            self._recorder.put_event(origin, event)
        return self._recorder.needs_roll

    def handle_tick(self, now_ms: int) -> None:
        """Write what is due; called every second, and soon after a segment is full."""
        recorder = self._recorder
        if recorder is None:
            return
        pause_ms = now_ms - self._ticked_at - TICK_MS
        self._ticked_at = now_ms
        if pause_ms >= _MIN_PAUSE_MS:
            self._record_event(ServerPaused(pause_ms))
        self._record_readiness(now_ms)
        recorder.record_losses(self._build_own_origin())
        self._take_due_snapshot(recorder, now_ms)
        if now_ms - self._proven_at >= _PROOF_INTERVAL_MS:
            self._proven_at = now_ms
            self._record_event(self._build_proof_of_life(now_ms))
        self._server_state.journal_status = recorder.status_text

    def _take_due_snapshot(self, recorder: JournalRecorder, now_ms: int) -> None:
        # First the roll, which always has room in the queue, and closes a gap as well.
        if recorder.needs_roll:
            self.take_snapshot("roll", now_ms)
        elif recorder.has_gap:
            self.take_snapshot("loss", now_ms)
        elif (
            now_ms - self._snapshot_taken_at
            >= self._server_state.settings.journalSnapshotMinutes * _MINUTE_MS
        ):
            if self._has_changed:
                self.take_snapshot("interval", now_ms)
            else:
                self._snapshot_taken_at = now_ms
                self._record_event(SnapshotMark("interval", len(self._server_state.tables.live_brokers)))

    def take_snapshot(self, reason: str, now_ms: int) -> None:
        """Queue a snapshot of all tables. If the queue is full, the next tick tries again."""
        if self._recorder is None:
            return
        tables = snapshot.copy_tables(self._server_state, now_ms, *self._read_persisted())
        if self._recorder.put_event(
            self._build_own_origin(), QueuedSnapshot(tables, reason, rolls_segment=reason == "roll")
        ):
            self._snapshot_taken_at = now_ms
            self._has_changed = self._recorder.has_gap = False

    def read_figures(self) -> JournalFigures | None:
        return None if self._recorder is None else self._recorder.read_figures()

    def _record_event(self, event: Event) -> None:
        """Queue an event that does not change a table."""
        if self._recorder is not None:
            self._recorder.put_event(self._build_own_origin(), event)

    def _build_own_origin(self) -> RecordOrigin:
        return RecordOrigin(int(self._wall_clock() * 1000), _OWN_CAUSE)

    def _build_proof_of_life(self, now_ms: int) -> Heartbeats:
        live_brokers = self._server_state.tables.live_brokers
        if not live_brokers:
            return Heartbeats(0, None, None)
        (_, broker_addr), longest = min(live_brokers.items(), key=lambda item: item[1].heard_at_ms)
        return Heartbeats(len(live_brokers), now_ms - longest.heard_at_ms, broker_addr)

    def _record_readiness(self, now_ms: int) -> None:
        settings = self._server_state.settings
        wait_ms = settings.waitSecondsForService * 1000 if settings.needWaitForService else 0
        if not self._is_ready and now_ms - self._server_state.started_at_ms >= wait_ms:
            self._is_ready = True
            self._record_event(ServerReady(self._namesrv_addr))

    def stop(self, stop_reason: str | None) -> None:
        """Write the queue for at most two seconds and close the journal. With None, omit ServerStopping."""
        if self._recorder is None:
            self._journal_writer.close()
            return
        if stop_reason is not None:
            self._record_event(ServerStopping(stop_reason))
        self._recorder.stop()
        self._recorder = None


def open_journal(
    state: NameServerState, read_persisted: ReadPersisted, wall_clock: Callable[[], float] = time.time
) -> JournalPublisher | None:
    """Open the journal if the settings require one. Raises OSError and RocketMQError if that fails."""
    settings = state.settings
    if settings.journalDir is None:
        return None
    limits = JournalLimits(
        settings.journalSegmentMegabytes * _MEGABYTE_BYTES,
        settings.journalSegmentHours * 60 * _MINUTE_MS,
        settings.journalKeepMegabytes * _MEGABYTE_BYTES,
        settings.journalKeepDays * 24 * 60 * _MINUTE_MS,
    )
    return JournalPublisher(
        JournalWriter(Path(settings.journalDir), limits), state, read_persisted, wall_clock
    )
