"""The codec of REGISTER_BROKER's body in its three forms: JSON, bare wrapper (old brokers) and compressed.

A fast typed decoder reads the JSON that real brokers send. If it fails, a slow decoder reads the body again
as leniently as 5.5.0 does.
"""

import zlib
from collections.abc import Generator, Iterator, Mapping
from typing import Annotated, Any, NamedTuple

import msgspec

from namesrv_core.errors import OverLimit
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import V3_0_11, V5_0_0
from namesrv_core.protocol.fastjson import to_text
from namesrv_core.protocol.headers import parse_java_integer
from namesrv_core.protocol.json_bodies import (
    DataVersion,
    MappingInfo,
    parse_data_version,
    parse_mapping_info,
    read_int_member,
    require_object,
)
from namesrv_core.protocol.registration_parts import RegistrationPartReader, inflate_in_steps
from namesrv_core.protocol.size_limits import NO_LIMITS, DecodeLimits

_JavaInt = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
_JavaLong = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

_ZLIB_MAGIC = 0x78
_MIN_TOPIC_BYTES = len('"a":{"topicName":"a"},')
_DEFAULT_QUEUES = 16
_DEFAULT_PERM = 6
_TOPICS_PER_STEP = 256


class RegisteredTopicConfig(msgspec.Struct, frozen=True, gc=False):
    """The members of a TopicConfig that a name server stores. Absent numbers have defaults, null is 0."""

    topicName: str | None = None
    readQueueNums: _JavaInt = _DEFAULT_QUEUES
    writeQueueNums: _JavaInt = _DEFAULT_QUEUES
    perm: _JavaInt = _DEFAULT_PERM
    topicSysFlag: _JavaInt = 0


class BrokerRegistration(NamedTuple):
    """The body of a registration.

    `topic_configs` has the keys of the body. The name server uses them only to find missing topics: the
    topic's name is in its config. None for `topic_configs` or `queue_mappings` means an absent table. None
    for `filter_servers` means: keep the known ones. A mapping is None if it was null.
    """

    data_version: DataVersion | None
    topic_configs: Mapping[str, RegisteredTopicConfig] | None
    queue_mappings: Mapping[str, MappingInfo | None]
    filter_servers: list[str | None] | None


class _VersionJson(msgspec.Struct):
    counter: _JavaLong = 0
    stateVersion: _JavaLong = 0
    timestamp: _JavaLong | None = None


class _WrapperJson(msgspec.Struct):
    dataVersion: _VersionJson = msgspec.field(default_factory=_VersionJson)
    topicConfigTable: dict[str, RegisteredTopicConfig] = {}
    topicQueueMappingInfoMap: dict[str, Any] = {}


class RegistrationJson(msgspec.Struct):
    """A JSON body: the result of `decode_typed_json` and the argument of `convert_typed_json`."""

    topicConfigSerializeWrapper: _WrapperJson
    filterServerList: list[str] = []


class _WrapperOutline(msgspec.Struct):
    dataVersion: _VersionJson = msgspec.field(default_factory=_VersionJson)
    topicConfigTable: msgspec.Raw = msgspec.Raw(b"{}")
    topicQueueMappingInfoMap: msgspec.Raw = msgspec.Raw(b"{}")


class _RegistrationOutline(msgspec.Struct):
    """A body whose tables are still text, so that far too many entries are refused before decoding."""

    topicConfigSerializeWrapper: _WrapperOutline
    filterServerList: list[str] = []


_json_decoder = msgspec.json.Decoder(RegistrationJson)
_outline_decoder = msgspec.json.Decoder(_RegistrationOutline)
_topics_decoder = msgspec.json.Decoder(dict[str, RegisteredTopicConfig])
_mappings_decoder = msgspec.json.Decoder(dict[str, Any])
_OBJECTS_PER_ENTRY = 2
"""The number of JSON objects in each topic or mapping of a 5.5.0 broker, including itself."""
_MIN_QUEUE_BYTES = 64
_ENVELOPE_OBJECTS = 8

