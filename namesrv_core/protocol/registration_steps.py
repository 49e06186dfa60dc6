"""The body of a large registration decoded in steps, with the very outcome that `registration.decode` has.

JSON is cut between two topics: what decodes as an object was cut rightly, for members, a comma and members
are members. The rest of the table is decoded in its place, with all around it. Whatever does not look like
that is decoded in one step.
"""

import re
from collections.abc import Generator
from uuid import uuid4

import msgspec

from namesrv_core.protocol import registration
from namesrv_core.protocol.codes import V3_0_11
from namesrv_core.protocol.limits import NONE, Limits
from namesrv_core.protocol.registration import Steps, TopicConfig, TypedBody

_TABLE = b'"topicConfigTable":{'
_BETWEEN = re.compile(rb'\},(?="[^"\\]*":\{)')
_PIECE = 1 << 16
# Its place tells whether the table that was cut is the one that counts. Nobody outside can foresee it.
_MARK = uuid4().hex

_NAME = b'"topicName"'
_UNLIKE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_table = msgspec.json.Decoder(dict[str, TopicConfig])


def decode(body: bytes, *, version: int, compressed: bool, now: int, within: Limits = NONE) -> Steps:
    """As `registration.decode`, with pauses: the errors, too."""
    if body and registration.is_compressed(body, version, compressed):
        found = yield from registration.compressed_steps(body, version, now, within)
        return registration.checked(found, within)
    if body and version >= V3_0_11:
        whole = yield from _in_pieces(body, within)
        if whole is not None:
            return registration.checked(registration.typed(whole, now, within), within)
    return registration.decode(body, version=version, compressed=compressed, now=now, within=within)


def _in_pieces(body: bytes, within: Limits) -> Generator[None, None, TypedBody | None]:
    """What `registration.whole` makes of it; None where that must be asked."""
    begin = body.find(_TABLE) + len(_TABLE)
    if begin < len(_TABLE):
        return None
    topics: dict[str, TopicConfig] = {}
    is_counted, names, objects = registration.is_counted(body, within), 0, 0
    position = begin
    while cut := _BETWEEN.search(body, position + _PIECE, position + 2 * _PIECE):
        piece = body[position : cut.start() + 1]
        try:
            topics.update(_table.decode(b"{" + _understood(piece) + b"}"))
        except _UNLIKE:
            # Behind the table, or within a text.
            break
        position = cut.end()
        if is_counted:
            names, objects = names + piece.count(_NAME), objects + piece.count(b"{")
            if max(names, objects // 2) > within.registration_topics:
                return None
        yield
    rest = b'%s"%s":{},%s' % (body[:begin], _MARK.encode(), body[position:])
    if is_counted:
        more = rest.count(b"{")
        topics_at_least = max(names + rest.count(_NAME), (objects + more) // 2)
        if topics_at_least > within.registration_topics or more // 2 > within.registration_mappings:
            # Too much, or nearly so.
            return None
    try:
        whole = registration.whole(_understood(rest), within)
    except _UNLIKE:
        return None
    table = whole.topicConfigSerializeWrapper.topicConfigTable
    if table.pop(_MARK, None) is None:
        return None
    topics.update(table)
    whole.topicConfigSerializeWrapper.topicConfigTable = topics
    return whole


def _understood(text: bytes) -> bytes:
    """The same; UnicodeDecodeError where it is no text: the decoder does not look at what it skips."""
    if not text.isascii():
        text.decode()
    return text
