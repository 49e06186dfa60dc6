"""Owns `consume`, which prints the messages of a topic, also those that are still to come."""

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from typer import Option

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client.messages.message_filter import MessageFilter
from nsadmin.client.messages.message_queries import END_OF_TIME_MS, LocatedMessage
from nsadmin.client.messages.topic_follower import FollowedPage, TopicFollower
from nsadmin.client.results import OverReadLimit, error_text
from nsadmin.command_line.declarations import command
from nsadmin.command_line.time_arguments import TIME_HELP, parse_time_option, require_order
from nsadmin.commands.messages.body_decoders import DecodeOption, decode_body, parse_decoders
from nsadmin.commands.messages.message_conditions import (
    BodyRegexOption,
    KeysOption,
    PropertiesOption,
    QueueBrokerOption,
    QueueIdOption,
    SqlOption,
    TagsOption,
    parse_pairs,
    parse_regex,
    parse_start,
)
from nsadmin.commands.messages.message_rows import (
    BODY_ERROR,
    BODY_TABLE,
    MAX_KEPT_BYTES,
    MAX_SHOWN_BYTES,
    MESSAGE_COLUMNS,
    MessageTopicArgument,
    ShownMessage,
    show_message,
)
from nsadmin.commands.procedures.signals import (
    SYSTEM_CLOCK,
    StopRequestedError,
    StopSignal,
    catch_stop_signals,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import OutputText, ResultRow, ResultRows, read_row
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session

_IDLE_PAUSE_SECONDS, _ERROR_PAUSE_SECONDS = 0.2, 1.0
_STALLED_PAUSE_SECONDS, _MAX_STALLED_POLLS = 0.05, 100
"""Without --follow: for so many polls the broker may owe messages before the end that it reported."""
_LINE_FORMATS = ("table", "wide", "jsonl", "csv", "tsv", "value", "spreadsheet")
_COLUMN_PATTERN = re.compile(r"\{(\w+)(?:\.([^{}]+))?\}")


@command(
    columns=MESSAGE_COLUMNS,
    examples=("elsewhere", "one of its examples follows a topic without an end"),
    nothing="no messages",
)
def consume(
    session: Session,
    topic: MessageTopicArgument,
    start_text: Annotated[
        str | None,
        Option(
            "--from",
            metavar="PLACE",
            help="earliest, latest, offset:N or a time; latest with --follow, else earliest.",
        ),
    ] = None,
    until_text: Annotated[
        str | None, Option("--until", metavar="TIME", help=f"Only messages stored until: {TIME_HELP}")
    ] = None,
    follows: Annotated[
        bool, Option("-f", "--follow", help="Print also the messages to come, until Ctrl-C.")
    ] = False,
    max_messages: Annotated[
        int | None, Option("--limit", metavar="N", help="Stop after N messages.", min=1)
    ] = None,
    broker_name: QueueBrokerOption = None,
    queue_id: QueueIdOption = None,
    tags: TagsOption = None,
    sql_text: SqlOption = None,
    keys: KeysOption = None,
    property_texts: PropertiesOption = None,
    body_text: BodyRegexOption = None,
    field_texts: Annotated[
        list[str] | None,
        Option(
            "--field",
            metavar="PATH=VALUE",
            help="Only messages whose JSON body has this value, such as order.id=7. Repeatable.",
        ),
    ] = None,
    line_format: Annotated[
        str | None,
        Option("--format", metavar="TEXT", help="A line for each message, such as '{storeTime} {body}'."),
    ] = None,
    decoder_names: DecodeOption = None,
) -> ResultRows | Iterator[OutputText | ResultRows]:
    """Print the messages of a topic, from all queues, as they come.

    No consumer group takes part, and no consumer offset changes. With --follow the command continues through
    a restart of a broker, and reads new queues and new brokers within 5 seconds. Ctrl-C ends it, and the
    command prints the number of messages.

    --tag and --sql filter on the broker. SQL92 works only on brokers with enablePropertyFilter=true. All
    other conditions are checked here, so the brokers send every message. --body and --field see decoded
    bodies.

    --decode gzip,json decodes in this order. avro reads object containers; avro:order.avsc also single
    objects, and data without a header. protobuf:order.proto#Order compiles the file; a descriptor set works,
    too. Both need nsadmin[decoders].

    Messages of one queue are printed in order. The order across queues is not defined.

    Examples:
        # Follow a topic, one line for each message
        nsadmin consume payments --follow --format '{storeTime} {keys} {body}'
        # Messages of the last hour whose JSON body has a value, as lines of JSON
        nsadmin consume payments --from 1h --field order.state=failed --decode json --output jsonl
        # Compressed Protobuf messages
        nsadmin consume payments --decode gzip,protobuf:order.proto#Order --output jsonl
    """
    command_name = "consume"
    output_format = session.options.style.output_format
    if follows and line_format is None and output_format not in _LINE_FORMATS:
        raise UsageError(
            f"{command_name}: --follow needs lines: pass --output jsonl instead of {output_format}"
        )
    follow_start = parse_start(command_name, start_text, follows)
    begin_ms = follow_start.time_ms or 0
    end_ms = parse_time_option("--until", until_text, END_OF_TIME_MS)
    require_order(begin_ms, end_ms, start_text, until_text)
    message_filter = MessageFilter(
        frozenset(tags or ()),
        frozenset(keys or ()),
        parse_pairs(command_name, "--property", property_texts),
        parse_regex(command_name, body_text),
        parse_pairs(command_name, "--field", field_texts),
        begin_ms,
        end_ms,
    )
    if tags and sql_text:
        raise UsageError(f"{command_name}: --tag and --sql exclude each other: use TAGS in the expression")
    follower = session.admin.message_streams.open_follower(
        topic,
        follow_start,
        expression=sql_text or " || ".join(tags or ()) or "*",
        expression_type="SQL92" if sql_text else "TAG",
        broker_name=broker_name,
        queue_id=queue_id,
    )
    decoders = parse_decoders(decoder_names)
    _check_format(command_name, line_format)
    message_stream = MessageStream(session, follower, message_filter, decoders, follows, max_messages)
    if line_format is not None:
        return message_stream.print_lines(line_format)
    return message_stream.print_rows() if output_format in _LINE_FORMATS else message_stream.list_rows()


class MessageStream:
    """Reads the messages of one command; reports errors on stderr, each once until the broker answers."""

    def __init__(
        self,
        session: Session,
        follower: TopicFollower,
        message_filter: MessageFilter,
        decoders: Sequence[str],
        follows: bool,
        max_messages: int | None,
    ) -> None:
        self._session, self._follower, self._filter = session, follower, message_filter
        self._decoders, self._follows, self._max_messages = decoders, follows, max_messages
        self._table = (*BODY_TABLE, BODY_ERROR) if decoders else BODY_TABLE
        self._printed_count = 0
        self._errors_by_queue: dict[tuple[str, int], RocketMQError] = {}

    def list_rows(self) -> ResultRows:
        """All messages as one result."""
        messages = list[ShownMessage]()
        kept_bytes = 0
        for page in self._read_messages():
            messages += page
            kept_bytes += sum(m.body_length for m in page)
            if kept_bytes > MAX_KEPT_BYTES:
                error = OverReadLimit(
                    f"stopped after {count_noun(len(messages), 'message')}, which have long bodies: "
                    "pass --output jsonl to get all"
                )
                return self._rows(messages, [*self._list_outcomes(), error], [str(error)])
        return self._rows(messages, self._list_outcomes(), self._error_notes())

    def _rows(
        self,
        messages: Sequence[ShownMessage],
        errors: Sequence[RocketMQError | None] = (),
        notes: Sequence[str] = (),
    ) -> ResultRows:
        return ResultRows.from_records(MESSAGE_COLUMNS, messages, errors, notes, table=self._table)

    def print_rows(self) -> Iterator[ResultRows]:
        """The messages page by page, as rows below one header."""
        is_first = True
        for page in self._read_messages():
            yield self._rows(page)
            if is_first:
                self._session.continue_table()
            is_first = False
        outcomes = self._list_outcomes()
        # Rows without an error are complete. A result without rows would be called empty.
        if is_first or any(outcomes):
            yield self._rows([], outcomes, self._error_notes())

    def print_lines(self, line_format: str) -> Iterator[OutputText]:
        """The messages as lines of text."""
        for page in self._read_messages():
            yield OutputText("\n".join(format_line(line_format, read_row(MESSAGE_COLUMNS, m)) for m in page))
        yield OutputText("", self._list_outcomes())

    def _read_messages(self) -> Iterator[list[ShownMessage]]:
        with catch_stop_signals(SYSTEM_CLOCK) as stop_signal, contextlib.suppress(StopRequestedError):
            yield from self._poll_pages(stop_signal)
        if self._follows:
            self._session.write_remark(f"printed {count_noun(self._printed_count, 'message')}")

    def _poll_pages(self, stop_signal: StopSignal) -> Iterator[list[ShownMessage]]:
        end_offsets = {} if self._follows else self._follower.find_ends()
        done_queues: set[tuple[str, int]] = set()
        stalled_polls = 0
        while True:
            stop_signal.raise_if_requested()
            positions = {queue: self._follower.get_position(*queue) for queue in end_offsets}
            pages: list[FollowedPage] = []
            for messages in self._poll_messages(frozenset(done_queues), end_offsets, pages):
                self._printed_count += len(messages)
                yield messages
            self._note_errors(pages)
            if self._printed_count == self._max_messages:
                return
            if not self._follows:
                done_queues |= self._find_done(end_offsets, pages)
                if len(done_queues) == len(end_offsets.keys() | self._errors_by_queue.keys()):
                    return
                is_stalled = not pages and all(
                    self._follower.get_position(*queue) == position for queue, position in positions.items()
                )
                stalled_polls = stalled_polls + 1 if is_stalled else 0
                if stalled_polls == _MAX_STALLED_POLLS:
                    self._note_stalled(end_offsets, done_queues)
                    return
                if is_stalled:
                    stop_signal.stoppable_clock.pause_seconds(_STALLED_PAUSE_SECONDS)
            elif not pages:
                stop_signal.stoppable_clock.pause_seconds(_IDLE_PAUSE_SECONDS)
            elif all(page.error is not None for page in pages):
                stop_signal.stoppable_clock.pause_seconds(_ERROR_PAUSE_SECONDS)

    def _poll_messages(
        self,
        done_queues: frozenset[tuple[str, int]],
        end_offsets: dict[tuple[str, int], int],
        pages: list[FollowedPage],
    ) -> Iterator[list[ShownMessage]]:
        """Poll all queues, and yield messages up to the limit; add the pages without messages to `pages`.

        The messages of one poll come at once, unless their bodies are long.
        """
        messages = list[ShownMessage]()
        kept_bytes = 0
        count_left = None if self._max_messages is None else self._max_messages - self._printed_count
        for page in self._follower.read_pages(done_queues):
            pages.append(page._replace(messages=()))
            for shown in self._show_page(page, end_offsets.get((page.broker_name, page.queue_id))):
                messages.append(shown)
                kept_bytes += shown.body_length
                if count_left is not None:
                    count_left -= 1
                if kept_bytes > MAX_SHOWN_BYTES or count_left == 0:
                    yield messages
                    messages, kept_bytes = [], 0
                if count_left == 0:
                    return
        if messages:
            yield messages

    def _note_stalled(
        self, end_offsets: dict[tuple[str, int], int], done_queues: set[tuple[str, int]]
    ) -> None:
        for queue_key in end_offsets.keys() - done_queues:
            self._errors_by_queue[queue_key] = OverReadLimit(
                f"queue {queue_key[1]} ends at offset {end_offsets[queue_key]}, but the broker returns no "
                f"message from offset {self._follower.get_position(*queue_key)} on"
            )

    def _find_done(
        self, end_offsets: dict[tuple[str, int], int], pages: Sequence[FollowedPage]
    ) -> set[tuple[str, int]]:
        """The queues that are read up to their end, and those that cannot be read."""
        done_queues = {(page.broker_name, page.queue_id) for page in pages if page.error is not None}
        for queue_key, end_offset in end_offsets.items():
            position = self._follower.get_position(*queue_key)
            if position is not None and position >= end_offset:
                done_queues.add(queue_key)
        return done_queues

    def _show_page(self, page: FollowedPage, end_offset: int | None) -> Iterator[ShownMessage]:
        for message in page.messages:
            is_new = end_offset is not None and message.queue_offset >= end_offset
            if is_new or not self._filter.is_match(message, self._decode_for_filter(message)):
                continue
            yield show_message(LocatedMessage(page.broker_name, message), decoders=self._decoders)

    def _decode_for_filter(self, message: StoredMessage) -> Any:
        """The decoded body, None if no condition needs it or a decoder fails."""
        if not (self._decoders and self._filter.examines_body):
            return None
        decoded_body, _, body_error = decode_body(message.body, self._decoders)
        return decoded_body if body_error is None else None

    def _note_errors(self, pages: Sequence[FollowedPage]) -> None:
        failed_queues: dict[tuple[str, int], RocketMQError] = {}
        for page in pages:
            queue_key = (page.broker_name, page.queue_id)
            if page.lost_count:
                self._session.write_remark(
                    f"broker {page.broker_name}, queue {page.queue_id}: "
                    f"{count_noun(page.lost_count, 'message')} deleted before they were read"
                )
            if page.error is not None:
                failed_queues[queue_key] = page.error
        known_brokers = {broker_name for broker_name, _ in self._errors_by_queue}
        failed_brokers = {broker_name: error for (broker_name, _), error in failed_queues.items()}
        if self._follows:
            for broker_name, error in failed_brokers.items():
                if broker_name not in known_brokers:
                    self._session.write_remark(f"broker {broker_name}: {error_text(error)}; trying again")
            self._errors_by_queue = failed_queues
        else:
            self._errors_by_queue |= failed_queues

    def _list_outcomes(self) -> list[RocketMQError | None]:
        """The outcome of each failed queue, and a success if another queue was read."""
        if self._follows:
            return []
        has_success = self._printed_count or not self._errors_by_queue
        return [*([None] if has_success else []), *self._errors_by_queue.values()]

    def _error_notes(self) -> list[str]:
        notes = {
            f"broker {broker_name}: {error_text(error)}"
            for (broker_name, _), error in self._errors_by_queue.items()
        }
        return [] if self._follows else sorted(notes)


def format_line(line_format: str, row: ResultRow) -> str:
    """Fill the columns of a row into a format. `{properties.NAME}` is one property, empty if missing."""

    def fill_column(match: re.Match[str]) -> str:
        value = row.get(match[1])
        if match[2] is not None:
            value = value.get(match[2]) if isinstance(value, dict) else None
        if isinstance(value, (list, tuple)):
            return " ".join(map(str, value))
        return "" if value is None else str(value)

    return _COLUMN_PATTERN.sub(fill_column, line_format)


def _check_format(command_name: str, line_format: str | None) -> None:
    names = [c.key for c in MESSAGE_COLUMNS]
    for match in _COLUMN_PATTERN.finditer(line_format or ""):
        if match[1] not in names:
            raise UsageError(
                f'{command_name}: unknown column "{match[1]}" in --format: use {", ".join(names)}'
            )
