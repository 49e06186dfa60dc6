"""TopicFollower: reads all queues of a topic, also new ones, and waits for messages to come.

It moves no consumer offset. Its positions survive a restart of a broker.
"""

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import NamedTuple

from namesrv_core.errors import ResponseCode, RocketMQError
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client.brokers.replica_failover import ask_replicas
from nsadmin.client.connection.caller import Caller
from nsadmin.client.messages.pull_requests import (
    PULL_RESPONSE_CODES,
    EmptyAnswers,
    ask_offsets,
    build_pull_request,
    decode_pulled_messages,
    parse_next_offset,
)
from nsadmin.client.results import ClientClosed, NotFound, ServerResult
from nsadmin.client.topic_routes import QueueRoute, list_read_queues, missing_read_queue
from nsadmin.client.topics.topics import TopicAdmin

_ROUTE_PERIOD_SECONDS = 5.0

_Queue = tuple[str, int]
"""A broker name and a queue id."""


class FollowStart(NamedTuple):
    """Where to begin in the queues that exist at first. In a later queue, the first message is the first.

    Attributes:
        is_latest: Begin after the last message.
        offset: Begin at this offset, or at the nearest that exists.
        time_ms: Begin at this store time, in ms since 1970.
    """

    is_latest: bool = False
    offset: int | None = None
    time_ms: int | None = None


FROM_EARLIEST = FollowStart()


class FollowedPage(NamedTuple):
    """The next messages of a queue, or an error. After an error, the next poll tries again.

    Attributes:
        broker_name: The broker.
        queue_id: The queue.
        messages: The messages.
        lost_count: The messages that the broker deleted before they were read.
        error: The error; None after a success.
    """

    broker_name: str
    queue_id: int
    messages: tuple[StoredMessage, ...]
    lost_count: int
    error: RocketMQError | None


