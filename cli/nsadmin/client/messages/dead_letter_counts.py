"""Counts of dead letters, for all queues of all groups at once."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client.brokers.replica_failover import ask_replicas
from nsadmin.client.connection.caller import Caller
from nsadmin.client.messages.dead_letter_selection import DEAD_LETTER_PREFIX, DeadLetter
from nsadmin.client.messages.pull_requests import (
    PAGE_SIZE,
    PULL_RESPONSE_CODES,
    QueuePlace,
    ask_offsets,
    build_pull_request,
    decode_pulled_messages,
)
from nsadmin.client.messages.replay_memory import ReplayPlace
from nsadmin.client.results import ServerResult
from nsadmin.client.topic_routes import TopicRoute, list_read_queues

_HOUR_MS = 3_600_000


class DeadLetterCounts(NamedTuple):
    """The dead letters of a group.

    Attributes:
        group: The consumer group.
        broker_names: The brokers that have its dead-letter topic.
        message_count: The number of dead letters on the brokers that answered.
        oldest_ms: When the oldest one was stored, in ms since 1970; None without messages.
        newest_ms: When the newest one was stored.
        last_hour_count: The number of those that were stored in the last hour.
        origin_topics: The origin topics of a sample: the oldest 32 of each queue, and its newest.
        errors: The error of each queue; None after a success.
        queue_bounds: The first offset of each queue that answered, and the offset after its last one.
    """

    group: str
    broker_names: tuple[str, ...]
    message_count: int
    oldest_ms: int | None
    newest_ms: int | None
    last_hour_count: int
    origin_topics: tuple[str, ...]
    errors: tuple[RocketMQError | None, ...]
    queue_bounds: Mapping[ReplayPlace, tuple[int, int]] = {}


class _QueueCounts(NamedTuple):
    bounds: tuple[int, int] = (0, 0)
    last_hour_count: int = 0
    sample: Sequence[StoredMessage] = ()
    error: RocketMQError | None = None


def read_counts(
    caller: Caller, routes_by_group: Mapping[str, ServerResult[TopicRoute]], now_ms: int
) -> list[DeadLetterCounts]:
    """Count the dead letters of groups."""
    queues_by_group = {
        group: r.then(lambda route: list_read_queues(route.queues)) for group, r in routes_by_group.items()
    }
    places = [
        (route, DEAD_LETTER_PREFIX + group, queue_id)
        for group, queues in queues_by_group.items()
        for route, queue_id in queues.result or ()
    ]
    counted_places = zip(places, _count_queues(caller, places, now_ms), strict=True)
    return [
        _sum_counts(
            group,
            [] if queues.error is None else [queues.error],
            [
                (ReplayPlace(route.cluster_name or "", route.broker_name, queue_id), counts)
                for (route, _, queue_id), counts in islice(counted_places, len(queues.result or ()))
            ],
        )
        for group, queues in queues_by_group.items()
    ]


def _count_queues(caller: Caller, places: Sequence[QueuePlace], now_ms: int) -> list[_QueueCounts]:
    offset_results = zip(
        ask_offsets(caller, RequestCode.GET_MIN_OFFSET, places),
        ask_offsets(caller, RequestCode.GET_MAX_OFFSET, places),
        ask_offsets(caller, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, places, now_ms - _HOUR_MS),
        strict=True,
    )
    results_by_index = dict(enumerate(offset_results))
    sample_requests = [
        (index, offset, max_messages)
        for index, (begin, end, _) in results_by_index.items()
        if (begin.result or 0) < (end.result or 0)
        for offset, max_messages in ((begin.result or 0, PAGE_SIZE), ((end.result or 0) - 1, 1))
    ]
    samples = _pull_samples(caller, places, sample_requests)
    return [
        _make_queue_counts(results, samples[index], now_ms) for index, results in results_by_index.items()
    ]


def _make_queue_counts(
    offset_results: Sequence[ServerResult[int]], sample: Sequence[StoredMessage] | None, now_ms: int
) -> _QueueCounts:
    """Counts of a queue. `sample` is None if its messages cannot be read."""
    error = next((result.error for result in offset_results if result.error is not None), None)
    if error is not None:
        return _QueueCounts(error=error)
    begin_offset, end_offset, hour_offset = (result.result or 0 for result in offset_results)
    last_hour_count = end_offset - min(max(hour_offset, begin_offset), end_offset)
    if sample is not None and all(message.store_timestamp < now_ms - _HOUR_MS for message in sample):
        # Brokers before 5.0 find the last message if all are older.
        last_hour_count = 0
    return _QueueCounts((begin_offset, max(begin_offset, end_offset)), last_hour_count, sample or ())


def _sum_counts(
    group: str, errors: Sequence[RocketMQError], counts_by_place: Sequence[tuple[ReplayPlace, _QueueCounts]]
) -> DeadLetterCounts:
    sample = [DeadLetter(place.broker_name, message) for place, c in counts_by_place for message in c.sample]
    store_times = [letter.message.store_timestamp for letter in sample]
    return DeadLetterCounts(
        group,
        tuple(sorted({place.broker_name for place, _ in counts_by_place})),
        sum(end - begin for _, ((begin, end), *_) in counts_by_place),
        min(store_times, default=None),
        max(store_times, default=None),
        sum(queue_counts.last_hour_count for _, queue_counts in counts_by_place),
        tuple(sorted({letter.origin_topic for letter in sample if letter.origin_topic is not None})),
        (*errors, *(queue_counts.error for _, queue_counts in counts_by_place)),
        {place: queue_counts.bounds for place, queue_counts in counts_by_place if queue_counts.error is None},
    )


def _pull_samples(
    caller: Caller, places: Sequence[QueuePlace], sample_requests: Sequence[tuple[int, int, int]]
) -> list[list[StoredMessage] | None]:
    """Pull messages; a request is (index of a queue, offset, number of messages).

    Returns the messages of each queue; None if a request failed, as on a bundle.
    """
    requests = []
    for index, offset, max_messages in sample_requests:
        route, topic, queue_id = places[index]
        requests.append((route, build_pull_request(topic, queue_id, offset, max_messages)))
    answers = ask_replicas(caller, requests, PULL_RESPONSE_CODES)
    samples: list[list[StoredMessage] | None] = [[] for _ in places]
    for (index, _, _), answer in zip(sample_requests, answers, strict=True):
        sample = samples[index]
        if answer.result is None or sample is None:
            samples[index] = None
        else:
            sample += decode_pulled_messages(answer.result)
    return samples
