"""Polls brokers for runtime figures and consumer lag, in rounds and at its own request rate.

A broker that does not answer gets a BrokerPollFailed event. Its earlier values are not repeated.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import NamedTuple, TypeVar

from namesrv_core.errors import RocketMQError
from namesrv_core.events import BrokerPollFailed, BrokerRuntime, BrokersPolled, ConsumerLag, Event, TopicLag
from nsadmin.client import AdminClient
from nsadmin.client.brokers import targets
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.consumers.committed_offsets import CommittedOffsets
from nsadmin.client.consumers.consume_stats import ConsumeStats, GroupQueueLag, find_waiting_since
from nsadmin.client.consumers.groups import is_system_group
from nsadmin.client.consumers.lag import sum_lags
from nsadmin.client.results import error_text, is_silent
from nsadmin.operations.collector.request_pace import RequestPace

T = TypeVar("T")

_HOUR_MS = 3_600_000
_MAX_CONCURRENT = 16

EventSink = Callable[[Sequence[Event]], None]


class PolledBroker(NamedTuple):
    """A broker process. The fields are the first fields of the broker events, in their order."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str


BrokerAndGroup = tuple[PolledBroker, str]
"""A broker and the name of a consumer group."""


class BrokerQuestions(NamedTuple):
    """Which figures to request from brokers."""

    asks_runtime: bool = False
    asks_lag: bool = False


