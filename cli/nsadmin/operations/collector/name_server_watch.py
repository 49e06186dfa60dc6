"""Polls one name server repeatedly, writes the changes to its journal, and reports failures."""

import threading
from collections.abc import Callable
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.events import Event, Polled, PollFailed, PollRecovered
from nsadmin.client.results import error_text
from nsadmin.console.phrases import count_noun
from nsadmin.operations.collector.broker_poller import PolledBroker
from nsadmin.operations.collector.journals import CollectorJournal, NameServerJournal
from nsadmin.operations.collector.name_server_poller import NameServerPoller, PollObservation
from nsadmin.operations.collector.table_diff import derive_events

_MINUTE_MS = 60_000


class PollResult(NamedTuple):
    """The result of a poll. The counts are None if the poll failed."""

    namesrv_addr: str
    duration_ms: int
    broker_count: int | None = None
    topic_count: int | None = None
    event_count: int | None = None
    poll_error: RocketMQError | None = None


class MessageSink(NamedTuple):
    """Writes one-line messages: warnings, remarks, and a debug message per poll."""

    write_warning: Callable[[str], None]
    write_remark: Callable[[str], None]
    write_debug: Callable[[str], None] = lambda message_text: None


class DiskMonitor:
    """Warns when a journal can no longer be written, and when it can be written again."""

    def __init__(
        self, collector_journal: CollectorJournal, server_name: str, message_sink: MessageSink
    ) -> None:
        self._collector_journal = collector_journal
        self._server_name = server_name
        self._message_sink = message_sink
        self._is_failing = False

    def report_change(self) -> None:
        disk_error = self._collector_journal.disk_error
        if (disk_error is not None) != self._is_failing:
            self._is_failing = disk_error is not None
            state_text = (
                f"cannot be written: {disk_error}; the collector continues to poll"
                if disk_error
                else "is writable again"
            )
            self._message_sink.write_warning(f"the journal of {self._server_name} {state_text}")


