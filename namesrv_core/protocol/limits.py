"""Limits of what is understood at all: how large, how many, how deep; by default beyond any real cluster."""

import re
from array import array
from itertools import accumulate
from typing import NamedTuple

from namesrv_core.protocol.frame import MAX_FRAME

UNLIMITED = 1 << 62


class Limits(NamedTuple):
    """`registration_bytes` are those of an inflated body."""

    frame_bytes: int = MAX_FRAME
    header_bytes: int = 128 * 1024
    ext_fields: int = 256
    json_depth: int = 100
    registration_bytes: int = 64 * 1024 * 1024
    registration_topics: int = 100_000
    registration_mappings: int = 10_000
    registration_filters: int = 1_000
    odd_bytes: int = 4 * 1024 * 1024
    """Bytes of a registration that only the slow, lenient reader understands."""


NONE = Limits(MAX_FRAME, *[UNLIMITED] * (len(Limits._fields) - 1))
"""What a client reads with, which has chosen whom it asks."""

_OTHERS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = bytes.maketrans(b"[]{}", b"\x01\xff\x01\xff")
# The closing quote may be missing: a string that does not end would be looked for from each quote in it.
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.S)


def is_deeper(text: bytes, depth: int) -> bool:
    """Whether JSON is nested more than `depth` levels deep; nothing is parsed, so any bytes will do."""
    if text.count(b"{") + text.count(b"[") <= depth:
        return False
    # Each bracket is a step down or up (a signed byte), so that only the size of a text counts for time.
    steps = array("b", _STRING.sub(b"", text).translate(_STEPS, _OTHERS))
    return max(accumulate(steps), default=0) > depth
