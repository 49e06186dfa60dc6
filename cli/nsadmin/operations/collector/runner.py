"""Runs one thread per name server and one for the brokers, so that no server delays another one."""

import re
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import monotonic, time
from types import FrameType
from typing import NamedTuple

from namesrv_core.state.kv_config import ORDER_TOPIC_CONFIG
from namesrv_core.storage.journal.rolling_writer import JournalLimits
from nsadmin.client import AdminClient
from nsadmin.operations.collector import BROKERS_JOURNAL
from nsadmin.operations.collector.broker_poller import BrokerQuestions
from nsadmin.operations.collector.broker_rounds import BrokerRounds, RoundResult
from nsadmin.operations.collector.journals import CollectorJournal, NameServerJournal
from nsadmin.operations.collector.name_server_poller import NameServerPoller
from nsadmin.operations.collector.name_server_watch import MessageSink, NameServerWatch, PollResult
from nsadmin.operations.collector.request_pace import PollStopped, RequestPace

_CHECK_STOP_SECONDS = 0.1
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class CollectorPlan(NamedTuple):
    """What to collect and how often. An `interval_seconds` of None means a single poll.

    `max_in_flight` limits the concurrent requests, and `rate` the requests per second, to all name servers
    together. Brokers have their own rate and interval. `journal_limits` apply to each journal.
    """

    addrs: Sequence[str]
    folder: Path
    interval_seconds: float | None
    max_in_flight: int = 64
    rate: int = 1000
    namespaces: Sequence[str] = (ORDER_TOPIC_CONFIG,)
    broker_questions: BrokerQuestions = BrokerQuestions()
    broker_interval_seconds: float = 60
    broker_requests_per_second: int = 50
    journal_limits: JournalLimits = JournalLimits()


class SinglePollResult(NamedTuple):
    """A poll of each name server in the order of the plan, and a round of brokers if the plan has one."""

    poll_results: list[PollResult]
    broker_round: RoundResult | None


class _SignalReceived(BaseException):
    """The process received a signal. The message is its name."""


def journal_folder_of(journals_folder: Path, namesrv_addr: str) -> Path:
    """Return the folder of a name server's journal. Its name has no colon, which other tools interpret."""
    return journals_folder / re.sub(r"[^\w.-]+", "_", namesrv_addr).strip("_")


