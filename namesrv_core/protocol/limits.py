"""The size limits of decoding: bytes, counts and depth. The defaults exceed the needs of any real cluster."""

import re
from array import array
from itertools import accumulate
from typing import NamedTuple

from namesrv_core.protocol.frame import MAX_FRAME

UNLIMITED = 1 << 62


class Limits(NamedTuple):
    """The limits for one connection. `registration_bytes` limits the inflated body."""

    frame_bytes: int = MAX_FRAME
    header_bytes: int = 128 * 1024
    ext_fields: int = 256
    json_depth: int = 100
    registration_bytes: int = 64 * 1024 * 1024
    registration_topics: int = 100_000
    registration_mappings: int = 10_000
    registration_filters: int = 1_000
    odd_bytes: int = 4 * 1024 * 1024
    """The largest registration for the slow, lenient reader (setting maxOddRegistrationBytes)."""


NONE = Limits(MAX_FRAME, *[UNLIMITED] * (len(Limits._fields) - 1))
"""The limits of a client, which trusts the servers that it has chosen."""

_OTHERS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = bytes.maketrans(b"[]{}", b"\x01\xff\x01\xff")
# The closing quote is optional: otherwise the search for the end would start again at each quote.
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.S)


def is_deeper(text: bytes, depth: int) -> bool:
    """Whether JSON is nested more than `max_depth` levels deep. Accepts any bytes: it parses nothing."""
    if text.count(b"{") + text.count(b"[") <= depth:
        return False
    # Each bracket becomes a step of +1 or -1 (a signed byte), so that the time depends only on the size.
    steps = array("b", _STRING.sub(b"", text).translate(_STEPS, _OTHERS))
    return max(accumulate(steps), default=0) > depth
