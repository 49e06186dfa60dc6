"""One message on lines: its place, its times, its properties and its body. Pure."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nsadmin.client.messages.dead_letter_selection import DEAD_LETTER_PREFIX, DeadLetter
from nsadmin.tui.messages import body_text
from nsadmin.tui.messages.message_query import BrowsedMessage
from nsadmin.tui.messages.message_tools import MessageTools
from nsadmin.tui.views import units
from nsadmin.tui.views.base_view import CellLine
from nsadmin.tui.views.table import Cell

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
        return ShownBody(body_text.format_value(value), " ".join(decoders), decode_error)
    text = body_text.decode_automatically(body)
    if text is None:
        return ShownBody("", "not text, so hexadecimal", hex_bytes=body)
    return ShownBody(text, "text")


def body_as_text(shown_body: ShownBody) -> str:
    """The whole text for the clipboard."""
    if shown_body.hex_bytes is not None:
        return "\n".join(body_text.list_hex_lines(shown_body.hex_bytes))
    return shown_body.text


def list_message_lines(message: BrowsedMessage, shown_body: ShownBody, width: int) -> Iterator[CellLine]:
    """All lines, wrapped to the width."""
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
    body_lines = (
        body_text.wrap_text(shown_body.text, width - len(_INDENT))
        if shown_body.hex_bytes is None
        else body_text.list_hex_lines(shown_body.hex_bytes)
    )
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
    if message.topic.startswith(DEAD_LETTER_PREFIX):
        letter = DeadLetter(browsed_message.broker_name, message)
        yield "origin", f"{letter.origin_topic or units.UNKNOWN_MARK} {letter.origin_id or ''}"
        yield "tries", units.count_noun(letter.attempts, "delivery").replace("deliverys", "deliveries")
        yield "replays", str(letter.replay_count)
    elif message.reconsume_times:
        yield "retries", str(message.reconsume_times)
    if message.crc_ok is False:
        yield "checksum", "wrong: the body is damaged"


def _field_lines(name: str, field_text: str, width: int, tone: str) -> Iterator[CellLine]:
    name_text = f"{_INDENT}{name:<{_NAME_WIDTH}} "
    first_line, *other_lines = body_text.wrap_text(field_text, max(width - len(name_text), 10))
    yield [Cell(name_text, "dim"), Cell(first_line, tone)]
    for other_line in other_lines:
        yield [Cell(" " * len(name_text)), Cell(other_line, tone)]
