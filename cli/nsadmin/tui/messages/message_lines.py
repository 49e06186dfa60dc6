"""One message on lines: its place, its times, its properties and its body. Pure."""

import json
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from namesrv_core.protocol.resource_names import DLQ_PREFIX
from nsadmin.client.messages.dead_letter_selection import DeadLetter
from nsadmin.console.phrases import count_noun
from nsadmin.tui.messages.message_query import BrowsedMessage, MessageTools
from nsadmin.tui.views import units
from nsadmin.tui.views.base_view import CellLine
from nsadmin.tui.views.table import Cell, escape_unprintable

_PREVIEW_BYTES, _PREVIEW_HEX_BYTES = 400, 48
_BYTES_PER_LINE = 16
_TAB_WIDTH = 4
MAX_SHOWN_CHARACTERS = 1 << 20
"""A decoded body can be longer than the body. The screen shows this much of it."""


def preview_body(body: bytes) -> str:
    """The begin of a body in one line; of a body that is not UTF-8, as hexadecimal numbers."""
    first_text = body[:_PREVIEW_BYTES].decode("utf-8", "ignore" if len(body) > _PREVIEW_BYTES else "replace")
    is_binary = b"\0" in body[:_PREVIEW_BYTES] or not _is_utf8(body[:_PREVIEW_BYTES], len(body))
    if is_binary:
        return f"0x {body[:_PREVIEW_HEX_BYTES].hex(' ')}"
    return preview_text(first_text)


def _is_utf8(first_bytes: bytes, body_size: int) -> bool:
    try:
        first_bytes.decode()
    except UnicodeDecodeError as error:
        # A character may be cut at the end of the first bytes.
        return len(first_bytes) < body_size and error.start >= len(first_bytes) - 3
    return True


def preview_text(text: str) -> str:
    """A text in one line: without line ends, and with control characters escaped."""
    return escape_unprintable(" ".join(text[:_PREVIEW_BYTES].split()))


