"""Journaling: what goes into a server's journal, and when: events, snapshots, proofs of life."""

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
from namesrv_core.history.records import Origin
from namesrv_core.server import recorder
from namesrv_core.server.recorder import Figures, Recorder, Taken
from namesrv_core.state import snapshot
from namesrv_core.state.name_server import NameServerState
from namesrv_core.storage.journal import Journal, Limits

TICK = 1000
"""How often `tick` is called, in ms."""

_MINUTE, _MEGABYTE = 60_000, 1 << 20
_PROOF_EVERY = _MINUTE
_PAUSE = 5_000
_BY_ITSELF = "name server"

Kept = Callable[[], tuple[snapshot.KvTables, Mapping[str, str]]]


class Journaling:
    """`kept` gives KV config and settings as they are on the disk; `clock` is seconds since 1970.

    `now` is the server's steady time in ms, everywhere.
    """

    def __init__(
        self, journal: Journal, state: NameServerState, kept: Kept, clock: Callable[[], float] = time.time
    ) -> None:
        self._journal = journal
        self._state = state
        self._kept = kept
        self._clock = clock
        self._recorder: Recorder | None = None
        self._is_ready = False
        self._has_changed = False
        self._ticked_at = self._proven_at = self._taken_at = 0
        self._address = ""

    def start(self, address: str, server: str, now: int) -> None:
        """The server listens at `address`: begin with a snapshot, and who wakes up with it."""
        settings = self._state.settings
        self._recorder = Recorder(self._journal, server, settings.journalFsync, recorder.ROOM, self._clock)
        self._address = address
        self._ticked_at = self._proven_at = now
        self.take("start", now)
        self._say(ServerStarted(__version__, os.getpid()))
        if self._journal.repair is not None:
            self._say(JournalRepaired(*self._journal.repair))
        self._be_ready(now)
        self._recorder.start()
        self._state.journal_status = self._recorder.status

    def publish(self, events: Sequence[Event], cause: str, client: str | None = None) -> None:
        """Hand over what happened. Nobody waits for the disk."""
        if self._recorder is None or not events:
            return
        self._has_changed = True
        origin = Origin(int(self._clock() * 1000), cause, client)
        for event in events:
            self._recorder.put(origin, event)

    def tick(self, now: int) -> None:
        """Called every second: what is due by the clock."""
        recorder = self._recorder
        if recorder is None:
            return
        pause = now - self._ticked_at - TICK
        self._ticked_at = now
        if pause >= _PAUSE:
            self._say(ServerPaused(pause))
        self._be_ready(now)
        recorder.admit_losses(self._origin())
        self._snapshot_if_due(recorder, now)
        if now - self._proven_at >= _PROOF_EVERY:
            self._proven_at = now
            self._say(self._proof(now))
        self._state.journal_status = recorder.status

    def _snapshot_if_due(self, recorder: Recorder, now: int) -> None:
        if recorder.has_gap:
            self.take("loss", now)
        elif recorder.is_full:
            self.take("roll", now)
        elif now - self._taken_at >= self._state.settings.journalSnapshotMinutes * _MINUTE:
            if self._has_changed:
                self.take("interval", now)
            else:
                self._taken_at = now
                self._say(SnapshotMark("interval", len(self._state.tables.live)))

    def take(self, reason: str, now: int) -> None:
        """Write a snapshot of all tables; one that there is no room for is taken at the next tick."""
        if self._recorder is None:
            return
        copied = snapshot.copy(self._state, now, *self._kept())
        if self._recorder.put(self._origin(), Taken(copied, reason, rolls=reason == "roll")):
            self._taken_at = now
            self._has_changed = self._recorder.has_gap = self._recorder.is_full = False

    def figures(self) -> Figures | None:
        """How the journal is; None before the start."""
        return None if self._recorder is None else self._recorder.figures()

    def _say(self, event: Event) -> None:
        """What is no change of a table."""
        if self._recorder is not None:
            self._recorder.put(self._origin(), event)

    def _origin(self) -> Origin:
        return Origin(int(self._clock() * 1000), _BY_ITSELF)

    def _proof(self, now: int) -> Heartbeats:
        live = self._state.tables.live
        if not live:
            return Heartbeats(0, None, None)
        (_, addr), broker = min(live.items(), key=lambda item: item[1].heard_at)
        return Heartbeats(len(live), now - broker.heard_at, addr)

    def _be_ready(self, now: int) -> None:
        settings = self._state.settings
        wait = settings.waitSecondsForService * 1000 if settings.needWaitForService else 0
        if not self._is_ready and now - self._state.started_at >= wait:
            self._is_ready = True
            self._say(ServerReady(self._address))

    def stop(self, reason: str | None) -> None:
        """Write what is left, for two seconds at most, and let go of the folder; None: without last words."""
        if self._recorder is None:
            self._journal.close()
            return
        if reason is not None:
            self._say(ServerStopping(reason))
        self._recorder.stop()
        self._recorder = None


def opened(state: NameServerState, kept: Kept, clock: Callable[[], float] = time.time) -> Journaling | None:
    """The journal that the settings want, None for none. OSError, RocketMQError where it cannot be opened."""
    settings = state.settings
    if settings.journalDir is None:
        return None
    limits = Limits(
        settings.journalSegmentMegabytes * _MEGABYTE,
        settings.journalSegmentHours * 60 * _MINUTE,
        settings.journalKeepMegabytes * _MEGABYTE,
        settings.journalKeepDays * 24 * 60 * _MINUTE,
    )
    return Journaling(Journal(Path(settings.journalDir), limits), state, kept, clock)
