"""Owns queryMsgByKey, queryMsgByUniqueKey, queryMsgById and queryMsgByOffset, which find messages."""

from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotFound
from nsadmin.client.messages.message_queries import FoundMessages, LocatedMessage
from nsadmin.client.results import ServerResult, error_text
from nsadmin.command_line.argument_values import parse_boolean, parse_charset, parse_name_list, parse_number
from nsadmin.command_line.declarations import Each, Flags, command
from nsadmin.command_line.time_arguments import TIME_HELP, parse_window
from nsadmin.commands.messages.body_decoders import DecodeOption, parse_decoders
from nsadmin.commands.messages.message_conditions import BeginTimeOption, EndTimeOption
from nsadmin.commands.messages.message_delivery import (
    DELIVERY_COLUMNS,
    PushClientOption,
    PushGroupOption,
    has_push_receiver,
    push_messages,
    resend_messages,
)
from nsadmin.commands.messages.message_rows import (
    MESSAGE_COLUMNS,
    PLACE_TABLE,
    TRACKED_COLUMNS,
    TRACKED_TABLE,
    Findings,
    MessageTopicArgument,
    ShownMessage,
    describe_missing,
    show_findings,
)
from nsadmin.commands.messages.message_sender import SENT_COLUMNS
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, ResultRows
from nsadmin.console.session import Session

_HOUR_MS = 3_600_000
MAX_MESSAGES_PER_BROKER = 64
"""The most messages that a broker returns for one query (its maxMsgsNumBatch)."""

INDEX_KEY: Column[ShownMessage] = Column(
    "indexKey", "name of the message's entry in a RocksDB index, for -l", lambda m: None
)

RouteTopicOption = Annotated[
    str | None,
    Option("-c", "--cluster", metavar="TOPIC", help="Ask the brokers of this topic or cluster instead."),
]
BodyFormatOption = Annotated[
    str | None,
    Option("-f", "--bodyFormat", metavar="CHARSET", help="Encoding of the bodies. Default: UTF-8."),
]


@command(
    columns=(*MESSAGE_COLUMNS, INDEX_KEY),
    examples=("broker", "its key or id is that of a message that was sent"),
)
def query_msg_by_key(
    session: Session,
    topic: Annotated[MessageTopicArgument, Each("topic")],
    message_key: Annotated[
        str, Argument(metavar="KEY", help="One of the keys of a message."), Flags("-k", "--msgKey")
    ],
    begin_text: BeginTimeOption = None,
    end_text: EndTimeOption = None,
    max_count: Annotated[
        int, Option("-m", "--maxNum", metavar="N", help="The maximum number of messages, the newest first.")
    ] = 64,
    key_type: Annotated[
        str, Option("-p", "--keyType", metavar="K|T", help="K: a key. T: a tag, only with a RocksDB index.")
    ] = "K",
    last_key: Annotated[
        str | None,
        Option("-l", "--lastKey", metavar="KEY", help="Continue after this indexKey, with a RocksDB index."),
    ] = None,
    route_topic: RouteTopicOption = None,
    decoder_texts: DecodeOption = None,
) -> ResultRows:
    """Find messages by a business key (property KEYS), on every broker of their topic.

    The newest messages come last. Brokers find keys only while they keep the index files. JSON has bodies and
    properties: see also queryMsgById.

    Examples:
        # Messages with a business key, such as the number of an order
        nsadmin queryMsgByKey payments order-4711
        # The newest of them, with body and properties
        nsadmin queryMsgByKey payments order-4711 -m 1 --json
    """
    decoders = parse_decoders(decoder_texts)
    if key_type not in ("K", "T"):
        raise UsageError(f'invalid value "{key_type}" for -p: use K (key) or T (tag)')
    if max_count < 1:
        raise UsageError(f'invalid value "{max_count}" for -m: expected 1 or more')
    begin_ms, end_ms = parse_window(begin_text, end_text)
    found_messages = session.admin.messages.find_by_key(
        topic,
        message_key,
        max_num=max_count,
        begin_ms=begin_ms,
        end_ms=end_ms,
        by_tag=key_type == "T",
        last_key=last_key,
        route_topic=route_topic,
    )
    limit_notes = [
        f"broker {r.addr} returned {MAX_MESSAGES_PER_BROKER} messages, its maximum: pass -e TIME to find "
        "older ones"
        for r in found_messages.broker_results
        if (r.result or 0) >= MAX_MESSAGES_PER_BROKER and max_count > MAX_MESSAGES_PER_BROKER
    ]
    found_messages = found_messages._replace(messages=found_messages.messages[-max_count:])
    noun = "tag" if key_type == "T" else "key"
    missing_text = describe_missing(session.admin, topic, noun, message_key, found_messages)
    messages, errors, notes = show_findings(found_messages, missing_text, decoders=decoders)

    def format_index_key(shown: ShownMessage) -> str:
        """The key of the message's entry in a RocksDB index; it starts with the hour, in ms."""
        message = shown.message
        hour_ms = message.store_timestamp // _HOUR_MS * _HOUR_MS
        return f"{hour_ms}@{topic}@{key_type}@{message_key}@{message.msg_id}@{message.physical_offset}"

    columns = (*MESSAGE_COLUMNS, INDEX_KEY.of(format_index_key))
    return ResultRows.from_records(columns, messages, errors, [*notes, *limit_notes], table=PLACE_TABLE)


