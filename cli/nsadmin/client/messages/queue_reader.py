"""`admin.queue_reader`: sequential reads of queues, several at once, without a consumer group."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.stored_messages import StoredMessage
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.response_bodies import decode_answer, parse_offset
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.message_queries import END_OF_TIME_MS
from nsadmin.client.messages.pull_requests import (
    PAGE_SIZE,
    PULL_RESPONSE_CODES,
    EmptyAnswers,
    ask_offsets,
    build_pull_request,
    decode_pulled_messages,
    drop_silent_replicas,
    parse_next_offset,
)
from nsadmin.client.results import ServerResult
from nsadmin.client.topic_routes import QueueRoute, list_read_queues, missing_read_queue

_MAX_TRIMMED = 20
_SUSPEND_FLAG, _SUBSCRIPTION_FLAG = 2, 4
"""Bits of PULL_MESSAGE: wait if there is no message yet; the request has the subscription."""


class MessagePlace(NamedTuple):
    """The place of a message: a broker, a queue and an offset."""

    broker_addr: str
    queue: MessageQueue
    offset: int


class QueueSpan(NamedTuple):
    """The part of a queue to read.

    Attributes:
        broker_name: The broker.
        broker_addr: The process that reported the offsets, and is read.
        queue_id: The queue.
        begin_offset: The first offset.
        end_offset: The offset after the last one.
        since_ms: The earliest store time in ms since 1970.
        until_ms: The latest store time in ms since 1970.
    """

    broker_name: str
    broker_addr: str
    queue_id: int
    begin_offset: int
    end_offset: int
    since_ms: int = 0
    until_ms: int = END_OF_TIME_MS

    @property
    def offset_count(self) -> int:
        """The number of offsets in this part, which is the number of messages if none are missing."""
        return max(0, self.end_offset - self.begin_offset)


class SpanResult(NamedTuple):
    """The part of a queue to read (None after an error), or the error."""

    broker_name: str
    queue_id: int
    queue_span: QueueSpan | None
    error: RocketMQError | None


class MessagePage(NamedTuple):
    """The next messages of a queue, at most 32. An error ends the reading of this queue."""

    broker_name: str
    queue_id: int
    messages: tuple[StoredMessage, ...]
    error: RocketMQError | None


class QueueReader:
    """`admin.queue_reader`: sequential reads of queues."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_spans(
        self,
        topic: str,
        queue_routes: Sequence[QueueRoute],
        *,
        queue_id: int | None = None,
        begin_ms: int = 0,
        end_ms: int = END_OF_TIME_MS,
    ) -> list[SpanResult]:
        """Return the offsets of a time range in each readable queue.

        Sends GET_MIN_OFFSET (31), GET_MAX_OFFSET (30) and, for a limited range, SEARCH_OFFSET_BY_TIMESTAMP
        (29) to the master of each queue, or to a slave if the master does not answer.

        Args:
            topic: The topic.
            queue_routes: The brokers of the topic.
            queue_id: Only this queue of each broker. Default: all queues.
            begin_ms: The earliest store time in ms since 1970.
            end_ms: The latest store time in ms since 1970.

        Returns:
            One SpanResult per queue.

        Raises:
            NotFound: No broker has a queue with this id.
            OverReadLimit: The topic has more queues than nsadmin lists.
        """
        places = [(route, topic, read_id) for route, read_id in list_read_queues(queue_routes, queue_id)]
        if queue_id is not None and not places:
            raise missing_read_queue(topic, queue_routes, queue_id)
        min_offsets = ask_offsets(self._caller, RequestCode.GET_MIN_OFFSET, places)
        places = drop_silent_replicas(places, min_offsets)
        max_offsets = ask_offsets(self._caller, RequestCode.GET_MAX_OFFSET, places)
        # Brokers before 5.0 answer the nearest message, earlier or later, and any of several with the same
        # time. So read one more millisecond on either side, and check the time of each message.
        first_offsets, last_offsets = min_offsets, max_offsets
        if begin_ms > 0:
            first_offsets = ask_offsets(
                self._caller, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, places, begin_ms - 1
            )
        if end_ms < END_OF_TIME_MS:
            last_offsets = ask_offsets(
                self._caller, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, places, end_ms + 1
            )
        return [
            _make_span(queue_route.broker_name, place_queue_id, begin_ms, end_ms, offset_bounds)
            for (queue_route, _, place_queue_id), *offset_bounds in zip(
                places, min_offsets, max_offsets, first_offsets, last_offsets, strict=True
            )
        ]

    def get_exact_spans(
        self, topic: str, queue_routes: Sequence[QueueRoute], *, begin_ms: int, end_ms: int
    ) -> list[SpanResult]:
        """Return the offsets of a time range like get_spans, without the few messages outside of the range.

        Also reads the first and last messages of each queue's range (PULL_MESSAGE, 11).

        Args:
            topic: The topic.
            queue_routes: The brokers of the topic.
            begin_ms: The earliest store time in ms since 1970.
            end_ms: The latest store time in ms since 1970.

        Returns:
            One SpanResult per queue.
        """
        results = self.get_spans(topic, queue_routes, begin_ms=begin_ms, end_ms=end_ms)
        open_edges = [(i, at_end) for i in range(len(results)) for at_end in (False, True)]
        for _ in range(_MAX_TRIMMED):
            spans = {i: s for i, _ in open_edges if (s := results[i].queue_span) and s.offset_count}
            open_edges = [edge for edge in open_edges if edge[0] in spans]
            places = [_edge_place(topic, spans[i], at_end) for i, at_end in open_edges]
            times = [time for _, time, _ in self.get_store_times(places)]
            open_edges = [
                (i, at_end)
                for (i, at_end), time in zip(open_edges, times, strict=True)
                if time is not None and (time > end_ms if at_end else time < begin_ms)
            ]
            if not open_edges:
                break
            for i, at_end in open_edges:
                span = results[i].queue_span
                if span is not None:
                    moved = (
                        span._replace(end_offset=span.end_offset - 1)
                        if at_end
                        else span._replace(begin_offset=span.begin_offset + 1)
                    )
                    results[i] = results[i]._replace(queue_span=moved)
        return results

    def get_end_offset(self, broker_addr: str, topic: str, queue_id: int) -> int:
        """Return the offset after the last message of a queue (GET_MAX_OFFSET, 30).

        Raises:
            RocketMQError: The broker refused or did not answer.
        """
        header = broker_headers.QueueOffset(topic, queue_id)
        return self._caller.read_one(broker_addr, parse_offset, RequestCode.GET_MAX_OFFSET, header).value()

    def get_store_times(
        self, message_places: Iterable[MessagePlace], *, in_own_queues: bool = False
    ) -> list[ServerResult[int | None]]:
        """Return when messages were stored, in ms since 1970 (PULL_MESSAGE, 11).

        Args:
            message_places: The places of the messages.
            in_own_queues: The places are in the brokers' own queues, also for a static topic. Default: in its
                logical queues.

        Returns:
            One ServerResult per place, in order; None if the queue has no message at this offset.
        """
        places = list(message_places)
        answers = self._caller.send_requests(
            [
                (
                    p.broker_addr,
                    build_pull_request(
                        p.queue.topic, p.queue.queue_id, p.offset, 1, lo=False if in_own_queues else None
                    ),
                )
                for p in places
            ],
            accepted_codes=PULL_RESPONSE_CODES,
        )
        return [
            decode_answer(answer, partial(_find_store_time, place.offset))
            for place, answer in zip(places, answers, strict=True)
        ]

    def wait_for_messages(
        self, broker_addr: str, topic: str, queue_id: int, begin_offset: int, max_wait_ms: int
    ) -> tuple[tuple[StoredMessage, ...], int]:
        """Read the next messages of a queue; wait on the broker if there are none yet (PULL_MESSAGE, 11).

        Args:
            broker_addr: The broker address.
            topic: The topic.
            queue_id: The queue.
            begin_offset: The first offset.
            max_wait_ms: How long the broker waits for a message, in ms.

        Returns:
            The messages, () if none came in time; and the next offset.

        Raises:
            RocketMQError: The broker refused or did not answer.
        """
        command = build_pull_request(
            topic,
            queue_id,
            begin_offset,
            sys_flag=_SUSPEND_FLAG | _SUBSCRIPTION_FLAG,
            suspend_timeout_millis=max_wait_ms,
        )
        # Brokers look for expired waits every 5 seconds (PullRequestHoldService).
        timeout_seconds = self._caller.access.timeout + max_wait_ms / 1000 + 5
        [answer] = self._caller.send_requests(
            [(broker_addr, command)], timeout_seconds, accepted_codes=PULL_RESPONSE_CODES
        )
        response = answer.value()
        next_offset = parse_next_offset(response)
        return tuple(decode_pulled_messages(response)), begin_offset if next_offset is None else next_offset

    def read_pages(
        self,
        topic: str,
        queue_spans: Sequence[QueueSpan],
        wanted_tags: frozenset[str] | None = None,
        *,
        first_size: int = PAGE_SIZE,
    ) -> Iterator[MessagePage]:
        """Yield the messages of all spans, page by page, taking turns between queues (PULL_MESSAGE, 11).

        Args:
            topic: The topic.
            queue_spans: The parts of queues to read.
            wanted_tags: Only messages with one of these tags; brokers filter by hash, the client exactly.
            first_size: The maximum size of the first pages, from 1. Each turn doubles it, up to 32.

        Yields:
            One MessagePage per answer with matching messages, or with an error.
        """
        tag_expression = "*" if wanted_tags is None else " || ".join(sorted(wanted_tags))
        empty_answers = EmptyAnswers(tag_expression)
        next_offsets = {s: s.begin_offset for s in queue_spans if s.begin_offset < s.end_offset}
        page_size = first_size
        while next_offsets:
            page_size = min(page_size, PAGE_SIZE)
            calls = [
                (
                    span.broker_addr,
                    build_pull_request(
                        topic,
                        span.queue_id,
                        offset,
                        min(page_size, span.end_offset - offset),
                        subscription=tag_expression,
                    ),
                )
                for span, offset in next_offsets.items()
            ]
            for queue_span, answer in zip(
                list(next_offsets),
                self._caller.send_requests(calls, accepted_codes=PULL_RESPONSE_CODES),
                strict=True,
            ):
                message_page, next_offset = _make_page(
                    queue_span, next_offsets[queue_span], answer, wanted_tags, empty_answers
                )
                if message_page.error is not None or next_offset >= queue_span.end_offset:
                    del next_offsets[queue_span]
                else:
                    next_offsets[queue_span] = next_offset
                if message_page.messages or message_page.error is not None:
                    yield message_page
            page_size *= 2


