"""The decoder of large registrations in steps, with the same result as `decode_registration`.

It cuts the JSON table between two topics. A piece that decodes as an object was cut correctly, because
members, a comma and members are again members. The rest of the table is decoded together with the text
around it. A body without such a table is decoded in one step.
"""

import re
from collections.abc import Generator
from uuid import uuid4

import msgspec

from namesrv_core.protocol import fastjson, registration_codec
from namesrv_core.protocol.codes import V3_0_11
from namesrv_core.protocol.compressed_registration import decode_compressed_steps, is_compressed
from namesrv_core.protocol.registration_codec import RegistrationJson
from namesrv_core.protocol.registration_limits import (
    can_exceed_limits,
    check_limits_in_steps,
    count_ids_in_steps,
)
from namesrv_core.protocol.registration_records import DECODED_TOPIC_BYTES, DecodeSteps, RegisteredTopicConfig
from namesrv_core.protocol.size_limits import NO_LIMITS, DecodeLimits

_TABLE_START = b'"topicConfigTable":{'
_TOPIC_BOUNDARY = re.compile(rb'\},(?="[^"\\]*":\{)')
_PIECE_BYTES = 1 << 16
_BARE_KEY = re.compile(rb"[{,]\s*-?[0-9]+\s*:")
_TOPICS_PER_PIECE = 512
"""The topics of 5.5.0 brokers in a piece, about."""
# The mark is put into the rest of the table. A body may contain two tables: the decoded one has the mark if
# it is the one that was cut. The mark is random, so that no client can write it into a body.
_TABLE_MARK = uuid4().hex

_TOPIC_NAME_MEMBER = b'"topicName"'
_table_decoder = msgspec.json.Decoder(dict[str, RegisteredTopicConfig])


def decode_registration_steps(
    body: bytes, *, version: int, compressed: bool, now: int, within: DecodeLimits = NO_LIMITS
) -> DecodeSteps:
    """Like `registration_codec.decode_registration`, with the same errors, but in steps."""
    if body and is_compressed(body, version, compressed):
        registration = yield from decode_compressed_steps(body, version, now, within)
        yield from check_limits_in_steps(registration, within)
        return registration
    yield from count_ids_in_steps(body, within)
    if body and version >= V3_0_11:
        typed = yield from _decode_in_pieces(body, within)
        if typed is not None:
            registration = yield from registration_codec.convert_typed_json(typed, now, within)
            yield from check_limits_in_steps(registration, within)
            return registration
    return registration_codec.decode_registration(
        body, version=version, compressed=compressed, now=now, within=within
    )


def _decode_in_pieces(
    body_bytes: bytes, limits: DecodeLimits
) -> Generator[int | None, None, RegistrationJson | None]:
    """Decode like `decode_typed_json`. Return None if the caller must call that instead."""
    table_start = body_bytes.find(_TABLE_START) + len(_TABLE_START)
    if table_start < len(_TABLE_START):
        return None
    configs: dict[str, RegisteredTopicConfig] = {}
    needs_counting, name_count, objects = can_exceed_limits(body_bytes, limits), 0, 0
    position = table_start
    while boundary := _TOPIC_BOUNDARY.search(
        body_bytes, position + _PIECE_BYTES, position + 2 * _PIECE_BYTES
    ):
        piece = body_bytes[position : boundary.start() + 1]
        try:
            configs.update(_table_decoder.decode(b"{" + _require_utf8(piece) + b"}"))
        except registration_codec.ODD_JSON_ERRORS:
            # The cut is after the table's end or within a string.
            break
        position = boundary.end()
        if needs_counting:
            name_count, objects = name_count + piece.count(_TOPIC_NAME_MEMBER), objects + piece.count(b"{")
            if max(name_count, objects // 2) > limits.registration_topics:
                return None
        yield (len(configs) + _TOPICS_PER_PIECE) * DECODED_TOPIC_BYTES
    rest = b'%s"%s":{},%s' % (body_bytes[:table_start], _TABLE_MARK.encode(), body_bytes[position:])
    if needs_counting:
        rest_objects = rest.count(b"{")
        min_topic_count = max(name_count + rest.count(_TOPIC_NAME_MEMBER), (objects + rest_objects) // 2)
        if min_topic_count > limits.registration_topics or rest_objects // 2 > limits.registration_mappings:
            # The body has too many entries, or nearly so: the decoder in one step counts exactly.
            return None
    try:
        rest = yield from _quote_keys_of_rest(_require_utf8(rest), body_bytes, limits)
        typed = registration_codec.decode_typed_json(rest, limits)
    except registration_codec.ODD_JSON_ERRORS:
        return None
    table = typed.topicConfigSerializeWrapper.topicConfigTable
    if table.pop(_TABLE_MARK, None) is None:
        return None
    configs.update(table)
    typed.topicConfigSerializeWrapper.topicConfigTable = configs
    return typed


def _quote_keys_of_rest(rest: bytes, body_bytes: bytes, limits: DecodeLimits) -> Generator[None, None, bytes]:
    """Brokers write integer keys without quotes in the mappings of static topics."""
    is_quotable = len(body_bytes) <= limits.lenient_registration_bytes
    if not is_quotable or _BARE_KEY.search(rest) is None:
        return rest
    return (yield from fastjson.quote_keys_in_steps(rest))


def _require_utf8(data: bytes) -> bytes:
    """Return the bytes. Raises UnicodeDecodeError: the decoder accepts bad UTF-8 in members that it skips."""
    if not data.isascii():
        data.decode()
    return data