@command(
    columns=(*TRACKED_COLUMNS, *DELIVERY_COLUMNS),
    examples=("broker", "its key or id is that of a message that was sent"),
)
def query_msg_by_unique_key(
    session: Session,
    topic: MessageTopicArgument,
    msg_id: Annotated[
        str, Argument(metavar="MSGID", help="Message id from the producer's log."), Flags("-i", "--msgId")
    ],
    show_all: Annotated[
        bool, Option("-a", "--showAll", help="Accepted for mqadmin. nsadmin always shows all messages.")
    ] = False,
    start_text: Annotated[
        str | None,
        Option("-s", "--startTime", metavar="TIME", help=f"Only messages stored since: {TIME_HELP}"),
    ] = None,
    end_text: Annotated[
        str | None, Option("-e", "--endTime", metavar="TIME", help="Only messages stored until this time.")
    ] = None,
    route_topic: RouteTopicOption = None,
    group: PushGroupOption = None,
    client_id: PushClientOption = None,
    decoder_texts: DecodeOption = None,
) -> ResultRows:
    """Find messages by the id that the producer assigned (property UNIQ_KEY), on every broker of their topic.

    There are several if the producer sent the message again. tracks shows the state in each consumer group:
    CONSUMED, NOT_CONSUME_YET, CONSUMED_BUT_FILTERED (by its tag) or NOT_ONLINE. It is PULL or
    CONSUME_BROADCASTING if brokers do not know the state. With -g and -d, nsadmin delivers the messages to
    that client again, even if it consumed them before. Off a terminal, that needs --yes.

    Examples:
        # The message with an id from a producer's log
        nsadmin queryMsgByUniqueKey payments 7F0000010B4B18B4AAC2910F8A1E0000
    """
    has_receiver, decoders = has_push_receiver(group, client_id), parse_decoders(decoder_texts)
    begin_ms, end_ms = parse_window(start_text, end_text)
    found_messages = session.admin.messages.find_by_unique_key(
        topic,
        msg_id,
        begin_ms=begin_ms,
        end_ms=end_ms,
        route_topic=route_topic,
    )
    missing_text = describe_missing(session.admin, topic, "id", msg_id, found_messages)
    if has_receiver:
        return push_messages(
            session, "queryMsgByUniqueKey", _require_messages(found_messages, missing_text), group, client_id
        )
    return _tracked_rows(_add_tracks(session, show_findings(found_messages, missing_text, decoders=decoders)))


@command(
    columns=(*TRACKED_COLUMNS, *DELIVERY_COLUMNS, *SENT_COLUMNS),
    examples=("broker", "its key or id is that of a message that was sent"),
)
def query_msg_by_id(
    session: Session,
    topic: MessageTopicArgument,
    msg_ids: Annotated[
        str, Argument(metavar="MSGID", help="One or several ids of either kind: A,B."), Flags("-i", "--msgId")
    ],
    body_format: BodyFormatOption = None,
    route_topic: RouteTopicOption = None,
    unit_name: Annotated[
        str | None, Option("-u", "--unitName", metavar="UNIT", help="Accepted for mqadmin, without effect.")
    ] = None,
    group: PushGroupOption = None,
    client_id: PushClientOption = None,
    resend_text: Annotated[
        str | None,
        Option(
            "-s", "--sendMessage", metavar="true|false", help="true: send the message to its topic again."
        ),
    ] = None,
    decoder_texts: DecodeOption = None,
) -> ResultRows:
    """Find a message by its id: the id of its position (offset id), or the id that the producer assigned.

    An offset id contains a broker's address and a position on that broker. If nsadmin cannot reach the
    address, it asks all masters and slaves of the topic for the position. The column tracks and the options
    -g and -d are those of queryMsgByUniqueKey. With -s true, every group of the topic receives the message
    again, with the same id. In a script without a terminal, pass --yes with -s, or with -g and -d.

    Examples:
        # A message with its properties (headers), body and sender, by the id in a producer's log
        nsadmin queryMsgById payments 7F0000010B4B18B4AAC2910F8A1E0000
        # Preview sending the message again
        nsadmin queryMsgById payments 7F0000010B4B18B4AAC2910F8A1E0000 -s true --dry-run
        # By the id of its position, only the body: add > FILE to save it
        nsadmin queryMsgById payments 7F00000100002A9F0000000000000000 --columns body --output value
    """
    command_name = "queryMsgById"
    sends_again = parse_boolean("-s", resend_text) is True
    has_receiver = has_push_receiver(group, client_id)
    if has_receiver and sends_again:
        raise UsageError("-s and -g with -d exclude each other: pass only one of them")
    encoding, decoders = _parse_body_form(body_format, decoder_texts)
    typed_ids = parse_name_list("-i", msg_ids)
    if has_receiver or sends_again:
        messages = [
            message
            for typed_id in typed_ids
            for message in _require_messages(*_find_by_id(session, topic, typed_id, route_topic))
        ]
        if has_receiver:
            return push_messages(session, command_name, messages, group, client_id)
        return resend_messages(session, command_name, messages)
    all_findings = Findings([], [], [])
    for typed_id in typed_ids:
        try:
            found_messages, missing_text = _find_by_id(session, topic, typed_id, route_topic)
            findings = _add_tracks(session, show_findings(found_messages, missing_text, encoding, decoders))
        except NotFound as error:
            if len(typed_ids) == 1:
                raise
            findings = Findings([], [error], [str(error)])
        all_findings.messages.extend(findings.messages)
        all_findings.errors.extend(findings.errors)
        all_findings.notes.extend(findings.notes)
    return _tracked_rows(all_findings)