def _make_span(
    broker_name: str, queue_id: int, since_ms: int, until_ms: int, offset_bounds: Sequence[ServerResult[int]]
) -> SpanResult:
    for _, _, error in offset_bounds:
        if error is not None:
            return SpanResult(broker_name, queue_id, None, error)
    min_offset, max_offset, first_offset, last_offset = (bound.result or 0 for bound in offset_bounds)
    # A search for a time before the first message may answer an offset below the minimum.
    begin_offset, end_offset = max(min_offset, first_offset), min(max_offset, last_offset + 1)
    queue_span = QueueSpan(
        broker_name, offset_bounds[0].addr, queue_id, begin_offset, end_offset, since_ms, until_ms
    )
    return SpanResult(broker_name, queue_id, queue_span, None)


def _edge_place(topic: str, span: QueueSpan, at_end: bool) -> MessagePlace:
    queue = MessageQueue(topic, span.broker_name, span.queue_id)
    return MessagePlace(span.broker_addr, queue, span.end_offset - 1 if at_end else span.begin_offset)


def _find_store_time(offset: int, response: RemotingCommand) -> int | None:
    return next(
        (m.store_timestamp for m in decode_pulled_messages(response) if m.queue_offset == offset), None
    )


def _make_page(
    queue_span: QueueSpan,
    queue_offset: int,
    answer: ServerResult[RemotingCommand],
    wanted_tags: frozenset[str] | None,
    empty_answers: EmptyAnswers,
) -> tuple[MessagePage, int]:
    """Make a page from an answer; return it with the next offset."""

    def make_page(
        messages: tuple[StoredMessage, ...] = (), error: RocketMQError | None = None
    ) -> MessagePage:
        return MessagePage(queue_span.broker_name, queue_span.queue_id, messages, error)

    if answer.result is None:
        return make_page(error=answer.error), queue_offset
    pulled_messages = decode_pulled_messages(answer.result)
    next_offset = parse_next_offset(answer.result)
    if next_offset is None or next_offset <= queue_offset:
        reason = f"queue {queue_span.queue_id} is not readable from offset {queue_offset} on"
        return make_page(error=CallError(answer.addr, "unreadable", reason)), queue_offset
    if error := empty_answers.note(queue_span, next_offset, not pulled_messages):
        return make_page(error=error), queue_offset
    matching_messages = tuple(
        message
        for message in pulled_messages
        if queue_offset <= message.queue_offset < queue_span.end_offset
        and queue_span.since_ms <= message.store_timestamp <= queue_span.until_ms
        and (wanted_tags is None or message.tags in wanted_tags)
    )
    return make_page(matching_messages), next_offset
