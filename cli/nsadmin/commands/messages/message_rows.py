"""Builds rows of messages; a body is shown as text if it can be decoded, else as base64."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

from typer import Argument

from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client import NotFound
from nsadmin.client.messages.delayed_messages import HALF_TOPIC, LEVEL_TOPIC, TIMER_TOPIC
from nsadmin.client.messages.message_queries import FoundMessages, LocatedMessage
from nsadmin.client.results import error_text
from nsadmin.command_line.declarations import Flags
from nsadmin.commands.messages.body_decoders import decode_body
from nsadmin.console.output import ByteSize, ResultRow, ResultRows
from nsadmin.console.output.quantities import count_noun
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import quote_command

MAX_SHOWN_BYTES = 16 << 20
"""A longer body is not shown. Brokers accept messages of 4 MiB by default."""
MAX_KEPT_BYTES = 32 << 20
"""A command that shows all its rows at once stops when their bodies are longer."""

MessageTopicArgument = Annotated[
    str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic")
]
MESSAGE_COLUMNS = (
    "msgId",
    "offsetMsgId",
    "topic",
    "brokerName",
    "queueId",
    "queueOffset",
    "physicalOffset",
    "keys",
    "tags",
    "storeTime",
    "bornTime",
    "storeHost",
    "bornHost",
    "reconsumeTimes",
    "flag",
    "sysFlag",
    "preparedTransactionOffset",
    "storeSize",
    "crcOk",
    "properties",
    "body",
    "bodyEncoding",
    "bodyError",
)
PLACE_TABLE_COLUMNS = ("msgId", "brokerName", "queueId", "queueOffset", "storeTime", "tags", "keys")
BODY_TABLE_COLUMNS = (*PLACE_TABLE_COLUMNS, "body", "bodyEncoding")
WHOLE_TABLE_COLUMNS = (
    "msgId", "offsetMsgId", "topic", "brokerName", "queueId", "queueOffset", "storeTime", "bornHost",
    "reconsumeTimes", "properties", "body", "bodyEncoding",
)  # fmt: skip


def message_row(
    located_message: LocatedMessage,
    body_encoding: str = "utf-8",
    decoders: Sequence[str] = (),
    *,
    with_body: bool = True,
    max_body_bytes: int | None = MAX_SHOWN_BYTES,
) -> ResultRow:
    """All columns of a message; without its body, the three columns about the body are null."""
    message = located_message.message
    body, shown_encoding, body_error = (
        _show_body(message, body_encoding, decoders, max_body_bytes) if with_body else (None, None, None)
    )
    return {
        "msgId": message.msg_id,
        "offsetMsgId": message.offset_msg_id,
        "topic": message.topic,
        "brokerName": located_message.broker_name,
        "queueId": message.queue_id,
        "queueOffset": message.queue_offset,
        "physicalOffset": message.physical_offset,
        "keys": message.keys,
        "tags": message.tags,
        "storeTime": format_utc(message.store_timestamp),
        "bornTime": format_utc(message.born_timestamp),
        "storeHost": message.store_host,
        "bornHost": message.born_host,
        "reconsumeTimes": message.reconsume_times,
        "flag": message.flag,
        "sysFlag": message.sys_flag,
        "preparedTransactionOffset": message.prepared_transaction_offset,
        "storeSize": ByteSize(message.store_size),
        "crcOk": message.crc_ok,
        "properties": message.properties,
        "body": body,
        "bodyEncoding": shown_encoding,
        "bodyError": body_error,
    }


def describe_hidden(find_messages: Callable[..., FoundMessages], topic: str, key: str) -> str:
    """Name the messages with the key that wait in a topic of the broker: delayed ones, and half ones."""
    counts = {
        hidden_topic: sum(
            located_message.message.properties.get("REAL_TOPIC") == topic
            for located_message in find_messages(hidden_topic, key, route_topic=topic).messages
        )
        for hidden_topic in (LEVEL_TOPIC, TIMER_TOPIC, HALF_TOPIC)
    }
    delayed_count = counts[LEVEL_TOPIC] + counts[TIMER_TOPIC]
    if delayed_count:
        advice = f"`{quote_command('delayed', 'list', topic)}` shows when they are delivered"
        return f", but {count_noun(delayed_count, 'delayed message')}: {advice}"
    if counts[HALF_TOPIC]:
        return f", but {count_noun(counts[HALF_TOPIC], 'half message')}: its producer has not committed it"
    return ""


def make_message_rows(
    found_messages: FoundMessages,
    missing_text: str,
    table_columns: Sequence[str],
    body_encoding: str = "utf-8",
    decoders: Sequence[str] = (),
) -> ResultRows:
    """Rows of the messages found; NotFound with `missing_text` if all brokers answered and none had any."""
    failed_brokers = [
        broker_result for broker_result in found_messages.broker_results if broker_result.error is not None
    ]
    failure_notes = [
        f"broker {broker_addr}: {error_text(error)}"
        for broker_addr, _, error in failed_brokers
        if error is not None
    ]
    if not found_messages.messages:
        if not failed_brokers:
            raise NotFound(missing_text)
        if len(failed_brokers) < len(found_messages.broker_results):
            failure_notes.append(f"{missing_text} on the brokers that answered")
    message_rows = [
        message_row(located_message, body_encoding, decoders) for located_message in found_messages.messages
    ]
    return ResultRows(
        MESSAGE_COLUMNS,
        message_rows,
        found_messages.errors,
        [*failure_notes, *body_notes(message_rows)],
        table_columns,
    )


def body_notes(message_rows: Iterable[ResultRow]) -> list[str]:
    """A line for each different reason why some bodies could not be decoded."""
    ids_by_reason: dict[object, list[object]] = {}
    for row in message_rows:
        if row["bodyError"] is not None:
            ids_by_reason.setdefault(row["bodyError"], []).append(row["msgId"])
    return [
        f"body of {msg_ids[0]}{f' and {len(msg_ids) - 1} more' if len(msg_ids) > 1 else ''}: {reason}"
        for reason, msg_ids in ids_by_reason.items()
    ]


def find_place(row: ResultRow) -> tuple[Any, ...]:
    """The broker, the queue and the offset of a row, by which rows are sorted."""
    return row["brokerName"], row["queueId"], row["queueOffset"]


def measure_body(row: ResultRow) -> int:
    """About how many characters the body of a row has."""
    body = row["body"]
    return 0 if body is None else len(body) if isinstance(body, str) else len(str(body))


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
