"""Error handlers for `bytes.decode` that treat invalid UTF-8 as Java does."""

import codecs
import re

REPLACE = "namesrv_core.replace_invalid_utf8"
"""Replaces invalid bytes like `new String(bytes, UTF_8)`.

A surrogate in UTF-8 (ED A0 80) becomes one U+FFFD, where Python's handler "replace" gives three.
"""
REPLACE_IN_JSON = "namesrv_core.replace_invalid_utf8_in_json"
"""Replaces invalid bytes within a JSON string likewise. Raises UnicodeDecodeError where fastjson 2 fails.

fastjson 2 steps over a character by the length that its first byte announces, so it misses a quote there.
"""

# The last byte may be missing: Java replaces the first two together then.
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_REPLACEMENT_BYTES = "\ufffd".encode()
_JSON_CHARACTER = re.compile(rb'[\xc0-\xdf][^"\\]|[\xe0-\xef][^"\\]{2}|[\xf0-\xf7][^"\\]{3}')


def _replace_invalid_bytes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    # Decode the whole rest: a call for each invalid byte of a megabyte would take seconds. No character has
    # the first byte of a surrogate within it.
    rest = _SURROGATE.sub(_REPLACEMENT_BYTES, error.object[error.start :])
    return rest.decode("utf-8", "replace"), len(error.object)


def _replace_json_character(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    match = _JSON_CHARACTER.match(error.object, error.start)
    if match is None:
        raise error
    return match[0].decode("utf-8", REPLACE), match.end()


codecs.register_error(REPLACE, _replace_invalid_bytes)
codecs.register_error(REPLACE_IN_JSON, _replace_json_character)