def _parse_body_form(body_format: str | None, decoder_texts: list[str] | None) -> tuple[str, list[str]]:
    if body_format is not None and decoder_texts:
        raise UsageError("-f and --decode exclude each other: omit one of them")
    return parse_charset("-f", body_format), parse_decoders(decoder_texts)


def _find_by_id(
    session: Session, topic: str, msg_id: str, route_topic: str | None
) -> tuple[FoundMessages, str]:
    found_messages = session.admin.messages.find_by_id(topic, msg_id, route_topic=route_topic)
    return found_messages, describe_missing(session.admin, topic, "id", msg_id, found_messages)


def _require_messages(found_messages: FoundMessages, missing_text: str) -> Sequence[LocatedMessage]:
    """The messages found. Without any, raise the first broker's error, or NotFound."""
    if not found_messages.messages:
        raise next(filter(None, found_messages.errors), None) or NotFound(missing_text)
    return found_messages.messages


def _add_tracks(session: Session, findings: Findings) -> Findings:
    """Add the groups that have consumed each message, null if no broker reports them."""
    messages, errors, notes = list[ShownMessage](), [*findings.errors], [*findings.notes]
    for shown in findings.messages:
        try:
            tracks = session.admin.consume_tracks.get_tracks(LocatedMessage(shown.broker_name, shown.message))
            notes += [f"group {t.group}: {error_text(t.error)}" for t in tracks if t.error is not None]
            messages.append(shown._replace(tracks={t.group: t.track_type for t in tracks}))
        except RocketMQError as error:
            errors.append(error)
            notes.append(f"unknown which groups consumed {shown.message.msg_id}: {error_text(error)}")
            messages.append(shown)
    return Findings(messages, errors, notes)


def _tracked_rows(findings: Findings) -> ResultRows:
    return ResultRows.from_records(TRACKED_COLUMNS, *findings, table=TRACKED_TABLE)


@command(columns=TRACKED_COLUMNS, examples=("broker", "simulated brokers have deleted their first messages"))
def query_msg_by_offset(
    session: Session,
    topic: MessageTopicArgument,
    broker_name: Annotated[
        str, Argument(metavar="BROKER", help="Name of a broker."), Flags("-b", "--brokerName")
    ],
    queue_text: Annotated[
        str, Argument(metavar="QUEUE", help="Number of a queue, from 0."), Flags("-i", "--queueId")
    ],
    offset_text: Annotated[
        str, Argument(metavar="OFFSET", help="Position in the queue."), Flags("-o", "--offset")
    ],
    body_format: BodyFormatOption = None,
    route_topic: Annotated[
        str | None,
        Option("-r", "--routeTopic", metavar="TOPIC", help="Ask the brokers of this topic instead."),
    ] = None,
    decoder_texts: DecodeOption = None,
) -> ResultRows:
    """Show the message at a position of a queue, and which groups consumed it.

    See queryMsgByUniqueKey for tracks.

    Examples:
        # Read one message: the first of a queue
        nsadmin queryMsgByOffset payments broker-a-0 0 0
    """
    encoding, decoders = _parse_body_form(body_format, decoder_texts)
    located_message = session.admin.messages.get_at_offset(
        topic,
        broker_name,
        parse_number("QUEUE", queue_text),
        parse_number("OFFSET", offset_text),
        route_topic=route_topic,
    )
    found_messages = FoundMessages(
        (located_message,), (ServerResult(located_message.message.store_host, 1, None),)
    )
    return _tracked_rows(_add_tracks(session, show_findings(found_messages, "", encoding, decoders)))
