"""The codec of REGISTER_BROKER's body in its three forms: JSON, bare wrapper (old brokers) and compressed.

A fast typed decoder reads the JSON that real brokers send. If it fails, a slow decoder reads the body again
as leniently as 5.5.0 does.
"""

import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress

import msgspec

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import V3_0_11
from namesrv_core.protocol.compressed_registration import decode_compressed_steps, is_compressed
from namesrv_core.protocol.json_bodies import DataVersion, MappingInfo
from namesrv_core.protocol.lenient_registration import (
    OBJECTS_PER_ENTRY,
    decode_odd_json,
    read_bare_wrapper,
    read_lenient_body,
)
from namesrv_core.protocol.registration_limits import (
    build_mappings_error,
    build_topics_error,
    can_exceed_limits,
    check_id_count,
    check_limits,
)
from namesrv_core.protocol.registration_records import BrokerRegistration as BrokerRegistration
from namesrv_core.protocol.registration_records import DecodeSteps, JavaLong, RegisteredMapping
from namesrv_core.protocol.registration_records import RegisteredTopicConfig as RegisteredTopicConfig
from namesrv_core.protocol.size_limits import NO_LIMITS, DecodeLimits
from namesrv_core.protocol.steps import run_all_steps


class _VersionJson(msgspec.Struct):
    counter: JavaLong = 0
    stateVersion: JavaLong = 0
    timestamp: JavaLong | None = None


class _WrapperJson(msgspec.Struct):
    dataVersion: _VersionJson = msgspec.field(default_factory=_VersionJson)
    topicConfigTable: dict[str, RegisteredTopicConfig] = {}
    topicQueueMappingInfoMap: dict[str, RegisteredMapping | None] = {}


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


ODD_JSON_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_MAPPINGS_PER_STEP = 256
_json_decoder = msgspec.json.Decoder(RegistrationJson)
_outline_decoder = msgspec.json.Decoder(_RegistrationOutline)
_topics_decoder = msgspec.json.Decoder(dict[str, RegisteredTopicConfig])
_mappings_decoder = msgspec.json.Decoder(dict[str, RegisteredMapping | None])


def decode_registration(
    body: bytes, *, version: int, compressed: bool, now: int, within: DecodeLimits = NO_LIMITS
) -> BrokerRegistration:
    """Decode the body of a broker of the version `version`. `now` (ms) dates a data version without a time.

    Raises ValueError where 5.5.0 answers "Failed to decode RegisterBrokerBody", and OverLimit for a body that
    exceeds the limits.
    """
    return check_limits(_decode_any_form(body, version, compressed, now, within), within)


def _decode_any_form(
    body_bytes: bytes, broker_version: int, compressed_flag: bool, now_ms: int, limits: DecodeLimits
) -> BrokerRegistration:
    if not body_bytes:
        return BrokerRegistration(DataVersion(), {}, {}, [] if broker_version >= V3_0_11 else None)
    if is_compressed(body_bytes, broker_version, compressed_flag):
        return run_all_steps(decode_compressed_steps(body_bytes, broker_version, now_ms, limits))
    check_id_count(body_bytes, limits)
    if broker_version >= V3_0_11:
        try:
            return _decode_plain_json(body_bytes, now_ms, limits)
        except ODD_JSON_ERRORS:
            pass
        if len(body_bytes) <= limits.lenient_registration_bytes:
            # Brokers write integer keys without quotes in the mappings of static topics.
            quoted = fastjson.quote_keys(body_bytes)
            if quoted != body_bytes:
                with suppress(*ODD_JSON_ERRORS):
                    return _decode_plain_json(quoted, now_ms, limits)
        return read_lenient_body(decode_odd_json(body_bytes, limits), now_ms, limits)
    return read_bare_wrapper(decode_odd_json(body_bytes, limits), now_ms, limits)


def _decode_plain_json(body_bytes: bytes, now_ms: int, limits: DecodeLimits) -> BrokerRegistration:
    if not body_bytes.isascii():
        # The typed decoder does not check the UTF-8 of members that it skips.
        body_bytes.decode()
    typed = decode_typed_json(body_bytes, limits)
    return run_all_steps(convert_typed_json(typed, now_ms, limits))