DecodeSteps = Generator[None, None, BrokerRegistration]
"""A decoder that pauses between steps of less than a millisecond and returns the registration."""


def decode_registration(
    body: bytes, *, version: int, compressed: bool, now: int, within: DecodeLimits = NO_LIMITS
) -> BrokerRegistration:
    """Decode the body of a broker of the version `version`. `now` (ms) dates a data version without a time.

    Raises ValueError where 5.5.0 answers "Failed to decode RegisterBrokerBody", and OverLimit for a body that
    exceeds the limits.
    """
    return check_limits(_decode_any_form(body, version, compressed, now, within), within)


def check_limits(registration: BrokerRegistration, decode_limits: DecodeLimits) -> BrokerRegistration:
    """Return the registration. Raises OverLimit if it exceeds the limits."""
    if len(registration.queue_mappings) > decode_limits.registration_mappings:
        raise _too_many_mappings(len(registration.queue_mappings))
    if (
        registration.topic_configs is not None
        and len(registration.topic_configs) > decode_limits.registration_topics
    ):
        raise _too_many_topics(len(registration.topic_configs))
    if (
        registration.filter_servers is not None
        and len(registration.filter_servers) > decode_limits.registration_filters
    ):
        raise OverLimit(
            "maxFilterServersPerRegistration",
            f"a registration of {len(registration.filter_servers)} filter servers",
        )
    return registration


def is_compressed(body_bytes: bytes, broker_version: int, compressed_flag: bool) -> bool:
    """Whether a body that is not empty is compressed. 5.x brokers compress without the header's flag."""
    # Source: BrokerOuterAPI.registerBrokerAll.
    return broker_version >= V3_0_11 and (compressed_flag or body_bytes[0] == _ZLIB_MAGIC)


def can_exceed_limits(body_bytes: bytes, decode_limits: DecodeLimits) -> bool:
    """Whether a JSON body is so long that its entries have to be counted before decoding."""
    return len(body_bytes) > _MIN_TOPIC_BYTES * decode_limits.registration_topics


def _too_many_topics(topic_count: int | str) -> OverLimit:
    return OverLimit("maxTopicsPerRegistration", f"a registration of {topic_count} topics")


def _too_many_mappings(mapping_count: int | str) -> OverLimit:
    return OverLimit("maxMappingsPerRegistration", f"a registration of {mapping_count} queue mappings")


def _decode_any_form(
    body_bytes: bytes, broker_version: int, compressed_flag: bool, now_ms: int, decode_limits: DecodeLimits
) -> BrokerRegistration:
    if not body_bytes:
        return BrokerRegistration(DataVersion(), {}, {}, [] if broker_version >= V3_0_11 else None)
    if is_compressed(body_bytes, broker_version, compressed_flag):
        return _run_all_steps(decode_compressed_steps(body_bytes, broker_version, now_ms, decode_limits))
    if broker_version >= V3_0_11:
        try:
            if not body_bytes.isascii():
                # The typed decoder does not check the UTF-8 of members that it skips.
                body_bytes.decode()
            return convert_typed_json(decode_typed_json(body_bytes, decode_limits), now_ms, decode_limits)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return _read_lenient_body(_decode_odd_json(body_bytes, decode_limits), now_ms, decode_limits)
    return BrokerRegistration(
        *_read_lenient_wrapper(_decode_odd_json(body_bytes, decode_limits), now_ms, decode_limits), None
    )


