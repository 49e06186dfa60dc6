"""`admin.dead_letters`: the messages that consumer groups failed to consume, and their replay."""

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from namesrv_core.errors import RocketMQError, TopicNotExist
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.resource_names import DLQ_PREFIX
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client.brokers.brokers import BrokerAdmin
from nsadmin.client.brokers.replica_failover import ask_replicas
from nsadmin.client.connection.caller import Caller
from nsadmin.client.consumers.groups import GroupAdmin
from nsadmin.client.messages.dead_letter_replay import (
    DEFAULT_REPLAY_OPTIONS,
    BrokerReplay,
    DeadLetterReplay,
    DeadLetterSpan,
    ReplayedLetters,
    ReplayOptions,
    describe_run,
)
from nsadmin.client.messages.dead_letter_selection import (
    EVERY_LETTER,
    DeadLetter,
    DeadLetterCounts,
    DeadLetterSelection,
)
from nsadmin.client.messages.message_sender import MessageSender
from nsadmin.client.messages.pull_requests import (
    PAGE_SIZE,
    PULL_RESPONSE_CODES,
    QueuePlace,
    ask_offsets,
    build_pull_request,
    decode_pulled_messages,
    drop_silent_replicas,
)
from nsadmin.client.messages.queue_reader import QueueReader
from nsadmin.client.messages.replay_memory import ReplayMemory, ReplayPlace
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.topic_routes import QueueRoute, list_read_queues
from nsadmin.client.topics.topics import TopicAdmin

_HOUR_MS = 3_600_000


class DeadLetterPage(NamedTuple):
    """The next dead letters of a queue. An error ends the reading of this queue.

    Attributes:
        broker_name: The broker.
        queue_id: The queue.
        examined: The number of dead letters that were read for this page.
        letters: Those that are selected.
        error: The error; None after a success.
    """

    broker_name: str
    queue_id: int
    examined: int
    letters: tuple[DeadLetter, ...]
    error: RocketMQError | None