def decode_typed_json(body_bytes: bytes, limits: DecodeLimits) -> RegistrationJson:
    """Decode a JSON body. Raises OverLimit for too many entries, msgspec.DecodeError for odd or no JSON."""
    if not can_exceed_limits(body_bytes, limits):
        return _json_decoder.decode(body_bytes)
    outline = _outline_decoder.decode(body_bytes)
    wrapper = outline.topicConfigSerializeWrapper
    topic_count = max(
        _min_entry_count(wrapper.topicConfigTable), bytes(wrapper.topicConfigTable).count(b'"topicName"')
    )
    if topic_count > limits.registration_topics:
        raise build_topics_error(f"at least {topic_count}")
    mapping_count = _min_entry_count(wrapper.topicQueueMappingInfoMap)
    if mapping_count > limits.registration_mappings:
        raise build_mappings_error(f"at least {mapping_count}")
    # Decode the counted texts, and not the body again: the body may contain a table twice.
    typed_wrapper = _WrapperJson(
        wrapper.dataVersion,
        _topics_decoder.decode(wrapper.topicConfigTable),
        _mappings_decoder.decode(wrapper.topicQueueMappingInfoMap),
    )
    return RegistrationJson(typed_wrapper, outline.filterServerList)


def _min_entry_count(table_text: msgspec.Raw) -> int:
    """The least number of entries: entries of real brokers have `OBJECTS_PER_ENTRY` objects each."""
    return bytes(table_text).count(b"{") // OBJECTS_PER_ENTRY


def convert_typed_json(typed: RegistrationJson, now_ms: int, limits: DecodeLimits = NO_LIMITS) -> DecodeSteps:
    """Convert a typed body to a registration. `now_ms` dates a data version without a time.

    Raises OverLimit for too many mappings.
    """
    wrapper = typed.topicConfigSerializeWrapper
    if len(wrapper.topicQueueMappingInfoMap) > limits.registration_mappings:
        raise build_mappings_error(len(wrapper.topicQueueMappingInfoMap))
    mappings: dict[str, MappingInfo | None] = {}
    for index, (topic, mapping) in enumerate(wrapper.topicQueueMappingInfoMap.items(), 1):
        mappings[topic] = None if mapping is None else mapping.to_info()
        if index % _MAPPINGS_PER_STEP == 0:
            yield None
    version = wrapper.dataVersion
    return BrokerRegistration(
        DataVersion(
            version.counter, version.stateVersion, now_ms if version.timestamp is None else version.timestamp
        ),
        wrapper.topicConfigTable,
        mappings,
        list(typed.filterServerList),
    )


def encode_registration(
    data_version: DataVersion,
    configs: Mapping[str, Mapping[str, object]],
    filter_servers: list[str] | None = None,
) -> bytes:
    """Encode the JSON form of a 5.x broker. `configs` are complete TopicConfig objects by topic."""
    return fastjson.encode_json(
        {
            "filterServerList": filter_servers or [],
            "topicConfigSerializeWrapper": {
                "dataVersion": data_version.to_json(),
                "mappingDataVersion": DataVersion().to_json(),
                "topicConfigTable": configs,
                "topicQueueMappingDetailMap": {},
                "topicQueueMappingInfoMap": {},
            },
        }
    )


def encode_compressed_registration(
    data_version: DataVersion, configs: Mapping[str, Mapping[str, object]]
) -> bytes:
    """Encode the compressed form for version 5.0.0 and later, without filter servers and mappings."""
    parts = [fastjson.encode_json(data_version.to_json()), *(_encode_topic_line(c) for c in configs.values())]

    def frame_parts() -> Iterator[bytes]:
        for part_index, part in enumerate(parts):
            yield len(part).to_bytes(4, "big") + part
            if part_index == 0:
                yield len(configs).to_bytes(4, "big")
        yield b"\x00\x00\x00\x02[]" + bytes(4)

    return zlib.compress(b"".join(frame_parts()))


def _encode_topic_line(config: Mapping[str, object]) -> bytes:
    names = ("topicName", "readQueueNums", "writeQueueNums", "perm", "topicFilterType")
    attributes = fastjson.encode_json(config.get("attributes") or {}).decode()
    return " ".join([*(str(config[name]) for name in names), attributes]).encode()