class BrokerPoller:
    """Polls through one client, with at most `max_in_flight` and at most 16 requests in flight.

    `timer_ms` is a steady clock. `emit_events` receives the events of each batch, so that no event waits for
    the end of a round.
    """

    def __init__(
        self,
        admin: AdminClient,
        broker_questions: BrokerQuestions,
        request_pace: RequestPace,
        max_in_flight: int,
        emit_events: EventSink,
        timer_ms: Callable[[], int],
    ) -> None:
        self._admin = admin
        self._broker_questions = broker_questions
        self._request_pace = request_pace
        self._batch_size = max(1, min(max_in_flight, request_pace.per_second, _MAX_CONCURRENT))
        self._emit_events = emit_events
        self._timer_ms = timer_ms
        self._reported_lags: dict[BrokerAndGroup, tuple[TopicLag, ...]] = {}
        self._full_report_ms: int | None = None

    def poll_round(self, polled_brokers: Sequence[PolledBroker]) -> BrokersPolled:
        """Poll all brokers; emit and return the event that sums up the round. Raises PollStopped."""
        started_ms = self._timer_ms()
        silent_brokers: set[PolledBroker] = set()
        group_count = 0
        if self._broker_questions.asks_runtime:
            silent_brokers |= self._poll_runtime(polled_brokers)
        if self._broker_questions.asks_lag:
            silent_for_lag, group_count = self._poll_lag(polled_brokers, started_ms)
            silent_brokers |= silent_for_lag
        round_event = BrokersPolled(
            len(polled_brokers), len(silent_brokers), group_count, self._timer_ms() - started_ms
        )
        self._emit_events([round_event])
        return round_event

    def _poll_runtime(self, polled_brokers: Sequence[PolledBroker]) -> set[PolledBroker]:
        silent_brokers = set()
        for broker_batch in self._split_batches(polled_brokers):
            with self._request_pace.reserve_requests(len(broker_batch)):
                runtime_results = self._admin.brokers.get_runtime_info(b.broker_addr for b in broker_batch)
            silent_brokers |= {b for b, r in zip(broker_batch, runtime_results, strict=True) if r.error}
            self._emit_events(
                [
                    build_runtime_event(broker, result.result)
                    if result.result
                    else build_poll_failure(broker, "runtime", result.error)
                    for broker, result in zip(broker_batch, runtime_results, strict=True)
                ]
            )
        return silent_brokers

    def _poll_lag(
        self, polled_brokers: Sequence[PolledBroker], started_ms: int
    ) -> tuple[set[PolledBroker], int]:
        """Return the brokers that did not report their groups, and the sum of all brokers' group counts."""
        if self._full_report_ms is None or started_ms - self._full_report_ms >= _HOUR_MS:
            self._reported_lags, self._full_report_ms = {}, started_ms
        reported_lags: dict[BrokerAndGroup, tuple[TopicLag, ...]] = {}
        silent_brokers: set[PolledBroker] = set()
        pair_count = 0
        for broker_batch in self._split_batches(_choose_one_per_group(polled_brokers), 2):
            groups_by_broker = self._read_groups(broker_batch)
            silent_brokers |= set(broker_batch) - groups_by_broker.keys()
            # The brokers alternate, so that no broker gets the requests for all its groups at once.
            broker_group_pairs = _interleave_groups({b: names for b, (names, _) in groups_by_broker.items()})
            pair_count += len(broker_group_pairs)
            unreachable_errors: dict[PolledBroker, RocketMQError] = {}
            for pair_batch in self._split_batches(broker_group_pairs):
                reported_lags |= self._read_lags(
                    pair_batch,
                    {b: offsets for b, (_, offsets) in groups_by_broker.items()},
                    unreachable_errors,
                )
        self._reported_lags = reported_lags
        return silent_brokers, pair_count

    def _read_groups(
        self, polled_brokers: Sequence[PolledBroker]
    ) -> dict[PolledBroker, tuple[list[str], CommittedOffsets]]:
        """Return the groups of each broker that reported them, and their consumer offsets there."""
        broker_addrs = [broker.broker_addr for broker in polled_brokers]
        with self._request_pace.reserve_requests(2 * len(polled_brokers)):
            group_tables = self._admin.groups.get_tables(map(targets.target_at_addr, broker_addrs))
            offset_results = self._admin.consumers.get_committed_each(broker_addrs)
        groups_by_broker = {}
        for broker, group_table, committed_result in zip(
            polled_brokers, group_tables, offset_results, strict=True
        ):
            if group_table.result is None or committed_result.result is None:
                self._emit_events(
                    [build_poll_failure(broker, "groups", group_table.error or committed_result.error)]
                )
            else:
                groups_by_broker[broker] = (
                    [group_name for group_name in group_table.result if not is_system_group(group_name)],
                    committed_result.result,
                )
        return groups_by_broker

    def _read_lags(
        self,
        broker_group_pairs: Sequence[BrokerAndGroup],
        offsets_by_broker: Mapping[PolledBroker, CommittedOffsets],
        unreachable_errors: dict[PolledBroker, RocketMQError],
    ) -> dict[BrokerAndGroup, tuple[TopicLag, ...]]:
        """Read the lags; skip brokers in `unreachable_errors`, so that no request waits for them again."""
        reachable_pairs = [pair for pair in broker_group_pairs if pair[0] not in unreachable_errors]
        poll_events: list[Event] = [
            build_poll_failure(broker, "lag", unreachable_errors[broker], group_name)
            for broker, group_name in broker_group_pairs
            if broker in unreachable_errors
        ]
        with self._request_pace.reserve_requests(len(reachable_pairs)):
            stats_results = self._admin.consumers.get_stats_each(
                [(broker.broker_addr, group_name) for broker, group_name in reachable_pairs]
            )
        lagging_places = [
            (result.addr, name)
            for (_, name), result in zip(reachable_pairs, stats_results, strict=True)
            if result.result is not None and any(queue.lag.messages for queue in result.result.queues)
        ]
        with self._request_pace.reserve_requests(len(lagging_places)):
            broadcasting_groups = self._admin.consumers.find_broadcasting(lagging_places)
        reported_lags = {}
        for (broker, group_name), stats_result in zip(reachable_pairs, stats_results, strict=True):
            if stats_result.result is None:
                poll_events.append(build_poll_failure(broker, "lag", stats_result.error, group_name))
                if stats_result.error is not None and is_silent(stats_result.error):
                    unreachable_errors[broker] = stats_result.error
                continue
            topic_lags = reported_lags[broker, group_name] = summarize_lags(
                stats_result.result.mark_broadcasting(broadcasting_groups), offsets_by_broker[broker]
            )
            if self._reported_lags.get((broker, group_name)) != topic_lags or any(
                topic_lag.lag for topic_lag in topic_lags
            ):
                poll_events.append(ConsumerLag(*broker, group_name, topic_lags))
        self._emit_events(poll_events)
        return reported_lags

    def _split_batches(self, work_items: Sequence[T], requests_per_item: int = 1) -> Iterator[list[T]]:
        """Split items into batches whose requests may all be in flight at the same time."""
        remaining_items = iter(work_items)
        while batch_items := list(islice(remaining_items, max(1, self._batch_size // requests_per_item))):
            yield batch_items


def _choose_one_per_group(polled_brokers: Sequence[PolledBroker]) -> list[PolledBroker]:
    """Choose the broker with the lowest id of each broker group: usually the master."""
    first_by_group: dict[tuple[str, str], PolledBroker] = {}
    for broker in sorted(polled_brokers):
        first_by_group.setdefault(broker[:2], broker)
    return list(first_by_group.values())


def _interleave_groups(groups_by_broker: Mapping[PolledBroker, Sequence[str]]) -> list[BrokerAndGroup]:
    """Return the first group of each broker, then the second group of each, and so on."""
    pair_rows = zip_longest(*([(broker, n) for n in names] for broker, names in groups_by_broker.items()))
    return [pair for row in pair_rows for pair in row if pair is not None]


def build_poll_failure(
    broker: PolledBroker, question_name: str, error: RocketMQError | None, group: str | None = None
) -> BrokerPollFailed:
    return BrokerPollFailed(*broker, question_name, error_text(error) if error else "no answer", group)


def build_runtime_event(broker: PolledBroker, runtime_info: RuntimeInfo) -> BrokerRuntime:
    earliest_ms = runtime_info.get_integer("earliestMessageTimeStamp")
    return BrokerRuntime(
        *broker,
        runtime_info.version,
        runtime_info.get_integer("bootTimestamp"),
        runtime_info.is_active,
        _round_number(runtime_info.get_number("putTps"), 2),
        _round_number(runtime_info.out_tps, 2),
        runtime_info.get_integer("msgPutTotalTodayNow"),
        runtime_info.get_integer("msgGetTotalTodayNow"),
        _round_number(runtime_info.get_number("commitLogDiskRatio"), 4),
        runtime_info.get_integer("commitLogMinOffset"),
        runtime_info.get_integer("commitLogMaxOffset"),
        runtime_info.get_integer("dispatchBehindBytes"),
        runtime_info.get_integer("sendThreadPoolQueueSize"),
        runtime_info.get_integer("sendThreadPoolQueueHeadWaitTimeMills"),
        runtime_info.get_integer("pullThreadPoolQueueSize"),
        runtime_info.get_integer("pageCacheLockTimeMills"),
        # A broker with an empty store reports -1.
        earliest_ms if earliest_ms is not None and earliest_ms >= 0 else None,
    )


def _round_number(exact_number: float | None, digit_count: int) -> float | None:
    return None if exact_number is None else round(exact_number, digit_count)


def summarize_lags(consume_stats: ConsumeStats, committed_offsets: CommittedOffsets) -> tuple[TopicLag, ...]:
    """Sum up a group's lag on a broker by topic, sorted by topic name."""
    lags_by_topic: dict[str, list[GroupQueueLag]] = {}
    for queue_lag in consume_stats.clear_uncommitted(committed_offsets).queues:
        lags_by_topic.setdefault(queue_lag.queue.topic, []).append(queue_lag)
    return tuple(_summarize_topic(topic, queue_lags) for topic, queue_lags in sorted(lags_by_topic.items()))


def _summarize_topic(topic: str, queue_lags: Sequence[GroupQueueLag]) -> TopicLag:
    committed_offsets = [lag.consumer_offset for lag in queue_lags if lag.consumer_offset is not None]
    inflight_counts = [lag.inflight_count for lag in queue_lags if lag.inflight_count is not None]
    return TopicLag(
        topic,
        len(queue_lags),
        len(queue_lags) - len(committed_offsets),
        sum(queue_lag.broker_offset for queue_lag in queue_lags),
        sum(committed_offsets) if committed_offsets else None,
        sum_lags(queue_lag.lag for queue_lag in queue_lags).messages,
        sum(inflight_counts) if inflight_counts else None,
        find_waiting_since(queue_lags),
    )
