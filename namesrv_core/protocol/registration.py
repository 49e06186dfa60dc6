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
from namesrv_core.protocol.bodies import (
    DataVersion,
    MappingInfo,
    as_object,
    data_version,
    mapping_info,
    member,
)
from namesrv_core.protocol.codes import V3_0_11, V5_0_0
from namesrv_core.protocol.fastjson import to_text
from namesrv_core.protocol.headers import integer
from namesrv_core.protocol.limits import NONE, Limits
from namesrv_core.protocol.registration_parts import Parts, inflated

_Int = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
_Long = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

_ZLIB = 0x78
_LEAST_TOPIC = len('"a":{"topicName":"a"},')
_QUEUES = 16
_PERM = 6
_TOPICS_AT_ONCE = 256


class TopicConfig(msgspec.Struct, frozen=True, gc=False):
    """The members of a TopicConfig that a name server stores. Absent numbers have defaults, null is 0."""

    topicName: str | None = None
    readQueueNums: _Int = _QUEUES
    writeQueueNums: _Int = _QUEUES
    perm: _Int = _PERM
    topicSysFlag: _Int = 0


class Registration(NamedTuple):
    """The body of a registration.

    `topic_configs` has the keys of the body. The name server uses them only to find missing topics: the
    topic's name is in its config. None for `topic_configs` or `queue_mappings` means an absent table. None
    for `filter_servers` means: keep the known ones. A mapping is None if it was null.
    """

    version: DataVersion | None
    topics: Mapping[str, TopicConfig] | None
    mappings: Mapping[str, MappingInfo | None]
    filters: list[str | None] | None


class _Version(msgspec.Struct):
    counter: _Long = 0
    stateVersion: _Long = 0
    timestamp: _Long | None = None


class _Wrapper(msgspec.Struct):
    dataVersion: _Version = msgspec.field(default_factory=_Version)
    topicConfigTable: dict[str, TopicConfig] = {}
    topicQueueMappingInfoMap: dict[str, Any] = {}


class TypedBody(msgspec.Struct):
    """A JSON body: the result of `decode_typed_json` and the argument of `convert_typed_json`."""

    topicConfigSerializeWrapper: _Wrapper
    filterServerList: list[str] = []


class _WrapperOutline(msgspec.Struct):
    dataVersion: _Version = msgspec.field(default_factory=_Version)
    topicConfigTable: msgspec.Raw = msgspec.Raw(b"{}")
    topicQueueMappingInfoMap: msgspec.Raw = msgspec.Raw(b"{}")


class _Outline(msgspec.Struct):
    """A body whose tables are still text, so that far too many entries are refused before decoding."""

    topicConfigSerializeWrapper: _WrapperOutline
    filterServerList: list[str] = []


_decoder = msgspec.json.Decoder(TypedBody)
_outlines = msgspec.json.Decoder(_Outline)
_topics_decoder = msgspec.json.Decoder(dict[str, TopicConfig])
_mappings_decoder = msgspec.json.Decoder(dict[str, Any])
_MEMBERS = 2
"""The number of JSON objects in each topic or mapping of a 5.5.0 broker, including itself."""
_LEAST_QUEUE = 64
_AROUND = 8

Steps = Generator[None, None, Registration]
"""A decoder that pauses between steps of less than a millisecond and returns the registration."""


def decode(body: bytes, *, version: int, compressed: bool, now: int, within: Limits = NONE) -> Registration:
    """Decode the body of a broker of the version `version`. `now` (ms) dates a data version without a time.

    Raises ValueError where 5.5.0 answers "Failed to decode RegisterBrokerBody", and OverLimit for a body that
    exceeds the limits.
    """
    return checked(_decode(body, version, compressed, now, within), within)


def checked(found: Registration, within: Limits) -> Registration:
    """Return the registration. Raises OverLimit if it exceeds the limits."""
    if len(found.mappings) > within.registration_mappings:
        raise _too_many_mappings(len(found.mappings))
    if found.topics is not None and len(found.topics) > within.registration_topics:
        raise _too_many(len(found.topics))
    if found.filters is not None and len(found.filters) > within.registration_filters:
        raise OverLimit(
            "maxFilterServersPerRegistration", f"a registration of {len(found.filters)} filter servers"
        )
    return found


def is_compressed(body: bytes, version: int, compressed: bool) -> bool:
    """Whether a body that is not empty is compressed. 5.x brokers compress without the header's flag."""
    # Source: BrokerOuterAPI.registerBrokerAll.
    return version >= V3_0_11 and (compressed or body[0] == _ZLIB)


