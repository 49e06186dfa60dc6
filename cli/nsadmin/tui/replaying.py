"""The replay of recordings and journals: it takes the place of the poller and posts the recorded polls."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from time import monotonic
from typing import Protocol

from nsadmin.tui.polls import AnyPoll
from nsadmin.tui.questions import Question

SPEEDS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 3600.0)
_TICK = 0.1
_MOST = 2000
_LEAP = 7_200_000


class Tape(Protocol):
    """A source of recorded polls between `begin` and `end` (ms since 1970).

    `start` yields the polls that lead to a time, in any order, and then all later polls ordered by time.
    """

    begin: int
    end: int

    def start(self, at: int) -> Iterator[AnyPoll]: ...


class Player:
    """The position on a tape. Its time runs `speed` times as fast as `read_timer` (seconds)."""

    def __init__(self, tape: Tape, speed: float = 1.0, timer: Callable[[], float] = monotonic) -> None:
        self.tape = tape
        self.begin, self.end = tape.begin, tape.end
        self._timer = timer
        self._speed = speed
        self._lock = threading.Lock()
        self._since = timer()
        self._at = float(self.begin)
        self._is_paused = False

    def now(self) -> int:
        """The position in ms since 1970, at most the end of the tape."""
        with self._lock:
            return int(self._moment())

    def _moment(self) -> float:
        passed = 0.0 if self._is_paused else (self._timer() - self._since) * self._speed * 1000
        return min(self._at + passed, float(self.end))

    def _stand(self) -> None:
        self._at, self._since = self._moment(), self._timer()

    @property
    def speed(self) -> float:
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        with self._lock:
            self._stand()
            self._speed = speed

    @property
    def is_paused(self) -> bool:
        return self._is_paused

    def pause(self, is_paused: bool) -> None:
        with self._lock:
            self._stand()
            self._is_paused = is_paused

    def seek(self, at: float) -> None:
        """Move to another position, at least the begin and at most the end of the tape."""
        with self._lock:
            self._at = max(float(self.begin), min(at, float(self.end)))
            self._since = self._timer()


class ReplayFeed:
    """Posts recorded polls in the place of a poller. It ignores detail queries.

    `post_polls` gets the polls that are due. `report_rewind` is called before the polls start again from
    another time. `report_failure` gets the error if the tape cannot be read.
    """

    def __init__(
        self,
        player: Player,
        post: Callable[[Sequence[AnyPoll]], object],
        rewind: Callable[[], object],
        failed: Callable[[BaseException], object],
    ) -> None:
        self._player = player
        self._post = post
        self._rewind = rewind
        self._failed = failed
        self._stop = threading.Event()
        self._poke = threading.Event()
        self._reached: int | None = None
        self._coming: Iterator[AnyPoll] = iter(())
        self._next: AnyPoll | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, patience: float = 0.0) -> None:
        self._stop.set()
        self._poke.set()
        self._thread.join(patience)

    @property
    def mode(self) -> str:
        at_end = self._player.now() >= self._player.end
        return "replay ended" if at_end else f"replay x{self._player.speed:g}"

    @property
    def interval(self) -> float:
        return self._player.speed

    @property
    def is_paused(self) -> bool:
        return self._player.is_paused

    def pause(self, is_paused: bool) -> None:
        self._player.pause(is_paused)

    def ask(self, questions: Iterable[Question]) -> None:
        """Ignore detail queries: there is no server to ask."""

    def look_now(self) -> None:
        """Do nothing: a replay has no servers to poll."""

    def seek(self, at: int) -> None:
        """Move to another position (ms since 1970)."""
        self._player.seek(at)
        self._poke.set()

    def faster(self, step: int) -> None:
        """Change to the next higher or lower speed."""
        at = min(range(len(SPEEDS)), key=lambda at: abs(SPEEDS[at] - self._player.speed))
        self._player.speed = SPEEDS[max(0, min(at + step, len(SPEEDS) - 1))]

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self.play()
            except Exception as error:
                self._failed(error)
                self._coming, self._next = iter(()), None
            self._poke.wait(_TICK)
            self._poke.clear()

    def play(self) -> None:
        """Post the polls since the last call. After a jump in time, restart the tape at the new position."""
        now, reached = self._player.now(), self._reached
        if reached is None or not reached <= now <= reached + _LEAP:
            if reached is not None:
                self._rewind()
            self._coming = self._player.tape.start(now)
            self._next = next(self._coming, None)
        self._reached = now
        while not self._stop.is_set() and (batch := list(islice(self._until(now), _MOST))):
            self._post(batch)

    def _until(self, now: int) -> Iterator[AnyPoll]:
        while self._next is not None and self._next.at <= now:
            poll, self._next = self._next, next(self._coming, None)
            yield poll