def decode_typed_json(body_bytes: bytes, decode_limits: DecodeLimits) -> RegistrationJson:
    """Decode a JSON body. Raises OverLimit for too many entries, msgspec.DecodeError for odd or no JSON."""
    if not can_exceed_limits(body_bytes, decode_limits):
        return _json_decoder.decode(body_bytes)
    body_outline = _outline_decoder.decode(body_bytes)
    wrapper_outline = body_outline.topicConfigSerializeWrapper
    topic_count = max(
        _min_entry_count(wrapper_outline.topicConfigTable),
        bytes(wrapper_outline.topicConfigTable).count(b'"topicName"'),
    )
    if topic_count > decode_limits.registration_topics:
        raise _too_many_topics(f"at least {topic_count}")
    mapping_count = _min_entry_count(wrapper_outline.topicQueueMappingInfoMap)
    if mapping_count > decode_limits.registration_mappings:
        raise _too_many_mappings(f"at least {mapping_count}")
    # Decode the counted texts, and not the body again: the body may contain a table twice.
    typed_wrapper = _WrapperJson(
        wrapper_outline.dataVersion,
        _topics_decoder.decode(wrapper_outline.topicConfigTable),
        _mappings_decoder.decode(wrapper_outline.topicQueueMappingInfoMap),
    )
    return RegistrationJson(typed_wrapper, body_outline.filterServerList)


def _min_entry_count(table_text: msgspec.Raw) -> int:
    """The least number of entries: entries of real brokers have `_OBJECTS_PER_ENTRY` objects each."""
    return bytes(table_text).count(b"{") // _OBJECTS_PER_ENTRY


def _run_all_steps(decode_steps: DecodeSteps) -> BrokerRegistration:
    while True:
        try:
            next(decode_steps)
        except StopIteration as stop_iteration:
            registration: BrokerRegistration = stop_iteration.value
            return registration


def _decode_odd_json(body_bytes: bytes, decode_limits: DecodeLimits) -> Any:
    if len(body_bytes) > decode_limits.lenient_registration_bytes:
        raise OverLimit("maxOddRegistrationBytes", f"an odd registration of {len(body_bytes)} bytes")
    # Queues of static topics are objects as well, of more than a hundred bytes each.
    object_count = body_bytes.count(b"{") - len(body_bytes) // _MIN_QUEUE_BYTES
    if (
        object_count
        > _OBJECTS_PER_ENTRY * (decode_limits.registration_topics + decode_limits.registration_mappings)
        + _ENVELOPE_OBJECTS
    ):
        raise _too_many_topics(f"about {object_count // _OBJECTS_PER_ENTRY}")
    return fastjson.decode_json(body_bytes, max_depth=decode_limits.json_depth)


def convert_typed_json(
    typed_body: RegistrationJson, now_ms: int, decode_limits: DecodeLimits = NO_LIMITS
) -> BrokerRegistration:
    """Convert a typed body to a registration. `now_ms` dates a data version without a time.

    Raises OverLimit for too many mappings, and ValueError for an invalid mapping.
    """
    typed_wrapper = typed_body.topicConfigSerializeWrapper
    if len(typed_wrapper.topicQueueMappingInfoMap) > decode_limits.registration_mappings:
        raise _too_many_mappings(len(typed_wrapper.topicQueueMappingInfoMap))
    typed_version = typed_wrapper.dataVersion
    return BrokerRegistration(
        DataVersion(
            typed_version.counter,
            typed_version.stateVersion,
            now_ms if typed_version.timestamp is None else typed_version.timestamp,
        ),
        typed_wrapper.topicConfigTable,
        {
            topic: parse_mapping_info(mapping_value)
            for topic, mapping_value in typed_wrapper.topicQueueMappingInfoMap.items()
        },
        list(typed_body.filterServerList),
    )


def _read_lenient_body(json_value: Any, now_ms: int, decode_limits: DecodeLimits) -> BrokerRegistration:
    json_fields = require_object(json_value)
    return BrokerRegistration(
        *_read_lenient_wrapper(json_fields.get("topicConfigSerializeWrapper"), now_ms, decode_limits),
        _read_filter_servers(json_fields.get("filterServerList", [])),
    )