def is_counted(body: bytes, within: Limits) -> bool:
    """Whether a JSON body is so long that its entries have to be counted before decoding."""
    return len(body) > _LEAST_TOPIC * within.registration_topics


def _too_many(topics: int | str) -> OverLimit:
    return OverLimit("maxTopicsPerRegistration", f"a registration of {topics} topics")


def _too_many_mappings(mappings: int | str) -> OverLimit:
    return OverLimit("maxMappingsPerRegistration", f"a registration of {mappings} queue mappings")


def _decode(body: bytes, version: int, compressed: bool, now: int, within: Limits) -> Registration:
    if not body:
        return Registration(DataVersion(), {}, {}, [] if version >= V3_0_11 else None)
    if is_compressed(body, version, compressed):
        return _at_once(compressed_steps(body, version, now, within))
    if version >= V3_0_11:
        try:
            if not body.isascii():
                # The typed decoder does not check the UTF-8 of members that it skips.
                body.decode()
            return typed(whole(body, within), now, within)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return _lenient_body(_loads(body, within), now, within)
    return Registration(*_lenient_wrapper(_loads(body, within), now, within), None)


def whole(body: bytes, within: Limits) -> TypedBody:
    """Decode a JSON body. Raises OverLimit for too many entries, msgspec.DecodeError for odd or no JSON."""
    if not is_counted(body, within):
        return _decoder.decode(body)
    outline = _outlines.decode(body)
    found = outline.topicConfigSerializeWrapper
    topics = max(_at_least(found.topicConfigTable), bytes(found.topicConfigTable).count(b'"topicName"'))
    if topics > within.registration_topics:
        raise _too_many(f"at least {topics}")
    mappings = _at_least(found.topicQueueMappingInfoMap)
    if mappings > within.registration_mappings:
        raise _too_many_mappings(f"at least {mappings}")
    # Decode the counted texts, and not the body again: the body may contain a table twice.
    wrapper = _Wrapper(
        found.dataVersion,
        _topics_decoder.decode(found.topicConfigTable),
        _mappings_decoder.decode(found.topicQueueMappingInfoMap),
    )
    return TypedBody(wrapper, outline.filterServerList)


def _at_least(table: msgspec.Raw) -> int:
    """The least number of entries: entries of real brokers have `_OBJECTS_PER_ENTRY` objects each."""
    return bytes(table).count(b"{") // _MEMBERS


def _at_once(steps: Steps) -> Registration:
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            found: Registration = ended.value
            return found


def _loads(body: bytes, within: Limits) -> Any:
    if len(body) > within.odd_bytes:
        raise OverLimit("maxOddRegistrationBytes", f"an odd registration of {len(body)} bytes")
    # Queues of static topics are objects as well, of more than a hundred bytes each.
    objects = body.count(b"{") - len(body) // _LEAST_QUEUE
    if objects > _MEMBERS * (within.registration_topics + within.registration_mappings) + _AROUND:
        raise _too_many(f"about {objects // _MEMBERS}")
    return fastjson.loads(body, depth=within.json_depth)


def typed(body: TypedBody, now: int, within: Limits = NONE) -> Registration:
    """Convert a typed body to a registration. `now_ms` dates a data version without a time.

    Raises OverLimit for too many mappings, and ValueError for an invalid mapping.
    """
    wrapper = body.topicConfigSerializeWrapper
    if len(wrapper.topicQueueMappingInfoMap) > within.registration_mappings:
        raise _too_many_mappings(len(wrapper.topicQueueMappingInfoMap))
    version = wrapper.dataVersion
    return Registration(
        DataVersion(
            version.counter, version.stateVersion, now if version.timestamp is None else version.timestamp
        ),
        wrapper.topicConfigTable,
        {name: mapping_info(info) for name, info in wrapper.topicQueueMappingInfoMap.items()},
        list(body.filterServerList),
    )


def _lenient_body(value: Any, now: int, within: Limits) -> Registration:
    fields = as_object(value)
    return Registration(
        *_lenient_wrapper(fields.get("topicConfigSerializeWrapper"), now, within),
        _filters(fields.get("filterServerList", [])),
    )


def _lenient_wrapper(
    value: Any, now: int, within: Limits
) -> tuple[DataVersion | None, dict[str, TopicConfig] | None, dict[str, MappingInfo | None]]:
    fields = _object_or_nothing(value)
    table = _object_or_nothing(fields.get("topicConfigTable"))
    infos = _object_or_nothing(fields.get("topicQueueMappingInfoMap"))
    if len(table) > within.registration_topics:
        raise _too_many(len(table))
    if len(infos) > within.registration_mappings:
        raise _too_many_mappings(len(infos))
    return (
        data_version(fields.get("dataVersion", {}), now),
        {name: _topic_config(as_object(config)) for name, config in table.items()},
        {name: mapping_info(info) for name, info in infos.items()},
    )


