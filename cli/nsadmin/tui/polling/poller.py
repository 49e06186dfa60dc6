"""The polling threads: they ask all servers once per interval and pass on the polls.

Rule: a slow or dead server does not delay the others. Each name server has its own thread. Brokers that
answered last time share one thread with a short timeout. A broker that misses it is asked again at once by
another thread, with the timeout of the command line. A third thread runs the queries of the current screen.
Requests are spread over the interval, and these threads share one rate limit.

Two more threads sample all consumer groups and all topics, whichever view the operator looks at. A sample
runs as long as it needs and visits everything. While no view shows its result it rests most of the time.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from math import ceil
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from msgspec import structs

from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.tui.context import ClusterContext
from nsadmin.tui.polling import server_polls
from nsadmin.tui.polling.detail_queries import DetailQuery, query_groups, run_queries
from nsadmin.tui.polling.poll_records import (
    AnyPoll,
    BrokerPolled,
    DrainsPolled,
    MissingBrokerRecord,
    NameServerPolled,
    check_poll,
)
from nsadmin.tui.polling.server_polls import Clock, RequestStopwatch, ServerProbe, split_batches

if TYPE_CHECKING:
    from nsadmin.tui.messages.message_query import MessageQuery
    from nsadmin.tui.polling.message_feed import MessageFeed

_BROKER_TIMEOUT_SECONDS = 1.0
"""Timeout for a broker that answered last time. It is short because the rest of the batch waits for it."""
_BATCH_PAUSE_SECONDS = 0.2
_FIRST_BATCH_SIZE = 32
_FIRST_TURN_THREADS = 4
"""The first batches run side by side, so that the silent brokers of one do not delay the others."""
_DRAIN_POLL_SECONDS = 2.0
_CHECK_SECONDS = 30.0
_CHECK_REST_FACTOR = 30
"""After the checks of a large cluster, rest this many times as long as they took."""
_RESTART_DELAY_SECONDS = 10.0
_REQUESTS_PER_SECOND = 250

GROUPS_KIND, TOPIC_RATES_KIND = "groups", "topicRates"
SAMPLED_KINDS = frozenset((GROUPS_KIND, TOPIC_RATES_KIND))
"""The kinds of detail queries that the sampling threads run."""
_FIRST_SAMPLE_SECONDS = 20.0
_HIDDEN_SECONDS = 30.0
"""The least time between two samples of the groups while no view shows them."""
_HIDDEN_REST_FACTOR = 30
_SHOWN_REST_FACTOR = 2
_REQUESTS_PER_BROKER = 8
_RATES_REST_FACTOR = 2
_MIN_PAUSE_SECONDS = 0.05


class ClusterPoller:
    """Several threads call `post_polls`. `report_failure` gets the exception of a thread, which restarts."""

    mode = "live"

    def __init__(
        self,
        context: ClusterContext,
        interval: float,
        post_polls: Callable[[Sequence[AnyPoll]], object],
        report_failure: Callable[[BaseException], object],
        clock: Clock,
    ) -> None:
        self.interval = interval
        self._context = context
        self._post_raw_polls, self._report_failure, self._clock = post_polls, report_failure, clock
        self._stop_event, self._running_event = threading.Event(), threading.Event()
        self._running_event.set()
        self._request_pace = RequestPace(_REQUESTS_PER_SECOND, pause=self._stop_event.wait)
        self._lock = threading.Lock()
        self._brokers_by_server: dict[str, list[str]] = {}
        self._latest_polls: dict[str, NameServerPolled] = {}
        self._silent_addrs: set[str] = set()
        self._detail_queries: tuple[DetailQuery, ...] = ()
        self._queries_changed = threading.Event()
        self._brokers_known = threading.Event()
        self._broker_fell_silent = threading.Event()
        self._checks_due = threading.Event()
        self._wake_event = threading.Event()
        self._first_turn_done = threading.Event()
        self._first_sample_done = threading.Event()
        self._groups_due = threading.Event()
        self._rates_wanted = threading.Event()
        self._threads: list[threading.Thread] = []
        self._message_feed: MessageFeed | None = None

    def _post_polls(self, polls: Iterable[AnyPoll]) -> None:
        """Pass on polls with the types of their records: a server may answer anything."""
        checked_polls = []
        for poll in polls:
            try:
                checked_polls.append(check_poll(poll))
            except ValueError as error:
                self._report_failure(error)
        self._post_raw_polls(checked_polls)

    def start(self) -> None:
        for addr in self._context.addrs:
            self._start_thread(partial(self._poll_name_server, addr))
        for thread_body in (
            self._poll_answering_brokers,
            self._poll_silent_brokers,
            self._run_detail_queries,
            self._watch_drains,
            self._watch_inventory,
            self._watch_problems,
            self._sample_groups,
            self._sample_topic_rates,
        ):
            self._start_thread(thread_body)
        if self._context.journal_folders:
            from namesrv_core.storage.journal.segments import find_journals

            for folder in self._context.journal_folders:
                for journal in find_journals(Path(folder)):
                    self._start_thread(partial(self._follow_journal, journal))

    def _start_thread(self, thread_body: Callable[[], None]) -> None:
        thread = threading.Thread(target=self._run_with_restarts, args=(thread_body,), daemon=True)
        self._threads.append(thread)
        thread.start()

    def stop(self, patience_seconds: float = 0.0) -> None:
        """Stop all threads. Wait this many seconds for requests that are running."""
        self._stop_event.set()
        # No thread waits any more.
        for event in vars(self).values():
            if isinstance(event, threading.Event):
                event.set()
        if self._message_feed is not None:
            self._message_feed.stop()
        deadline_seconds = monotonic() + patience_seconds
        for thread in self._threads:
            thread.join(max(deadline_seconds - monotonic(), 0))

    @property
    def is_paused(self) -> bool:
        return not self._running_event.is_set()

    def pause(self, is_paused: bool) -> None:
        self._running_event.clear() if is_paused else self._running_event.set()

    def look_now(self) -> None:
        """Poll at once instead of at the next turn, because a command has changed something."""
        # The threads of silent brokers, of checks and of groups wait for events of their own.
        for event in (self._wake_event, self._broker_fell_silent, self._checks_due, self._groups_due):
            event.set()

    def ask(self, queries: Iterable[DetailQuery]) -> None:
        """Set the detail queries that run from now on, in addition to the polls of all servers."""
        wanted = tuple(queries)
        with self._lock:
            if wanted == self._detail_queries:
                return
            had_groups, self._detail_queries = self._wants(GROUPS_KIND), wanted
        if self._wants(GROUPS_KIND) and not had_groups:
            self._groups_due.set()
        self._rates_wanted.set() if self._wants(TOPIC_RATES_KIND) else self._rates_wanted.clear()
        self._queries_changed.set()

    def _wants(self, query_kind: str) -> bool:
        return any(query.query_kind == query_kind for query in self._detail_queries)

    def follow_messages(self, query: "MessageQuery | None") -> None:
        """Read the messages of this query from now on. None reads nothing."""
        if self._message_feed is None:
            if query is None:
                return
            # Imported when a view first shows messages, so that the first screen appears sooner.
            from nsadmin.tui.polling.message_feed import MessageFeed

            self._message_feed = MessageFeed(
                lambda: self._open_probe(self._context.addrs),
                self._post_polls,
                self._running_event.wait,
                self._context.load_message_tools,
            )
            self._start_thread(self._message_feed.run)
        self._message_feed.follow(query)

    def _run_with_restarts(self, thread_body: Callable[[], None]) -> None:
        while not self._stop_event.is_set():
            try:
                thread_body()
            except Exception as error:
                self._report_failure(error)
                self._stop_event.wait(_RESTART_DELAY_SECONDS)

    @contextmanager
    def _open_probe(
        self, addrs: Sequence[str], timeout_seconds: float | None = None
    ) -> Iterator[ServerProbe]:
        stopwatch = RequestStopwatch()
        with self._context.create_client(addrs, timeout_seconds, stopwatch) as admin:
            yield ServerProbe(
                admin,
                stopwatch,
                self._clock,
                self._request_pace,
                self._context.addrs,
                self._context.namespaces,
                {},
                self._list_silent_servers,
            )

    def _wait_for_next_turn(self, began: float, wake_event: threading.Event | None = None) -> None:
        """Wait until the next turn or until the event is set. While paused, wait until polling resumes."""
        (wake_event or self._wake_event).wait(max(began + self.interval - monotonic(), 0.02))
        self._running_event.wait()
        if self._wake_event.is_set() and not self._stop_event.is_set():
            # Give all waiting threads time to see the event before it is cleared.
            self._stop_event.wait(0.05)
            self._wake_event.clear()

    def _poll_name_server(self, namesrv_addr: str) -> None:
        with self._open_probe([namesrv_addr]) as probe:
            while not self._stop_event.is_set():
                began = monotonic()
                with self._request_pace.reserve_requests(5):
                    poll = server_polls.poll_name_server(probe, namesrv_addr)
                self._remember_brokers(poll)
                self._post_polls([poll])
                self._wait_for_next_turn(began)

    def _remember_brokers(self, poll: NameServerPolled) -> None:
        with self._lock:
            previous = self._latest_polls.get(poll.addr)
            self._latest_polls[poll.addr] = poll
        if previous is not None and (poll.groups, poll.perms) != (previous.groups, previous.perms):
            self._checks_due.set()
        if poll.error is None:
            with self._lock:
                groups = poll.groups.values()
                addrs = [addr for group in groups for addr in group.broker_addrs.values()]
                self._brokers_by_server[poll.addr] = addrs
            self._brokers_known.set()

    def _list_server_polls(self) -> list[NameServerPolled]:
        with self._lock:
            return [*self._latest_polls.values()]

    def _list_silent_servers(self) -> dict[str, str]:
        return {poll.addr: poll.error for poll in self._list_server_polls() if poll.error is not None}

    def _select_brokers(self, select_silent: bool) -> list[str]:
        with self._lock:
            listed = dict.fromkeys(addr for addrs in self._brokers_by_server.values() for addr in addrs)
            self._silent_addrs &= listed.keys()
            return [addr for addr in listed if (addr in self._silent_addrs) == select_silent]

    def _update_silent_brokers(self, polls: Iterable[BrokerPolled]) -> None:
        with self._lock:
            for poll in polls:
                # A broker that refuses answers fast, so it stays with the answering brokers.
                if poll.kind in (None, "refused"):
                    self._silent_addrs.discard(poll.addr)
                elif poll.addr not in self._silent_addrs:
                    self._silent_addrs.add(poll.addr)
                    self._broker_fell_silent.set()
                    self._checks_due.set()

    def _poll_answering_brokers(self) -> None:
        self._brokers_known.wait()
        with self._open_probe(self._context.addrs, _BROKER_TIMEOUT_SECONDS) as probe:
            self._poll_first_turn(probe)
            self._first_turn_done.set()
            while not self._stop_event.is_set():
                began = monotonic()
                broker_addrs = self._select_brokers(False)
                batch_size = max(1, ceil(len(broker_addrs) * _BATCH_PAUSE_SECONDS / (self.interval * 0.8)))
                for broker_batch in split_batches(broker_addrs, batch_size):
                    self._poll_batch(probe, broker_batch, _BATCH_PAUSE_SECONDS)
                self._wait_for_next_turn(began)

    def _poll_first_turn(self, probe: ServerProbe) -> None:
        """Poll all brokers as fast as the rate limit allows: the operator waits for the first screen."""
        # Imported while requests are running, so that the first screen appears sooner.
        from concurrent.futures import ThreadPoolExecutor

        broker_batches = split_batches(self._select_brokers(False), _FIRST_BATCH_SIZE)
        with ThreadPoolExecutor(_FIRST_TURN_THREADS) as batch_threads:
            for _ in batch_threads.map(lambda batch: self._poll_batch(probe, batch), broker_batches):
                pass

    def _poll_batch(self, probe: ServerProbe, broker_addrs: Sequence[str], pause_seconds: float = 0) -> None:
        if self._stop_event.is_set():
            return
        with self._request_pace.reserve_requests(len(broker_addrs)):
            polls = server_polls.poll_brokers(probe, broker_addrs)
        self._update_silent_brokers(polls)
        self._post_polls(polls)
        self._stop_event.wait(pause_seconds)
        self._running_event.wait()

    def _poll_silent_brokers(self) -> None:
        self._brokers_known.wait()
        with self._open_probe(self._context.addrs) as probe:
            while not self._stop_event.is_set():
                began = monotonic()
                self._broker_fell_silent.clear()
                broker_addrs = self._select_brokers(True)
                if broker_addrs:
                    self._poll_batch(probe, broker_addrs[:_REQUESTS_PER_SECOND])
                self._wait_for_next_turn(began, self._broker_fell_silent)

    def _follow_journal(self, folder: Path) -> None:
        """Post the events of a journal as its name server writes them.

        If the folder cannot be read, `_run_with_restarts` reports the error and tries again later.
        """
        from nsadmin.tui.polling.journal_source import follow_events

        for events in follow_events(folder, self._context.describe_event):
            if events:
                self._post_polls(events)
            if self._stop_event.wait(1.0):
                return
            self._running_event.wait()

    def _watch_drains(self) -> None:
        """Read the drain folders more often than the servers: an operator waits for their progress."""
        # Import here, while requests are running, so that the first screen appears sooner.
        from nsadmin.operations.installation import Installation
        from nsadmin.tui.polling import drain_folders

        previous: DrainsPolled | None = None
        with self._context.create_client(self._context.addrs, None, RequestStopwatch()) as admin:
            installation = Installation(admin)
            while not self._stop_event.is_set():
                poll = drain_folders.poll_drains(self._clock, installation)
                if previous is None or poll != structs.replace(previous, at=poll.at):
                    self._post_polls([poll])
                previous = poll
                self._stop_event.wait(min(self.interval, _DRAIN_POLL_SECONDS))
                self._running_event.wait()

    def _watch_inventory(self) -> None:
        """Compare the listings of all name servers with the inventory, and add new brokers to it."""
        if self._context.inventory is None:
            return
        previous: tuple[Sequence[MissingBrokerRecord], str] | None = None
        while not self._stop_event.is_set():
            began = monotonic()
            latest_polls = self._list_server_polls()
            # A name server that was not asked yet may be the only one that lists a broker.
            if len(latest_polls) == len(self._context.addrs):
                poll = server_polls.poll_missing_brokers(self._context.inventory, latest_polls, self._clock)
                state = None if poll is None else (poll.missing, poll.problem)
                if poll is not None and state != previous:
                    self._post_polls([poll])
                    previous = state
            self._stop_event.wait(max(began + self.interval - monotonic(), 0.02))
            self._running_event.wait()

    def _watch_problems(self) -> None:
        """Run the checks of `nsadmin check all` again and again, and soon after a change."""
        self._brokers_known.wait()
        # On a large cluster, the checks need as much processor time as the first sample of the groups.
        self._first_sample_done.wait(_FIRST_SAMPLE_SECONDS)
        from nsadmin.operations.checks.check import CheckScope
        from nsadmin.tui.polling.problem_checks import repeat_checks

        folders = [Path(folder) for folder in self._context.journal_folders]
        scope = CheckScope(journal_folders=folders, tls=self._context.tls, inventory=self._context.inventory)
        problem_polls = repeat_checks(
            lambda: self._context.create_client(self._context.addrs, None, RequestStopwatch()),
            scope,
            self._clock,
            self._context.namespaces if len(self._context.addrs) > 1 else None,
        )
        with closing(problem_polls):
            while not self._stop_event.is_set():
                began = monotonic()
                self._checks_due.clear()
                self._post_polls(next(problem_polls))
                rest_seconds = max(_CHECK_REST_FACTOR * (monotonic() - began), 1.0)
                self._stop_event.wait(rest_seconds)
                self._checks_due.wait(max(_CHECK_SECONDS - rest_seconds, 0))
                self._running_event.wait()

    def _run_detail_queries(self) -> None:
        with self._open_probe(self._context.addrs) as probe:
            while not self._stop_event.is_set():
                began = monotonic()
                self._queries_changed.clear()
                with self._lock:
                    queries = [q for q in self._detail_queries if q.query_kind not in SAMPLED_KINDS]
                for poll in run_queries(probe, queries):
                    self._post_polls([poll])
                    if self._stop_event.is_set() or self._queries_changed.is_set():
                        break
                self._wait_for_next_turn(began, self._queries_changed)

    def _sample_groups(self) -> None:
        """Poll all groups again and again."""
        self._first_turn_done.wait()
        with self._open_probe(self._context.addrs) as probe:
            while not self._stop_event.is_set():
                began = monotonic()
                self._groups_due.clear()
                group_pace = RequestPace(self._count_group_requests(), pause=self._stop_event.wait)
                for poll in query_groups(probe._replace(pace=group_pace), ""):
                    self._post_polls([poll])
                    self._running_event.wait()
                    if self._stop_event.is_set():
                        return
                self._first_sample_done.set()
                self._wait_for_groups(monotonic() - began)

    def _count_group_requests(self) -> int:
        """The limit of requests per second: the usual one, but at least a few for each broker."""
        broker_count = max((len(poll.groups) for poll in self._list_server_polls()), default=0)
        return max(_REQUESTS_PER_SECOND, _REQUESTS_PER_BROKER * broker_count)

    def _wait_for_groups(self, sample_seconds: float) -> None:
        if self._wants(GROUPS_KIND):
            pause_seconds = max(self.interval - sample_seconds, _SHOWN_REST_FACTOR * sample_seconds)
        else:
            pause_seconds = max(_HIDDEN_SECONDS, _HIDDEN_REST_FACTOR * sample_seconds)
        self._groups_due.wait(max(pause_seconds, _MIN_PAUSE_SECONDS))
        self._running_event.wait()

    def _sample_topic_rates(self) -> None:
        """Sample the put rates of all topics in turn, while a view wants them."""
        self._rates_wanted.wait()
        # Imported while requests are running, so that the first screen appears sooner.
        from nsadmin.tui.polling.topic_rates import TopicRateSampler

        sampler = TopicRateSampler(self.interval)
        with self._open_probe(self._context.addrs) as probe:
            while not self._stop_event.is_set():
                began = monotonic()
                sampler.interval = self.interval
                poll = sampler.sample_next(probe, self._list_server_polls())
                if poll is not None:
                    self._post_polls([poll])
                pause_seconds = _RATES_REST_FACTOR * (monotonic() - began) if poll is not None else 1.0
                self._stop_event.wait(max(pause_seconds, _MIN_PAUSE_SECONDS))
                self._running_event.wait()
                self._rates_wanted.wait()
