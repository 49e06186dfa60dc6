"""Plain counters of what a name server does, read by whoever looks.

Requests are counted only by a server that was asked to: `measured` is put around its handlers then.
"""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from namesrv_core.errors import ResponseCode
from namesrv_core.events import BrokerUnregistered, Event
from namesrv_core.handlers.dispatch import HANDLERS
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.policy import NOBODY, Peer
from namesrv_core.state.tables import LiveKey

Handle = Callable[[NameServerState, Command, int, int, Peer], tuple[Command, Sequence[Event]]]

_SPARE = 256


class Histogram:
    """How many values were up to each of `bounds`, and beyond the last; `total` is their sum."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


SECONDS = (
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1, 0.5,
    1.0,
)  # fmt: skip
LAGS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
SIZES = tuple(float(4**power * 1024) for power in range(8))


class Tally:
    """The requests of one kind: response codes, and seconds that each took."""

    __slots__ = ("codes", "seconds")

    def __init__(self) -> None:
        self.codes: dict[int, int] = {}
        self.seconds = Histogram(SECONDS)


class Registered(NamedTuple):
    """A broker's latest registration: its bytes as they were sent, and when (ms)."""

    size: int
    at: int


class Counters:
    """What has happened since the start."""

    def __init__(self) -> None:
        self.tallies: dict[int, Tally] = {}
        self.unknown = Tally()
        self.registrations: dict[LiveKey, Registered] = {}
        self.registration_bytes = Histogram(SIZES)
        self.opened = self.unintelligible = self.idle = self.quick = self.sent_away = 0
        self.events: Counter[str] = Counter()
        self.left: Counter[str] = Counter()
        self.loop_lag = Histogram(LAGS)

    def measured(self, handle: Handle) -> Handle:
        """The same, counted by request and response code, with how long it takes."""
        tallies, tally_of, clock = self.tallies, self._tally, time.perf_counter

        def measure(
            state: NameServerState, request: Command, channel: int, now: int, peer: Peer = NOBODY
        ) -> tuple[Command, Sequence[Event]]:
            begun = clock()
            try:
                answer, events = handle(state, request, channel, now, peer)
            except Exception:
                self._count(tally_of(request.code), ResponseCode.SYSTEM_ERROR, clock() - begun)
                raise
            taken = clock() - begun
            self._count(tallies.get(request.code) or tally_of(request.code), answer.code, taken)
            if request.code == RequestCode.REGISTER_BROKER and answer.code == 0:
                self._registered(state.tables.live, request, now)
            return answer, events

        return measure

    def _tally(self, code: int) -> Tally:
        """Whatever numbers peers make up, there are only so many tallies."""
        return self.tallies.setdefault(code, Tally()) if code in HANDLERS else self.unknown

    @staticmethod
    def _count(tally: Tally, code: int, seconds: float) -> None:
        tally.codes[code] = tally.codes.get(code, 0) + 1
        tally.seconds.add(seconds)

    def _registered(self, live: Collection[LiveKey], request: Command, now: int) -> None:
        ext, size = request.ext or {}, len(request.body)
        self.registration_bytes.add(size)
        self.registrations[ext.get("clusterName") or "", ext.get("brokerAddr") or ""] = Registered(size, now)
        if len(self.registrations) > 2 * len(live) + _SPARE:
            self.registrations = {key: had for key, had in self.registrations.items() if key in live}

    def published(self, events: Sequence[Event]) -> None:
        """Count what happened, by its name, and the brokers that left, by why."""
        for event in events:
            self.events[type(event).__name__] += 1
            if isinstance(event, BrokerUnregistered):
                self.left[event.reason] += 1