def _object_or_nothing(value: Any) -> dict[str, Any]:
    return {} if value is None or value == "" else as_object(value)


def _topic_config(fields: Mapping[str, Any]) -> TopicConfig:
    return TopicConfig(
        to_text(fields.get("topicName")),
        member(fields, "readQueueNums", _QUEUES),
        member(fields, "writeQueueNums", _QUEUES),
        member(fields, "perm", _PERM),
        member(fields, "topicSysFlag", 0),
    )


def _filters(value: Any) -> list[str | None] | None:
    if isinstance(value, str):
        return [value] if value else []
    return [to_text(item) for item in value] if isinstance(value, list) else None


def compressed_steps(body: bytes, version: int, now: int, within: Limits) -> Steps:
    """Decode length-prefixed parts: data version, a text per topic, filter list, mappings (from 5.0.0 on)."""
    try:
        parts = Parts((yield from inflated(body, within.registration_bytes)), within)
        registered = data_version(parts.json(), now)
        topics: dict[str, TopicConfig] = {}
        # A broker with many topics has only a handful of different settings, so parse each text once.
        alike: dict[bytes, tuple[int, int, int]] = {}
        count = parts.count()
        if count > within.registration_topics:
            raise _too_many(count)
        for number in range(count):
            if number % _TOPICS_AT_ONCE == 0:
                yield
            name, space, rest = parts.text().partition(b" ")
            numbers = alike.get(rest)
            if numbers is None:
                numbers = alike[rest] = _topic_numbers(name + space + rest)
            topic = name.decode("utf-8", "replace")
            topics[topic] = TopicConfig(topic, *numbers)
        filters = _filter_list(parts)
        mappings: dict[str, MappingInfo | None] = {}
        if version >= V5_0_0:
            count = parts.count()
            if count > within.registration_mappings:
                raise _too_many_mappings(count)
            for _ in range(count):
                info = mapping_info(parts.json())
                if info is None:
                    raise ValueError("a queue mapping is null")
                mappings[info.topic or ""] = info
    except (zlib.error, IndexError) as error:
        raise ValueError(f"cut or corrupt: {error}") from None
    return Registration(registered, topics, mappings, filters)


def _topic_numbers(line: bytes) -> tuple[int, int, int]:
    """The numbers in `name read write perm filterType [attributes]`: read queues, write queues, perm."""
    text = line.decode("utf-8", "replace")
    fields = text.split(" ", 5)
    if len(fields) < 5 or fields[4] not in ("SINGLE_TAG", "MULTI_TAG"):
        raise ValueError(f"no topic config: {text!r}")
    read, write, perm = (integer(number, 32) for number in fields[1:4])
    if read is None or write is None or perm is None:
        raise ValueError(f"no topic config: {text!r}")
    return read, write, perm


def _filter_list(parts: Parts) -> list[str | None] | None:
    try:
        return _filters(parts.json()) or []
    except ValueError:
        return []


def encode(
    version: DataVersion, topics: Mapping[str, Mapping[str, object]], filters: list[str] | None = None
) -> bytes:
    """Encode the JSON form of a 5.x broker. `topic_configs` are complete TopicConfig objects by topic."""
    return fastjson.dumps(
        {
            "filterServerList": filters or [],
            "topicConfigSerializeWrapper": {
                "dataVersion": version.to_json(),
                "mappingDataVersion": DataVersion().to_json(),
                "topicConfigTable": topics,
                "topicQueueMappingDetailMap": {},
                "topicQueueMappingInfoMap": {},
            },
        }
    )


def encode_compressed(version: DataVersion, topics: Mapping[str, Mapping[str, object]]) -> bytes:
    """Encode the compressed form for version 5.0.0 and later, without filter servers and mappings."""
    parts = [fastjson.dumps(version.to_json()), *(_topic_line(config) for config in topics.values())]

    def framed() -> Iterator[bytes]:
        for position, part in enumerate(parts):
            yield len(part).to_bytes(4, "big") + part
            if position == 0:
                yield len(topics).to_bytes(4, "big")
        yield b"\x00\x00\x00\x02[]" + bytes(4)

    return zlib.compress(b"".join(framed()))


def _topic_line(config: Mapping[str, object]) -> bytes:
    names = ("topicName", "readQueueNums", "writeQueueNums", "perm", "topicFilterType")
    attributes = fastjson.dumps(config.get("attributes") or {}).decode()
    return " ".join([*(str(config[name]) for name in names), attributes]).encode()
