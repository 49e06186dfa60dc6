"""Owns printMsg, printMsgByQueue and consumeMessage, which show a limited number of messages in queues."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotFound
from nsadmin.client.messages import FOREVER, Located
from nsadmin.client.queue_reading import Page, SpanResult
from nsadmin.client.results import error_text
from nsadmin.client.routes import QueueRoute
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.message_rows import (
    BODY_IN_TABLE,
    COLUMNS,
    PLACE_IN_TABLE,
    Topic,
    body_notes,
    charset,
    message_row,
)
from nsadmin.commands.messages import number
from nsadmin.commands.moments import HELP, moment
from nsadmin.commands.values import flag
from nsadmin.diagnostics import UsageError
from nsadmin.output import Rows
from nsadmin.session import Session

LIMIT = 1000

Charset = Annotated[
    str | None,
    Option("-c", "--charsetName", metavar="CHARSET", help="Read bodies in this encoding, not in UTF-8."),
]
Tags = Annotated[
    str | None,
    Option("-s", "--subExpression", metavar="TAGS", help="Only messages with a tag of these: A || B."),
]
Begin = Annotated[str | None, Option("-b", "--beginTimestamp", metavar="TIME", help=f"Stored since: {HELP}")]
End = Annotated[str | None, Option("-e", "--endTimestamp", metavar="TIME", help="Stored until, likewise.")]
MaxNum = Annotated[int, Option("--maxNum", metavar="N", help="Stop after so many messages.")]


@shows(COLUMNS)
def print_msg(
    session: Session,
    topic: Topic,
    charset_name: Charset = None,
    expression: Tags = None,
    begin: Begin = None,
    end: End = None,
    print_body: Annotated[
        str | None, Option("-d", "--printBody", metavar="true|false", help="Whether with bodies; true.")
    ] = None,
    parent: Annotated[
        str | None,
        Option("-l", "--lmqParentTopic", metavar="TOPIC", help="Ask the brokers of this topic instead."),
    ] = None,
    max_num: MaxNum = LIMIT,
) -> Rows:
    """Show the messages in all queues of a topic, the oldest of each queue first.

    At most --maxNum are shown, taken from the queues in turns; a note says if there are more. Nothing is
    consumed: no group has a part in it.

    Examples:
        # The first ten messages of a topic
        nsadmin printMsg payments --maxNum 10
        # Those with a tag since some time, without bodies
        nsadmin printMsg payments -b 2025-01-31T13:00:00Z -s settled -d false
    """
    queues = session.admin.messages.queues(topic, None, parent)
    reading = _Reading(session, "printMsg", topic, expression, max_num)
    reading.start(queues, None, begin, end)
    return reading.shown(
        charset("printMsg", "-c", charset_name), flag("printMsg", "-d", print_body) is not False
    )


@shows(COLUMNS, ("tag", "count"))
def print_msg_by_queue(
    session: Session,
    topic: Topic,
    broker: Annotated[str, Word(("-a", "--brokerName"), "BROKER", "Name of a broker.")],
    queue: Annotated[str, Word(("-i", "--queueId"), "QUEUE", "Number of a queue, from 0.")],
    charset_name: Charset = None,
    expression: Tags = None,
    begin: Begin = None,
    end: End = None,
    print_messages: Annotated[
        str | None,
        Option("-p", "--print", metavar="true|false", help="Whether messages are shown; true unless -f is."),
    ] = None,
    print_body: Annotated[
        str | None, Option("-d", "--printBody", metavar="true|false", help="Whether with bodies; false.")
    ] = None,
    calculate: Annotated[
        str | None,
        Option("-f", "--calculate", metavar="true|false", help="Count messages by tag; false. Has no bound."),
    ] = None,
    max_num: MaxNum = LIMIT,
) -> Rows:
    """Show the messages in one queue, the oldest first, or with -f true how many there are of each tag.

    At most --maxNum are shown; a note says if there are more. With -p true and -f true notes count the tags
    of those that are shown. Nothing is consumed: no group has a part in it.

    Examples:
        # The messages in one queue
        nsadmin printMsgByQueue payments broker-a-0 0
        # How many there are of each tag
        nsadmin printMsgByQueue payments broker-a-0 0 -f true
    """
    command = "printMsgByQueue"
    encoding, counts = charset(command, "-c", charset_name), flag(command, "-f", calculate) is True
    wanted, bodies = flag(command, "-p", print_messages), flag(command, "-d", print_body) is True
    if wanted is False and not counts:
        raise UsageError(f"{command}: -p false leaves nothing to show: add -f true, to count tags")
    queues = session.admin.messages.queues(topic, broker)
    reading = _Reading(session, command, topic, expression, max_num)
    reading.start(queues, number(command, "QUEUE", queue), begin, end)
    if counts and not wanted:
        return reading.counted()
    return reading.shown(encoding, bodies, with_counts=counts)


@shows(COLUMNS)
def consume_message(
    session: Session,
    topic: Topic,
    broker: Annotated[
        str | None, Option("-b", "--brokerName", metavar="BROKER", help="Only queues of this broker.")
    ] = None,
    queue: Annotated[
        int | None, Option("-i", "--queueId", metavar="QUEUE", minimum=0, help="With -b: only this queue.")
    ] = None,
    offset: Annotated[
        int | None, Option("-o", "--offset", metavar="OFFSET", minimum=0, help="With -i: from there on.")
    ] = None,
    group: Annotated[
        str | None,
        Option("-g", "--consumerGroup", metavar="GROUP", help="Is left alone: see above.", values="groups"),
    ] = None,
    begin: Annotated[
        str | None, Option("-s", "--beginTimestamp", metavar="TIME", help=f"Stored since: {HELP}")
    ] = None,
    end: End = None,
    count: Annotated[
        int, Option("-c", "--MessageNumber", metavar="N", help="Stop after so many messages.")
    ] = 128,
) -> Rows:
    """Show messages of a topic, or of one broker or queue of it, from an offset or a time on.

    At most -c are shown, taken from the queues in turns; a note says if there are more. Nothing is consumed:
    no offset is moved. mqadmin joins the group at -g, whose clients then rebalance; here no group is joined,
    and -g changes nothing.

    Examples:
        # The first ten messages of a topic
        nsadmin consumeMessage payments -c 10
        # Those of one queue from an offset on
        nsadmin consumeMessage payments -b broker-a-0 -i 0 -o 0
    """
    command = "consumeMessage"
    if queue is not None and broker is None:
        raise UsageError(f"{command}: -i is the number of a queue of one broker: add -b BROKER")
    if offset is not None and queue is None:
        raise UsageError(f"{command}: -o is a place in one queue: add -b BROKER and -i QUEUE")
    if group is not None:
        session.remark(f"{group} is not joined: messages are read as nobody's consumer")
    queues = session.admin.messages.queues(topic, broker)
    reading = _Reading(session, command, topic, None, count, "-c")
    reading.start(queues, queue, begin, end)
    if offset is not None:
        reading.skip_to(offset)
    return reading.shown(charset(command, "", None), True)


class _Reading:
    """Reads the queues of one command, and makes rows of their messages."""

    def __init__(
        self,
        session: Session,
        command: str,
        topic: str,
        expression: str | None,
        max_num: int,
        bound: str = "--maxNum",
    ) -> None:
        if max_num < 1:
            raise UsageError(f"{command}: {bound} {max_num} cannot be: give 1 or more")
        self._bound = bound
        self._session, self._command, self._topic, self._max_num = session, command, topic, max_num
        self._tags = _tags(command, expression)
        self._spans: Sequence[SpanResult] = ()
        self._errors: dict[tuple[str, int], RocketMQError] = {}

    def start(
        self, queues: Sequence[QueueRoute], queue_id: int | None, begin: str | None, end: str | None
    ) -> None:
        """Find the offsets to read in each queue."""
        self._spans = self._session.admin.queue_reading.spans(
            self._topic,
            queues,
            queue_id=queue_id,
            begin=moment(self._command, "-b", begin, 0),
            end=moment(self._command, "-e", end, FOREVER),
        )
        self._errors = {
            (item.broker_name, item.queue_id): item.error for item in self._spans if item.error is not None
        }

    def skip_to(self, offset: int) -> None:
        """Begin at this offset in the only queue; NotFound if the queue has no message there."""
        [found] = self._spans
        span = found.span
        if span is None:
            return
        if not span.begin <= offset < span.end:
            there = f"those from {span.begin} to before {span.end}" if span.begin < span.end else "none"
            raise NotFound(f"no message at offset {offset} of queue {span.queue_id}: it has {there}")
        self._spans = [found._replace(span=span._replace(begin=offset))]

    def _pages(self) -> Iterator[Page]:
        spans = [item.span for item in self._spans if item.span is not None]
        for page in self._session.admin.queue_reading.pages(self._topic, spans, self._tags):
            if page.error is not None:
                self._errors[page.broker_name, page.queue_id] = page.error
            yield page

    def shown(self, encoding: str, with_body: bool, *, with_counts: bool = False) -> Rows:
        items: list[Located] = []
        for page in self._pages():
            items += (Located(page.broker_name, message) for message in page.messages)
            if len(items) > self._max_num:
                break
        notes = []
        if len(items) > self._max_num:
            del items[self._max_num :]
            notes.append(f"stopped after {self._max_num} messages: there are more ({self._others()})")
        items.sort(key=lambda item: (item.broker_name, item.message.queue_id, item.message.queue_offset))
        rows = [message_row(item, encoding, with_body=with_body) for item in items]
        notes += body_notes(items) if with_body else []
        if with_counts:
            counts = Counter(item.message.tags for item in items)
            notes += [f"tag {tag or '(none)'}: {count} messages" for tag, count in counts.most_common()]
        in_table = BODY_IN_TABLE if with_body else PLACE_IN_TABLE
        return Rows(COLUMNS, rows, self._outcomes(), [*notes, *self._failures()], in_table)

    def _others(self) -> str:
        """The options with which an operator gets the other messages."""
        return "--maxNum, -b, -e, -s" if self._bound == "--maxNum" else f"{self._bound}, -o, -s, -e"

    def counted(self) -> Rows:
        counts: Counter[str | None] = Counter()
        for page in self._pages():
            counts.update(message.tags for message in page.messages)
        rows = [{"tag": tag, "count": count} for tag, count in counts.most_common()]
        return Rows(("tag", "count"), rows, self._outcomes(), self._failures())

    def _outcomes(self) -> list[RocketMQError | None]:
        return [self._errors.get((item.broker_name, item.queue_id)) for item in self._spans]

    def _failures(self) -> list[str]:
        """A line for each different error of a broker, with its queues; a dead broker fails all of them."""
        spoiled: dict[tuple[str, str], list[int]] = {}
        for (broker, queue), error in sorted(self._errors.items(), key=lambda item: item[0]):
            spoiled.setdefault((broker, error_text(error)), []).append(queue)
        return [
            f"broker {broker}, queue {', '.join(map(str, queues))}: {text}"
            for (broker, text), queues in spoiled.items()
        ]


def _tags(command: str, expression: str | None) -> frozenset[str] | None:
    """The tags of the expression `A || B`; None if messages with any tag match."""
    if expression is None or expression.strip() in ("", "*"):
        return None
    tags = frozenset(tag.strip() for tag in expression.split("||") if tag.strip())
    if not tags:
        raise UsageError(f"{command}: -s {expression} names no tag: give A || B")
    return tags
