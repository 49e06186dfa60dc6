"""Owns the columns of messages; a body is shown as text if it can be decoded, else as base64."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from typer import Argument

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.message_ids import OffsetId, parse_message_id
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client import AdminClient, NotFound
from nsadmin.client.advised_command import quote_command
from nsadmin.client.messages.delayed_messages import HALF_TOPIC, LEVEL_TOPIC, TIMER_TOPIC
from nsadmin.client.messages.message_queries import FoundMessages, LocatedMessage
from nsadmin.command_line.declarations import Flags
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.messages import (
    BORN_HOST,
    BORN_TIME,
    KEYS,
    MSG_ID,
    OFFSET_MSG_ID,
    PHYSICAL_OFFSET,
    PROPERTIES,
    QUEUE_OFFSET,
    STORE_HOST,
    STORE_SIZE,
    STORE_TIME,
    TAGS,
)
from nsadmin.commands.columns.servers import result_notes
from nsadmin.commands.columns.topics import QUEUE_ID, TOPIC
from nsadmin.commands.messages.body_decoders import decode_body
from nsadmin.console.output import AnyColumn, Column, Columns, of_part
from nsadmin.console.phrases import count_noun, format_utc_second

MAX_SHOWN_BYTES = 16 << 20
"""A longer body is not shown. Brokers accept messages of 4 MiB by default."""
MAX_KEPT_BYTES = 32 << 20
"""A command that shows all its rows at once stops when their bodies are longer."""

MessageTopicArgument = Annotated[
    str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic")
]


class ShownMessage(NamedTuple):
    """A message with its body as it is shown; `message` has none.

    `body_error` says why the body is shown as stored. `tracks` are its states in groups, if they were asked.
    """

    broker_name: str | None
    message: StoredMessage
    body: Any = None
    body_encoding: str | None = None
    body_error: str | None = None
    tracks: Mapping[str, str] | None = None

    @property
    def place(self) -> tuple[Any, ...]:
        """The broker, the queue and the offset, by which messages are sorted."""
        return self.broker_name, self.message.queue_id, self.message.queue_offset

    @property
    def body_length(self) -> int:
        """About how many characters the body has."""
        return (
            0 if self.body is None else len(self.body) if isinstance(self.body, str) else len(str(self.body))
        )


RECONSUME_TIMES: Column[StoredMessage] = Column(
    "reconsumeTimes", "how often it was consumed again", lambda m: m.reconsume_times
)
BODY: Column[ShownMessage] = Column(
    "body", "body of the message, in the form that bodyEncoding names", lambda m: m.body
)
BODY_ENCODING: Column[ShownMessage] = Column(
    "bodyEncoding", "text encoding of the body; base64 if it is not text", lambda m: m.body_encoding
)
BODY_ERROR: Column[ShownMessage] = Column(
    "bodyError", "why the body is shown as stored, without decompression", lambda m: m.body_error
)
TRACKS: Column[ShownMessage] = Column(
    "tracks",
    "state of the message in each consumer group; null if no broker reports it",
    lambda m: m.tracks,
)
MESSAGE_COLUMNS: Columns[ShownMessage] = (
    *of_part(lambda m: m.message, (MSG_ID, OFFSET_MSG_ID, TOPIC)),
    BROKER_NAME,
    *of_part(
        lambda m: m.message,
        (
            QUEUE_ID,
            QUEUE_OFFSET,
            PHYSICAL_OFFSET,
            KEYS,
            TAGS,
            STORE_TIME,
            BORN_TIME,
            STORE_HOST,
            BORN_HOST,
            RECONSUME_TIMES,
            Column("flag", "number that the producer attached to the message", lambda m: m.flag),
            Column(
                "sysFlag",
                "flags of the message (compressed, transaction and so on), as a number",
                lambda m: m.sys_flag,
            ),
            Column(
                "preparedTransactionOffset",
                "position of the prepared message of a transaction, in bytes",
                lambda m: m.prepared_transaction_offset,
            ),
            STORE_SIZE,
            Column("crcOk", "whether the checksum of the body is right", lambda m: m.crc_ok),
            PROPERTIES,
        ),
    ),
    BODY,
    BODY_ENCODING,
    BODY_ERROR,
)
TRACKED_COLUMNS = (*MESSAGE_COLUMNS, TRACKS)
PLACE_TABLE: tuple[AnyColumn, ...] = (
    MSG_ID, BROKER_NAME, QUEUE_ID, QUEUE_OFFSET, STORE_TIME, TAGS, KEYS,
)  # fmt: skip
BODY_TABLE = (*PLACE_TABLE, BODY, BODY_ENCODING)
TRACKED_TABLE: tuple[AnyColumn, ...] = (
    MSG_ID, OFFSET_MSG_ID, TOPIC, BROKER_NAME, QUEUE_ID, QUEUE_OFFSET, STORE_TIME, BORN_HOST, RECONSUME_TIMES,
    PROPERTIES, BODY, BODY_ENCODING, TRACKS,
)  # fmt: skip


def show_message(
    located: LocatedMessage,
    encoding: str = "utf-8",
    decoders: Sequence[str] = (),
    *,
    with_body: bool = True,
    max_body_bytes: int | None = MAX_SHOWN_BYTES,
) -> ShownMessage:
    """Decode the body of a message; without it, the three columns about the body are null."""
    # The rows of a page are written together: they must not keep the inflated bodies, which are not shown.
    message = located.message._replace(body=b"")
    if not with_body:
        return ShownMessage(located.broker_name, message)
    body = _show_body(located.message, encoding, decoders, max_body_bytes)
    return ShownMessage(located.broker_name, message, *body)


def _describe_hidden(find_messages: Callable[..., FoundMessages], topic: str, key: str) -> str:
    """Name the messages with the key that wait in a topic of the broker: delayed ones, and half ones."""
    counts = {
        hidden_topic: sum(
            m.message.properties.get("REAL_TOPIC") == topic
            for m in find_messages(hidden_topic, key, route_topic=topic).messages
        )
        for hidden_topic in (LEVEL_TOPIC, TIMER_TOPIC, HALF_TOPIC)
    }
    delayed_count = counts[LEVEL_TOPIC] + counts[TIMER_TOPIC]
    if delayed_count:
        advice = f"`{quote_command('delayed', 'list', topic)}` shows when they are delivered"
        has = "has" if delayed_count == 1 else "have"
        return f", but {count_noun(delayed_count, 'delayed message')} {has} it: {advice}"
    if counts[HALF_TOPIC]:
        has = "has" if counts[HALF_TOPIC] == 1 else "have"
        return (
            f", but {count_noun(counts[HALF_TOPIC], 'half message')} {has} it: "
            "the producer has not committed the transaction"
        )
    return ""


def describe_missing(admin: AdminClient, topic: str, noun: str, value: str, found: FoundMessages) -> str:
    """Say that no message has the key, tag or id, and why that may be; empty if one has it."""
    if found.messages:
        return ""
    text = f'no message of {topic} has the {noun} "{value}"'
    if noun == "id" and parse_message_id(value) is None:
        if re.fullmatch(r"[0-9A-Fa-f]{1,31}", value):
            text += ": too short for a message id of RocketMQ's clients, which has 32 hexadecimal digits"
        return f"{text} (if it is a key: `{quote_command('queryMsgByKey', topic, value)}`)"
    find: Callable[..., FoundMessages] = admin.messages.find_by_unique_key
    if noun == "key":
        find = admin.messages.find_by_key
    if noun != "tag" and (hidden_text := _describe_hidden(find, topic, value)):
        return text + hidden_text
    if any(found.errors):
        named = parse_message_id(value) if noun == "id" else None
        failed_addrs = {r.addr for r in found.broker_results if r.error is not None}
        if isinstance(named, OffsetId) and named.broker_addr in failed_addrs:
            return f"{text}: {named.broker_addr} is the broker in the id, which may be of another cluster"
        return f"{text} on the brokers that answered"
    runtimes = admin.brokers.get_runtime_info(r.addr for r in found.broker_results)
    oldest_ms = [r.result.get_integer("earliestMessageTimeStamp") if r.result else None for r in runtimes]
    # -1: the store is empty.
    known_ms = [ms for ms in oldest_ms if ms is not None and ms >= 0]
    # The broker that had the message is unknown.
    expired = (
        f"; messages from before {format_utc_second(max(known_ms))} may have expired" if known_ms else ""
    )
    return f"{text}: compare its topic, cluster and time with the log of the producer{expired}"


class Findings(NamedTuple):
    """The messages that a search found, the outcomes of its brokers, and notes."""

    messages: list[ShownMessage]
    errors: list[RocketMQError | None]
    notes: list[str]


def show_findings(
    found: FoundMessages, missing_text: str, encoding: str = "utf-8", decoders: Sequence[str] = ()
) -> Findings:
    """The messages found; NotFound with `missing_text` if all brokers answered and none had any."""
    notes = result_notes(found.broker_results)
    if not found.messages:
        if not notes:
            raise NotFound(missing_text)
        if None in found.errors:
            notes.append(missing_text)
    messages = [show_message(m, encoding, decoders) for m in found.messages]
    return Findings(messages, list(found.errors), [*notes, *body_notes(messages)])


def body_notes(messages: Iterable[ShownMessage]) -> list[str]:
    """A line for each different reason why some bodies could not be decoded."""
    ids_by_reason: dict[str, list[str]] = {}
    for shown in messages:
        if shown.body_error is not None:
            ids_by_reason.setdefault(shown.body_error, []).append(shown.message.msg_id)
    return [
        f"body of {ids[0]}{f' and {len(ids) - 1} more' if len(ids) > 1 else ''}: {reason}"
        for reason, ids in ids_by_reason.items()
    ]


def _show_body(
    message: StoredMessage, body_encoding: str, decoders: Sequence[str], max_body_bytes: int | None
) -> tuple[Any, str | None, str | None]:
    """The body, its encoding, and the reason if it is not decoded."""
    if max_body_bytes is not None and len(message.body) > max_body_bytes:
        return None, None, f"{len(message.body)} bytes: more than the {max_body_bytes} that nsadmin shows"
    if message.body_error is not None:
        return b64encode(message.body).decode("ascii"), "base64", message.body_error
    if decoders:
        return decode_body(message.body, decoders)
    try:
        return message.body.decode(body_encoding), body_encoding, None
    except UnicodeDecodeError:
        return b64encode(message.body).decode("ascii"), "base64", None
