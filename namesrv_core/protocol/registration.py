"""The body of REGISTER_BROKER, in its three forms: JSON, the bare wrapper of old brokers, and compressed.

What brokers really send is decoded by a typed decoder at once; whatever that refuses is read again as
leniently as 5.5.0 reads it, and only then refused.
"""

import zlib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NamedTuple

import msgspec

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

_Int = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
_Long = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

_ZLIB = 0x78
# Half a million topics; as JSON, a frame of 16 MiB holds a sixth of them.
_MAX_INFLATED = 64 * 1024 * 1024
_QUEUES = 16
_PERM = 6


class TopicConfig(msgspec.Struct, frozen=True, gc=False):
    """What a name server keeps of a TopicConfig. Absent numbers have these defaults, null ones are 0."""

    topicName: str | None = None
    readQueueNums: _Int = _QUEUES
    writeQueueNums: _Int = _QUEUES
    perm: _Int = _PERM
    topicSysFlag: _Int = 0


class Registration(NamedTuple):
    """What a broker registers, beside who it is.

    `topics` is keyed as the body is, which the name server looks at only to see what is missing; the topic's
    name is in the config. None for `topics` or `mappings` is an absent table, None for `filters` says to
    keep what is known. A mapping may be None: it was null.
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


class _Body(msgspec.Struct):
    topicConfigSerializeWrapper: _Wrapper
    filterServerList: list[str] = []


_decoder = msgspec.json.Decoder(_Body)


def decode(body: bytes, *, version: int, compressed: bool, now: int) -> Registration:
    """The registration in `body`, sent by a broker of the version `version`; `now` in ms.

    Raises ValueError where 5.5.0 answers "Failed to decode RegisterBrokerBody".
    """
    if not body:
        return Registration(DataVersion(), {}, {}, [] if version >= V3_0_11 else None)
    if version >= V3_0_11:
        # 5.x brokers compress and do not say so (BrokerOuterAPI.registerBrokerAll).
        if compressed or body[0] == _ZLIB:
            return _decode_compressed(body, version, now)
        try:
            if not body.isascii():
                # The typed decoder passes over unknown members without a look at their text.
                body.decode()
            return _typed(_decoder.decode(body), now)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return _lenient_body(fastjson.loads(body), now)
    return Registration(*_lenient_wrapper(fastjson.loads(body), now), None)


def _typed(body: _Body, now: int) -> Registration:
    wrapper = body.topicConfigSerializeWrapper
    version = wrapper.dataVersion
    return Registration(
        DataVersion(
            version.counter, version.stateVersion, now if version.timestamp is None else version.timestamp
        ),
        wrapper.topicConfigTable,
        {name: mapping_info(info) for name, info in wrapper.topicQueueMappingInfoMap.items()},
        list(body.filterServerList),
    )


def _lenient_body(value: Any, now: int) -> Registration:
    fields = as_object(value)
    return Registration(
        *_lenient_wrapper(fields.get("topicConfigSerializeWrapper"), now),
        _filters(fields.get("filterServerList", [])),
    )


def _lenient_wrapper(
    value: Any, now: int
) -> tuple[DataVersion | None, dict[str, TopicConfig] | None, dict[str, MappingInfo | None]]:
    fields = _object_or_nothing(value)
    table = _object_or_nothing(fields.get("topicConfigTable"))
    infos = _object_or_nothing(fields.get("topicQueueMappingInfoMap"))
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


def _decode_compressed(body: bytes, version: int, now: int) -> Registration:
    """Length-prefixed parts: data version, a text for each topic, filter list, mappings (from 5.0.0 on)."""
    try:
        parts = _Parts(_inflated(body))
        registered = data_version(fastjson.loads(parts.text()), now)
        topics = {}
        for _ in range(parts.count()):
            config = _topic_text(parts.text().decode("utf-8", "replace"))
            topics[config.topicName or ""] = config
        filters = _filter_text(parts.text())
        mappings: dict[str, MappingInfo | None] = {}
        if version >= V5_0_0:
            for _ in range(parts.count()):
                info = mapping_info(fastjson.loads(parts.text()))
                if info is None:
                    raise ValueError("a queue mapping is null")
                mappings[info.topic or ""] = info
    except (zlib.error, IndexError) as error:
        raise ValueError(f"cut or corrupt: {error}") from None
    return Registration(registered, topics, mappings, filters)


def _inflated(body: bytes) -> bytes:
    """ValueError for what would take more memory than any registration does."""
    inflater = zlib.decompressobj()
    text = inflater.decompress(body, _MAX_INFLATED)
    if inflater.unconsumed_tail:
        raise ValueError(f"longer than {_MAX_INFLATED} bytes when inflated")
    if not inflater.eof:
        raise ValueError("cut")
    return text


def _topic_text(text: str) -> TopicConfig:
    """`name read write perm filterType [attributes]`."""
    fields = text.split(" ")
    if len(fields) < 5 or fields[4] not in ("SINGLE_TAG", "MULTI_TAG"):
        raise ValueError(f"no topic config: {text!r}")
    read, write, perm = (integer(number, 32) for number in fields[1:4])
    if read is None or write is None or perm is None:
        raise ValueError(f"no topic config: {text!r}")
    return TopicConfig(fields[0], read, write, perm)


def _filter_text(text: bytes) -> list[str | None] | None:
    try:
        return _filters(fastjson.loads(text)) or []
    except ValueError:
        return []


class _Parts:
    """Reads length-prefixed parts one after the other; IndexError at the end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def _take(self, size: int) -> bytes:
        end = self._position + size
        if size < 0 or end > len(self._data):
            raise IndexError("a part is longer than what is there")
        taken = self._data[self._position : end]
        self._position = end
        return taken

    def count(self) -> int:
        return int.from_bytes(self._take(4), "big", signed=True)

    def text(self) -> bytes:
        return self._take(self.count())


def encode(
    version: DataVersion, topics: Mapping[str, Mapping[str, object]], filters: list[str] | None = None
) -> bytes:
    """The JSON form, as a 5.x broker sends it; `topics` are whole TopicConfig objects by name."""
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
    """The compressed form, as version 5.0.0 and later reads it, without filters and mappings."""
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
