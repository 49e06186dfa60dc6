"""The decoder of a compressed registration, which consists of length-prefixed parts."""

import zlib

from namesrv_core.protocol.codes import V3_0_11, V5_0_0
from namesrv_core.protocol.headers import parse_java_integer
from namesrv_core.protocol.json_bodies import MappingInfo, parse_data_version, parse_mapping_info
from namesrv_core.protocol.lenient_registration import read_filter_servers
from namesrv_core.protocol.registration_limits import build_mappings_error, build_topics_error
from namesrv_core.protocol.registration_parts import RegistrationPartReader, inflate_in_steps
from namesrv_core.protocol.registration_records import BrokerRegistration, DecodeSteps, RegisteredTopicConfig
from namesrv_core.protocol.size_limits import DecodeLimits

_ZLIB_MAGIC = 0x78
_TOPICS_PER_STEP = 256


def is_compressed(body_bytes: bytes, broker_version: int, compressed_flag: bool) -> bool:
    """Whether a body that is not empty is compressed. 5.x brokers compress without the header's flag."""
    # Source: BrokerOuterAPI.registerBrokerAll.
    return broker_version >= V3_0_11 and (compressed_flag or body_bytes[0] == _ZLIB_MAGIC)


def decode_compressed_steps(
    body_bytes: bytes, broker_version: int, now_ms: int, decode_limits: DecodeLimits
) -> DecodeSteps:
    """Decode length-prefixed parts: data version, a text per topic, filter list, mappings (from 5.0.0 on)."""
    try:
        part_reader = RegistrationPartReader(
            (yield from inflate_in_steps(body_bytes, decode_limits.registration_bytes)), decode_limits
        )
        data_version = parse_data_version(part_reader.read_json(), now_ms)
        topic_configs: dict[str, RegisteredTopicConfig] = {}
        # A broker with many topics has only a handful of different settings, so parse each text once.
        numbers_by_text: dict[bytes, tuple[int, int, int]] = {}
        entry_count = part_reader.read_count()
        if entry_count > decode_limits.registration_topics:
            raise build_topics_error(entry_count)
        for topic_index in range(entry_count):
            if topic_index % _TOPICS_PER_STEP == 0:
                yield
            name_bytes, separator, numbers_text = part_reader.read_text().partition(b" ")
            topic_numbers = numbers_by_text.get(numbers_text)
            if topic_numbers is None:
                topic_numbers = numbers_by_text[numbers_text] = _parse_topic_numbers(
                    name_bytes + separator + numbers_text
                )
            topic = name_bytes.decode("utf-8", "replace")
            topic_configs[topic] = RegisteredTopicConfig(topic, *topic_numbers)
        filter_servers = _read_filter_part(part_reader)
        queue_mappings: dict[str, MappingInfo | None] = {}
        if broker_version >= V5_0_0:
            entry_count = part_reader.read_count()
            if entry_count > decode_limits.registration_mappings:
                raise build_mappings_error(entry_count)
            for _ in range(entry_count):
                mapping_info = parse_mapping_info(part_reader.read_json())
                if mapping_info is None:
                    raise ValueError("a queue mapping is null")
                queue_mappings[mapping_info.topic or ""] = mapping_info
    except (zlib.error, IndexError) as error:
        raise ValueError(f"cut or corrupt: {error}") from None
    return BrokerRegistration(data_version, topic_configs, queue_mappings, filter_servers)


def _parse_topic_numbers(topic_line: bytes) -> tuple[int, int, int]:
    """The numbers in `name read write perm filterType [attributes]`: read queues, write queues, perm."""
    line_text = topic_line.decode("utf-8", "replace")
    line_fields = line_text.split(" ", 5)
    if len(line_fields) < 5 or line_fields[4] not in ("SINGLE_TAG", "MULTI_TAG"):
        raise ValueError(f"no topic config: {line_text!r}")
    read_queues, write_queues, perm = (
        parse_java_integer(number_text, 32) for number_text in line_fields[1:4]
    )
    if read_queues is None or write_queues is None or perm is None:
        raise ValueError(f"no topic config: {line_text!r}")
    return read_queues, write_queues, perm


def _read_filter_part(part_reader: RegistrationPartReader) -> list[str | None] | None:
    try:
        return read_filter_servers(part_reader.read_json()) or []
    except ValueError:
        return []