def format_value(value: Any) -> str:
    """A decoded body as text: JSON on several lines."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def decode_automatically(body: bytes) -> str | None:
    """The body as text, pretty if it is JSON; None if it is not UTF-8."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    if text.lstrip()[:1] in ("{", "["):
        try:
            return format_value(json.loads(text))
        except (ValueError, RecursionError):
            return text
    return None if "\0" in text else text


def list_hex_lines(body: bytes) -> Iterator[str]:
    """The bytes with their offsets and their ASCII characters, 16 in a line."""
    for offset in range(0, len(body), _BYTES_PER_LINE):
        line_bytes = body[offset : offset + _BYTES_PER_LINE]
        left_half, right_half = line_bytes[:8].hex(" "), line_bytes[8:].hex(" ")
        ascii_text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in line_bytes)
        yield f"{offset:08x}  {left_half:<23}  {right_half:<23}  {ascii_text}"


def wrap_text(text: str, width: int) -> Iterator[str]:
    """The lines of a text, each at most this wide on the terminal, with control characters escaped."""
    for text_line in text[:MAX_SHOWN_CHARACTERS].splitlines() or [""]:
        yield from _wrap_line(escape_unprintable(text_line.expandtabs(_TAB_WIDTH)), max(width, 2))
    if len(text) > MAX_SHOWN_CHARACTERS:
        yield f"… {len(text) - MAX_SHOWN_CHARACTERS} characters more"


def _wrap_line(line: str, width: int) -> Iterator[str]:
    if line.isascii():
        for start in range(0, max(len(line), 1), width):
            yield line[start : start + width]
        return
    row_text, row_width = "", 0
    for character in line:
        character_width = _character_width(character)
        if row_width + character_width > width:
            yield row_text
            row_text, row_width = "", 0
        row_text, row_width = row_text + character, row_width + character_width
    yield row_text


def _character_width(character: str) -> int:
    """The columns of a character on a terminal."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


_NO_TOOLS = MessageTools()
_NAME_WIDTH = 12
_INDENT = "  "


def format_message_time(time_ms: int) -> str:
    """The local date and time with milliseconds."""
    return f"{units.format_local(time_ms, '%m-%d %H:%M:%S')}.{time_ms % 1000:03}"


class ShownBody(NamedTuple):
    """The text of a body, how it was made, and the reason if a decoder failed.

    If `hex_bytes` are set, they are shown instead, as hexadecimal numbers.
    """

    text: str
    description: str
    error: str | None = None
    hex_bytes: bytes | None = None


def show_body(
    message: BrowsedMessage,
    tools: MessageTools = _NO_TOOLS,
    decoders: Sequence[str] = (),
    wants_hex: bool = False,
) -> ShownBody:
    """Decode a body. Without decoders, JSON is put on several lines, and other bytes are hexadecimal.

    Raises InvalidMessageQueryError for an unknown decoder.
    """
    body = message.message.body
    if wants_hex:
        return ShownBody("", "hexadecimal", hex_bytes=body)
    if decoders:
        value, decode_error = tools.decode_body(body, decoders)
        return ShownBody(format_value(value), " ".join(decoders), decode_error)
    text = decode_automatically(body)
    if text is None:
        return ShownBody("", "not text, so hexadecimal", hex_bytes=body)
    return ShownBody(text, "text")


def body_as_text(shown_body: ShownBody) -> str:
    if shown_body.hex_bytes is not None:
        return "\n".join(list_hex_lines(shown_body.hex_bytes))
    return shown_body.text


def list_message_lines(message: BrowsedMessage, shown_body: ShownBody, width: int) -> Iterator[CellLine]:
    for name, field_text in _list_fields(message):
        yield from _field_lines(name, field_text, width, "strong")
    properties = message.message.properties
    if properties:
        yield []
        yield [Cell("properties", "accent")]
        for property_name in sorted(properties):
            yield from _field_lines(property_name, properties[property_name], width, "")
    yield []
    yield [Cell("body", "accent"), Cell(f"  {_describe_body(message, shown_body)}", "dim")]
    problem = shown_body.error or message.message.body_error
    if problem is not None:
        yield [Cell(_INDENT + problem, "bad")]
    body, hex_bytes = shown_body.text, shown_body.hex_bytes
    body_lines = wrap_text(body, width - len(_INDENT)) if hex_bytes is None else list_hex_lines(hex_bytes)
    for body_line in body_lines:
        yield [Cell(_INDENT + body_line)]


def _describe_body(message: BrowsedMessage, shown_body: ShownBody) -> str:
    kept_size, body_size = len(message.message.body), message.body_size
    size_text = units.format_size(body_size)
    if kept_size < body_size:
        size_text = f"the first {units.format_size(kept_size)} of {size_text}"
    return f"{size_text}, {shown_body.description}"


def _list_fields(browsed_message: BrowsedMessage) -> Iterator[tuple[str, str]]:
    message = browsed_message.message
    yield "topic", message.topic
    yield "place", f"{browsed_message.broker_name}, queue {message.queue_id}, offset {message.queue_offset}"
    yield "message id", message.msg_id
    if message.offset_msg_id != message.msg_id:
        yield "offset id", message.offset_msg_id
    yield "key", " ".join(message.keys)
    yield "tag", message.tags or ""
    yield "stored", f"{format_message_time(message.store_timestamp)} at {message.store_host}"
    yield "born", f"{format_message_time(message.born_timestamp)} at {message.born_host}"
    if message.topic.startswith(DLQ_PREFIX):
        letter = DeadLetter(browsed_message.broker_name, message)
        yield "origin", f"{letter.origin_topic or units.UNKNOWN_MARK} {letter.origin_id or ''}"
        yield "tries", count_noun(letter.attempts, "delivery").replace("deliverys", "deliveries")
        yield "replays", str(letter.replay_count)
    elif message.reconsume_times:
        yield "retries", str(message.reconsume_times)
    if message.crc_ok is False:
        yield "checksum", "wrong: the body is damaged"


def _field_lines(name: str, field_text: str, width: int, tone: str) -> Iterator[CellLine]:
    name_text = f"{_INDENT}{name:<{_NAME_WIDTH}} "
    first_line, *other_lines = wrap_text(field_text, max(width - len(name_text), 10))
    yield [Cell(name_text, "dim"), Cell(first_line, tone)]
    for other_line in other_lines:
        yield [Cell(" " * len(name_text)), Cell(other_line, tone)]
