"""RegistrationSize: how many bytes a broker's registration takes of the largest frame that is understood.

A name server closes the connection on a larger one, and the broker is gone with all its topics. Pure.
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
"""Stands for an opaque and a checksum that nobody knows before the frame is sent."""

_FRESH = {"counter": 0, "stateVersion": 0, "timestamp": 10**12}
"""A DataVersion of now, as which each registration has that of the queue mappings: 13 digits of ms."""
_PREFIX = 8
"""Bytes before the header: the length of the frame and that of the header."""


class TopicSize(NamedTuple):
    """What a topic adds to the body before any compression, in bytes."""

    topic: str
    bytes: int


class Size(NamedTuple):
    """The frames of one whole registration, in bytes: one, or with splitRegistration several.

    `header` is the longest that the frame's header can be; a signature (ACL) comes on top of it. `inflated`
    is all bodies before compression. `topics` begin with the largest. `fits` is how many more topics of the
    average size there is room for, below 0 where there are too many already; None where nothing limits them.
    """

    header: int
    bodies: tuple[int, ...]
    inflated: int
    topics: tuple[TopicSize, ...]
    fits: int | None

    @property
    def bytes(self) -> int:
        """The largest frame at its longest."""
        return _PREFIX + self.header + max(self.bodies)

    @property
    def share(self) -> float:
        """The part of the largest frame that is understood; above 1 the broker cannot register."""
        return self.bytes / MAX_FRAME


def measure(broker: Registrant) -> Size:
    """The size of what the broker registers now."""
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
        # Brokers of 5.x compress and do not say so.
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
    """What goes into each frame, in the order they are sent; the last one carries the static topics."""
    step = broker.split_size or len(topics) + 1
    full = len(topics) // step * step
    for start in range(0, full, step):
        yield topics[start : start + step], {}
    yield topics[full:], broker.mappings


def _json(broker: Registrant, topics: Sequence[bytes], mappings: Mapping[str, Fields]) -> tuple[int, int]:
    """The size of a RegisterBrokerBody as JSON, and once more."""
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
    """A topic in a JSON object, with a comma."""
    return fastjson.dumps(name) + b":" + fastjson.dumps(config) + b","


def _compressed(
    broker: Registrant, topics: Sequence[bytes], mappings: Mapping[str, Fields]
) -> tuple[int, int]:
    """The size of the form that is compressed (`RegisterBrokerBody#encode`): before, and as it is sent.

    A broker's own order of topics is that of a hash table of this moment: before, both have the same size;
    what is sent differs by up to two bytes in a hundred.
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
    """`TopicConfig#encode`: attributes are of 5.x."""
    names = ("topicName", "readQueueNums", "writeQueueNums", "perm", "topicFilterType")
    words = [str(config[name]) for name in names]
    if broker.version >= V5_0_0:
        words.append(fastjson.dumps(config.get("attributes") or {}).decode())
    return _counted(" ".join(words).encode())


def _counted(text: bytes) -> bytes:
    return len(text).to_bytes(4, "big") + text


def _registered(broker: Registrant) -> Mapping[str, Fields]:
    """The topics as they are registered: a broker that may not read or write everything says so."""
    if broker.may_read_and_write:
        return broker.topics
    return {name: _restricted(config, broker) for name, config in broker.topics.items()}


def _restricted(config: Fields, broker: Registrant) -> Fields:
    """A new config of the queues and the permission, which 4.x brokers replace by their own."""
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
