"""Recorder: takes events in no time and writes them in a thread of its own.

Whoever hands over an event never waits, whatever the disk does. What there is no room for is counted, and
the journal says how many events it lost, at the place where they are missing.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from namesrv_core.events import Event, EventsLost, JournalResumed, count_topics
from namesrv_core.history.lines import line
from namesrv_core.history.records import Origin
from namesrv_core.server.log import log
from namesrv_core.state.snapshot import Copy, snapshot
from namesrv_core.storage.journal import Journal

ROOM = 250_000
"""Changes that may wait: some 60 MB, twenty-five brokers that come with ten thousand topics each."""

_PERIOD = 1.0
_RETRY_AFTER = 1.0
_TIDY_EVERY = 60.0
_LAST_WORDS = 2.0
_MANY = 256


class Taken(NamedTuple):
    """A snapshot to be written; with `rolls` it begins a segment."""

    copied: Copy
    reason: str
    rolls: bool


Item = tuple[Origin, Event | Taken]


class Figures(NamedTuple):
    """How a journal is: changes that wait to be written, for how long (s), records so far, events lost."""

    is_ok: bool
    waiting: int
    behind: float
    records: int
    lost: int


class Recorder:
    """`fsync` is "always" (each batch), "interval" (each second) or "never"; `room` is how many changes may
    wait to be written, which bounds the memory they take; `clock` is seconds since 1970.

    `is_full` says that the segment should end: the next snapshot may roll. `has_gap` says that events were
    lost since it was last set to False.
    """

    def __init__(
        self,
        journal: Journal,
        server: str,
        fsync: str = "interval",
        room: int = ROOM,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._journal = journal
        self._server = server
        self._fsync = fsync
        self._room = room
        self._clock = clock
        self._items: deque[tuple[int, Item]] = deque()
        self._given = self._written = self._lost = 0
        self._records = self._lost_ever = self._unwritable = 0
        self._oldest: int | None = None
        self._wake, self._stop = threading.Event(), threading.Event()
        self._synced_at = self._tidied_at = float("-inf")
        self._errors: dict[str, str] = {}
        self._failing_since = 0
        self.is_full = self.has_gap = False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)

    @property
    def status(self) -> str:
        """ "ok", or "failing" and why."""
        return next((f"failing: {error}" for error in list(self._errors.values())), "ok")

    def figures(self) -> Figures:
        """How it is at this moment."""
        oldest = self._oldest
        behind = 0.0 if oldest is None else max(self._clock() - oldest / 1000, 0.0)
        waiting = self._given - self._written
        return Figures(not self._errors, waiting, behind, self._records, self._lost_ever + self._unwritable)

    def start(self) -> None:
        """Begin to write; what was handed over before is written first."""
        self._thread.start()

    def put(self, origin: Origin, event: Event | Taken) -> bool:
        """Hand over an event; False where there is no room for it. Called by one thread alone."""
        weight = _weight(event)
        waiting = self._given - self._written
        if waiting and waiting + weight > self._room:
            if not isinstance(event, Taken):
                self._lost += 1
                self._lost_ever += 1
                self.has_gap = True
            return False
        self.admit_losses(origin)
        self._hand_over(weight, (origin, event))
        return True

    def admit_losses(self, origin: Origin) -> None:
        """Say how many events are missing here, if there are any and there is room to say it."""
        if self._lost and self._given - self._written < self._room:
            self._hand_over(1, (origin, EventsLost(self._lost)))
            self._lost = 0

    def _hand_over(self, weight: int, item: Item) -> None:
        self._given += weight
        self._records += 1
        self._items.append((weight, item))
        if not self._wake.is_set():
            self._wake.set()

    def stop(self) -> None:
        """Write what is there, for two seconds at most; what the disk does not take until then is lost."""
        self._stop.set()
        self._wake.set()
        self._thread.join(_LAST_WORDS)
        if self._thread.is_alive() or self._given != self._written:
            log.error("the journal ends without its last %d changes", self._given - self._written)
        if not self._thread.is_alive():
            self._journal.close()

    # All below runs in the thread.

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.wait(_PERIOD)
            self._wake.clear()
            self.turn()
        self.turn()
        if self._fsync != "never":
            self._attempt("sync", self._journal.sync)

    def turn(self) -> None:
        """Write what waits, then look after the files."""
        while self._items:
            count = min(len(self._items), _MANY)
            self._oldest = self._items[0][1][0].time
            if not self._write([self._items.popleft() for _ in range(count)]):
                return
        self._oldest = None
        now = self._clock()
        if self._fsync == "interval" and now - self._synced_at >= _PERIOD:
            self._synced_at = now
            self._attempt("sync", self._journal.sync)
        if now - self._tidied_at >= _TIDY_EVERY and not self._stop.is_set():
            self._tidied_at = now
            self._attempt("tidy", self._tidy)
        self.is_full = self._journal.is_full(self._now())

    def _tidy(self) -> None:
        if self._journal.is_removed():
            log.warning("the journal's open file was removed; it goes on with another one")
            self._journal.begin_anew()
            self.has_gap = True
        self._journal.tidy(self._now())

    def _now(self) -> int:
        return int(self._clock() * 1000)

    def _write(self, items: list[tuple[int, Item]]) -> bool:
        """Write them all, however long the disk takes; False where the end came first."""
        lines: list[bytes] = []
        for _, (origin, event) in items:
            if isinstance(event, Taken) and event.rolls and self._journal.is_full(self._now()):
                if not self._append(lines):
                    return False
                lines = []
                self._attempt("sync", self._journal.roll)
            lines.append(self._line(self._journal.next + len(lines), origin, event))
        if not self._append(lines):
            return False
        self._written += sum(weight for weight, _ in items)
        return True

    def _line(self, seq: int, origin: Origin, event: Event | Taken) -> bytes:
        try:
            said = snapshot(event.copied, event.reason) if isinstance(event, Taken) else event
            return line(seq, self._server, origin, said)
        except Exception:
            # Whatever it is, it must neither end the thread nor go unmentioned.
            log.exception("%s could not be written to the journal", type(event).__name__)
            self.has_gap = True
            self._unwritable += 1
            return line(seq, self._server, origin, EventsLost(1))

    def _append(self, lines: list[bytes]) -> bool:
        data, count = b"".join(lines), len(lines)
        while lines and not self._attempt("write", lambda: self._journal.append(data, count, self._now())):
            if self._stop.wait(_RETRY_AFTER):
                return False
        if self._fsync == "always":
            self._attempt("sync", self._journal.sync)
        return True

    def _attempt(self, what: str, step: Callable[[], None]) -> bool:
        """Whether it was done; a failure is told when it begins and when it is over."""
        try:
            step()
        except Exception as error:
            # Whatever it is: a thread that ends would leave a status that says ok.
            if not self._errors:
                self._failing_since = self._now()
            if what not in self._errors:
                log.error("journal: failing: %s: %s", what, error)
            self._errors[what] = in_words(error)
            return False
        error_before = self._errors.pop(what, None)
        if error_before is not None and not self._errors:
            log.info("journal: ok again")
            self._resume(error_before)
        return True

    def _resume(self, error: str) -> None:
        """Write down that, and how long, it could not be written."""
        now = self._now()
        resumed = JournalResumed(error, now - self._failing_since)
        text = line(self._journal.next, self._server, Origin(now, "journal"), resumed)
        self._attempt("write", lambda: self._journal.append(text, 1, now))


def in_words(error: Exception) -> str:
    """What went wrong, without a number."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _weight(event: Event | Taken) -> int:
    """How many changes an event holds in memory, itself included."""
    if isinstance(event, Taken):
        return 1 + len(event.copied.topics)
    return 1 + count_topics(getattr(event, "changes", ()))
