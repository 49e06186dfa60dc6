"""Messages of a file: the rows of `consume`, `messages export` and `dlq show` as messages to send. Pure."""

import json
from base64 import b64decode
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from namesrv_core.protocol.stored_messages import KEYS_PROPERTY, TAGS_PROPERTY, StoredMessage


class FileMessage(NamedTuple):
    """A message of a file, and its number in the file from 0.

    Attributes:
        row_number: The number.
        broker_name: The broker that stored it; None if the file does not say it.
        queue_id: Its queue; None if the file does not say it.
        message: The message. What the file does not say is 0 or empty.
    """

    row_number: int
    broker_name: str | None
    queue_id: int | None
    message: StoredMessage


def parse_file_message(row_number: int, row: Mapping[str, Any]) -> FileMessage:
    """Parse the row of a message. Raises ValueError for a row without a topic or a body."""
    topic = row.get("topic")
    if not isinstance(topic, str) or not topic:
        raise ValueError("it has no topic")
    body = _parse_body(row)
    if not body:
        raise ValueError("the body is empty, and brokers refuse that")
    store_ms = _parse_time(row.get("storeTime"))
    message = StoredMessage(
        topic,
        _parse_number(row.get("queueId")),
        _parse_number(row.get("queueOffset")),
        _parse_number(row.get("physicalOffset")),
        _parse_number(row.get("flag")),
        _parse_number(row.get("sysFlag")),
        _parse_time(row.get("bornTime")) or store_ms,
        str(row.get("bornHost") or ""),
        store_ms,
        str(row.get("storeHost") or ""),
        _parse_number(row.get("reconsumeTimes")),
        _parse_number(row.get("preparedTransactionOffset")),
        body,
        None if row.get("bodyError") is None else str(row["bodyError"]),
        None,
        _parse_properties(row),
        _parse_number(row.get("storeSize")),
        str(row.get("offsetMsgId") or ""),
    )
    broker = row.get("brokerName")
    return FileMessage(
        row_number,
        None if broker is None else str(broker),
        None if row.get("queueId") is None else message.queue_id,
        message,
    )


def _parse_body(row: Mapping[str, Any]) -> bytes:
    body = row.get("body")
    if isinstance(body, bytes):
        return body
    if body is None:
        return b""
    if not isinstance(body, str):
        return json.dumps(body, ensure_ascii=False).encode()
    if row.get("bodyEncoding") == "base64":
        return b64decode(body, validate=True)
    return body.encode("utf-8", "surrogatepass")


def _parse_properties(row: Mapping[str, Any]) -> dict[str, str]:
    """The properties. Keys and tag of the row count if the properties lack them, as in a written file."""
    properties = row.get("properties") or {}
    if not isinstance(properties, Mapping):
        raise ValueError("properties is not an object")
    keys, tags = row.get("keys"), row.get("tags")
    keys_text = " ".join(map(str, keys)) if isinstance(keys, (list, tuple)) else str(keys or "")
    all_properties = {KEYS_PROPERTY: keys_text, TAGS_PROPERTY: str(tags or ""), **properties}
    return {str(name): str(value) for name, value in all_properties.items() if value not in (None, "")}


def _parse_number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _parse_time(value: object) -> int:
    """Parse a time of a row into ms since 1970; 0 if there is none."""
    if isinstance(value, str) and value:
        if value.isascii() and value.isdigit():
            return int(value)
        value = datetime.fromisoformat(value)
    if not isinstance(value, datetime):
        return 0
    utc_time = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return round(utc_time.timestamp() * 1000)
