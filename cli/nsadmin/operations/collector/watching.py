"""Watching: what one name server's polls come to, poll by poll: what is written down, what is told."""

import threading
from collections.abc import Callable
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.events import Event, Polled, PollFailed, PollRecovered
from nsadmin.client.results import error_text
from nsadmin.operations.collector.asking import Place
from nsadmin.operations.collector.deriving import derive
from nsadmin.operations.collector.keeping import Keeping, Writing
from nsadmin.operations.collector.polling import Poller, Seen

_MINUTE = 60_000


class Turn(NamedTuple):
    """What a poll came to. `millis` is how long it took; numbers are None where it failed."""

    addr: str
    millis: int
    brokers: int | None = None
    topics: int | None = None
    events: int | None = None
    error: RocketMQError | None = None


class Voice(NamedTuple):
    """Who is told in a line: `warn` of what is wrong, `remark` of the rest, `debug` of each poll."""

    warn: Callable[[str], None]
    remark: Callable[[str], None]
    debug: Callable[[str], None] = lambda text: None


class Disk:
    """Tells when a journal cannot be written, and when it can be again."""

    def __init__(self, writing: Writing, whose: str, voice: Voice) -> None:
        self._writing = writing
        self._whose = whose
        self._voice = voice
        self._is_failing = False

    def look(self) -> None:
        error = self._writing.error
        if (error is not None) != self._is_failing:
            self._is_failing = error is not None
            what = f"cannot be written: {error}; polling goes on" if error else "is written again"
            self._voice.warn(f"the journal of {self._whose} {what}")


class Watch:
    """`clock` is ms since 1970, `timer` steady ms. With an interval of None it is one poll, begun by cron.

    For other threads: `places` are the brokers that the name server was last known to have, and `has_looked`
    is set once a poll has ended, however it did.
    """

    def __init__(
        self,
        addr: str,
        poller: Poller,
        keeping: Keeping,
        voice: Voice,
        interval: int | None,
        clock: Callable[[], int],
        timer: Callable[[], int],
    ) -> None:
        self.addr = addr
        self._poller = poller
        self._keeping = keeping
        self._voice = voice
        self._interval = interval
        self._clock = clock
        self._timer = timer
        self._failed = 0
        self._is_blind = interval is not None and keeping.is_known
        self._blind_since = timer()
        self._proven_at: int | None = None
        self._polls = self._longest = 0
        self._is_late = False
        self._disk = Disk(keeping, addr, voice)
        self.places = _places(keeping)
        self.has_looked = threading.Event()
        keeping.begin(clock(), interval)

    def turn(self) -> Turn:
        """One poll and its records. Stopped, whereupon nothing of it is written."""
        begun = self._timer()
        try:
            seen = self._poller.poll()
        except RocketMQError as error:
            turn = Turn(self.addr, self._timer() - begun, error=error)
            self._fail(error)
        else:
            turn = self._learn(seen, begun)
        finally:
            self.has_looked.set()
        self._tell(turn)
        return turn

    def _learn(self, seen: Seen, begun: int) -> Turn:
        was_known = self._keeping.is_known
        now, events = self._clock(), derive(self._keeping.known, seen)
        millis = self._timer() - begun
        self._keeping.learn([*events, *self._recovery()], now)
        self._poller.believe(seen)
        self.places = _places(self._keeping)
        brokers = sum(len(group.members) for group in seen.listed.groups.values())
        self._prove(brokers, len(seen.listed.topics), millis)
        return Turn(self.addr, millis, brokers, len(seen.listed.topics), len(events) if was_known else 0)

    def _recovery(self) -> list[Event]:
        if not (self._failed or self._is_blind):
            return []
        if self._failed:
            self._voice.warn(f"name server {self.addr}: answers again, after {self._failed} failed polls")
        event = PollRecovered(self._failed, self._timer() - self._blind_since)
        self._failed, self._is_blind = 0, False
        return [event]

    def _fail(self, error: RocketMQError) -> None:
        if not self._failed:
            self._voice.warn(f"name server {self.addr}: {error_text(error)}; polling goes on")
            if not self._is_blind:
                self._blind_since = self._timer()
        self._failed += 1
        self._keeping.say([PollFailed(error_text(error), self._failed)], self._clock())

    def _prove(self, brokers: int, topics: int, millis: int) -> None:
        """The first poll that succeeded, then once a minute."""
        self._polls, self._longest = self._polls + 1, max(self._longest, millis)
        now = self._timer()
        if self._proven_at is None or now - self._proven_at >= _MINUTE:
            self._keeping.prove(Polled(self._polls, brokers, topics, self._longest), self._clock())
            self._polls, self._longest, self._proven_at = 0, 0, now

    def _tell(self, turn: Turn) -> None:
        said = error_text(turn.error) if turn.error else f"{turn.brokers} brokers, {turn.topics} topics"
        self._voice.debug(
            f"name server {self.addr}: polled in {turn.millis} ms: {said}, {turn.events or 0} events"
        )
        self._disk.look()
        if self._interval is not None and turn.millis > self._interval and not self._is_late:
            self._is_late = True
            self._voice.remark(
                f"name server {self.addr}: a poll took {turn.millis / 1000:.1f} s, longer than the interval"
            )

    def end(self, reason: str) -> None:
        """The last record; of a poll begun by cron there is none, as another one comes."""
        if self._interval is not None:
            self._keeping.end(reason, self._clock())


def _places(keeping: Keeping) -> frozenset[Place]:
    return frozenset(
        Place(group.cluster, name, number, addr)
        for name, group in keeping.known.groups.items()
        for number, addr in group.addrs.items()
    )
