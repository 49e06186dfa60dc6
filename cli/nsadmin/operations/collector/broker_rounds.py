"""Polls the brokers that name servers know, round by round, and writes the journal of brokers."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.events import BrokersPolled, Event
from nsadmin.client import AdminClient
from nsadmin.console.phrases import all_do, count_noun
from nsadmin.operations.collector import BROKERS_JOURNAL
from nsadmin.operations.collector.broker_poller import BrokerPoller, BrokerQuestions
from nsadmin.operations.collector.journals import CollectorJournal
from nsadmin.operations.collector.name_server_watch import DiskMonitor, MessageSink, NameServerWatch
from nsadmin.operations.collector.request_pace import RequestPace

_MINUTE_MS = 60_000


class BrokersSilentError(RocketMQError):
    """Some brokers did not answer. The journal of brokers names them with the reasons."""


class RoundResult(NamedTuple):
    """The result of a round, and the number of events that it wrote."""

    polled_event: BrokersPolled
    event_count: int

    @property
    def silence_error(self) -> BrokersSilentError | None:
        if not self.polled_event.silent_brokers:
            return None
        return BrokersSilentError(
            f"{self.polled_event.silent_brokers} of {self.polled_event.brokers} brokers did not answer"
        )


class BrokerRounds:
    """Polls the last known brokers of all watched name servers, also of those that do not answer now.

    `clock_ms` returns ms since 1970, `timer_ms` is a steady clock. An interval of None means a single round,
    as for NameServerWatch.
    """

    def __init__(
        self,
        server_watches: Sequence[NameServerWatch],
        admin: AdminClient,
        broker_questions: BrokerQuestions,
        request_pace: RequestPace,
        max_in_flight: int,
        broker_journal: CollectorJournal,
        message_sink: MessageSink,
        interval_ms: int | None,
        clock_ms: Callable[[], int],
        timer_ms: Callable[[], int],
    ) -> None:
        self._server_watches = server_watches
        self._broker_poller = BrokerPoller(
            admin, broker_questions, request_pace, max_in_flight, self._write_events, timer_ms
        )
        self._broker_journal = broker_journal
        self._message_sink = message_sink
        self._interval_ms = interval_ms
        self._clock_ms = clock_ms
        self._timer_ms = timer_ms
        self._disk_monitor = DiskMonitor(broker_journal, BROKERS_JOURNAL, message_sink)
        self._event_count = 0
        self._silent_count = 0
        self._tidied_ms = timer_ms()
        broker_journal.begin_run(clock_ms(), interval_ms)

    def run_round(self) -> RoundResult:
        """Poll all brokers once and write the records. Raises PollStopped, and then writes no more."""
        self._event_count = 0
        polled_brokers = sorted(frozenset().union(*(watch.known_brokers for watch in self._server_watches)))
        round_result = RoundResult(self._broker_poller.poll_round(polled_brokers), self._event_count)
        if self._timer_ms() - self._tidied_ms >= _MINUTE_MS:
            self._tidied_ms = self._timer_ms()
            self._broker_journal.tidy_segments(self._clock_ms())
        self._report_round(round_result)
        return round_result

    def _write_events(self, round_events: Sequence[Event]) -> None:
        self._event_count += len(round_events)
        self._broker_journal.write_events(round_events, self._clock_ms())

    def _report_round(self, round_result: RoundResult) -> None:
        event = round_result.polled_event
        self._message_sink.write_debug(
            f"polled {count_noun(event.brokers, 'broker')} in {event.poll_millis} ms: "
            f"{event.silent_brokers} did not "
            f"answer, {count_noun(event.consumer_groups, 'consumer group')}, "
            f"{count_noun(round_result.event_count, 'event')}"
        )
        if event.silent_brokers != self._silent_count:
            self._silent_count = event.silent_brokers
            self._message_sink.write_warning(
                str(round_result.silence_error or f"{all_do(event.brokers, 'broker', 'answer')} again")
            )
        self._disk_monitor.report_change()

    def end_run(self, end_reason: str) -> None:
        """Write the last record of this run. A single round writes none, because cron starts another one."""
        if self._interval_ms is not None:
            self._broker_journal.end_run(end_reason, self._clock_ms())
