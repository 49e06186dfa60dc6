"""The decoder of large registrations in steps, with the same result as `decode_registration`.

It cuts the JSON table between two topics. A piece that decodes as an object was cut correctly, because
members, a comma and members are again members. The rest of the table is decoded together with the text
around it. A body without such a table is decoded in one step.
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
# The mark is put into the rest of the table. A body may contain two tables: the decoded one has the mark if
# it is the one that was cut. The mark is random, so that no client can write it into a body.
_MARK = uuid4().hex

_NAME = b'"topicName"'
_UNLIKE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_table = msgspec.json.Decoder(dict[str, TopicConfig])


def decode(body: bytes, *, version: int, compressed: bool, now: int, within: Limits = NONE) -> Steps:
    """Like `registration_codec.decode_registration`, with the same errors, but in steps."""
    if body and registration.is_compressed(body, version, compressed):
        found = yield from registration.compressed_steps(body, version, now, within)
        return registration.checked(found, within)
    if body and version >= V3_0_11:
        whole = yield from _in_pieces(body, within)
        if whole is not None:
            return registration.checked(registration.typed(whole, now, within), within)
    return registration.decode(body, version=version, compressed=compressed, now=now, within=within)


def _in_pieces(body: bytes, within: Limits) -> Generator[None, None, TypedBody | None]:
    """Decode like `decode_typed_json`. Return None if the caller must call that instead."""
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
            # The cut is after the table's end or within a string.
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
            # The body has too many entries, or nearly so: the decoder in one step counts exactly.
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
    """Return the bytes. Raises UnicodeDecodeError: the decoder accepts bad UTF-8 in members that it skips."""
    if not text.isascii():
        text.decode()
    return text
