"""The threads that sample all consumer groups and all topics, whichever view the operator looks at.

Rule: a sample runs as long as it needs and visits everything, whatever the operator does. While no view shows
its result it rests for most of the time.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from time import monotonic
from typing import NamedTuple

from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.tui.polling.group_queries import query_groups
from nsadmin.tui.polling.poll_records import AnyPoll, NameServerPolled
from nsadmin.tui.polling.server_polls import ServerProbe

GROUPS_KIND, TOPIC_RATES_KIND = "groups", "topicRates"
SAMPLED_KINDS = frozenset((GROUPS_KIND, TOPIC_RATES_KIND))
"""The kinds of detail queries that these threads run."""

_FIRST_SAMPLE_SECONDS = 20.0
_HIDDEN_SECONDS = 30.0
"""The least time between two samples of the groups while no view shows them."""
_HIDDEN_REST_FACTOR = 30
_SHOWN_REST_FACTOR = 2
_REQUESTS_PER_BROKER = 8
_RATES_REST_FACTOR = 2
_MIN_PAUSE_SECONDS = 0.05


class SamplingAccess(NamedTuple):
    """The parts of the poller that its sampling threads use.

    `list_server_polls` returns the last poll of each name server.
    """

    namesrv_addrs: Sequence[str]
    open_probe: Callable[[], AbstractContextManager[ServerProbe]]
    list_server_polls: Callable[[], Sequence[NameServerPolled]]
    post_polls: Callable[[Sequence[AnyPoll]], object]
    request_pace: RequestPace
    stop_event: threading.Event
    running_event: threading.Event


class SamplingThreads:
    """Two thread bodies: `sample_groups` and `sample_topic_rates`."""

    def __init__(self, access: SamplingAccess) -> None:
        self._access = access
        self._first_turn_done = threading.Event()
        self._first_sample_done = threading.Event()
        self._groups_due = threading.Event()
        self._rates_wanted = threading.Event()
        self._wanted_kinds: Collection[str] = ()

    def begin(self) -> None:
        """Let the samples begin: the brokers have been polled once."""
        self._first_turn_done.set()

    def wake(self) -> None:
        """Sample the groups at once."""
        self._groups_due.set()

    def wait_for_first_sample(self) -> None:
        """Wait until all groups were polled once, for a limited time."""
        self._first_sample_done.wait(_FIRST_SAMPLE_SECONDS)

    def stop(self) -> None:
        """End the waits of both threads, after the stop event is set."""
        for event in (self._first_turn_done, self._first_sample_done, self._groups_due, self._rates_wanted):
            event.set()

    def set_wanted(self, query_kinds: Iterable[str]) -> None:
        """Sample these kinds more often, because the current view shows them."""
        wanted_kinds = SAMPLED_KINDS.intersection(query_kinds)
        if GROUPS_KIND in wanted_kinds and GROUPS_KIND not in self._wanted_kinds:
            self._groups_due.set()
        self._wanted_kinds = wanted_kinds
        if TOPIC_RATES_KIND in wanted_kinds:
            self._rates_wanted.set()
        else:
            self._rates_wanted.clear()

    def sample_groups(self, read_interval: Callable[[], float]) -> None:
        """Poll all groups again and again. `read_interval` returns the present poll interval in seconds."""
        self._first_turn_done.wait()
        access = self._access
        with access.open_probe() as probe:
            while not access.stop_event.is_set():
                began = monotonic()
                self._groups_due.clear()
                group_pace = RequestPace(self._count_group_requests(), pause=access.stop_event.wait)
                for poll in query_groups(probe, "", access.namesrv_addrs, group_pace):
                    access.post_polls([poll])
                    access.running_event.wait()
                    if access.stop_event.is_set():
                        return
                self._first_sample_done.set()
                self._wait_for_groups(monotonic() - began, read_interval())

    def _count_group_requests(self) -> int:
        """The limit of requests per second: the usual one, but at least a few for each broker."""
        count = max((len(poll.groups) for poll in self._access.list_server_polls()), default=0)
        return max(self._access.request_pace.per_second, _REQUESTS_PER_BROKER * count)

    def _wait_for_groups(self, sample_seconds: float, interval_seconds: float) -> None:
        shown_pause = max(interval_seconds - sample_seconds, _SHOWN_REST_FACTOR * sample_seconds)
        if GROUPS_KIND in self._wanted_kinds:
            self._groups_due.wait(max(shown_pause, _MIN_PAUSE_SECONDS))
        else:
            hidden_pause = max(_HIDDEN_SECONDS, _HIDDEN_REST_FACTOR * sample_seconds)
            self._groups_due.wait(hidden_pause)
        self._access.running_event.wait()

    def sample_topic_rates(self, read_interval: Callable[[], float]) -> None:
        """Sample the put rates of all topics in turn, while a view wants them."""
        self._rates_wanted.wait()
        # Imported while requests are running, so that the first screen appears sooner.
        from nsadmin.tui.polling.topic_rates import TopicRateSampler

        access = self._access
        rate_sampler = TopicRateSampler(read_interval())
        with access.open_probe() as probe:
            while not access.stop_event.is_set():
                began = monotonic()
                rate_sampler.interval = read_interval()
                poll = rate_sampler.sample_next(probe, access.list_server_polls(), access.request_pace)
                if poll is not None:
                    access.post_polls([poll])
                turn_seconds = monotonic() - began
                pause_seconds = _RATES_REST_FACTOR * turn_seconds if poll is not None else 1.0
                access.stop_event.wait(max(pause_seconds, _MIN_PAUSE_SECONDS))
                access.running_event.wait()
                self._rates_wanted.wait()
