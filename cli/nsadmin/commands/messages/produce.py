"""Owns `produce`, which sends many messages from a text, a file or a template, and counts them."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError, TopicNotExist
from namesrv_core.protocol.message_compression import COMPRESSIONS, MissingLibraryError, require_library
from nsadmin.client import NotApplied
from nsadmin.client.messages.bulk_sender import (
    DELAY_PROPERTIES,
    ROLLBACK,
    TRANSACTION_OUTCOMES,
    MessageDraft,
    SentDraft,
)
from nsadmin.client.messages.message_traces import TRACE_TOPIC
from nsadmin.client.results import error_text
from nsadmin.command_line.argument_values import parse_choice
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.messages import FAILED
from nsadmin.commands.columns.servers import ERROR, failure_notes, outcome_word
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.messages.draft_input import (
    PLACEHOLDER_HELP,
    fill_template,
    parse_delay,
    parse_json_draft,
    read_all,
    read_lines,
)
from nsadmin.commands.messages.message_conditions import QueueBrokerOption, QueueIdOption
from nsadmin.commands.messages.message_rows import MessageTopicArgument
from nsadmin.commands.messages.message_sender import SENT_COLUMNS, Sending
from nsadmin.console.exit_codes import CommandInterrupted, UsageError
from nsadmin.console.output import ByteSize, Column, Columns, ResultRows
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session


class BrokerTotals(NamedTuple):
    """The messages that were sent to a broker; of a dry run, the messages of the input.

    `duration` is in seconds from the start to the end, None for a dry run.
    """

    broker_name: str | None
    message_count: int = 0
    body_bytes: int = 0
    failed: int = 0
    error: RocketMQError | None = None
    duration: float | None = None

    @property
    def result(self) -> str:
        return outcome_word(self.error, "dry-run" if self.duration is None else "done")


TRANSACTION: Column[BrokerTotals] = Column(
    "transaction", "commit or rollback; null without a transaction", lambda t: None
)
PRODUCE_COLUMNS: Columns[BrokerTotals] = (
    TOPIC,
    BROKER_NAME,
    TRANSACTION,
    Column(
        "messageCount",
        "messages that the broker stored; in a dry run, messages of the input",
        lambda t: t.message_count,
    ),
    Column("bodyBytes", "size of the bodies, before compression, in bytes", lambda t: ByteSize(t.body_bytes)),
    FAILED,
    Column(
        "messagesPerSecond",
        "messages per second on this broker, from start to end",
        lambda t: None if t.duration is None else round(t.message_count / t.duration, 1),
    ),
    RESULT.means("done, dry-run or failed"),
    ERROR,
)


@command(
    columns=(*PRODUCE_COLUMNS, *SENT_COLUMNS),
    agent_refusal="it reads local files",
    examples=("elsewhere", "simulated brokers take no messages"),
)
def produce(
    session: Session,
    topic: MessageTopicArgument,
    body: Annotated[
        str | None,
        Argument(metavar="BODY", help="Text of the message. Default: read the input."),
        Flags("--body"),
    ] = None,
    input_file: Annotated[
        str, Option("--input", metavar="FILE", help="Read messages from FILE; - is standard input.")
    ] = "-",
    reads_json: Annotated[
        bool, Option("--jsonl", help="Each line of the input is a JSON object: see above.")
    ] = False,
    reads_whole: Annotated[
        bool, Option("--raw", help="The whole input is one body. Default: each line.")
    ] = False,
    template: Annotated[
        str | None, Option("--template", metavar="TEXT", help=f"Generate bodies with {PLACEHOLDER_HELP}.")
    ] = None,
    message_count: Annotated[
        int, Option("--count", metavar="N", help="Send BODY or the template N times.", min=1)
    ] = 1,
    keys: Annotated[
        str | None,
        Option("-k", "--key", metavar="KEYS", help="Keys, separated by blanks; placeholders work here too."),
    ] = None,
    tags: Annotated[str | None, Option("-c", "--tags", metavar="TAG", help="The tag.")] = None,
    property_texts: Annotated[
        list[str] | None, Option("--property", metavar="NAME=VALUE", help="A property. Repeatable.")
    ] = None,
    sharding_key: Annotated[
        str | None,
        Option("--sharding-key", metavar="KEY", help="Send to one queue, in order; placeholders work too."),
    ] = None,
    delay_text: Annotated[
        str | None,
        Option("--delay", metavar="DELAY", help="A level from 1 to 18, or a duration on brokers since 5.0."),
    ] = None,
    compression_text: Annotated[
        str | None,
        Option("--compression", metavar="|".join(COMPRESSIONS), help="Compress the bodies that get smaller."),
    ] = None,
    compresses: Annotated[bool, Option("--compress", help="The same as --compression zlib.")] = False,
    transaction_text: Annotated[
        str | None,
        Option(
            "--transaction",
            metavar="|".join(TRANSACTION_OUTCOMES),
            help="Send each message in a transaction that ends like this.",
        ),
    ] = None,
    writes_traces: Annotated[
        bool, Option("--trace", help=f"Write traces to {TRACE_TOPIC}, as Java producers do.")
    ] = False,
    rate: Annotated[
        float | None, Option("--rate", metavar="N", help="Send at most N messages per second.")
    ] = None,
    broker_name: QueueBrokerOption = None,
    queue_id: QueueIdOption = None,
    shows_each: Annotated[bool, Option("--each", help="Print a row for each message, with its ids.")] = False,
) -> ResultRows:
    """Send messages to a topic: from a text, from standard input or a file, or from a template.

    Each line of the input is the body of a message. Empty lines are skipped. With --jsonl, each line is an
    object with body, bodyEncoding (base64 for bytes), key or keys, tag or tags, properties, delay and
    shardingKey. The rows of `consume --output jsonl` and the file of `dlq show --out` are such lines.
    Options are the defaults.

    Messages are spread over all writable queues, up to 64 at once. So messages of one queue can be stored in
    another order than they were read, unless they have a sharding key. The first failure ends the command:
    it prints how many messages were sent. Brokers do not create a missing topic.

    Java consumers since 4.9.4 read all compressions, older ones zlib. lz4 needs nsadmin[messages]. With
    --transaction, nsadmin sends a half message, which no consumer gets, then the commit or the rollback.

    Examples:
        # Send many test messages, here three, with a number in each
        nsadmin produce payments --template '{"id": {n}}' --count 3 --key 'order-{n}' --yes
        # A line of a file as one message
        nsadmin produce payments --input orders.txt --yes
        # A message in a transaction that is rolled back, so that no consumer gets it
        nsadmin produce payments 'a test' --transaction rollback --each --yes
    """
    if rate is not None and not rate > 0:
        raise UsageError(f'produce: invalid number "{rate:g}" for --rate: use more than 0')
    if body is not None and template is not None:
        raise UsageError("produce: BODY and --template exclude each other: omit one of them")
    compression, transaction = _parse_choices(compression_text, compresses, transaction_text)
    if transaction is not None and delay_text is not None:
        raise UsageError("produce: --transaction and --delay exclude each other: omit one of them")
    defaults = MessageDraft(
        b"", keys or "", tags or "", _parse_properties(property_texts, delay_text), sharding_key
    )
    text = template or body or ""
    reads_input = template is None and body is None
    if reads_input and message_count != 1:
        raise UsageError("produce: --count needs BODY or --template")
    if "TIMER_DELAY_MS" in defaults.properties:
        _refuse_timer_on_old_brokers(session, topic, broker_name)
    source_text = "the input" if reads_input else count_noun(message_count, "message")
    session.confirm_change(
        f"Send {source_text} to {topic}, and roll the transactions back?"
        if transaction == ROLLBACK
        else f"Send {source_text} to {topic} and its consumers?"
    )

    def make_draft(number: int) -> MessageDraft:
        filled_text = text if template is None else fill_template(text, number)
        return _fill_keys(defaults._replace(body=filled_text.encode()), number)

    with _open_input(input_file if reads_input else None) as descriptor:
        drafts = (
            map(make_draft, range(1, message_count + 1))
            if descriptor is None
            else _read_drafts(descriptor, defaults, reads_json, reads_whole)
        )
        if transaction is not None:
            drafts = _refuse_delays(drafts)
        if session.is_dry_run:
            # A missing topic fails the real run, too.
            session.admin.message_sender.list_queues(topic)
            return _make_rows(topic, transaction, [count_drafts(broker_name, drafts)])
        batches = session.admin.message_streams.send_drafts(
            topic,
            drafts,
            broker_name=broker_name,
            queue_id=queue_id,
            messages_per_second=rate,
            compression=compression,
            transaction=transaction,
            writes_traces=writes_traces,
        )
        totals = SendTotals(keeps_each=shows_each)
        outcomes, notes = _send_all(batches, totals)
    if shows_each:
        return ResultRows.from_records(SENT_COLUMNS, totals.sendings, outcomes, notes)
    return _make_rows(topic, transaction, totals.list_totals(), outcomes, notes)


@contextmanager
def _open_input(input_file: str | None) -> Iterator[int | None]:
    if input_file is None:
        yield None
        return
    try:
        descriptor = os.dup(sys.stdin.fileno()) if input_file == "-" else os.open(input_file, os.O_RDONLY)
    except OSError as error:
        raise UsageError(f'produce: cannot read "{input_file}": {error.strerror}') from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _read_drafts(
    descriptor: int, defaults: MessageDraft, reads_json: bool, reads_whole: bool
) -> Iterator[MessageDraft | None]:
    if reads_whole:
        yield defaults._replace(body=read_all(descriptor))
        return
    line_number = 0
    for line in read_lines(descriptor):
        if line is None:
            yield None
            continue
        line_number += 1
        if not line.strip():
            # Brokers fail on an empty body (AbstractSendMessageProcessor.buildMsgContext).
            continue
        draft = parse_json_draft(line, line_number, defaults) if reads_json else defaults._replace(body=line)
        yield _fill_keys(draft, line_number)


def _refuse_delays(drafts: Iterable[MessageDraft | None]) -> Iterator[MessageDraft | None]:
    """Java producers drop the delay of a transactional message without a word."""
    message_number = 0
    for draft in drafts:
        message_number += draft is not None
        if draft is not None and not DELAY_PROPERTIES.isdisjoint(draft.properties):
            raise UsageError(
                f"produce: message {message_number} has a delay: with --transaction, no message can have one"
            )
        yield draft


def _fill_keys(draft: MessageDraft, number: int) -> MessageDraft:
    return draft._replace(
        keys=fill_template(draft.keys, number),
        sharding_key=draft.sharding_key and fill_template(draft.sharding_key, number),
    )


class SendTotals:
    """Counts the messages that were sent to each broker, and keeps each of them if wanted."""

    def __init__(self, keeps_each: bool) -> None:
        self._began_at, self._keeps_each = monotonic(), keeps_each
        self._totals: dict[str, BrokerTotals] = {}
        self.errors: dict[str, RocketMQError] = {}
        self.trace_error: RocketMQError | None = None
        self.sendings: list[Sending] = []

    @property
    def sent_count(self) -> int:
        return sum(totals.message_count for totals in self._totals.values())

    def add_batch(self, batch: list[SentDraft]) -> None:
        for sent_draft in batch:
            broker_name, error = sent_draft.send_queue.broker_name, sent_draft.result.error
            totals = self._totals.get(broker_name, BrokerTotals(broker_name))
            if error is None:
                body_bytes = totals.body_bytes + len(sent_draft.draft.body)
                totals = totals._replace(message_count=totals.message_count + 1, body_bytes=body_bytes)
            else:
                self.errors.setdefault(broker_name, error)
                totals = totals._replace(failed=totals.failed + 1, error=self.errors[broker_name])
            self._totals[broker_name] = totals
            self.trace_error = self.trace_error or sent_draft.trace_error
            if self._keeps_each:
                self.sendings.append(Sending(sent_draft.send_queue, sent_draft.result.result, error))

    def list_totals(self) -> list[BrokerTotals]:
        duration = max(monotonic() - self._began_at, 0.001)
        return [self._totals[name]._replace(duration=duration) for name in sorted(self._totals)]


def _send_all(
    batches: Iterable[list[SentDraft]], totals: SendTotals
) -> tuple[list[RocketMQError | None], list[str]]:
    """Send until the first failure; return the outcomes and the notes about them."""
    try:
        for batch in batches:
            totals.add_batch(batch)
            if totals.errors or totals.trace_error:
                break
    except TopicNotExist as error:
        if TRACE_TOPIC in str(error):
            raise TopicNotExist(
                f"{TRACE_TOPIC} has no route: set traceTopicEnable=true in broker.conf and restart the "
                "broker, or omit --trace"
            ) from None
        raise
    except UsageError as error:
        if not totals.sent_count:
            raise
        raise UsageError(f"{error}; {count_noun(totals.sent_count, 'message')} before it were sent") from None
    except KeyboardInterrupt:
        raise CommandInterrupted(
            f"interrupted after {count_noun(totals.sent_count, 'sent message')}"
        ) from None
    notes = failure_notes(totals.errors.items())
    if totals.trace_error is not None:
        notes.append(f"traces of sent messages were not written: {error_text(totals.trace_error)}")
    if totals.errors or totals.trace_error:
        notes.append(f"stopped after {count_noun(totals.sent_count, 'sent message')}")
    outcomes = [*([None] if totals.sent_count or not totals.errors else []), *totals.errors.values()]
    return [*outcomes, *([totals.trace_error] if totals.trace_error else [])], notes


def _make_rows(
    topic: str,
    transaction: str | None,
    totals: list[BrokerTotals],
    errors: Sequence[RocketMQError | None] = (),
    notes: Sequence[str] = (),
) -> ResultRows:
    """The rows of brokers; a table has no column about transactions without them."""
    columns = [c.in_wide() if c is TRANSACTION and not transaction else c for c in PRODUCE_COLUMNS]
    common = {TOPIC: topic, TRANSACTION: transaction}
    return ResultRows.from_records(columns, totals, errors, notes, common=common)


def count_drafts(broker_name: str | None, drafts: Iterable[MessageDraft | None]) -> BrokerTotals:
    """Read the whole input, and count it."""
    message_count = body_bytes = 0
    for draft in drafts:
        if draft is not None:
            message_count, body_bytes = message_count + 1, body_bytes + len(draft.body)
    return BrokerTotals(broker_name, message_count, body_bytes)


def _parse_choices(
    compression_text: str | None, compresses: bool, transaction_text: str | None
) -> tuple[str | None, str | None]:
    """The algorithm of the compression, whose library is there; and the outcome of the transactions."""
    compression = parse_choice("--compression", compression_text, COMPRESSIONS)
    if compression is None:
        compression = "zlib" if compresses else None
    elif compresses:
        raise UsageError("produce: --compress and --compression exclude each other: omit one of them")
    try:
        if compression is not None:
            require_library(compression)
    except MissingLibraryError as error:
        raise UsageError(f"produce: {error}") from None
    return compression, parse_choice("--transaction", transaction_text, TRANSACTION_OUTCOMES)


def _parse_properties(property_texts: list[str] | None, delay_text: str | None) -> dict[str, str]:
    properties = {}
    for property_text in property_texts or ():
        name, _, value = property_text.partition("=")
        if not (name and value) or "\x01" in property_text or "\x02" in property_text:
            raise UsageError(f'produce: invalid value "{property_text}" for --property: use NAME=VALUE')
        properties[name] = value
    try:
        return properties | (parse_delay(delay_text) if delay_text is not None else {})
    except ValueError as error:
        raise UsageError(f"produce: {error}") from None


def _refuse_timer_on_old_brokers(session: Session, topic: str, broker_name: str | None) -> None:
    """Raise NotApplied if a broker before 5.0 would deliver a timed message at once."""
    queues = session.admin.message_sender.list_queues(topic)
    broker_addrs = sorted({queue.broker_addr for queue in queues if broker_name in (None, queue.broker_name)})
    for info_result in session.admin.brokers.get_runtime_info(broker_addrs):
        version = info_result.result.version if info_result.result else None
        if version is not None and version.startswith("V4"):
            raise NotApplied(
                f"broker {info_result.addr} has version {version}, which ignores a delay as a duration: "
                f"pass a level from 1 to 18"
            )
