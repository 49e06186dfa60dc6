"""The decoder of a compressed registration, which consists of length-prefixed parts."""

import zlib
from collections.abc import Generator
from io import BytesIO
from typing import Any

import msgspec

from namesrv_core.errors import OverLimit
from namesrv_core.printable_text import cut_text
from namesrv_core.protocol import fastjson, java_utf8
from namesrv_core.protocol.codes import V3_0_11, V5_0_0
from namesrv_core.protocol.fastjson import to_text
from namesrv_core.protocol.headers import parse_java_integer
from namesrv_core.protocol.json_bodies import MappingInfo, parse_data_version, parse_mapping_info
from namesrv_core.protocol.lenient_registration import read_filter_servers
from namesrv_core.protocol.registration_limits import (
    build_ids_error,
    build_mappings_error,
    build_topics_error,
    count_ids_in_steps,
)
from namesrv_core.protocol.registration_records import (
    DECODED_TOPIC_BYTES,
    BrokerRegistration,
    DecodeSteps,
    RegisteredMapping,
    RegisteredTopicConfig,
)
from namesrv_core.protocol.size_limits import UNLIMITED, DecodeLimits

_MAX_INFLATED_BYTES = 1 << 31
_COMPRESSED_PIECE_BYTES = 1 << 12
_INFLATED_BYTES_PER_STEP = 1 << 16


def inflate_in_steps(body: bytes, max_bytes: int) -> Generator[int, None, bytes]:
    """Inflate a body in steps. Each yields how many bytes there will be at most after the next step.

    Raises OverLimit once the body exceeds `max_bytes`, ValueError if it is cut.
    """
    inflater = zlib.decompressobj()
    buffer, max_inflated = BytesIO(), min(max_bytes, _MAX_INFLATED_BYTES)
    for piece_start in range(0, len(body), _COMPRESSED_PIECE_BYTES):
        piece = body[piece_start : piece_start + _COMPRESSED_PIECE_BYTES]
        is_full_step = True
        # After a full step, zlib may have more even if it has read the whole piece.
        while piece or is_full_step:
            # Allow one byte more than the limit: a max_length of 0 would mean no limit.
            step_bytes = min(_INFLATED_BYTES_PER_STEP, max_inflated + 1 - buffer.tell())
            yield buffer.tell() + step_bytes
            is_full_step = buffer.write(inflater.decompress(piece, step_bytes)) == step_bytes
            if buffer.tell() > max_inflated:
                raise OverLimit(
                    "maxRegistrationBytes", f"a registration of more than {max_bytes} bytes when inflated"
                )
            if inflater.eof:
                return buffer.getvalue()
            piece = inflater.unconsumed_tail
    raise ValueError("cut")


class RegistrationPartReader:
    """Reads length-prefixed parts one after the other. Raises IndexError at the end."""

    def __init__(self, inflated: bytes, limits: DecodeLimits) -> None:
        self._inflated = inflated
        self._position = 0
        self._limits = limits
        self._json_bytes_left = limits.lenient_registration_bytes

    @property
    def held_bytes(self) -> int:
        """Bytes of the inflated body, and of copies of the parts that have been read."""
        return len(self._inflated) + self._position

    def _take_bytes(self, count: int) -> bytes:
        part_end = self._position + count
        if count < 0 or part_end > len(self._inflated):
            raise IndexError("a part is longer than the rest of the body")
        part = self._inflated[self._position : part_end]
        self._position = part_end
        return part

    def read_count(self) -> int:
        return int.from_bytes(self._take_bytes(4), "big", signed=True)

    def read_text(self, max_bytes: int = UNLIMITED) -> bytes:
        """Read a part. Raises OverLimit if it is longer than `max_bytes`."""
        data, part_start = self._inflated, self._position + 4
        part_end = part_start + int.from_bytes(data[part_start - 4 : part_start], "big", signed=True)
        if not part_start <= part_end <= len(data):
            raise IndexError("a part is longer than the rest of the body")
        if part_end - part_start > max_bytes:
            raise OverLimit("maxOddRegistrationBytes", f"a topic of {part_end - part_start} bytes")
        self._position = part_end
        return data[part_start:part_end]

    def read_json_text(self) -> bytes:
        """Read a part that is JSON. Raises OverLimit if all JSON parts together exceed the limit."""
        data = self.read_text()
        self._json_bytes_left -= len(data)
        if self._json_bytes_left < 0:
            remark = (
                f"more than {self._limits.lenient_registration_bytes} bytes of "
                f"JSON in a compressed registration"
            )
            raise OverLimit("maxOddRegistrationBytes", remark)
        return data

    def read_json(self, errors: str = "strict") -> Any:
        """Decode a part that is JSON; an empty one is null. `errors` says how to treat bad UTF-8."""
        data = self.read_json_text()
        if not data:
            return None
        return fastjson.decode_json(data, errors=errors, max_depth=self._limits.json_depth)


_ZLIB_MAGIC = 0x78
_TOPICS_PER_STEP = 256
_MAPPINGS_PER_STEP = 16
_BYTES_PER_STEP = 1 << 16
_MAX_KNOWN_TEXTS = 1024
_SHOWN_CHARACTERS = 200
_MAX_FIELD_BYTES = 1024
"""More bytes than any number has. The decoder ignores the bytes after them."""


