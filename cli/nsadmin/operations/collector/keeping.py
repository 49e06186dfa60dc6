"""Keeping: the journal of one name server as its collector writes it, and what was known when it was opened.

Each segment begins with a snapshot; that of brokers has no tables, hence none. What the disk does not take is
told, once there is room, as a loss with a snapshot behind it: the collector goes on meanwhile.
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
from namesrv_core.history.lines import line
from namesrv_core.history.records import Origin
from namesrv_core.history.replay import Replay
from namesrv_core.storage import reading
from namesrv_core.storage.journal import Journal, Limits, Open
from nsadmin.operations.collector.deriving import REASON, taken

SOURCE = "collector"
_HOUR = 3_600_000
_USUAL = Limits()
_OF_LOOKING = (CollectorStarted, CollectorStopping, PollFailed, PollRecovered, Polled)


class Writing:
    """A journal that a collector writes. RocketMQError where another process writes to the folder; OSError.

    `server` is what records say that they are about; `now` is ms since 1970. `error` is why the disk took
    nothing the last time.
    """

    def __init__(
        self, folder: Path, server: str, limits: Limits = _USUAL, opening: Open | None = None
    ) -> None:
        self._server = server
        self._journal = Journal(folder, limits, opening)
        self._lost = 0
        self._failing_since: int | None = None
        self.error: str | None = None
        try:
            _require_own(folder, server)
        except BaseException:
            self._journal.close()
            raise

    def begin(self, now: int, interval_millis: int | None) -> None:
        """The first records of this run; without an interval it is one poll among others, made by itself."""
        self._write(self._first(interval_millis), now)

    def _first(self, interval_millis: int | None) -> list[Event]:
        events: list[Event] = []
        if self._journal.repair is not None:
            events.append(JournalRepaired(*self._journal.repair))
        if interval_millis is not None:
            events.append(CollectorStarted(__version__, os.getpid(), interval_millis))
        return events

    def say(self, events: Sequence[Event], now: int) -> None:
        """Write them down, behind what was lost; then end a segment that is full."""
        if self._lost:
            events = [*self._loss(self._lost, now), *events]
        self._write(events, now)
        if self.error is None and self._journal.is_full(now):
            self._attempt(self._journal.roll, now)

    def tidy(self, now: int) -> None:
        """Compress what has ended, and remove what is kept no longer."""
        self._attempt(lambda: self._journal.tidy(now), now)

    def end(self, reason: str, now: int) -> None:
        """The last word."""
        self.say([CollectorStopping(reason)], now)

    def close(self) -> None:
        """Let go of the folder."""
        self._journal.close()

    def _loss(self, lost: int, now: int) -> list[Event]:
        return [EventsLost(lost), JournalResumed(self.error or "", now - (self._failing_since or now))]

    def _write(self, events: Sequence[Event], now: int) -> bool:
        if not events:
            return True
        origin = Origin(now, SOURCE, None, SOURCE)
        first = self._journal.next
        data = b"".join(line(first + at, self._server, origin, event) for at, event in enumerate(events))
        if self._attempt(lambda: self._journal.append(data, len(events), now), now):
            self._lost, self.error, self._failing_since = 0, None, None
            self._attempt(self._journal.sync, now)
            return True
        self._lost += sum(not isinstance(event, (EventsLost, JournalResumed)) for event in events)
        return False

    def _attempt(self, step: Callable[[], None], now: int) -> bool:
        """Whether it was done; `error` says why not."""
        try:
            step()
        except OSError as error:
            self.error = error.strerror or str(error)
            self._failing_since = self._failing_since or now
            return False
        return True


class Keeping(Writing):
    """That of a name server: `known` is its tables as last written, `is_known` whether there are any."""

    def __init__(
        self, folder: Path, server: str, limits: Limits = _USUAL, opening: Open | None = None
    ) -> None:
        super().__init__(folder, server, limits, opening)
        try:
            self.known = reading.tables(folder)
        except BaseException:
            self.close()
            raise
        self.is_known = self.known.is_whole
        if not self.is_known:
            self.known = Replay()
        self._taken_at = 0
        self._has_changed = False

    def begin(self, now: int, interval_millis: int | None) -> None:
        """The first records of this run, behind what was known."""
        events = self._first(interval_millis)
        if self.is_known:
            events.insert(0, taken(self.known, "roll" if interval_millis is None else "start"))
            self._taken_at = now
        self._write(events, now)

    def learn(self, events: Sequence[Event], now: int) -> None:
        """What a poll saw: these events led to `known`. The first time all of it is new, and one snapshot."""
        if not self.is_known:
            self.is_known = True
            events = [taken(self.known, REASON), *_told(events)]
            self._taken_at = now
        self._has_changed = self._has_changed or any(not _is_told(event) for event in events)
        self.say(events, now)

    def say(self, events: Sequence[Event], now: int) -> None:
        """Write them down, after a loss with what makes up for it; then roll what is full, and tidy up."""
        before = self._lost
        if not self._write([*self._making_up(events, now), *_told(events)] if before else events, now):
            self._lost = before + len(events)
        if self.is_known and self.error is None and self._journal.is_full(now):
            self._roll(now, [event for event in events if isinstance(event, PollFailed)])

    def prove(self, event: Polled, now: int) -> None:
        """Proof of looking, and each hour a snapshot of what is known by then."""
        events: list[Event] = [event]
        if now - self._taken_at >= _HOUR:
            changed = self._has_changed
            events.append(
                taken(self.known, "interval") if changed else SnapshotMark("interval", event.brokers)
            )
            self._taken_at, self._has_changed = now, False
        self.say(events, now)
        self.tidy(now)

    def _making_up(self, events: Sequence[Event], now: int) -> list[Event]:
        lost = self._lost + sum(not _is_told(event) for event in events)
        return [*self._loss(lost, now), *([taken(self.known, "loss")] if self.is_known else [])]

    def _roll(self, now: int, failures: Sequence[PollFailed]) -> None:
        """Begin a segment with what is known, and that it may be so no more."""
        if self._attempt(self._journal.roll, now):
            self._write([taken(self.known, "roll"), *failures], now)
            self._taken_at, self._has_changed = now, False


def _is_told(event: Event) -> bool:
    """Whether it is about the looking, not about what was seen."""
    return isinstance(event, _OF_LOOKING)


def _told(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if _is_told(event)]


def _require_own(folder: Path, server: str) -> None:
    """A name server's own journal is not to be continued by somebody who only looks at it."""
    for record in reading.last(folder, 1):
        if record.origin.source != SOURCE or record.server != server:
            raise RocketMQError(
                f"{folder} has a journal that is not this collector's, of {record.server}: take another --dir"
            )
