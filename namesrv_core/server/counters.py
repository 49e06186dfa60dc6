"""Counters of a name server's activity, for metrics and the debug page.

Requests are counted only if the server has an HTTP port; `measure_requests` then wraps the handlers.
"""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from namesrv_core.errors import ResponseCode
from namesrv_core.events import BrokerUnregistered, Event
from namesrv_core.handlers.dispatch import HANDLERS_BY_CODE
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.state.access_policy import ANONYMOUS_PEER, RequestPeer
from namesrv_core.state.broker_tables import LiveKey
from namesrv_core.state.name_server_state import NameServerState

HandleFunction = Callable[
    [NameServerState, RemotingCommand, int, int, RequestPeer], tuple[RemotingCommand, Sequence[Event]]
]

_SPARE_REGISTRATIONS = 256


class Histogram:
    """Counts of values up to each upper bound and beyond the last one, and the sum of all values."""

    __slots__ = ("bucket_counts", "upper_bounds", "value_sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.upper_bounds = bounds
        self.bucket_counts = [0] * (len(bounds) + 1)
        self.value_sum = 0.0

    def add_value(self, added: float) -> None:
        self.bucket_counts[bisect_left(self.upper_bounds, added)] += 1
        self.value_sum += added


DURATION_BOUNDS = (
    0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1, 0.5,
    1.0,
)  # fmt: skip
LAG_BOUNDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
SIZE_BOUNDS = tuple(float(4**power * 1024) for power in range(8))


class RequestTally:
    """The requests with one request code: counts by response code, and durations in seconds."""

    __slots__ = ("counts_by_code", "duration_seconds")

    def __init__(self) -> None:
        self.counts_by_code: dict[int, int] = {}
        self.duration_seconds = Histogram(DURATION_BOUNDS)


class LatestRegistration(NamedTuple):
    """A broker's latest registration: the size of its body as sent, and the time of its arrival."""

    body_bytes: int
    received_at_ms: int


class ServerCounters:
    def __init__(self) -> None:
        self.tallies_by_code: dict[int, RequestTally] = {}
        self.unknown_tally = RequestTally()
        self.latest_registrations: dict[LiveKey, LatestRegistration] = {}
        self.registration_sizes = Histogram(SIZE_BOUNDS)
        self.opened_count = self.unintelligible_count = self.idle_count = self.cached_answer_count = (
            self.go_away_count
        ) = 0
        self.counts_by_event: Counter[str] = Counter()
        self.counts_by_leave_reason: Counter[str] = Counter()
        self.loop_lag = Histogram(LAG_BOUNDS)

    def measure_requests(self, handle_request: HandleFunction) -> HandleFunction:
        """Wrap a handler, to count requests by request and response code and to measure durations."""
        tallies, tally, clock = self.tallies_by_code, self._tally_of_code, time.perf_counter

        def handle_measured(
            state: NameServerState,
            request: RemotingCommand,
            channel_id: int,
            now_ms: int,
            peer: RequestPeer = ANONYMOUS_PEER,
        ) -> tuple[RemotingCommand, Sequence[Event]]:
            began = clock()
            try:
                answer, events = handle_request(state, request, channel_id, now_ms, peer)
            except Exception:
                self._count_request(tally(request.code), ResponseCode.SYSTEM_ERROR, clock() - began)
                raise
            seconds = clock() - began
            self._count_request(tallies.get(request.code) or tally(request.code), answer.code, seconds)
            if request.code == RequestCode.REGISTER_BROKER and answer.code == 0:
                self._record_registration(state.tables.live_brokers, request, now_ms)
            return answer, events

        return handle_measured

    def _tally_of_code(self, code: int) -> RequestTally:
        """The tally of a request code. Unknown codes share one, so that peers cannot create more tallies."""
        return (
            self.tallies_by_code.setdefault(code, RequestTally())
            if code in HANDLERS_BY_CODE
            else self.unknown_tally
        )

    @staticmethod
    def _count_request(tally: RequestTally, response_code: int, duration_seconds: float) -> None:
        tally.counts_by_code[response_code] = tally.counts_by_code.get(response_code, 0) + 1
        tally.duration_seconds.add_value(duration_seconds)

    def _record_registration(self, keys: Collection[LiveKey], request: RemotingCommand, now_ms: int) -> None:
        ext_fields, body = request.ext or {}, len(request.body)
        self.registration_sizes.add_value(body)
        self.latest_registrations[ext_fields.get("clusterName") or "", ext_fields.get("brokerAddr") or ""] = (
            LatestRegistration(body, now_ms)
        )
        if len(self.latest_registrations) > 2 * len(keys) + _SPARE_REGISTRATIONS:
            self.latest_registrations = {
                key: latest for key, latest in self.latest_registrations.items() if key in keys
            }

    def count_events(self, events: Sequence[Event]) -> None:
        for event in events:
            self.counts_by_event[type(event).__name__] += 1
            if isinstance(event, BrokerUnregistered):
                self.counts_by_leave_reason[event.reason] += 1