class NameServerWatch:
    """Polls one name server and keeps its journal.

    `clock_ms` returns ms since 1970, `timer_ms` is a steady clock. An interval of None means a single poll,
    started by cron. Other threads may read `known_brokers`, the brokers that the name server last listed, and
    wait for `has_looked`, which is set when the first poll has ended, also if it failed.
    """

    def __init__(
        self,
        namesrv_addr: str,
        server_poller: NameServerPoller,
        server_journal: NameServerJournal,
        message_sink: MessageSink,
        interval_ms: int | None,
        clock_ms: Callable[[], int],
        timer_ms: Callable[[], int],
    ) -> None:
        self.addr = namesrv_addr
        self._server_poller = server_poller
        self._server_journal = server_journal
        self._message_sink = message_sink
        self._interval_ms = interval_ms
        self._clock_ms = clock_ms
        self._timer_ms = timer_ms
        self._failed_count = 0
        self._is_blind = interval_ms is not None and server_journal.is_known
        self._blind_since_ms = timer_ms()
        self._proven_at_ms: int | None = None
        self._poll_count = self._longest_ms = 0
        self._is_late = False
        self._disk_monitor = DiskMonitor(server_journal, namesrv_addr, message_sink)
        self.known_brokers = _list_known_brokers(server_journal)
        self.has_looked = threading.Event()
        server_journal.begin_run(clock_ms(), interval_ms)

    def run_turn(self) -> PollResult:
        """Poll once and write the records. Raises PollStopped, and then writes none of them."""
        started_ms = self._timer_ms()
        try:
            poll_observation = self._server_poller.poll_tables()
        except RocketMQError as error:
            result = PollResult(self.addr, self._timer_ms() - started_ms, poll_error=error)
            self._record_failure(error)
        else:
            result = self._record_poll(poll_observation, started_ms)
        finally:
            self.has_looked.set()
        self._report_poll(result)
        return result

    def _record_poll(self, poll_observation: PollObservation, started_ms: int) -> PollResult:
        was_known = self._server_journal.is_known
        now_ms = self._clock_ms()
        derived_events = derive_events(self._server_journal.known_tables, poll_observation)
        duration_ms = self._timer_ms() - started_ms
        self._server_journal.record_poll([*derived_events, *self._list_recovery_events()], now_ms)
        self._server_poller.accept_poll(poll_observation)
        self.known_brokers = _list_known_brokers(self._server_journal)
        broker_count = sum(len(group.members) for group in poll_observation.server_listing.groups.values())
        self._record_proof(broker_count, len(poll_observation.server_listing.topics), duration_ms)
        return PollResult(
            self.addr,
            duration_ms,
            broker_count,
            len(poll_observation.server_listing.topics),
            len(derived_events) if was_known else 0,
        )

    def _list_recovery_events(self) -> list[Event]:
        if not (self._failed_count or self._is_blind):
            return []
        if self._failed_count:
            self._message_sink.write_warning(
                f"name server {self.addr}: answers again after "
                f"{count_noun(self._failed_count, 'failed poll')}"
            )
        recovery_event = PollRecovered(self._failed_count, self._timer_ms() - self._blind_since_ms)
        self._failed_count, self._is_blind = 0, False
        return [recovery_event]

    def _record_failure(self, error: RocketMQError) -> None:
        if not self._failed_count:
            # After a single poll, the command reports the error itself.
            if self._interval_ms is not None:
                self._message_sink.write_warning(
                    f"name server {self.addr}: {error_text(error)}; the collector retries"
                )
            if not self._is_blind:
                self._blind_since_ms = self._timer_ms()
        self._failed_count += 1
        self._server_journal.write_events(
            [PollFailed(error_text(error), self._failed_count)], self._clock_ms()
        )

    def _record_proof(self, broker_count: int, topic_count: int, duration_ms: int) -> None:
        """Write the proof of successful polls: after the first one, then once a minute."""
        self._poll_count, self._longest_ms = self._poll_count + 1, max(self._longest_ms, duration_ms)
        steady_now_ms = self._timer_ms()
        if self._proven_at_ms is None or steady_now_ms - self._proven_at_ms >= _MINUTE_MS:
            self._server_journal.record_proof(
                Polled(self._poll_count, broker_count, topic_count, self._longest_ms), self._clock_ms()
            )
            self._poll_count, self._longest_ms, self._proven_at_ms = 0, 0, steady_now_ms

    def _report_poll(self, result: PollResult) -> None:
        outcome = (
            error_text(result.poll_error)
            if result.poll_error
            else f"{count_noun(result.broker_count or 0, 'broker')}, "
            f"{count_noun(result.topic_count or 0, 'topic')}"
        )
        self._message_sink.write_debug(
            f"name server {self.addr}: polled in {result.duration_ms} ms: {outcome}, "
            f"{count_noun(result.event_count or 0, 'event')}"
        )
        self._disk_monitor.report_change()
        if self._interval_ms is not None and result.duration_ms > self._interval_ms and not self._is_late:
            self._is_late = True
            self._message_sink.write_remark(
                f"name server {self.addr}: a poll took {result.duration_ms / 1000:.1f} s, more than the "
                f"interval of {self._interval_ms / 1000:g} s"
            )

    def end_run(self, end_reason: str) -> None:
        """Write the last record of this run. A single poll writes none, because cron starts another one."""
        if self._interval_ms is not None:
            self._server_journal.end_run(end_reason, self._clock_ms())


def _list_known_brokers(server_journal: NameServerJournal) -> frozenset[PolledBroker]:
    return frozenset(
        PolledBroker(known_group.cluster_name, broker_name, broker_id, broker_addr)
        for broker_name, known_group in server_journal.known_tables.broker_groups.items()
        for broker_id, broker_addr in known_group.broker_addrs.items()
    )
