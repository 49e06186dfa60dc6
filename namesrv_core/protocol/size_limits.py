"""The size limits of decoding: bytes, counts and depth. The defaults exceed the needs of any real cluster."""

import re
from array import array
from itertools import accumulate
from typing import NamedTuple

from namesrv_core.protocol.frame import MAX_FRAME_BYTES
from namesrv_core.protocol.resource_names import DEFAULT_NAME_BYTES

UNLIMITED = 1 << 62


def effective_limit(value: int) -> int:
    """The limit that a setting means: zero or less is no limit."""
    return value if value > 0 else UNLIMITED


class DecodeLimits(NamedTuple):
    """The limits for one connection. `registration_bytes` limits the inflated body."""

    frame_bytes: int = MAX_FRAME_BYTES
    header_bytes: int = 128 * 1024
    ext_fields: int = 256
    json_depth: int = 100
    registration_bytes: int = 64 * 1024 * 1024
    registration_topics: int = 100_000
    registration_mappings: int = 10_000
    registration_queue_ids: int = 20_000
    registration_filters: int = 1_000
    lenient_registration_bytes: int = 4 * 1024 * 1024
    """The largest registration for the slow, lenient reader (setting maxOddRegistrationBytes)."""
    name_bytes: int = DEFAULT_NAME_BYTES


NO_LIMITS = DecodeLimits(MAX_FRAME_BYTES, *[UNLIMITED] * (len(DecodeLimits._fields) - 1))
"""The limits of a client, which trusts the servers that it has chosen."""

_NON_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_BRACKET_STEPS = bytes.maketrans(b"[]{}", b"\x01\xff\x01\xff")
# The closing quote is optional: otherwise the search for the end would start again at each quote.
_JSON_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.S)


def is_nested_deeper(data: bytes, max_depth: int) -> bool:
    """Whether JSON is nested more than `max_depth` levels deep. Accepts any bytes: it parses nothing."""
    if data.count(b"{") + data.count(b"[") <= max_depth:
        return False
    # Each bracket becomes a step of +1 or -1 (a signed byte), so that the time depends only on the size.
    depth_steps = array("b", _JSON_STRING.sub(b"", data).translate(_BRACKET_STEPS, _NON_BRACKETS))
    return max(accumulate(depth_steps), default=0) > max_depth
