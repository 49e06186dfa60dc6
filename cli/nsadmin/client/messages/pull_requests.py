"""Requests about queues, and their answers: their offsets, and PULL_MESSAGE (11) of their messages."""

from collections.abc import Hashable, Iterable
from itertools import dropwhile
from typing import Any

from namesrv_core.errors import ResponseCode
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.stored_messages import StoredMessage, decode_messages
from nsadmin.client.brokers.replica_failover import ask_replicas
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_offset
from nsadmin.client.results import OverReadLimit, ServerResult
from nsadmin.client.topic_routes import QueueRoute

QueuePlace = tuple[QueueRoute, str, int]
"""A broker, a topic, and the id of a queue."""

PULL_RESPONSE_CODES = (
    ResponseCode.SUCCESS,
    ResponseCode.PULL_NOT_FOUND,
    ResponseCode.PULL_RETRY_IMMEDIATELY,
    ResponseCode.PULL_OFFSET_MOVED,
)
"""The response codes of PULL_MESSAGE (11) that contain the next offset."""

PAGE_SIZE = 32
"""The maximum number of messages in one answer of a broker."""

_MAX_EMPTY_ANSWERS, _MAX_FILTERED_ANSWERS = 200, 100_000
"""In a row. A broker answers without messages where it deleted or filters them: it examines 800 or more."""


class EmptyAnswers:
    """Counts the answers in a row that moved on in a queue without a message."""

    def __init__(self, expression: str) -> None:
        self._limit = _MAX_EMPTY_ANSWERS if expression == "*" else _MAX_FILTERED_ANSWERS
        self._counts: dict[Hashable, int] = {}

    def note(self, queue: Hashable, next_offset: int, is_empty: bool) -> OverReadLimit | None:
        """Note an answer. Returns the error if there were too many empty ones."""
        count = self._counts.pop(queue, 0) + 1 if is_empty else 0
        if count > self._limit:
            return OverReadLimit(
                f"stopped at offset {next_offset}: the broker answered {self._limit} times in a row without "
                "a message; begin at a later offset"
            )
        if count:
            self._counts[queue] = count
        return None


def ask_offsets(
    caller: Caller, request_code: RequestCode, places: Iterable[QueuePlace], timestamp_ms: int | None = None
) -> list[ServerResult[int]]:
    """Read one offset of each queue from its master, or from a slave if the master does not answer."""
    requests = [
        (route, make_request(request_code, broker_headers.QueueOffset(topic, queue_id, timestamp_ms)))
        for route, topic, queue_id in places
    ]
    return [decode_answer(answer, parse_offset) for answer in ask_replicas(caller, requests)]


def drop_silent_replicas(
    places: Iterable[QueuePlace], offset_results: Iterable[ServerResult[int]]
) -> list[QueuePlace]:
    """The same queues without the replicas that did not answer, so that no later request waits for them.

    The last replica stays, to be the one that did not answer.
    """

    def drop_until(route: QueueRoute, answering_addr: str) -> QueueRoute:
        later_replicas = dropwhile(lambda replica: replica[1] != answering_addr, route.broker_addrs.items())
        return route._replace(broker_addrs=dict(later_replicas))

    return [
        (drop_until(route, result.addr), topic, queue_id)
        for (route, topic, queue_id), result in zip(places, offset_results, strict=True)
    ]


def build_pull_request(
    topic: str, queue_id: int, offset: int, max_messages: int = PAGE_SIZE, **more_fields: Any
) -> RemotingCommand:
    """Build PULL_MESSAGE (11). `more_fields` are those of `broker_headers.PullMessage`."""
    header = broker_headers.PullMessage(
        topic=topic, queue_id=queue_id, queue_offset=offset, max_msg_nums=max_messages, **more_fields
    )
    return make_request(RequestCode.PULL_MESSAGE, header)


def parse_next_offset(pull_response: RemotingCommand) -> int | None:
    """Return the offset after those that an answer of PULL_MESSAGE (11) is about; None if it has none."""
    return headers.parse_java_integer((pull_response.ext or {}).get("nextBeginOffset") or "", 64)


def decode_pulled_messages(pull_response: RemotingCommand) -> list[StoredMessage]:
    """Decode the messages of a PULL_MESSAGE (11) answer. Offsets of a static topic become logical offsets."""
    if pull_response.code != ResponseCode.SUCCESS:
        return []
    offset_delta = headers.parse_java_integer((pull_response.ext or {}).get("offsetDelta") or "0", 64) or 0
    return [
        message._replace(queue_offset=message.queue_offset + offset_delta)
        for message in decode_messages(pull_response.body).messages
    ]