def _read_lenient_wrapper(
    json_value: Any, now_ms: int, decode_limits: DecodeLimits
) -> tuple[DataVersion | None, dict[str, RegisteredTopicConfig] | None, dict[str, MappingInfo | None]]:
    json_fields = _object_or_empty(json_value)
    topic_table = _object_or_empty(json_fields.get("topicConfigTable"))
    mapping_table = _object_or_empty(json_fields.get("topicQueueMappingInfoMap"))
    if len(topic_table) > decode_limits.registration_topics:
        raise _too_many_topics(len(topic_table))
    if len(mapping_table) > decode_limits.registration_mappings:
        raise _too_many_mappings(len(mapping_table))
    return (
        parse_data_version(json_fields.get("dataVersion", {}), now_ms),
        {
            topic: _read_topic_config(require_object(config_value))
            for topic, config_value in topic_table.items()
        },
        {topic: parse_mapping_info(mapping_value) for topic, mapping_value in mapping_table.items()},
    )


def _object_or_empty(json_value: Any) -> dict[str, Any]:
    return {} if json_value is None or json_value == "" else require_object(json_value)


def _read_topic_config(config_fields: Mapping[str, Any]) -> RegisteredTopicConfig:
    return RegisteredTopicConfig(
        to_text(config_fields.get("topicName")),
        read_int_member(config_fields, "readQueueNums", _DEFAULT_QUEUES),
        read_int_member(config_fields, "writeQueueNums", _DEFAULT_QUEUES),
        read_int_member(config_fields, "perm", _DEFAULT_PERM),
        read_int_member(config_fields, "topicSysFlag", 0),
    )


def _read_filter_servers(json_value: Any) -> list[str | None] | None:
    if isinstance(json_value, str):
        return [json_value] if json_value else []
    return [to_text(server_value) for server_value in json_value] if isinstance(json_value, list) else None


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
            raise _too_many_topics(entry_count)
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
                raise _too_many_mappings(entry_count)
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
        return _read_filter_servers(part_reader.read_json()) or []
    except ValueError:
        return []


def encode_registration(
    data_version: DataVersion,
    topic_configs: Mapping[str, Mapping[str, object]],
    filter_servers: list[str] | None = None,
) -> bytes:
    """Encode the JSON form of a 5.x broker. `topic_configs` are complete TopicConfig objects by topic."""
    return fastjson.encode_json(
        {
            "filterServerList": filter_servers or [],
            "topicConfigSerializeWrapper": {
                "dataVersion": data_version.to_json(),
                "mappingDataVersion": DataVersion().to_json(),
                "topicConfigTable": topic_configs,
                "topicQueueMappingDetailMap": {},
                "topicQueueMappingInfoMap": {},
            },
        }
    )


def encode_compressed_registration(
    data_version: DataVersion, topic_configs: Mapping[str, Mapping[str, object]]
) -> bytes:
    """Encode the compressed form for version 5.0.0 and later, without filter servers and mappings."""
    json_parts = [
        fastjson.encode_json(data_version.to_json()),
        *(_encode_topic_line(topic_config) for topic_config in topic_configs.values()),
    ]

    def frame_parts() -> Iterator[bytes]:
        for part_index, part_bytes in enumerate(json_parts):
            yield len(part_bytes).to_bytes(4, "big") + part_bytes
            if part_index == 0:
                yield len(topic_configs).to_bytes(4, "big")
        yield b"\x00\x00\x00\x02[]" + bytes(4)

    return zlib.compress(b"".join(frame_parts()))


def _encode_topic_line(topic_config: Mapping[str, object]) -> bytes:
    field_names = ("topicName", "readQueueNums", "writeQueueNums", "perm", "topicFilterType")
    attributes_json = fastjson.encode_json(topic_config.get("attributes") or {}).decode()
    return " ".join(
        [*(str(topic_config[field_name]) for field_name in field_names), attributes_json]
    ).encode()
