"""The polling threads: they ask all servers once per interval and pass on the polls.

Rule: a slow or dead server does not delay the others. Each name server has its own thread. Brokers that
answered last time share one thread with a short timeout. A broker that misses it is asked again at once by
another thread, with the timeout of the command line. A third thread runs the queries of the current screen.
Requests are spread over the interval, and these threads share one rate limit. `sample_threads` adds two.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from math import ceil
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.tui.polling import server_polls
from nsadmin.tui.polling.detail_queries import DetailQuery, run_queries
from nsadmin.tui.polling.poll_records import (
    AnyPoll,
    BrokerPolled,
    DrainsPolled,
    MissingBrokersPolled,
    NameServerPolled,
    check_poll,
)
from nsadmin.tui.polling.polling_plan import ClientFactory, PollHandler, PollingPlan
from nsadmin.tui.polling.sample_threads import SAMPLED_KINDS, SamplingAccess, SamplingThreads
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


class ClusterPoller:
    """Several threads call `post_polls`. `report_failure` gets the exception of a thread, which restarts."""

    def __init__(
        self,
        polling_plan: PollingPlan,
        create_client: ClientFactory,
        post_polls: PollHandler,
        report_failure: Callable[[BaseException], object],
        clock: Clock,
    ) -> None:
        self.interval = polling_plan.interval
        self._plan = polling_plan
        self._create_client = create_client
        self._post_raw_polls = post_polls
        self._report_failure = report_failure
        self._clock = clock
        self._stop_event = threading.Event()
        self._running_event = threading.Event()
        self._running_event.set()
        self._request_pace = RequestPace(polling_plan.requests_per_second, pause=self._stop_event.wait)
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
        self._threads: list[threading.Thread] = []
        self._sampling = SamplingThreads(
            SamplingAccess(
                polling_plan.addrs,
                lambda: self._open_probe(polling_plan.addrs),
                self._list_server_polls,
                self._post_polls,
                self._request_pace,
                self._stop_event,
                self._running_event,
            )
        )
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
        thread_bodies: list[Callable[[], None]] = [
            *(
                lambda namesrv_addr=namesrv_addr: self._poll_name_server(namesrv_addr)
                for namesrv_addr in self._plan.addrs
            ),
            self._poll_answering_brokers,
            self._poll_silent_brokers,
            self._run_detail_queries,
            self._watch_drains,
            self._watch_inventory,
            self._watch_problems,
            lambda: self._sampling.sample_groups(lambda: self.interval),
            lambda: self._sampling.sample_topic_rates(lambda: self.interval),
            *(
                lambda journal_folder=journal_folder: self._follow_journal(journal_folder)
                for journal_folder in self._plan.journal_folders
            ),
        ]
        for thread_body in thread_bodies:
            self._start_thread(thread_body)

    def _start_thread(self, thread_body: Callable[[], None]) -> None:
        thread = threading.Thread(target=self._run_with_restarts, args=(thread_body,), daemon=True)
        self._threads.append(thread)
        thread.start()

    def stop(self, patience_seconds: float = 0.0) -> None:
        """Stop all threads. Wait this many seconds for requests that are running."""
        self._stop_event.set()
        for event in (
            self._running_event,
            self._queries_changed,
            self._brokers_known,
            self._broker_fell_silent,
            self._checks_due,
            self._wake_event,
        ):
            event.set()
        self._sampling.stop()
        if self._message_feed is not None:
            self._message_feed.stop()
        deadline_seconds = monotonic() + patience_seconds
        for thread in self._threads:
            thread.join(max(deadline_seconds - monotonic(), 0))

    mode = "live"

    @property
    def is_paused(self) -> bool:
        return not self._running_event.is_set()

    def pause(self, is_paused: bool) -> None:
        self._running_event.clear() if is_paused else self._running_event.set()

    def look_now(self) -> None:
        """Poll at once instead of at the next turn, because a command has changed something."""
        # The threads of silent brokers and of checks wait for events of their own.
        for event in (self._wake_event, self._broker_fell_silent, self._checks_due):
            event.set()
        self._sampling.wake()

    def ask(self, detail_queries: Iterable[DetailQuery]) -> None:
        """Set the detail queries that run from now on, in addition to the polls of all servers."""
        wanted_queries = tuple(detail_queries)
        with self._lock:
            if wanted_queries == self._detail_queries:
                return
            self._detail_queries = wanted_queries
        self._sampling.set_wanted(query.query_kind for query in wanted_queries)
        self._queries_changed.set()

    def follow_messages(self, message_query: "MessageQuery | None") -> None:
        """Read the messages of this query from now on. None reads nothing."""
        if self._message_feed is None:
            if message_query is None:
                return
            # Imported when a view first shows messages, so that the first screen appears sooner.
            from nsadmin.tui.polling.message_feed import MessageFeed

            self._message_feed = MessageFeed(
                lambda: self._open_probe(self._plan.addrs), self._request_pace, self._post_polls,
                self._running_event.wait, self._plan.load_message_tools,
            )  # fmt: skip
            self._start_thread(self._message_feed.run)
        self._message_feed.follow(message_query)

    def _run_with_restarts(self, thread_body: Callable[[], None]) -> None:
        while not self._stop_event.is_set():
            try:
                thread_body()
            except Exception as error:
                self._report_failure(error)
                self._stop_event.wait(_RESTART_DELAY_SECONDS)

    @contextmanager
    def _open_probe(
        self, namesrv_addrs: Sequence[str], timeout_seconds: float | None = None
    ) -> Iterator[ServerProbe]:
        stopwatch = RequestStopwatch()
        with self._create_client(namesrv_addrs, timeout_seconds, stopwatch) as admin:
            yield ServerProbe(
                admin, stopwatch, self._clock, self._plan.namespaces, {}, self._list_silent_servers
            )

    def _wait_for_next_turn(self, began_seconds: float, wake_event: threading.Event | None = None) -> None:
        """Wait until the next turn or until the event is set. While paused, wait until polling resumes."""
        (wake_event or self._wake_event).wait(max(began_seconds + self.interval - monotonic(), 0.02))
        self._running_event.wait()
        if self._wake_event.is_set() and not self._stop_event.is_set():
            # Give all waiting threads time to see the event before it is cleared.
            self._stop_event.wait(0.05)
            self._wake_event.clear()

    def _poll_name_server(self, namesrv_addr: str) -> None:
        with self._open_probe([namesrv_addr]) as server_probe:
            while not self._stop_event.is_set():
                began_seconds = monotonic()
                with self._request_pace.reserve_requests(5):
                    poll = server_polls.poll_name_server(server_probe, namesrv_addr, self._plan.namespaces)
                self._remember_brokers(poll)
                self._post_polls([poll])
                self._wait_for_next_turn(began_seconds)

    def _remember_brokers(self, poll: NameServerPolled) -> None:
        with self._lock:
            previous_poll = self._latest_polls.get(poll.addr)
            self._latest_polls[poll.addr] = poll
        if previous_poll is not None and (poll.groups, poll.perms) != (
            previous_poll.groups,
            previous_poll.perms,
        ):
            self._checks_due.set()
        if poll.error is None:
            with self._lock:
                self._brokers_by_server[poll.addr] = [
                    broker_addr
                    for broker_group in poll.groups.values()
                    for broker_addr in broker_group.broker_addrs.values()
                ]
            self._brokers_known.set()

    def _list_server_polls(self) -> list[NameServerPolled]:
        with self._lock:
            return [*self._latest_polls.values()]

    def _list_silent_servers(self) -> dict[str, str]:
        return {poll.addr: poll.error for poll in self._list_server_polls() if poll.error is not None}

    def _select_brokers(self, select_silent: bool) -> list[str]:
        with self._lock:
            listed_addrs = dict.fromkeys(
                broker_addr
                for broker_addrs in self._brokers_by_server.values()
                for broker_addr in broker_addrs
            )
            self._silent_addrs &= listed_addrs.keys()
            return [
                broker_addr
                for broker_addr in listed_addrs
                if (broker_addr in self._silent_addrs) == select_silent
            ]

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
        with self._open_probe(self._plan.addrs, _BROKER_TIMEOUT_SECONDS) as server_probe:
            self._poll_first_turn(server_probe)
            self._sampling.begin()
            while not self._stop_event.is_set():
                began_seconds = monotonic()
                broker_addrs = self._select_brokers(False)
                batch_size = max(1, ceil(len(broker_addrs) * _BATCH_PAUSE_SECONDS / (self.interval * 0.8)))
                for broker_batch in split_batches(broker_addrs, batch_size):
                    self._poll_batch(server_probe, broker_batch, _BATCH_PAUSE_SECONDS)
                self._wait_for_next_turn(began_seconds)

    def _poll_first_turn(self, server_probe: ServerProbe) -> None:
        """Poll all brokers as fast as the rate limit allows: the operator waits for the first screen."""
        # Imported while requests are running, so that the first screen appears sooner.
        from concurrent.futures import ThreadPoolExecutor

        broker_batches = split_batches(self._select_brokers(False), _FIRST_BATCH_SIZE)
        with ThreadPoolExecutor(_FIRST_TURN_THREADS) as batch_threads:
            for _ in batch_threads.map(lambda batch: self._poll_batch(server_probe, batch), broker_batches):
                pass

    def _poll_batch(
        self, server_probe: ServerProbe, broker_addrs: Sequence[str], pause_seconds: float = 0
    ) -> None:
        if self._stop_event.is_set():
            return
        with self._request_pace.reserve_requests(len(broker_addrs)):
            polls = server_polls.poll_brokers(server_probe, broker_addrs)
        self._update_silent_brokers(polls)
        self._post_polls(polls)
        self._stop_event.wait(pause_seconds)
        self._running_event.wait()

    def _poll_silent_brokers(self) -> None:
        self._brokers_known.wait()
        with self._open_probe(self._plan.addrs) as server_probe:
            while not self._stop_event.is_set():
                began_seconds = monotonic()
                self._broker_fell_silent.clear()
                broker_addrs = self._select_brokers(True)
                if broker_addrs:
                    self._poll_batch(server_probe, broker_addrs[: self._plan.requests_per_second])
                self._wait_for_next_turn(began_seconds, self._broker_fell_silent)

    def _follow_journal(self, journal_folder: str) -> None:
        """Post the events of a journal as its name server writes them.

        If the folder cannot be read, `_run_with_restarts` reports the error and tries again later.
        """
        from nsadmin.tui.polling.journal_source import follow_events

        for events in follow_events(Path(journal_folder), self._plan.describe_event):
            if events:
                self._post_polls(events)
            if self._stop_event.wait(1.0):
                return
            self._running_event.wait()

    def _watch_drains(self) -> None:
        """Read the drain folders more often than the servers: an operator waits for their progress."""
        # Import here, while requests are running, so that the first screen appears sooner.
        from msgspec import structs

        from nsadmin.tui.polling import drain_folders

        previous_poll: DrainsPolled | None = None
        while not self._stop_event.is_set():
            poll = drain_folders.poll_drains(self._clock)
            if previous_poll is None or poll != structs.replace(previous_poll, at=poll.at):
                self._post_polls([poll])
            previous_poll = poll
            self._stop_event.wait(min(self.interval, _DRAIN_POLL_SECONDS))
            self._running_event.wait()

    def _watch_inventory(self) -> None:
        """Compare the listings of all name servers with the inventory, and add new brokers to it."""
        if self._plan.inventory is None:
            return
        from nsadmin.tui.polling.missing_brokers import poll_missing_brokers

        previous_poll: MissingBrokersPolled | None = None
        while not self._stop_event.is_set():
            began_seconds = monotonic()
            latest_polls = self._list_server_polls()
            # A name server that was not asked yet may be the only one that lists a broker.
            if len(latest_polls) == len(self._plan.addrs):
                poll = poll_missing_brokers(self._plan.inventory, latest_polls, self._clock)
                if poll is not None and (
                    previous_poll is None
                    or (poll.missing, poll.problem) != (previous_poll.missing, previous_poll.problem)
                ):
                    self._post_polls([poll])
                    previous_poll = poll
            self._stop_event.wait(max(began_seconds + self.interval - monotonic(), 0.02))
            self._running_event.wait()

    def _watch_problems(self) -> None:
        """Run the checks of `nsadmin check all` again and again, and soon after a change."""
        self._brokers_known.wait()
        # On a large cluster, the checks need as much processor time as the first sample of the groups.
        self._sampling.wait_for_first_sample()
        from nsadmin.operations.checks.check import CheckScope
        from nsadmin.tui.polling.problem_checks import repeat_checks

        check_scope = CheckScope(
            journal_folders=[Path(folder) for folder in self._plan.journal_folders],
            tls=self._plan.tls,
            inventory=self._plan.inventory,
        )
        problem_polls = repeat_checks(
            lambda: self._create_client(self._plan.addrs, None, RequestStopwatch()),
            check_scope,
            self._clock,
            self._plan.namespaces if len(self._plan.addrs) > 1 else None,
        )
        with closing(problem_polls):
            while not self._stop_event.is_set():
                began_seconds = monotonic()
                self._checks_due.clear()
                self._post_polls(next(problem_polls))
                rest_seconds = max(_CHECK_REST_FACTOR * (monotonic() - began_seconds), 1.0)
                self._stop_event.wait(rest_seconds)
                self._checks_due.wait(max(_CHECK_SECONDS - rest_seconds, 0))
                self._running_event.wait()

    def _run_detail_queries(self) -> None:
        with self._open_probe(self._plan.addrs) as server_probe:
            while not self._stop_event.is_set():
                began_seconds = monotonic()
                self._queries_changed.clear()
                with self._lock:
                    detail_queries = [
                        query for query in self._detail_queries if query.query_kind not in SAMPLED_KINDS
                    ]
                for poll in run_queries(server_probe, detail_queries, self._plan.addrs, self._request_pace):
                    self._post_polls([poll])
                    if self._stop_event.is_set() or self._queries_changed.is_set():
                        break
                self._wait_for_next_turn(began_seconds, self._queries_changed)
