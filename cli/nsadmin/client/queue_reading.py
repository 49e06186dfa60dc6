"""Reading queues from end to end, all of them at the same time, as nobody's consumer."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from namesrv_core.protocol.messages import Message
from namesrv_core.transport.calls import CallError
from nsadmin.client.caller import Caller
from nsadmin.client.messages import FOREVER, PULLED, pulled
from nsadmin.client.replicas import Inquiry, addrs_of, ask_replicas
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.retry import decoded
from nsadmin.client.routes import QueueRoute

PAGE = 32
"""A broker gives no more at a time."""


class Span(NamedTuple):
    """The part of a queue to read: offsets from `begin` to before `end`, on the process that told them.

    Of these only what was stored from `since` to `until` (ms).
    """

    broker_name: str
    broker_addr: str
    queue_id: int
    begin: int
    end: int
    since: int = 0
    until: int = FOREVER


class SpanResult(NamedTuple):
    """What there is to read of a queue, or why that is not known."""

    broker_name: str
    queue_id: int
    span: Span | None
    error: RocketMQError | None


class Page(NamedTuple):
    """The next messages of a queue, at most 32; with an `error` the reading of it has ended there."""

    broker_name: str
    queue_id: int
    messages: tuple[Message, ...]
    error: RocketMQError | None


class QueueReading:
    """`admin.queue_reading`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def spans(
        self,
        topic: str,
        queues: Sequence[QueueRoute],
        *,
        queue_id: int | None = None,
        begin: int = 0,
        end: int = FOREVER,
    ) -> list[SpanResult]:
        """What each readable queue, or the one of this number, has stored from `begin` to `end` (ms).

        NotFound where a broker has no queue of this number.
        """
        places = [(item, number) for item in queues for number in item.read_ids if queue_id in (None, number)]
        if queue_id is not None and not places:
            count = max((len(item.read_ids) for item in queues), default=0)
            raise NotFound(f"{topic} has no queue {queue_id} there: it has {count}, counted from 0")
        lowest = self._offsets(RequestCode.GET_MIN_OFFSET, topic, places)
        highest = self._offsets(RequestCode.GET_MAX_OFFSET, topic, places)
        # Brokers before 5.0 answer with the nearest message, be it earlier or later, and with any of those
        # of the same time: one more on either side is read, and each message's own time is looked at.
        code = RequestCode.SEARCH_OFFSET_BY_TIMESTAMP
        first = self._offsets(code, topic, places, begin - 1) if begin > 0 else lowest
        last = self._offsets(code, topic, places, end + 1) if end < FOREVER else highest
        return [
            _span(item.broker_name, number, begin, end, bounds)
            for (item, number), *bounds in zip(places, lowest, highest, first, last, strict=True)
        ]

    def pages(self, topic: str, spans: Sequence[Span], tags: frozenset[str] | None = None) -> Iterator[Page]:
        """The messages of all spans, page by page in turns, until the spans end or nobody asks for more.

        With `tags` only messages that have one of them: brokers compare hashes, so each is looked at.
        """
        expression = "*" if tags is None else " || ".join(sorted(tags))
        at = {span: span.begin for span in spans if span.begin < span.end}
        while at:
            calls = [(span.broker_addr, _pull(topic, span, at[span], expression)) for span in at]
            for span, answer in zip(list(at), self._caller.ask(calls, codes=PULLED), strict=True):
                page, following = _page(span, at[span], answer, tags)
                if page.error is not None or following >= span.end:
                    del at[span]
                else:
                    at[span] = following
                if page.messages or page.error is not None:
                    yield page

    def _offsets(
        self,
        code: RequestCode,
        topic: str,
        places: Sequence[tuple[QueueRoute, int]],
        timestamp: int | None = None,
    ) -> list[ServerResult[int]]:
        inquiries = [
            Inquiry(
                item.broker_name,
                addrs_of(item),
                request(code, headers.write(broker_headers.QueueOffset(topic, number, timestamp))),
            )
            for item, number in places
        ]
        return [decoded(answer, _offset) for answer in ask_replicas(self._caller, inquiries)]


def _offset(command: Command) -> int:
    return int((command.ext or {})["offset"] or 0)


def _span(
    broker_name: str, number: int, since: int, until: int, bounds: Sequence[ServerResult[int]]
) -> SpanResult:
    for _, _, error in bounds:
        if error is not None:
            return SpanResult(broker_name, number, None, error)
    lowest, highest, first, last = (bound.result or 0 for bound in bounds)
    # A search before the first message may answer with less than the queue still has.
    begin, end = max(lowest, first), min(highest, last + 1)
    span = Span(broker_name, bounds[0].addr, number, begin, end, since, until)
    return SpanResult(broker_name, number, span, None)


def _pull(topic: str, span: Span, offset: int, expression: str) -> Command:
    header = broker_headers.PullMessage(
        topic=topic,
        queue_id=span.queue_id,
        queue_offset=offset,
        max_msg_nums=min(PAGE, span.end - offset),
        subscription=expression,
    )
    return request(RequestCode.PULL_MESSAGE, headers.write(header))


def _page(
    span: Span, at: int, answer: ServerResult[Command], tags: frozenset[str] | None
) -> tuple[Page, int]:
    """A page of what was answered, and the offset to go on from."""
    if answer.result is None:
        return Page(span.broker_name, span.queue_id, (), answer.error), at
    messages = pulled(answer.result)
    following = headers.integer((answer.result.ext or {}).get("nextBeginOffset") or "", 64)
    if following is None or following <= at:
        reason = f"queue {span.queue_id} cannot be read on from offset {at}"
        return Page(span.broker_name, span.queue_id, (), CallError(answer.addr, "unreadable", reason)), at
    wanted = tuple(
        message
        for message in messages
        if at <= message.queue_offset < span.end
        and span.since <= message.store_timestamp <= span.until
        and (tags is None or message.tags in tags)
    )
    return Page(span.broker_name, span.queue_id, wanted, None), following
