"""Owns printMsg, printMsgByQueue and consumeMessage, which show a limited number of messages in queues."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotFound
from nsadmin.client.message_queues import describe_offsets
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.messages.pull_requests import PAGE_SIZE
from nsadmin.client.messages.queue_reader import MessagePage, QueueSpan
from nsadmin.client.results import error_text
from nsadmin.client.topic_routes import QueueRoute
from nsadmin.command_line.argument_values import parse_boolean, parse_charset, parse_number
from nsadmin.command_line.declarations import Each, Flags, Values, command
from nsadmin.command_line.exclusive_options import refuse_both
from nsadmin.command_line.time_arguments import TIME_HELP, parse_window
from nsadmin.commands.messages.message_conditions import BeginTimeOption, EndTimeOption
from nsadmin.commands.messages.message_rows import (
    BODY_TABLE,
    MAX_KEPT_BYTES,
    MESSAGE_COLUMNS,
    PLACE_TABLE,
    MessageTopicArgument,
    ShownMessage,
    body_notes,
    show_message,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session

TAG_COLUMNS: Columns[tuple[str | None, int]] = (
    Column("tag", "tag of messages; null for messages without a tag", lambda t: t[0]),
    Column("count", "messages with that tag", lambda t: t[1]),
)
DEFAULT_MAX_MESSAGES = 1000

CharsetOption = Annotated[
    str | None,
    Option("-c", "--charsetName", metavar="CHARSET", help="Encoding of the bodies. Default: UTF-8."),
]
TagExpressionOption = Annotated[
    str | None,
    Option("-s", "--subExpression", metavar="TAGS", help="Only messages with one of these tags: A || B."),
]
CalculateOption = Annotated[
    str | None,
    Option(
        "-f",
        "--calculate",
        metavar="true|false",
        help="Count messages by tag, without a limit. Default: false.",
    ),
]
MaxMessagesOption = Annotated[int, Option("--maxNum", metavar="N", help="Maximum number of messages.")]


@command(
    columns=(*MESSAGE_COLUMNS, *TAG_COLUMNS),
    examples=("broker", "it is about a whole topic, of which simulated brokers have a hundred millions"),
    nothing="no messages",
)
def print_msg(
    session: Session,
    topic: Annotated[MessageTopicArgument, Each("topic")],
    charset_name: CharsetOption = None,
    tag_expression: TagExpressionOption = None,
    begin_text: BeginTimeOption = None,
    end_text: EndTimeOption = None,
    body_flag: Annotated[
        str | None,
        Option("-d", "--printBody", metavar="true|false", help="Whether to show bodies. Default: true."),
    ] = None,
    route_topic: Annotated[
        str | None,
        Option("-l", "--lmqParentTopic", metavar="TOPIC", help="Ask the brokers of this topic instead."),
    ] = None,
    max_count: MaxMessagesOption = DEFAULT_MAX_MESSAGES,
    last_count: Annotated[
        int | None,
        Option(
            "--last", metavar="N", help="The newest N messages of the topic, in the order of time.", min=1
        ),
    ] = None,
    count_flag: CalculateOption = None,
) -> ResultRows:
    """Show the messages in all queues of a topic, the oldest of each queue first; or the newest with --last.

    nsadmin shows at most --limit messages, from the queues in turns. A line on stderr reports further
    messages. With --last N, -s chooses among the last N messages of each queue. On a terminal, a table shows
    only the beginning of a body. Use --output wide or --output json for whole bodies. nsadmin reads without a
    consumer group, so no offset changes.

    With -f true, the rows are the tags of all messages of the topic, with the number of messages of each.

    Examples:
        # The last ten messages of a topic
        nsadmin printMsg payments --last 10
        # The number of messages by tag in the whole topic; add --from 1h for the last hour
        nsadmin printMsg payments -f true
        # Messages in the topic with a tag, between two times (--until TIME), without bodies
        nsadmin printMsg payments --from 2025-01-31T13:00:00Z -s settled -d false
    """
    window = (begin_text, end_text)
    if last_count is not None and (window != (None, None) or max_count != DEFAULT_MAX_MESSAGES):
        raise UsageError("--last reads the ends of the queues: leave out --from, --until and --limit")
    counts_tags = parse_boolean("-f", count_flag) is True
    refuse_both("--last", last_count, "-f true", counts_tags)
    encoding, with_body = parse_charset("-c", charset_name), parse_boolean("-d", body_flag) is not False
    queue_routes = session.admin.messages.list_queue_routes(topic, None, route_topic)
    queue_listing = _QueueListing(session, topic, tag_expression, max_count, queue_routes, *window)
    if counts_tags:
        return queue_listing.count_tags()
    if last_count is not None:
        return queue_listing.list_last(last_count, encoding, with_body)
    return queue_listing.list_messages(encoding, with_body)


@command(
    columns=(*MESSAGE_COLUMNS, *TAG_COLUMNS),
    examples=("broker", "it counts a whole queue, of which simulated brokers have millions"),
    nothing="no messages",
)
def print_msg_by_queue(
    session: Session,
    topic: MessageTopicArgument,
    broker_name: Annotated[
        str, Argument(metavar="BROKER", help="Name of a broker."), Flags("-a", "--brokerName")
    ],
    queue_text: Annotated[
        str, Argument(metavar="QUEUE", help="Number of a queue, from 0."), Flags("-i", "--queueId")
    ],
    charset_name: CharsetOption = None,
    tag_expression: TagExpressionOption = None,
    begin_text: BeginTimeOption = None,
    end_text: EndTimeOption = None,
    messages_flag: Annotated[
        str | None,
        Option(
            "-p",
            "--print",
            metavar="true|false",
            help="Whether to show messages. Default: true, or false with -f.",
        ),
    ] = None,
    body_flag: Annotated[
        str | None,
        Option("-d", "--printBody", metavar="true|false", help="Whether to show bodies. Default: false."),
    ] = None,
    count_flag: CalculateOption = None,
    max_count: MaxMessagesOption = DEFAULT_MAX_MESSAGES,
) -> ResultRows:
    """Show the messages in one queue, the oldest first; or with -f true, the number of messages by tag.

    nsadmin shows at most --limit messages. A line on stderr reports further messages. With -p true and -f
    true, lines on stderr count the tags of the shown messages. nsadmin reads without a consumer group, so no
    offset changes.

    Examples:
        # The messages in one queue
        nsadmin printMsgByQueue payments broker-a-0 0
        # The number of messages by tag
        nsadmin printMsgByQueue payments broker-a-0 0 -f true
    """
    encoding, counts_tags = parse_charset("-c", charset_name), parse_boolean("-f", count_flag) is True
    wants_messages, with_bodies = parse_boolean("-p", messages_flag), parse_boolean("-d", body_flag) is True
    if wants_messages is False and not counts_tags:
        raise UsageError("-p false hides all messages: add -f true to count tags")
    queue_routes = session.admin.messages.list_queue_routes(topic, broker_name)
    queue_id = parse_number("QUEUE", queue_text)
    queue_listing = _QueueListing(
        session, topic, tag_expression, max_count, queue_routes, begin_text, end_text, queue_id
    )
    if counts_tags and not wants_messages:
        return queue_listing.count_tags()
    return queue_listing.list_messages(encoding, with_bodies, with_tag_counts=counts_tags)


@command(
    columns=MESSAGE_COLUMNS,
    examples=("broker", "simulated brokers have deleted their first messages"),
    nothing="no messages",
)
def consume_message(
    session: Session,
    topic: MessageTopicArgument,
    broker_name: Annotated[
        str | None, Option("-b", "--brokerName", metavar="BROKER", help="Only queues of this broker.")
    ] = None,
    queue_id: Annotated[
        int | None, Option("-i", "--queueId", metavar="QUEUE", help="With -b: only this queue.", min=0)
    ] = None,
    begin_offset: Annotated[
        int | None, Option("-o", "--offset", metavar="OFFSET", help="With -i: start at this offset.", min=0)
    ] = None,
    group: Annotated[
        str | None,
        Option("-g", "--consumerGroup", metavar="GROUP", help="Ignored: nsadmin joins no group."),
        Values("groups"),
    ] = None,
    begin_text: Annotated[
        str | None,
        Option("-s", "--beginTimestamp", metavar="TIME", help=f"Only messages stored since: {TIME_HELP}"),
    ] = None,
    end_text: EndTimeOption = None,
    max_count: Annotated[
        int, Option("-c", "--MessageNumber", metavar="N", help="Maximum number of messages.")
    ] = 128,
) -> ResultRows:
    """Show messages of a topic, a broker or a queue, starting at an offset or a time.

    nsadmin shows at most -c messages, from the queues in turns. A line on stderr reports further messages.
    nsadmin reads without a consumer group, so no offset changes and -g has no effect. (mqadmin joins the
    group of -g, whose clients then rebalance.)

    Examples:
        # The first messages of each queue of a topic in turns, ten in all
        nsadmin consumeMessage payments -c 10
        # Messages of one queue, starting at an offset
        nsadmin consumeMessage payments -b broker-a-0 -i 0 -o 0
    """
    if queue_id is not None and broker_name is None:
        raise UsageError("-i needs -b BROKER: each broker has its own queues")
    if begin_offset is not None and queue_id is None:
        raise UsageError("-o needs -b BROKER and -i QUEUE: each queue has its own offsets")
    if group is not None:
        session.write_remark(f"reads without a group, and does not join {group}")
    queue_routes = session.admin.messages.list_queue_routes(topic, broker_name)
    queue_listing = _QueueListing(
        session, topic, None, max_count, queue_routes, begin_text, end_text, queue_id
    )
    if begin_offset is not None:
        queue_listing.skip_to_offset(begin_offset)
    return queue_listing.list_messages(parse_charset("", None), True)


class _QueueListing:
    """Reads the queues of one command, and makes rows of their messages."""

    def __init__(
        self,
        session: Session,
        topic: str,
        tag_expression: str | None,
        max_count: int,
        queue_routes: Sequence[QueueRoute],
        begin_text: str | None,
        end_text: str | None,
        queue_id: int | None = None,
    ) -> None:
        if max_count < 1:
            raise UsageError(f'invalid value "{max_count}" for --limit: expected 1 or more')
        self._session, self._topic, self._max_count = session, topic, max_count
        self._wanted_tags = _parse_tags(tag_expression)
        begin_ms, end_ms = parse_window(begin_text, end_text)
        self._span_results = session.admin.queue_reader.get_spans(
            topic, queue_routes, queue_id=queue_id, begin_ms=begin_ms, end_ms=end_ms
        )
        self._errors_by_queue = {
            (s.broker_name, s.queue_id): s.error for s in self._span_results if s.error is not None
        }

    def skip_to_offset(self, wanted_offset: int) -> None:
        """Begin at this offset in the only queue; NotFound if the queue has no message there."""
        [result] = self._span_results
        span = result.queue_span
        if span is None:
            return
        if not span.begin_offset <= wanted_offset < span.end_offset:
            raise NotFound(
                f"no message at offset {wanted_offset} of queue {span.queue_id}: "
                f"{describe_offsets(span.begin_offset, span.end_offset)}"
            )
        self._span_results = [result._replace(queue_span=span._replace(begin_offset=wanted_offset))]

    def _list_spans(self) -> list[QueueSpan]:
        return [s.queue_span for s in self._span_results if s.queue_span is not None]

    def _read_pages(self, spans: Sequence[QueueSpan], first_size: int = PAGE_SIZE) -> Iterator[MessagePage]:
        reader = self._session.admin.queue_reader
        for page in reader.read_pages(self._topic, spans, self._wanted_tags, first_size=first_size):
            if page.error is not None:
                self._errors_by_queue[page.broker_name, page.queue_id] = page.error
            yield page

    def list_messages(self, encoding: str, with_body: bool, *, with_tag_counts: bool = False) -> ResultRows:
        shown, notes = list[ShownMessage](), []
        kept_bytes = 0
        spans = self._list_spans()
        # All queues have their turn within the limit.
        pages = self._read_pages(spans, max(1, self._max_count // max(1, len(spans))))
        messages = (LocatedMessage(p.broker_name, m) for p in pages for m in p.messages)
        for message in messages:
            if len(shown) == self._max_count or kept_bytes > MAX_KEPT_BYTES:
                reason = " (--limit): there are more"
                if kept_bytes > MAX_KEPT_BYTES:
                    reason = ", which have long bodies: use --from, --until for more"
                notes.append(f"stopped after {count_noun(len(shown), 'message')}{reason}")
                if self._session.options.style.selection.sort is not None:
                    notes.append(
                        f"sorted only the {count_noun(len(shown), 'message')} that were read: "
                        "printMsg --last N shows the newest"
                    )
                break
            shown.append(show_message(message, encoding, with_body=with_body))
            kept_bytes += shown[-1].body_length
        shown.sort(key=lambda m: m.place)
        notes += body_notes(shown)
        if with_tag_counts:
            counts = Counter(m.message.tags for m in shown)
            notes += [
                f"tag {tag or '(none)'}: {count_noun(count, 'message')}"
                for tag, count in counts.most_common()
            ]
        return self._make_rows(shown, notes, with_body)

    def list_last(self, last_count: int, encoding: str, with_body: bool) -> ResultRows:
        """List the newest messages; those are among the last ones of each queue."""
        spans = self._list_spans()
        tails = [s._replace(begin_offset=max(s.begin_offset, s.end_offset - last_count)) for s in spans]
        shown, notes, kept_count = list[ShownMessage](), [], last_count
        for page in self._read_pages(tails):
            located = (LocatedMessage(page.broker_name, m) for m in page.messages)
            shown += [show_message(m, encoding, with_body=with_body) for m in located]
            shown.sort(key=lambda m: (m.message.store_timestamp, m.place))
            del shown[:-kept_count]
            while len(shown) > 1 and sum(m.body_length for m in shown) > MAX_KEPT_BYTES:
                del shown[0]
                # An older message would leave a gap.
                kept_count = len(shown)
        if kept_count < last_count:
            kept = count_noun(kept_count, "message")
            notes.append(f"shows only {kept}, which have long bodies: -d false shows all")
        elif self._wanted_tags and len(shown) < last_count and tails != spans:
            notes.append(f"searched only the last {count_noun(last_count, 'message')} of each queue")
        return self._make_rows(shown, [*notes, *body_notes(shown)], with_body)

    def _make_rows(self, shown: Sequence[ShownMessage], notes: Sequence[str], with_body: bool) -> ResultRows:
        return ResultRows.from_records(
            MESSAGE_COLUMNS,
            shown,
            self._span_errors(),
            [*notes, *self._failure_notes()],
            table=BODY_TABLE if with_body else PLACE_TABLE,
        )

    def count_tags(self) -> ResultRows:
        counts = Counter(m.tags for page in self._read_pages(self._list_spans()) for m in page.messages)
        tags = counts.most_common()
        return ResultRows.from_records(TAG_COLUMNS, tags, self._span_errors(), self._failure_notes())

    def _span_errors(self) -> list[RocketMQError | None]:
        return [self._errors_by_queue.get((s.broker_name, s.queue_id)) for s in self._span_results]

    def _failure_notes(self) -> list[str]:
        """A line for each different error of a broker, with its queues; a dead broker fails all of them."""
        queues_by_error: dict[tuple[str, str], list[int]] = {}
        for broker_name, queue_id in sorted(self._errors_by_queue):
            error = self._errors_by_queue[broker_name, queue_id]
            queues_by_error.setdefault((broker_name, error_text(error)), []).append(queue_id)
        return [
            f"broker {broker_name}, queue {', '.join(map(str, queue_ids))}: {error}"
            for (broker_name, error), queue_ids in queues_by_error.items()
        ]


def _parse_tags(tag_expression: str | None) -> frozenset[str] | None:
    """The tags of the expression `A || B`; None if messages with any tag match."""
    if tag_expression is None or tag_expression.strip() in ("", "*"):
        return None
    wanted_tags = frozenset(tag.strip() for tag in tag_expression.split("||") if tag.strip())
    if not wanted_tags:
        raise UsageError(f'invalid tags "{tag_expression}" for -s: write A || B')
    return wanted_tags
