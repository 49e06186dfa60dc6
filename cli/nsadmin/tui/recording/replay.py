"""The replay of recordings and journals: it posts recorded polls instead of the poller."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from time import monotonic
from typing import Protocol

from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import AnyPoll

REPLAY_SPEEDS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 3600.0)
_TICK_SECONDS = 0.1
_MAX_BATCH_POLLS = 2000
_MAX_FORWARD_MS = 7_200_000


class PollTape(Protocol):
    """A source of recorded polls between `begin` and `end` (ms since 1970).

    `start` yields the polls that lead to a time, in any order, and then all later polls ordered by time.
    """

    begin: int
    end: int

    def start(self, start_ms: int) -> Iterator[AnyPoll]: ...


class ReplayPlayer:
    """Posts the polls of a tape instead of a poller. Its time runs `speed` times as fast as `read_timer`.

    It ignores detail queries: there is no server to ask, and a recording contains no messages.
    """

    def __init__(
        self, poll_tape: PollTape, speed: float = 1.0, read_timer: Callable[[], float] = monotonic
    ) -> None:
        self._poll_tape = poll_tape
        self.begin, self.end = poll_tape.begin, poll_tape.end
        self._read_timer = read_timer
        self._speed = speed
        self._lock = threading.Lock()
        self._moved_at_seconds = read_timer()
        self._position_ms = float(self.begin)
        self.is_paused = False
        self._stop_event, self._wake_event = threading.Event(), threading.Event()
        self._reached_ms: int | None = None
        self._coming_polls: Iterator[AnyPoll] = iter(())
        self._next_poll: AnyPoll | None = None
        self._thread = threading.Thread(target=self._run_thread, daemon=True)

    def connect(
        self,
        post_polls: Callable[[Sequence[AnyPoll]], object],
        report_rewind: Callable[[], object],
        report_failure: Callable[[BaseException], object],
    ) -> None:
        """Say who gets the polls that are due.

        `report_rewind` is called before the polls start again from another time. `report_failure` gets the
        error if the tape cannot be read.
        """
        self._post_polls, self._report_rewind, self._report_failure = (
            post_polls,
            report_rewind,
            report_failure,
        )

    def start(self) -> None:
        self._thread.start()

    def stop(self, patience_seconds: float = 0.0) -> None:
        self._stop_event.set()
        self._wake_event.set()
        self._thread.join(patience_seconds)

    def now_ms(self) -> int:
        """The position in ms since 1970, at most the end of the tape."""
        with self._lock:
            return int(self._current_ms())

    def _current_ms(self) -> float:
        seconds = 0.0 if self.is_paused else self._read_timer() - self._moved_at_seconds
        passed_ms = seconds * self._speed * 1000
        return min(self._position_ms + passed_ms, float(self.end))

    def _hold_position(self) -> None:
        self._position_ms, self._moved_at_seconds = self._current_ms(), self._read_timer()

    @property
    def mode(self) -> str:
        return "replay ended" if self.now_ms() >= self.end else f"replay x{self._speed:g}"

    @property
    def speed(self) -> float:
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        with self._lock:
            self._hold_position()
            self._speed = speed

    def pause(self, is_paused: bool) -> None:
        with self._lock:
            self._hold_position()
            self.is_paused = is_paused

    def seek(self, position_ms: float) -> None:
        """Move to another position (ms since 1970), at least the begin and at most the end of the tape."""
        with self._lock:
            self._position_ms = max(float(self.begin), min(position_ms, float(self.end)))
            self._moved_at_seconds = self._read_timer()
        self._wake_event.set()

    def ask(self, detail_queries: Iterable[DetailQuery]) -> None: ...

    def follow_messages(self, query: object) -> None: ...

    def look_now(self) -> None: ...

    def step_speed(self, step: int) -> None:
        """Change to the next higher or lower speed."""
        i = min(range(len(REPLAY_SPEEDS)), key=lambda i: abs(REPLAY_SPEEDS[i] - self.speed))
        self.speed = REPLAY_SPEEDS[max(0, min(i + step, len(REPLAY_SPEEDS) - 1))]

    def _run_thread(self) -> None:
        while not self._stop_event.is_set():
            try:
                self.play_due_polls()
            except Exception as error:
                self._report_failure(error)
                self._coming_polls, self._next_poll = iter(()), None
            self._wake_event.wait(_TICK_SECONDS)
            self._wake_event.clear()

    def play_due_polls(self) -> None:
        """Post the polls since the last call. After a jump in time, restart the tape at the new position."""
        now_ms, reached_ms = self.now_ms(), self._reached_ms
        if reached_ms is None or not reached_ms <= now_ms <= reached_ms + _MAX_FORWARD_MS:
            if reached_ms is not None:
                self._report_rewind()
            self._coming_polls = self._poll_tape.start(now_ms)
            self._next_poll = next(self._coming_polls, None)
        self._reached_ms = now_ms
        while not self._stop_event.is_set() and (
            due_polls := list(islice(self._take_until(now_ms), _MAX_BATCH_POLLS))
        ):
            self._post_polls(due_polls)

    def _take_until(self, now_ms: int) -> Iterator[AnyPoll]:
        while self._next_poll is not None and self._next_poll.at <= now_ms:
            poll, self._next_poll = self._next_poll, next(self._coming_polls, None)
            yield poll