class TopicFollower:
    """Reads the queues of a topic page by page; see `admin.message_streams.open_follower`."""

    def __init__(
        self,
        caller: Caller,
        topics: TopicAdmin,
        topic: str,
        follow_start: FollowStart = FROM_EARLIEST,
        *,
        expression: str = "*",
        expression_type: str = "TAG",
        broker_name: str | None = None,
        queue_id: int | None = None,
    ) -> None:
        self._caller, self._topics, self._topic = caller, topics, topic
        self._expression, self._expression_type = expression, expression_type
        self._broker_name, self._queue_id = broker_name, queue_id
        self._follow_start = follow_start
        self._empty_answers = EmptyAnswers(expression)
        self._routes: dict[_Queue, QueueRoute] = {}
        self._missing_queues: frozenset[_Queue] = frozenset()
        self._next_offsets: dict[_Queue, int] = {}
        self._route_read_at = monotonic()
        self._read_route()
        self._first_queues = frozenset(self._routes)

    def list_queues(self) -> list[tuple[str, int]]:
        """Return the broker names and the ids of all queues that the route had so far, in its order."""
        return list(self._routes)

    def find_ends(self) -> dict[tuple[str, int], int]:
        """Return the present end of each queue, by broker name and queue id; without failed queues.

        Sends GET_MAX_OFFSET (30) to each queue.
        """
        queues = [queue for queue in self._routes if queue not in self._missing_queues]
        results = self._ask_offsets(RequestCode.GET_MAX_OFFSET, queues)
        return {queue: end for queue, (_, end, _) in zip(queues, results, strict=True) if end is not None}

    def get_position(self, broker_name: str, queue_id: int) -> int | None:
        """Return the offset of the next message of a queue; None if it is unknown yet."""
        return self._next_offsets.get((broker_name, queue_id))

    def seek(self, broker_name: str, queue_id: int, offset: int) -> None:
        """Continue a queue at this offset, or at the nearest that exists."""
        self._next_offsets[broker_name, queue_id] = offset

    def poll_queues(self, skipped_queues: frozenset[tuple[str, int]] = frozenset()) -> list[FollowedPage]:
        """Read the next page of each queue, all queues at once (PULL_MESSAGE, 11).

        A queue that the route no longer has is an error, and is not asked until it is back.

        Args:
            skipped_queues: Queues to leave out, by broker name and queue id.

        Returns:
            One FollowedPage per queue with messages, lost messages or an error; [] if nothing is new.
        """
        return list(self.read_pages(skipped_queues))

    def read_pages(self, skipped_queues: frozenset[tuple[str, int]] = frozenset()) -> Iterator[FollowedPage]:
        """Yield the pages of `poll_queues`. Bodies of a page are inflated only when it is yielded."""
        if monotonic() - self._route_read_at >= _ROUTE_PERIOD_SECONDS:
            self._refresh_route()
        wanted_queues = [queue for queue in self._routes if queue not in skipped_queues]
        missing_queues = self._missing_queues.intersection(wanted_queues)
        for queue in sorted(missing_queues):
            error = NotFound(f"{queue[0]} has no queue {queue[1]} of {self._topic} now")
            yield FollowedPage(*queue, (), 0, error)
        wanted_queues = [queue for queue in wanted_queues if queue not in missing_queues]
        yield from self._find_starts([queue for queue in wanted_queues if queue not in self._next_offsets])
        queues = [queue for queue in wanted_queues if queue in self._next_offsets]
        answers = ask_replicas(self._caller, map(self._build_pull, queues), PULL_RESPONSE_CODES)
        for queue, answer in zip(queues, answers, strict=True):
            page = self._take_page(queue, answer)
            if page.messages or page.lost_count or page.error is not None:
                yield page

    def _take_page(self, queue: _Queue, answer: ServerResult[RemotingCommand]) -> FollowedPage:
        if answer.result is None:
            return FollowedPage(*queue, (), 0, answer.error)
        begin_offset = self._next_offsets[queue]
        next_offset = parse_next_offset(answer.result)
        messages = tuple(m for m in decode_pulled_messages(answer.result) if m.queue_offset >= begin_offset)
        lost_count = 0
        if answer.result.code == ResponseCode.PULL_OFFSET_MOVED and next_offset is not None:
            lost_count = max(0, next_offset - begin_offset)
        if next_offset is None:
            return FollowedPage(*queue, messages, lost_count, None)
        self._next_offsets[queue] = next_offset
        error = self._empty_answers.note(queue, next_offset, not messages and next_offset != begin_offset)
        return FollowedPage(*queue, messages, lost_count, error)

    def _find_starts(self, queues: Sequence[_Queue]) -> list[FollowedPage]:
        """Find the first offset of queues without a position; return the errors as pages."""
        first_queues = [queue for queue in queues if queue in self._first_queues]
        later_queues = [queue for queue in queues if queue not in self._first_queues]
        request_code, timestamp_ms = RequestCode.GET_MIN_OFFSET, None
        if self._follow_start.is_latest:
            request_code = RequestCode.GET_MAX_OFFSET
        elif self._follow_start.time_ms is not None:
            # Brokers before 5.0 can answer the message after the first one. Callers check the time.
            request_code = RequestCode.SEARCH_OFFSET_BY_TIMESTAMP
            timestamp_ms = self._follow_start.time_ms - 1
        start_offset = self._follow_start.offset or 0
        pages = []
        for asked_queues, results, least_offset in (
            (first_queues, self._ask_offsets(request_code, first_queues, timestamp_ms), start_offset),
            (later_queues, self._ask_offsets(RequestCode.GET_MIN_OFFSET, later_queues), 0),
        ):
            for queue, result in zip(asked_queues, results, strict=True):
                if result.result is None:
                    pages.append(FollowedPage(*queue, (), 0, result.error))
                else:
                    self._next_offsets[queue] = max(least_offset, result.result)
        return pages

    def _ask_offsets(
        self, request_code: RequestCode, queues: Sequence[_Queue], timestamp_ms: int | None = None
    ) -> list[ServerResult[int]]:
        places = [(self._routes[queue], self._topic, queue[1]) for queue in queues]
        return ask_offsets(self._caller, request_code, places, timestamp_ms)

    def _build_pull(self, queue: _Queue) -> tuple[QueueRoute, RemotingCommand]:
        return self._routes[queue], build_pull_request(
            self._topic,
            queue[1],
            self._next_offsets[queue],
            subscription=self._expression,
            expression_type=self._expression_type,
        )

    def _refresh_route(self) -> None:
        """Read the route again. Without an answer, or without the topic, the queues stay as they are."""
        self._route_read_at = monotonic()
        try:
            self._read_route()
        except ClientClosed:
            raise
        except RocketMQError:
            return

    def _read_route(self) -> None:
        queue_routes = [
            queue_route
            for queue_route in self._topics.get_route(self._topic).queues
            if self._broker_name in (None, queue_route.broker_name)
        ]
        current_routes = {
            (queue_route.broker_name, queue_id): queue_route
            for queue_route, queue_id in list_read_queues(queue_routes, self._queue_id)
        }
        if not (current_routes or self._routes):
            if self._broker_name is not None and not queue_routes:
                raise NotFound(f'{self._topic} is not on broker "{self._broker_name}"')
            if self._queue_id is not None:
                raise missing_read_queue(self._topic, queue_routes, self._queue_id)
        self._routes |= current_routes
        self._missing_queues = frozenset(self._routes.keys() - current_routes.keys())
