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


def decode_odd_json(body_bytes: bytes, limits: DecodeLimits) -> Any:
    """Decode JSON leniently. Raises OverLimit if the body is too long, or seems to have too many entries."""
    if len(body_bytes) > limits.lenient_registration_bytes:
        raise OverLimit("maxOddRegistrationBytes", f"a nonstandard registration of {len(body_bytes)} bytes")
    # Queues of static topics are objects as well, of more than a hundred bytes each.
    objects = body_bytes.count(b"{") - len(body_bytes) // _MIN_QUEUE_BYTES
    if (
        objects
        > OBJECTS_PER_ENTRY * (limits.registration_topics + limits.registration_mappings) + _ENVELOPE_OBJECTS
    ):
        raise build_topics_error(f"about {objects // OBJECTS_PER_ENTRY}")
    return fastjson.decode_json(body_bytes, max_depth=limits.json_depth)


def read_lenient_body(value: Any, now_ms: int, limits: DecodeLimits) -> BrokerRegistration:
    """Read a decoded JSON body. `now_ms` dates a data version without a time."""
    fields = require_object(value)
    return BrokerRegistration(
        *_read_wrapper(fields.get("topicConfigSerializeWrapper", {}), now_ms, limits),
        read_filter_servers(fields.get("filterServerList", [])),
    )


def read_bare_wrapper(value: Any, now_ms: int, limits: DecodeLimits) -> BrokerRegistration:
    """Read the whole body of a broker before 3.0.11. Queue mappings are an unknown member in it."""
    if isinstance(value, dict):
        value = {**value, "topicQueueMappingInfoMap": {}}
    return BrokerRegistration(*_read_wrapper(value, now_ms, limits), None)


def _read_wrapper(
    value: Any, now_ms: int, limits: DecodeLimits
) -> tuple[DataVersion | None, dict[str, RegisteredTopicConfig] | None, dict[str, MappingInfo | None]]:
    """Read the part with the tables. A null topic table is not an empty one: it deletes no topics."""
    fields = _object_or_none(value)
    if fields is None:
        return parse_data_version({}, now_ms), None, {}
    table = _object_or_none(fields.get("topicConfigTable", {}))
    mappings = _object_or_none(fields.get("topicQueueMappingInfoMap")) or {}
    if table is not None and len(table) > limits.registration_topics:
        raise build_topics_error(len(table))
    if len(mappings) > limits.registration_mappings:
        raise build_mappings_error(len(mappings))
    return (
        parse_data_version(fields.get("dataVersion", {}), now_ms),
        None if table is None else {t: _read_topic_config(require_object(v)) for t, v in table.items()},
        {topic: parse_mapping_info(value) for topic, value in mappings.items()},
    )


def _object_or_none(value: Any) -> dict[str, Any] | None:
    return None if value is None or value == "" else require_object(value)


def _read_topic_config(fields: Mapping[str, Any]) -> RegisteredTopicConfig:
    return RegisteredTopicConfig(
        to_text(fields.get("topicName")),
        read_int_member(fields, "readQueueNums", DEFAULT_QUEUES),
        read_int_member(fields, "writeQueueNums", DEFAULT_QUEUES),
        read_int_member(fields, "perm", DEFAULT_PERM),
        read_int_member(fields, "topicSysFlag", 0),
    )


def read_filter_servers(value: Any) -> list[str | None] | None:
    """Read the list of filter servers. None means: keep the known ones."""
    if isinstance(value, str):
        return [value] if value else []
    return [to_text(value) for value in value] if isinstance(value, list) else None
