"""Texts of peers and files, made safe for logs, pages and terminals. Pure."""

import re

# Control characters, line separators, marks of writing direction, and halves of surrogate pairs.
# They could forge a line, control a terminal, reorder what is shown, or make the encoding to UTF-8 fail.
_UNSAFE_PATTERN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_unsafe(text: str) -> str:
    r"""Replace unsafe characters with their escape sequences, such as `\n`, `\x1b` and `\u202e`."""
    if text.isprintable():
        # The usual case. No unsafe character is printable.
        return text
    return _UNSAFE_PATTERN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def cut_text(text: str, max_length: int) -> str:
    """Cut a text that is longer than `max_length` characters, and state its full length."""
    return text if len(text) <= max_length else f"{text[:max_length]}... ({len(text)} characters)"
