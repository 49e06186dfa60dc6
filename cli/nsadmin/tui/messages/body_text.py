"""The body of a message as text: a line for a table, and lines of text or of hexadecimal numbers. Pure."""

import json
import unicodedata
from collections.abc import Iterator
from typing import Any

from nsadmin.tui.views.table import escape_unprintable

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