class Collector:
    """Collects the journals of a plan.

    Calls `connect_client` once per name server, and once for the brokers. Calls `message_sink` from several
    threads.
    """

    def __init__(
        self, plan: CollectorPlan, connect_client: Callable[[], AdminClient], message_sink: MessageSink
    ) -> None:
        self._collector_plan = plan
        self._connect_client = connect_client
        self._message_sink = message_sink
        self._stop_event = threading.Event()
        self._thread_failures: list[BaseException] = []

    @contextmanager
    def _open_journals(self) -> Iterator[tuple[list[NameServerWatch], BrokerRounds | None]]:
        """Open all journals or none. Raises RocketMQError or OSError if one cannot be written."""
        plan = self._collector_plan
        request_pace = self._make_pace(plan.rate)
        in_flight_share = max(1, plan.max_in_flight // len(plan.addrs))
        interval_ms = None if plan.interval_seconds is None else round(plan.interval_seconds * 1000)
        with ExitStack() as exit_stack:
            server_journals, watches = [], []
            for namesrv_addr in plan.addrs:
                server_journals.append(
                    NameServerJournal(
                        journal_folder_of(plan.folder, namesrv_addr), namesrv_addr, plan.journal_limits
                    )
                )
                exit_stack.callback(server_journals[-1].close)
            broker_journal = (
                CollectorJournal(plan.folder / BROKERS_JOURNAL, BROKERS_JOURNAL, plan.journal_limits)
                if any(plan.broker_questions)
                else None
            )
            if broker_journal is not None:
                exit_stack.callback(broker_journal.close)
            for namesrv_addr, server_journal in zip(plan.addrs, server_journals, strict=True):
                server_tables = exit_stack.enter_context(self._connect_client()).name_server_tables
                server_poller = NameServerPoller(
                    server_tables,
                    namesrv_addr,
                    plan.namespaces,
                    request_pace,
                    in_flight_share,
                )
                watches.append(
                    NameServerWatch(
                        namesrv_addr,
                        server_poller,
                        server_journal,
                        self._message_sink,
                        interval_ms,
                        _read_clock_ms,
                        _read_timer_ms,
                    )
                )
            if broker_journal is None:
                yield watches, None
                return
            yield (
                watches,
                self._make_rounds(watches, exit_stack.enter_context(self._connect_client()), broker_journal),
            )

    def _make_pace(self, per_second: int) -> RequestPace:
        return RequestPace(per_second, pause=self._stop_event.wait, is_stopped=self._stop_event.is_set)

    def _make_rounds(
        self, watches: list[NameServerWatch], admin: AdminClient, broker_journal: CollectorJournal
    ) -> BrokerRounds:
        plan = self._collector_plan
        return BrokerRounds(
            watches,
            admin,
            plan.broker_questions,
            self._make_pace(plan.broker_requests_per_second),
            plan.max_in_flight,
            broker_journal,
            self._message_sink,
            None if plan.interval_seconds is None else round(plan.broker_interval_seconds * 1000),
            _read_clock_ms,
            _read_timer_ms,
        )

    def poll_once(self) -> SinglePollResult:
        """Poll all name servers once, concurrently; then poll the brokers that they know."""
        results_by_addr: dict[str, PollResult] = {}
        round_results: list[RoundResult] = []

        def poll_watch(watch: NameServerWatch) -> None:
            results_by_addr[watch.addr] = watch.run_turn()

        with self._open_journals() as (watches, broker_rounds):
            poll_jobs = [partial(poll_watch, watch) for watch in watches]
            try:
                broker_jobs = self._make_broker_jobs(
                    watches,
                    broker_rounds,
                    lambda given_rounds: round_results.append(given_rounds.run_round()),
                )
                self._run_jobs([*poll_jobs, *broker_jobs], None)
            finally:
                _end_runs(watches, broker_rounds, "once")
        poll_results = [results_by_addr[a] for a in self._collector_plan.addrs if a in results_by_addr]
        return SinglePollResult(poll_results, round_results[0] if round_results else None)

    def poll_until_stopped(self, on_started: Callable[[], None] = lambda: None) -> str:
        """Poll until the process receives a signal; return the signal's name."""
        plan = self._collector_plan
        assert plan.interval_seconds is not None
        with self._open_journals() as (watches, broker_rounds):
            poll_jobs = [
                partial(self._repeat_turns, watch.run_turn, plan.interval_seconds) for watch in watches
            ]
            end_reason = "failure"
            try:
                broker_jobs = self._make_broker_jobs(
                    watches,
                    broker_rounds,
                    lambda rounds: self._repeat_turns(rounds.run_round, plan.broker_interval_seconds),
                )
                end_reason = self._run_jobs([*poll_jobs, *broker_jobs], on_started)
            finally:
                _end_runs(watches, broker_rounds, end_reason)
        return end_reason

    def _make_broker_jobs(
        self,
        watches: list[NameServerWatch],
        broker_rounds: BrokerRounds | None,
        run_rounds: Callable[[BrokerRounds], object],
    ) -> list[Callable[[], object]]:
        """Return the job that polls brokers, if any. It starts after the first poll of every name server."""
        if broker_rounds is None:
            return []

        def run_broker_job() -> None:
            for watch in watches:
                while not (watch.has_looked.wait(_CHECK_STOP_SECONDS) or self._stop_event.is_set()):
                    pass
            run_rounds(broker_rounds)

        return [run_broker_job]

    def request_stop(self) -> None:
        self._stop_event.set()

    def _repeat_turns(self, run_turn: Callable[[], object], interval_seconds: float) -> None:
        due_seconds = monotonic()
        while not self._stop_event.is_set():
            run_turn()
            # After a slow turn, the missed turns are skipped.
            due_seconds = max(due_seconds + interval_seconds, monotonic())
            self._stop_event.wait(due_seconds - monotonic())

    def _run_jobs(self, jobs: Sequence[Callable[[], object]], on_started: Callable[[], None] | None) -> str:
        """Run each job in a thread, and raise the first error of a thread.

        Returns the name of the signal that stopped the jobs, or "end" without a signal.
        """
        end_reason = "end"
        # In Python 3.11, a Thread.join that a signal interrupted takes the thread for ended.
        with ThreadPoolExecutor(len(jobs)) as pool:
            try:
                with _raise_on_signal():
                    futures = [pool.submit(self._run_guarded, job) for job in jobs]
                    if on_started is not None:
                        on_started()
                    wait(futures)
            except _SignalReceived as received_signal:
                end_reason = str(received_signal)
            finally:
                self._stop_event.set()
        if self._thread_failures:
            raise self._thread_failures[0]
        return end_reason

    def _run_guarded(self, thread_job: Callable[[], object]) -> None:
        try:
            thread_job()
        except PollStopped:
            pass
        except BaseException as error:
            # Any error ends all threads, not only this one.
            self._thread_failures.append(error)
            self._stop_event.set()


def _end_runs(watches: list[NameServerWatch], broker_rounds: BrokerRounds | None, end_reason: str) -> None:
    for watch in watches:
        watch.end_run(end_reason)
    if broker_rounds is not None:
        broker_rounds.end_run(end_reason)


@contextmanager
def _raise_on_signal() -> Iterator[None]:
    """Raise _SignalReceived on SIGINT or SIGTERM. A second signal ends the process as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous_handlers = {signal_number: signal.getsignal(signal_number) for signal_number in _STOP_SIGNALS}

    def raise_signal(signal_number: int, _: FrameType | None) -> None:
        raise _SignalReceived(signal.Signals(signal_number).name)

    try:
        for signal_number in _STOP_SIGNALS:
            signal.signal(signal_number, raise_signal)
        yield
    finally:
        for signal_number, previous_handler in previous_handlers.items():
            signal.signal(signal_number, previous_handler)


def _read_clock_ms() -> int:
    return int(time() * 1000)


def _read_timer_ms() -> int:
    return int(monotonic() * 1000)
