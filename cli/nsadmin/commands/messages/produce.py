"""Owns `produce`, which sends many messages from a text, a file or a template."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

from typer import Argument, Option

from namesrv_core.errors import TopicNotExist
from namesrv_core.protocol.message_compression import COMPRESSIONS, MissingLibraryError, require_library
from nsadmin.client import NotApplied
from nsadmin.client.messages.bulk_sender import DELAY_PROPERTIES, ROLLBACK, TRANSACTION_OUTCOMES, MessageDraft
from nsadmin.client.messages.message_traces import TRACE_TOPIC
from nsadmin.client.results import error_text
from nsadmin.command_line.argument_values import parse_choice
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.servers import failure_notes
from nsadmin.commands.messages.draft_input import (
    PLACEHOLDER_HELP,
    fill_template,
    list_template_drafts,
    parse_delay,
    parse_json_draft,
    read_all,
    read_lines,
)
from nsadmin.commands.messages.message_conditions import QueueBrokerOption, QueueIdOption
from nsadmin.commands.messages.message_rows import MessageTopicArgument
from nsadmin.commands.messages.message_sender import SENT_COLUMNS
from nsadmin.commands.messages.produce_totals import (
    PRODUCE_COLUMNS,
    ProduceOptions,
    SendTotals,
    count_drafts,
    make_rows,
)
from nsadmin.console.exit_codes import CommandInterrupted, UsageError
from nsadmin.console.output import ResultRows
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session


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
        # Three generated messages
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
    text = template if template is not None else body
    make_draft = (
        _template_filler(text, defaults, fills_body=template is not None) if text is not None else None
    )
    options = ProduceOptions(topic, broker_name, queue_id, rate, compression, transaction, writes_traces)
    if make_draft is None and message_count != 1:
        raise UsageError("produce: --count needs BODY or --template")
    _refuse_timer_on_old_brokers(session, options, defaults)
    source_text = "the input" if make_draft is None else count_noun(message_count, "message")
    session.confirm_change(
        f"Send {source_text} to {topic}, and roll the transactions back?"
        if transaction == ROLLBACK
        else f"Send {source_text} to {topic}, whose consumers get it?"
    )
    with _open_drafts(input_file, make_draft, message_count, defaults, reads_json, reads_whole) as drafts:
        return _send_all(
            session, options, drafts if transaction is None else _refuse_delays(drafts), shows_each
        )


def _template_filler(text: str, defaults: MessageDraft, *, fills_body: bool) -> Callable[[int], MessageDraft]:
    def make_draft(number: int) -> MessageDraft:
        return defaults._replace(
            body=(fill_template(text, number) if fills_body else text).encode(),
            keys=fill_template(defaults.keys, number),
            sharding_key=defaults.sharding_key and fill_template(defaults.sharding_key, number),
        )

    return make_draft


@contextmanager
def _open_drafts(
    input_file: str,
    make_draft: Callable[[int], MessageDraft] | None,
    message_count: int,
    defaults: MessageDraft,
    reads_json: bool,
    reads_whole: bool,
) -> Iterator[Iterator[MessageDraft | None]]:
    if make_draft is not None:
        yield list_template_drafts(make_draft, message_count)
        return
    try:
        descriptor = os.dup(sys.stdin.fileno()) if input_file == "-" else os.open(input_file, os.O_RDONLY)
    except OSError as error:
        raise UsageError(f'produce: cannot read "{input_file}": {error.strerror}') from None
    try:
        yield _read_drafts(descriptor, defaults, reads_json, reads_whole)
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
        if not reads_json:
            yield _fill_keys(defaults._replace(body=line), line_number)
        else:
            yield _fill_keys(parse_json_draft(line, line_number, defaults), line_number)


def _refuse_delays(drafts: Iterator[MessageDraft | None]) -> Iterator[MessageDraft | None]:
    """Java producers drop the delay of a transactional message without a word."""
    message_number = 0
    for draft in drafts:
        message_number += draft is not None
        if draft is not None and not DELAY_PROPERTIES.isdisjoint(draft.properties):
            raise UsageError(
                f"produce: message {message_number} has a delay, and --transaction excludes that"
            )
        yield draft


def _fill_keys(draft: MessageDraft, number: int) -> MessageDraft:
    return draft._replace(
        keys=fill_template(draft.keys, number),
        sharding_key=draft.sharding_key and fill_template(draft.sharding_key, number),
    )


def _send_all(
    session: Session, options: ProduceOptions, drafts: Iterator[MessageDraft | None], shows_each: bool
) -> ResultRows:
    if session.is_dry_run:
        return count_drafts(options, drafts)
    totals = SendTotals()
    try:
        for batch in session.admin.message_streams.send_drafts(
            options.topic,
            drafts,
            broker_name=options.broker_name,
            queue_id=options.queue_id,
            messages_per_second=options.rate,
            compression=options.compression,
            transaction=options.transaction,
            writes_traces=options.writes_traces,
        ):
            totals.add_batch(batch, shows_each)
            if totals.errors or totals.trace_error:
                break
    except TopicNotExist as error:
        if TRACE_TOPIC in str(error):
            raise TopicNotExist(
                f"{TRACE_TOPIC} has no route: set traceTopicEnable=true on a broker, or omit --trace"
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
    outcomes += [totals.trace_error] if totals.trace_error else []
    if shows_each:
        return ResultRows.from_records(SENT_COLUMNS, totals.sendings, outcomes, notes)
    return make_rows(options, totals.list_totals(), outcomes, notes)


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


def _refuse_timer_on_old_brokers(session: Session, options: ProduceOptions, defaults: MessageDraft) -> None:
    """Raise NotApplied if a broker before 5.0 would deliver a timed message at once."""
    if "TIMER_DELAY_MS" not in defaults.properties:
        return
    queues = session.admin.message_sender.list_queues(options.topic)
    broker_addrs = sorted(
        {queue.broker_addr for queue in queues if options.broker_name in (None, queue.broker_name)}
    )
    for info_result in session.admin.brokers.get_runtime_info(broker_addrs):
        version = info_result.result.version if info_result.result else None
        if version is not None and version.startswith("V4"):
            raise NotApplied(
                f"broker {info_result.addr} has version {version}, which ignores a delay as a duration: "
                f"pass a level from 1 to 18"
            )