class DeadLetters:
    """`admin.dead_letters`: the dead letters of consumer groups."""

    def __init__(
        self,
        caller: Caller,
        topics: TopicAdmin,
        groups: GroupAdmin,
        brokers: BrokerAdmin,
        queue_reader: QueueReader,
        message_sender: MessageSender,
    ) -> None:
        self._caller, self._topics, self._groups, self._brokers = caller, topics, groups, brokers
        self._queue_reader, self._message_sender = queue_reader, message_sender

    def list_groups(self) -> tuple[str, ...]:
        """Return the groups with a dead-letter topic, sorted (GET_ALL_TOPIC_LIST_FROM_NAMESERVER, 206)."""
        return tuple(
            sorted(
                topic.removeprefix(DLQ_PREFIX)
                for topic in self._topics.list_names()
                if topic.startswith(DLQ_PREFIX)
            )
        )

    def count_letters(self, groups: Sequence[str], now_ms: int) -> list[DeadLetterCounts]:
        """Count the dead letters of groups.

        Sends GET_MIN_OFFSET (31), GET_MAX_OFFSET (30), SEARCH_OFFSET_BY_TIMESTAMP (29) and PULL_MESSAGE (11)
        to the master of each queue, or to a slave if the master does not answer.

        Args:
            groups: The groups.
            now_ms: The time from which the last hour counts, in ms since 1970.

        Returns:
            One DeadLetterCounts per group, in order. Its errors have a TopicNotExist without a topic.
        """
        routes = self._topics.get_routes([DLQ_PREFIX + group for group in groups])
        queues_by_topic = {t: r.then(lambda route: list_read_queues(route.queues)) for t, r in routes.items()}
        places = [
            (route, topic, queue_id)
            for topic, queues in queues_by_topic.items()
            for route, queue_id in queues.result or ()
        ]
        counted_places = zip(places, _count_queues(self._caller, places, now_ms), strict=True)
        return [
            _sum_counts(
                topic.removeprefix(DLQ_PREFIX),
                [] if queues.error is None else [queues.error],
                [
                    (ReplayPlace(route.cluster_name or "", route.broker_name, queue_id), counts)
                    for (route, _, queue_id), counts in islice(counted_places, len(queues.result or ()))
                ],
            )
            for topic, queues in queues_by_topic.items()
        ]

    def list_spans(
        self, group: str, selection: DeadLetterSelection = EVERY_LETTER
    ) -> tuple[list[DeadLetterSpan], dict[str, RocketMQError]]:
        """Return the parts of queues that have the time range of a selection.

        Args:
            group: The consumer group.
            selection: The selection; only its times matter.

        Returns:
            The parts, and the errors by broker name.

        Raises:
            NotFound: The group has no dead-letter topic, or no broker has the group.
        """
        queue_routes = self._find_routes(group)
        cluster_names = {queue_route.broker_name: queue_route.cluster_name for queue_route in queue_routes}
        span_results = self._queue_reader.get_spans(
            DLQ_PREFIX + group, queue_routes, begin_ms=selection.begin_ms, end_ms=selection.end_ms
        )
        letter_spans = [
            DeadLetterSpan(cluster_names[span_result.broker_name] or "", span_result.queue_span)
            for span_result in span_results
            if span_result.queue_span is not None
        ]
        errors = {result.broker_name: result.error for result in span_results if result.error is not None}
        return letter_spans, errors

    def read_letters(
        self, group: str, letter_spans: Sequence[DeadLetterSpan], selection: DeadLetterSelection
    ) -> Iterator[DeadLetterPage]:
        """Yield dead letters page by page, taking turns between queues (PULL_MESSAGE, 11).

        Args:
            group: The consumer group.
            letter_spans: The parts of queues to read; see `list_spans`.
            selection: The dead letters to yield. After `max_messages` of them the reading ends.

        Yields:
            One DeadLetterPage per answer, also without a selected dead letter.
        """
        selected_count = 0
        for page in self._queue_reader.read_pages(
            DLQ_PREFIX + group, [letter_span.queue_span for letter_span in letter_spans]
        ):
            letters = [
                letter
                for letter in (DeadLetter(page.broker_name, m) for m in page.messages)
                if selection.is_match(letter)
            ]
            if selection.max_messages is not None:
                letters = letters[: selection.max_messages - selected_count]
            selected_count += len(letters)
            yield DeadLetterPage(
                page.broker_name, page.queue_id, len(page.messages), tuple(letters), page.error
            )
            if selected_count == selection.max_messages:
                return

    def replay(
        self,
        group: str,
        letter_spans: Sequence[DeadLetterSpan],
        selection: DeadLetterSelection = EVERY_LETTER,
        options: ReplayOptions = DEFAULT_REPLAY_OPTIONS,
        memory: ReplayMemory | None = None,
    ) -> Iterator[BrokerReplay]:
        """Send dead letters to their group again (SEND_MESSAGE_V2, 310), and yield the progress.

        By default they go to the retry topic from which the group got them before they died, on the broker of
        the dead letter. No other group reads that topic. Push consumers see the origin topic.

        Args:
            group: The consumer group.
            letter_spans: The parts of queues to read; see `list_spans`.
            selection: The dead letters to replay.
            options: The target, the rate, and when to stop.
            memory: The earlier replays of the group. Default: none, and a killed run cannot continue.

        Yields:
            A BrokerReplay after each page of messages: the counts of its broker until now.

        Raises:
            NotApplied: More messages failed again than the options allow.
        """
        replay_memory = ReplayMemory() if memory is None else memory
        for letter_span in letter_spans:
            self._forget_other_queue(group, letter_span, replay_memory)
        needs_lookup = replay_memory.is_new and not options.repeats_replays
        # Another account or machine may have replayed some.
        replays = self._find_replays(group, letter_spans) if needs_lookup else None
        run_id = replay_memory.begin_run(
            describe_run(selection, options), os.urandom(8).hex(), forgets_replays=options.repeats_replays
        )
        dead_letter_replay = DeadLetterReplay(
            self._queue_reader,
            self._message_sender,
            self._brokers,
            group,
            selection,
            options,
            replay_memory,
            run_id,
            replays,
        )
        yield from dead_letter_replay.run(letter_spans)

    def _find_routes(self, group: str) -> Sequence[QueueRoute]:
        try:
            return self._topics.get_route(DLQ_PREFIX + group).queues
        except TopicNotExist:
            self._groups.check_exists(group)
            raise NotFound(f"no dead letters for {group}") from None

    def _find_replays(self, group: str, letter_spans: Sequence[DeadLetterSpan]) -> ReplayedLetters:
        broker_names = {letter_span.queue_span.broker_name for letter_span in letter_spans}
        letter_routes = [route for route in self._find_routes(group) if route.broker_name in broker_names]
        return ReplayedLetters(
            self._queue_reader, self._topics, letter_routes, self._find_oldest_ms(group, letter_spans)
        )

    def _find_oldest_ms(self, group: str, letter_spans: Sequence[DeadLetterSpan]) -> int | None:
        """Return when the oldest dead letter was stored, in ms since 1970; None if there are none."""
        queue_spans = (span.queue_span for span in letter_spans)
        first_spans = [s._replace(end_offset=s.begin_offset + 1) for s in queue_spans if s.offset_count]
        return min(
            (
                message.store_timestamp
                for message_page in self._queue_reader.read_pages(DLQ_PREFIX + group, first_spans)
                for message in message_page.messages
            ),
            default=None,
        )

    def _forget_other_queue(self, group: str, letter_span: DeadLetterSpan, memory: ReplayMemory) -> None:
        """Forget earlier replays if the queue was created again since, or belongs to another cluster."""
        queue_span, place = letter_span.queue_span, letter_span.place
        last_offset = memory.list_replayed(place).last_offset
        pending_batch = memory.pending.get(place)
        known_letters = {} if pending_batch is None else dict(pending_batch.ids_by_offset)
        last_id = memory.get_last_id(place)
        if last_offset is not None and last_id is not None:
            known_letters = {last_offset: last_id}
        for offset, letter_id in list(known_letters.items())[:1]:
            request = build_pull_request(DLQ_PREFIX + group, queue_span.queue_id, offset, 1)
            [answer] = self._caller.send_requests(
                [(queue_span.broker_addr, request)], accepted_codes=PULL_RESPONSE_CODES
            )
            # A broker that is busy or silent proves nothing: what was replayed must not come twice.
            if answer.result is not None and not any(
                (message.queue_offset, message.offset_msg_id) == (offset, letter_id)
                for message in decode_pulled_messages(answer.result)
            ):
                memory.forget_place(place)


class _QueueCounts(NamedTuple):
    bounds: tuple[int, int] = (0, 0)
    last_hour_count: int = 0
    sample: Sequence[StoredMessage] = ()
    error: RocketMQError | None = None


def _count_queues(caller: Caller, places: Sequence[QueuePlace], now_ms: int) -> list[_QueueCounts]:
    begins = ask_offsets(caller, RequestCode.GET_MIN_OFFSET, places)
    places = drop_silent_replicas(places, begins)
    ends = ask_offsets(caller, RequestCode.GET_MAX_OFFSET, places)
    hours = ask_offsets(caller, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, places, now_ms - _HOUR_MS)
    sample_requests = [
        (index, offset, max_messages)
        for index, (begin, end) in enumerate(zip(begins, ends, strict=True))
        if (begin.result or 0) < (end.result or 0)
        for offset, max_messages in ((begin.result or 0, PAGE_SIZE), ((end.result or 0) - 1, 1))
    ]
    samples = _pull_samples(caller, places, sample_requests)
    return [
        _make_queue_counts(offsets, sample, now_ms)
        for *offsets, sample in zip(begins, ends, hours, samples, strict=True)
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
