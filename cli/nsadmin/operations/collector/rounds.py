"""Rounds: the brokers that name servers know, asked again and again, and the journal of what they told."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.events import BrokersPolled, Event
from nsadmin.client import AdminClient
from nsadmin.operations.collector.asking import Asker, Questions
from nsadmin.operations.collector.keeping import Writing
from nsadmin.operations.collector.pace import Pace
from nsadmin.operations.collector.watching import Disk, Voice, Watch

WHOSE = "brokers"
"""What records call the server that they are about, and how the folder is called."""

_MINUTE = 60_000


class Silent(RocketMQError):
    """Brokers did not tell what they were asked for; their journal says which and why."""


class Round(NamedTuple):
    """What a round came to; `events` are all that it wrote."""

    polled: BrokersPolled
    events: int

    @property
    def error(self) -> Silent | None:
        if not self.polled.silent_brokers:
            return None
        return Silent(f"{self.polled.silent_brokers} of {self.polled.brokers} brokers did not tell")


class Rounds:
    """Asks the brokers that any of the watched name servers was last known to have, dead or alive.

    `clock` is ms since 1970, `timer` steady ms; an interval of None is as with a Watch.
    """

    def __init__(
        self,
        watches: Sequence[Watch],
        admin: AdminClient,
        questions: Questions,
        pace: Pace,
        in_flight: int,
        writing: Writing,
        voice: Voice,
        interval: int | None,
        clock: Callable[[], int],
        timer: Callable[[], int],
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._watches = watches
        self._asker = Asker(admin, questions, pace, in_flight, self._say, timer, is_stopped)
        self._writing = writing
        self._voice = voice
        self._interval = interval
        self._clock = clock
        self._timer = timer
        self._disk = Disk(writing, WHOSE, voice)
        self._events = 0
        self._silent = 0
        self._tidied_at = timer()
        writing.begin(clock(), interval)

    def turn(self) -> Round:
        """One round and its records. Stopped, whereupon those of its rest are not written."""
        self._events = 0
        places = sorted(frozenset().union(*(watch.places for watch in self._watches)))
        done = Round(self._asker.round(places), self._events)
        if self._timer() - self._tidied_at >= _MINUTE:
            self._tidied_at = self._timer()
            self._writing.tidy(self._clock())
        self._tell(done)
        return done

    def _say(self, events: Sequence[Event]) -> None:
        self._events += len(events)
        self._writing.say(events, self._clock())

    def _tell(self, done: Round) -> None:
        polled = done.polled
        self._voice.debug(
            f"{polled.brokers} brokers asked in {polled.poll_millis} ms: {polled.silent_brokers} did not"
            f" tell, {polled.consumer_groups} consumer groups, {done.events} events"
        )
        if polled.silent_brokers != self._silent:
            self._silent = polled.silent_brokers
            self._voice.warn(str(done.error or f"all {polled.brokers} brokers tell again"))
        self._disk.look()

    def end(self, reason: str) -> None:
        """The last record; of a round begun by cron there is none, as another one comes."""
        if self._interval is not None:
            self._writing.end(reason, self._clock())
