"""Builds rows of messages; a body is shown as text if it can be decoded, else as base64."""

import codecs
from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Annotated

from namesrv_core.protocol.messages import Message
from nsadmin.client import NotFound
from nsadmin.client.messages import Found, Located
from nsadmin.client.results import error_text
from nsadmin.commands.declared import Word
from nsadmin.commands.times import utc
from nsadmin.diagnostics import UsageError
from nsadmin.output import Bytes, Row, Rows

Topic = Annotated[str, Word(("-t", "--topic"), "TOPIC", "Name of a topic.")]
COLUMNS = (
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
PLACE_IN_TABLE = ("msgId", "brokerName", "queueId", "queueOffset", "storeTime", "tags", "keys")
BODY_IN_TABLE = (*PLACE_IN_TABLE, "body", "bodyEncoding")
WHOLE_IN_TABLE = (
    "msgId", "offsetMsgId", "topic", "brokerName", "queueId", "queueOffset", "storeTime", "bornHost",
    "reconsumeTimes", "properties", "body", "bodyEncoding",
)  # fmt: skip


def charset(command: str, option: str, name: str | None) -> str:
    """The normalized name of an encoding, utf-8 if none is given; UsageError if Python has no such codec."""
    try:
        found = codecs.lookup(name or "utf-8")
        "".encode(found.name)
    except LookupError:
        raise UsageError(f"{command}: {option} {name} is unknown: give utf-8, gbk, latin-1 ...") from None
    return found.name


def message_row(item: Located, encoding: str = "utf-8", *, with_body: bool = True) -> Row:
    """All columns of a message; without its body, the three columns about the body are null."""
    message = item.message
    body, shown_as = _body(message, encoding) if with_body else (None, None)
    return {
        "msgId": message.msg_id,
        "offsetMsgId": message.offset_msg_id,
        "topic": message.topic,
        "brokerName": item.broker_name,
        "queueId": message.queue_id,
        "queueOffset": message.queue_offset,
        "physicalOffset": message.physical_offset,
        "keys": message.keys,
        "tags": message.tags,
        "storeTime": utc(message.store_timestamp),
        "bornTime": utc(message.born_timestamp),
        "storeHost": message.store_host,
        "bornHost": message.born_host,
        "reconsumeTimes": message.reconsume_times,
        "flag": message.flag,
        "sysFlag": message.sys_flag,
        "preparedTransactionOffset": message.prepared_transaction_offset,
        "storeSize": Bytes(message.store_size),
        "crcOk": message.crc_ok,
        "properties": message.properties,
        "body": body,
        "bodyEncoding": shown_as,
        "bodyError": message.body_error if with_body else None,
    }


def found_rows(
    found: Found,
    missing: str,
    in_table: Sequence[str],
    encoding: str = "utf-8",
) -> Rows:
    """Rows of the messages found; NotFound with `missing_text` if all brokers answered and none had any."""
    failures = [broker for broker in found.brokers if broker.error is not None]
    notes = [f"broker {addr}: {error_text(error)}" for addr, _, error in failures if error is not None]
    if not found.messages:
        if not failures:
            raise NotFound(missing)
        if len(failures) < len(found.brokers):
            notes.append(f"{missing}, as far as brokers answered")
    rows = [message_row(item, encoding) for item in found.messages]
    return Rows(COLUMNS, rows, found.errors, [*notes, *body_notes(found.messages)], in_table)


def body_notes(items: Iterable[Located]) -> list[str]:
    """A line for each different reason why some bodies could not be decoded."""
    ids: dict[str, list[str]] = {}
    for item in items:
        if item.message.body_error is not None:
            ids.setdefault(item.message.body_error, []).append(item.message.msg_id)
    return [
        f"body of {names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {reason}"
        for reason, names in ids.items()
    ]


def _body(message: Message, encoding: str) -> tuple[str, str]:
    if message.body_error is None:
        try:
            return message.body.decode(encoding), encoding
        except UnicodeDecodeError:
            pass
    return b64encode(message.body).decode("ascii"), "base64"
