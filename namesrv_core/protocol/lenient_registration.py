"""The slow decoder of a registration, which reads odd JSON as leniently as 5.5.0 does."""

from collections.abc import Mapping
from typing import Any

from namesrv_core.errors import OverLimit
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.fastjson import to_text
from namesrv_core.protocol.json_bodies import (
    DataVersion,
    MappingInfo,
    parse_data_version,
    parse_mapping_info,
    read_int_member,
    require_object,
)
from namesrv_core.protocol.registration_limits import build_mappings_error, build_topics_error
from namesrv_core.protocol.registration_records import (
    DEFAULT_PERM,
    DEFAULT_QUEUES,
    BrokerRegistration,
    RegisteredTopicConfig,
)
from namesrv_core.protocol.size_limits import DecodeLimits

OBJECTS_PER_ENTRY = 2
"""The number of JSON objects in each topic or mapping of a 5.5.0 broker, including itself."""
_MIN_QUEUE_BYTES = 64
_ENVELOPE_OBJECTS = 8


def decode_odd_json(body_bytes: bytes, decode_limits: DecodeLimits) -> Any:
    """Decode JSON leniently. Raises OverLimit if the body is too long, or seems to have too many entries."""
    if len(body_bytes) > decode_limits.lenient_registration_bytes:
        raise OverLimit("maxOddRegistrationBytes", f"a nonstandard registration of {len(body_bytes)} bytes")
    # Queues of static topics are objects as well, of more than a hundred bytes each.
    object_count = body_bytes.count(b"{") - len(body_bytes) // _MIN_QUEUE_BYTES
    if (
        object_count
        > OBJECTS_PER_ENTRY * (decode_limits.registration_topics + decode_limits.registration_mappings)
        + _ENVELOPE_OBJECTS
    ):
        raise build_topics_error(f"about {object_count // OBJECTS_PER_ENTRY}")
    return fastjson.decode_json(body_bytes, max_depth=decode_limits.json_depth)


def read_lenient_body(json_value: Any, now_ms: int, decode_limits: DecodeLimits) -> BrokerRegistration:
    """Read a decoded JSON body. `now_ms` dates a data version without a time."""
    json_fields = require_object(json_value)
    return BrokerRegistration(
        *_read_wrapper(json_fields.get("topicConfigSerializeWrapper", {}), now_ms, decode_limits),
        read_filter_servers(json_fields.get("filterServerList", [])),
    )


def read_bare_wrapper(json_value: Any, now_ms: int, decode_limits: DecodeLimits) -> BrokerRegistration:
    """Read the whole body of a broker before 3.0.11. Queue mappings are an unknown member in it."""
    if isinstance(json_value, dict):
        json_value = {**json_value, "topicQueueMappingInfoMap": {}}
    return BrokerRegistration(*_read_wrapper(json_value, now_ms, decode_limits), None)


def _read_wrapper(
    json_value: Any, now_ms: int, decode_limits: DecodeLimits
) -> tuple[DataVersion | None, dict[str, RegisteredTopicConfig] | None, dict[str, MappingInfo | None]]:
    """Read the part with the tables. A null topic table is not an empty one: it deletes no topics."""
    json_fields = _object_or_none(json_value)
    if json_fields is None:
        return parse_data_version({}, now_ms), None, {}
    topic_table = _object_or_none(json_fields.get("topicConfigTable", {}))
    mapping_table = _object_or_none(json_fields.get("topicQueueMappingInfoMap")) or {}
    if topic_table is not None and len(topic_table) > decode_limits.registration_topics:
        raise build_topics_error(len(topic_table))
    if len(mapping_table) > decode_limits.registration_mappings:
        raise build_mappings_error(len(mapping_table))
    return (
        parse_data_version(json_fields.get("dataVersion", {}), now_ms),
        None
        if topic_table is None
        else {
            topic: _read_topic_config(require_object(config_value))
            for topic, config_value in topic_table.items()
        },
        {topic: parse_mapping_info(mapping_value) for topic, mapping_value in mapping_table.items()},
    )


def _object_or_none(json_value: Any) -> dict[str, Any] | None:
    return None if json_value is None or json_value == "" else require_object(json_value)


def _read_topic_config(config_fields: Mapping[str, Any]) -> RegisteredTopicConfig:
    return RegisteredTopicConfig(
        to_text(config_fields.get("topicName")),
        read_int_member(config_fields, "readQueueNums", DEFAULT_QUEUES),
        read_int_member(config_fields, "writeQueueNums", DEFAULT_QUEUES),
        read_int_member(config_fields, "perm", DEFAULT_PERM),
        read_int_member(config_fields, "topicSysFlag", 0),
    )


def read_filter_servers(json_value: Any) -> list[str | None] | None:
    """Read the list of filter servers. None means: keep the known ones."""
    if isinstance(json_value, str):
        return [json_value] if json_value else []
    return [to_text(server_value) for server_value in json_value] if isinstance(json_value, list) else None