def is_compressed(body_bytes: bytes, broker_version: int, compressed_flag: bool) -> bool:
    """Whether a body that is not empty is compressed. 5.x brokers compress without the header's flag."""
    # Source: BrokerOuterAPI.registerBrokerAll.
    return broker_version >= V3_0_11 and (compressed_flag or body_bytes[0] == _ZLIB_MAGIC)


def decode_compressed_steps(
    body_bytes: bytes, broker_version: int, now_ms: int, limits: DecodeLimits
) -> DecodeSteps:
    """Decode length-prefixed parts: data version, a text per topic, filter list, mappings (from 5.0.0 on)."""
    try:
        part_reader = RegistrationPartReader(
            (yield from inflate_in_steps(body_bytes, limits.registration_bytes)), limits
        )
        version = parse_data_version(part_reader.read_json(), now_ms)
        configs: dict[str, RegisteredTopicConfig] = {}
        # A broker with many topics has only a handful of different settings, so parse each text once.
        numbers: dict[bytes, tuple[int, int, int]] = {}
        # Some topics may have names of twice the usual size (see name_limits).
        max_name_bytes = 2 * limits.name_bytes
        count = part_reader.read_count()
        if count > limits.registration_topics:
            raise build_topics_error(count)
        held_before_step = 0
        for topic_index in range(count):
            held = part_reader.held_bytes
            if topic_index % _TOPICS_PER_STEP == 0 or held - held_before_step > _BYTES_PER_STEP:
                held_before_step = held
                yield held + (len(configs) + _TOPICS_PER_STEP) * DECODED_TOPIC_BYTES
            name_bytes, separator, text = part_reader.read_text(limits.lenient_registration_bytes).partition(
                b" "
            )
            if len(name_bytes) > max_name_bytes:
                # Decoding never makes a name shorter, and takes seconds for megabytes of invalid UTF-8.
                raise OverLimit("maxNameBytes", f"a topic name of {len(name_bytes)} bytes")
            topic_numbers = numbers.get(text)
            if topic_numbers is None:
                topic_numbers = _parse_topic_numbers(name_bytes + separator + text)
                if len(numbers) < _MAX_KNOWN_TEXTS:
                    numbers[text] = topic_numbers
            topic = name_bytes.decode("utf-8", java_utf8.REPLACE)
            configs[topic] = RegisteredTopicConfig(topic, *topic_numbers)
        filter_servers = _read_filter_part(part_reader)
        mappings: dict[str, MappingInfo | None] = {}
        if broker_version >= V5_0_0:
            count = part_reader.read_count()
            if count > limits.registration_mappings:
                raise build_mappings_error(count)
            ids_left = limits.registration_queue_ids
            held_before_step = part_reader.held_bytes
            for index in range(count):
                held = part_reader.held_bytes
                if index % _MAPPINGS_PER_STEP == 0 or held - held_before_step > _BYTES_PER_STEP:
                    held_before_step = held
                    yield None
                data = part_reader.read_json_text()
                yield from count_ids_in_steps(data, limits)
                mapping = yield from _decode_mapping(data, limits)
                ids_left -= len(mapping.curr_id_map) if mapping else 0
                if ids_left < 0:
                    raise build_ids_error(f"more than {limits.registration_queue_ids}")
                if mapping is None or mapping.topic is None:
                    raise ValueError("a queue mapping is null or has no topic")
                mappings[mapping.topic] = mapping
    except (zlib.error, IndexError) as error:
        raise ValueError(f"cut or corrupt: {error}") from None
    return BrokerRegistration(version, configs, mappings, filter_servers)


_mapping_decoder = msgspec.json.Decoder(RegisteredMapping)


def _decode_mapping(data: bytes, limits: DecodeLimits) -> Generator[None, None, MappingInfo | None]:
    try:
        # Brokers write queue ids as keys without quotes.
        quoted = yield from fastjson.quote_keys_in_steps(data)
        quoted.decode()
        return _mapping_decoder.decode(quoted).to_info()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = fastjson.decode_json(data, max_depth=limits.json_depth) if data else None
        return parse_mapping_info(value)


def _parse_topic_numbers(line: bytes) -> tuple[int, int, int]:
    """The numbers in `name read write perm filterType [attributes]`: read queues, write queues, perm."""
    # The attributes may be long, and nothing reads them.
    _, *other_fields = line.split(b" ", 5)[:5]
    texts = [field[:_MAX_FIELD_BYTES].decode("utf-8", java_utf8.REPLACE) for field in other_fields]
    numbers = [parse_java_integer(text, 32) for text in texts[:3]]
    if len(texts) == 4 and texts[3] in ("SINGLE_TAG", "MULTI_TAG"):
        read_queues, write_queues, perm = numbers
        if read_queues is not None and write_queues is not None and perm is not None:
            return read_queues, write_queues, perm
    shown = line[:_MAX_FIELD_BYTES].decode("utf-8", java_utf8.REPLACE)
    raise ValueError(f"invalid topic config: {cut_text(shown, _SHOWN_CHARACTERS)!r}")


def _read_filter_part(part_reader: RegistrationPartReader) -> list[str | None] | None:
    """Read the filter list like `JSON#parseArray`, whose errors `RegisterBrokerBody#decode` ignores.

    None means: keep the known ones. An object is a list of one text.
    """
    try:
        value = part_reader.read_json(errors=java_utf8.REPLACE)
        if value is None:
            return None
        return [to_text(value)] if isinstance(value, dict) else read_filter_servers(value) or []
    except ValueError:
        return []
