"""Builds rows of messages; a body is shown as text if it can be decoded, else as base64."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Annotated

from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.client import NotFound
from nsadmin.client.messages.message_queries import FoundMessages, LocatedMessage
from nsadmin.client.results import error_text
from nsadmin.command_line.declarations import Argument
from nsadmin.output import ByteSize, ResultRow, ResultRows
from nsadmin.output.timestamps import format_utc

MessageTopicArgument = Annotated[str, Argument(("-t", "--topic"), "TOPIC", "Name of a topic.")]
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
    located_message: LocatedMessage, body_encoding: str = "utf-8", *, with_body: bool = True
) -> ResultRow:
    """All columns of a message; without its body, the three columns about the body are null."""
    message = located_message.message
    body_text, shown_encoding = _decode_body(message, body_encoding) if with_body else (None, None)
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
        "body": body_text,
        "bodyEncoding": shown_encoding,
        "bodyError": message.body_error if with_body else None,
    }


def make_message_rows(
    found_messages: FoundMessages,
    missing_text: str,
    table_columns: Sequence[str],
    body_encoding: str = "utf-8",
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
        message_row(located_message, body_encoding) for located_message in found_messages.messages
    ]
    return ResultRows(
        MESSAGE_COLUMNS,
        message_rows,
        found_messages.errors,
        [*failure_notes, *body_notes(found_messages.messages)],
        table_columns,
    )


def body_notes(located_messages: Iterable[LocatedMessage]) -> list[str]:
    """A line for each different reason why some bodies could not be decoded."""
    ids_by_reason: dict[str, list[str]] = {}
    for located_message in located_messages:
        if located_message.message.body_error is not None:
            ids_by_reason.setdefault(located_message.message.body_error, []).append(
                located_message.message.msg_id
            )
    return [
        f"body of {msg_ids[0]}{f' and {len(msg_ids) - 1} more' if len(msg_ids) > 1 else ''}: {reason}"
        for reason, msg_ids in ids_by_reason.items()
    ]


def _decode_body(message: StoredMessage, body_encoding: str) -> tuple[str, str]:
    if message.body_error is None:
        try:
            return message.body.decode(body_encoding), body_encoding
        except UnicodeDecodeError:
            pass
    return b64encode(message.body).decode("ascii"), "base64"
