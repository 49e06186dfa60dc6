"""Size of a broker's registration, compared with the largest frame that a name server accepts. Pure.

A name server closes the connection on a larger frame, and the broker disappears with all its topics.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol import fastjson, header_json, headers
from namesrv_core.protocol.codes import V5_0_0, RequestCode
from namesrv_core.protocol.command import Command
from namesrv_core.protocol.frame import MAX_FRAME
from nsadmin.client.registrations import Fields, Registrant

WIDEST = 2**31 - 1
"""The widest opaque and checksum: their real values are unknown before the frame is sent."""

_FRESH = {"counter": 0, "stateVersion": 0, "timestamp": 10**12}
"""The DataVersion of the queue mappings. Brokers set its time in ms at each registration: 13 digits."""
_PREFIX = 8
"""Bytes before the header: the length of the frame and the length of the header."""


class TopicSize(NamedTuple):
    """The bytes that a topic adds to the body before compression."""

    topic: str
    bytes: int


class Size(NamedTuple):
    """The frames of one whole registration: one frame, or several with splitRegistration.

    `header_bytes` is the longest possible header, without an ACL signature. `inflated_bytes` is the size of
    all bodies before compression. `topic_sizes` begin with the largest. `room_for_topics` is the number of
    further topics of average size that fit: negative if there are too many already, None without a limit.
    """

    header: int
    bodies: tuple[int, ...]
    inflated: int
    topics: tuple[TopicSize, ...]
    fits: int | None

    @property
    def bytes(self) -> int:
        """Bytes of the largest frame, with the longest header."""
        return _PREFIX + self.header + max(self.bodies)

    @property
    def share(self) -> float:
        """`frame_bytes` as a fraction of the largest accepted frame; above 1 the broker cannot register."""
        return self.bytes / MAX_FRAME


def measure(broker: Registrant) -> Size:
    """The size of the broker's current registration."""
    written = _compressible if broker.is_compressed else _member
    topics = {name: written(broker, name, config) for name, config in _registered(broker).items()}
    body = _compressed if broker.is_compressed else _json
    bodies = [body(broker, part, mappings) for part, mappings in _parts(broker, list(topics.values()))]
    sent = tuple(size for _, size in bodies)
    head = len(header(broker))
    sizes = sorted((TopicSize(name, len(text)) for name, text in topics.items()), key=_largest_first)
    inflated = sum(size for size, _ in bodies)
    return Size(head, sent, inflated, tuple(sizes), _fits(broker, sizes, _PREFIX + head + max(sent)))


def _largest_first(size: TopicSize) -> tuple[int, str]:
    return -size.bytes, size.topic


def _fits(broker: Registrant, topics: Sequence[TopicSize], taken: int) -> int | None:
    if broker.split_size is not None or not topics:
        return None
    total = taken if broker.is_compressed else sum(size.bytes for size in topics)
    return (MAX_FRAME - taken) * len(topics) // total


def header(broker: Registrant, body_crc32: int = WIDEST, opaque: int = WIDEST) -> bytes:
    """The frame's header as the broker writes it."""
    fields = headers.RegisterBroker(
        broker.broker_name,
        broker.broker_addr,
        broker.cluster_name,
        broker.ha_server_addr,
        broker.broker_id,
        # Brokers of 5.x compress the body without setting this field.
        compressed=broker.is_compressed and broker.version < V5_0_0,
        body_crc32=body_crc32,
        heartbeat_timeout_millis=broker.heartbeat_timeout_millis,
        enable_acting_master=broker.enable_acting_master,
    )
    ext = headers.write(fields)
    return header_json.encode(
        Command(RequestCode.REGISTER_BROKER, ext, opaque=opaque, version=broker.version)
    )


def _parts(
    broker: Registrant, topics: Sequence[bytes]
) -> Iterator[tuple[Sequence[bytes], Mapping[str, Fields]]]:
    """The topics and mappings of each frame, in sending order; the last frame carries the static topics."""
    step = broker.split_size or len(topics) + 1
    full = len(topics) // step * step
    for start in range(0, full, step):
        yield topics[start : start + step], {}
    yield topics[full:], broker.mappings


def _json(broker: Registrant, topics: Sequence[bytes], mappings: Mapping[str, Fields]) -> tuple[int, int]:
    """The size of a RegisterBrokerBody as JSON, twice: it is not compressed."""
    wrapper: dict[str, object] = {"dataVersion": broker.data_version, "topicConfigTable": {}}
    if broker.version >= V5_0_0:
        wrapper |= {
            "mappingDataVersion": _FRESH,
            "topicQueueMappingDetailMap": {},
            "topicQueueMappingInfoMap": mappings,
        }
    body = fastjson.dumps({"filterServerList": [], "topicConfigSerializeWrapper": wrapper})
    size = len(body) + sum(map(len, topics)) - bool(topics)
    return size, size


def _member(broker: Registrant, name: str, config: Fields) -> bytes:
    """A topic as a member of a JSON object, with a comma."""
    return fastjson.dumps(name) + b":" + fastjson.dumps(config) + b","


def _compressed(
    broker: Registrant, topics: Sequence[bytes], mappings: Mapping[str, Fields]
) -> tuple[int, int]:
    """The size of the compressed form (`RegisterBrokerBody#encode`): before and after compression.

    A broker writes topics in the order of a hash table. The order does not change the size before
    compression; the compressed size differs by up to 2 %.
    """
    parts = [
        _counted(fastjson.dumps(broker.data_version)),
        len(topics).to_bytes(4, "big"),
        *topics,
        _counted(b"[]"),
    ]
    if broker.version >= V5_0_0:
        parts.append(len(mappings).to_bytes(4, "big"))
        parts += [_counted(fastjson.dumps(info)) for info in mappings.values()]
    text = b"".join(parts)
    return len(text), len(zlib.compress(text, zlib.Z_BEST_COMPRESSION))


def _compressible(broker: Registrant, name: str, config: Fields) -> bytes:
    """A topic as `TopicConfig#encode` writes it; only 5.x has attributes."""
    names = ("topicName", "readQueueNums", "writeQueueNums", "perm", "topicFilterType")
    words = [str(config[name]) for name in names]
    if broker.version >= V5_0_0:
        words.append(fastjson.dumps(config.get("attributes") or {}).decode())
    return _counted(" ".join(words).encode())


def _counted(text: bytes) -> bytes:
    return len(text).to_bytes(4, "big") + text


def _registered(broker: Registrant) -> Mapping[str, Fields]:
    """The topic configs as registered: a broker without full permission registers restricted configs."""
    if broker.may_read_and_write:
        return broker.topics
    return {name: _restricted(config, broker) for name, config in broker.topics.items()}


def _restricted(config: Fields, broker: Registrant) -> Fields:
    """A new config of only queues and permission; 4.x brokers register the broker's own permission."""
    is_new = broker.version >= V5_0_0
    return {
        **({"attributes": {}} if is_new else {}),
        "order": False,
        "perm": int(config["perm"]) & broker.permission if is_new else broker.permission,
        "readQueueNums": config["readQueueNums"],
        "topicFilterType": "SINGLE_TAG",
        "topicName": config["topicName"],
        "topicSysFlag": 0,
        "writeQueueNums": config["writeQueueNums"],
    }
