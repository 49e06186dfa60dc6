"""Reads the messages to produce: lines, lines of JSON, one body, or a template. It sends nothing."""

import json
import os
import re
import select
from base64 import b64decode
from collections.abc import Iterator, Mapping
from random import randint
from time import time
from typing import Any
from uuid import uuid4

from namesrv_core.durations import parse_duration
from nsadmin.client.messages.bulk_sender import SHARDING_KEY_PROPERTY, MessageDraft
from nsadmin.client.messages.message_delivery import drop_fate_properties
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output.timestamps import format_utc

_READ_BYTES = 1 << 16
_OWN_PROPERTIES = ("KEYS", "TAGS", "UNIQ_KEY", SHARDING_KEY_PROPERTY)
_PLACEHOLDER_PATTERN = re.compile(r"\{(n|time|uuid|random:(\d{1,18})-(\d{1,18}))\}")
PLACEHOLDER_HELP = "{n} (1, 2, 3 ...), {time}, {uuid}, {random:1-100}"

MAX_DELAY_LEVEL = 18


def read_lines(file_descriptor: int) -> Iterator[bytes | None]:
    """Yield the lines of a file without their ends. Yield None when the writer of a pipe pauses."""
    unfinished_line = b""
    while True:
        if not select.select([file_descriptor], [], [], 0)[0]:
            yield None
        new_bytes = os.read(file_descriptor, _READ_BYTES)
        if not new_bytes:
            break
        *lines, unfinished_line = (unfinished_line + new_bytes).split(b"\n")
        yield from lines
    if unfinished_line:
        yield unfinished_line


def read_all(file_descriptor: int) -> bytes:
    """Return the whole content of a file."""
    chunks = []
    while chunk := os.read(file_descriptor, _READ_BYTES):
        chunks.append(chunk)
    return b"".join(chunks)


def fill_template(template: str, number: int) -> str:
    """Replace the placeholders of a template for the message with this number."""

    def fill_placeholder(match: re.Match[str]) -> str:
        if match[1] == "n":
            return str(number)
        if match[1] == "time":
            return format_utc(int(time() * 1000)) or ""
        if match[1] == "uuid":
            return str(uuid4())
        return str(randint(*sorted((int(match[2]), int(match[3])))))

    return _PLACEHOLDER_PATTERN.sub(fill_placeholder, template)


def parse_json_draft(line: bytes, line_number: int, defaults: MessageDraft) -> MessageDraft:
    """Parse a line of JSON: body, bodyEncoding, key or keys, tag or tags, properties, delay, shardingKey.

    The rows of `consume` and `dlq show` are such lines. Raises UsageError for an invalid line.
    """
    try:
        fields = json.loads(line)
        if not isinstance(fields, dict):
            raise ValueError("not an object")
        return _make_draft(fields, defaults)
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"produce: line {line_number} is invalid: {error}") from None


def _make_draft(fields: Mapping[str, Any], defaults: MessageDraft) -> MessageDraft:
    properties = dict(defaults.properties)
    own_properties = fields.get("properties") or {}
    for name, value in own_properties.items():
        if name not in _OWN_PROPERTIES and name in drop_fate_properties({name: ""}):
            properties[name] = value if isinstance(value, str) else json.dumps(value)
    if fields.get("delay") is not None:
        properties |= parse_delay(str(fields["delay"]))
    keys = fields.get("keys", fields.get("key"))
    sharding_key = fields.get("shardingKey", own_properties.get(SHARDING_KEY_PROPERTY))
    return MessageDraft(
        _encode_body(fields),
        " ".join(map(str, keys)) if isinstance(keys, list) else str(keys or defaults.keys),
        str(fields.get("tags", fields.get("tag")) or defaults.tags),
        properties,
        defaults.sharding_key if sharding_key is None else str(sharding_key),
    )


def _encode_body(fields: Mapping[str, Any]) -> bytes:
    body = fields.get("body", "")
    if not isinstance(body, str):
        return json.dumps(body, ensure_ascii=False).encode()
    if fields.get("bodyEncoding") == "base64":
        encoded_body = b64decode(body, validate=True)
    else:
        encoded_body = body.encode("utf-8", "surrogatepass")
    if not encoded_body:
        raise ValueError("the body is empty, and brokers refuse that")
    return encoded_body


def parse_delay(delay_text: str) -> dict[str, str]:
    """Return the properties for a delay: a level from 1 to 18, or a duration. Raises ValueError."""
    if delay_text.isascii() and delay_text.isdigit():
        if not 1 <= int(delay_text) <= MAX_DELAY_LEVEL:
            raise ValueError(f'invalid delay level "{delay_text}": use 1 to {MAX_DELAY_LEVEL}')
        return {"DELAY": delay_text}
    delay_seconds = parse_duration(delay_text) if delay_text[-1:].isalpha() else None
    if delay_seconds is None:
        raise ValueError(f'invalid delay "{delay_text}": use a level from 1 to 18, or 500ms, 30s, 5m, 2h')
    return {"TIMER_DELAY_MS": str(round(delay_seconds * 1000))}
