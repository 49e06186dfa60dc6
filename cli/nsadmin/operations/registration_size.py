"""Size of a broker's registration, compared with the largest frame that a name server accepts. Pure.

A name server closes the connection on a larger frame, and the broker disappears with all its topics.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol import fastjson, header_json, headers
from namesrv_core.protocol.codes import V5_0_0, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.frame import MAX_FRAME_BYTES
from nsadmin.client.brokers.registrations import BrokerRegistrant, WireFields

WIDEST_NUMBER = 2**31 - 1
"""The widest opaque and checksum: their real values are unknown before the frame is sent."""

_FRESH_DATA_VERSION = {"counter": 0, "stateVersion": 0, "timestamp": 10**12}
"""The DataVersion of the queue mappings. Brokers set its time in ms at each registration: 13 digits."""
_PREFIX_BYTES = 8
"""Bytes before the header: the length of the frame and the length of the header."""


class TopicSize(NamedTuple):
    """The bytes that a topic adds to the body before compression."""

    topic: str
    size_bytes: int


class RegistrationSize(NamedTuple):
    """The frames of one whole registration: one frame, or several with splitRegistration.

    `header_bytes` is the longest possible header, without an ACL signature. `inflated_bytes` is the size of
    all bodies before compression. `topic_sizes` begin with the largest. `room_for_topics` is the number of
    further topics of average size that fit: negative if there are too many already, None without a limit.
    """

    header_bytes: int
    body_bytes: tuple[int, ...]
    inflated_bytes: int
    topic_sizes: tuple[TopicSize, ...]
    room_for_topics: int | None

    @property
    def frame_bytes(self) -> int:
        """Bytes of the largest frame, with the longest header."""
        return _PREFIX_BYTES + self.header_bytes + max(self.body_bytes)

    @property
    def frame_share(self) -> float:
        """`frame_bytes` as a fraction of the largest accepted frame; above 1 the broker cannot register."""
        return self.frame_bytes / MAX_FRAME_BYTES


def measure_registration(broker: BrokerRegistrant) -> RegistrationSize:
    """The size of the broker's current registration."""
    encode_topic = _encode_text_topic if broker.is_compressed else _encode_json_topic
    encoded = {
        topic: encode_topic(broker, topic, config) for topic, config in _registered_configs(broker).items()
    }
    measure_body = _measure_compressed if broker.is_compressed else _measure_json
    body_sizes = [
        measure_body(broker, part, mappings)
        for part, mappings in _split_topics(broker, list(encoded.values()))
    ]
    sent_sizes = tuple(size for _, size in body_sizes)
    header_bytes = len(encode_header(broker))
    topic_sizes = sorted(
        (TopicSize(topic, len(encoded_topic)) for topic, encoded_topic in encoded.items()),
        key=lambda topic_size: (-topic_size.size_bytes, topic_size.topic),
    )
    inflated_bytes = sum(size for size, _ in body_sizes)
    return RegistrationSize(
        header_bytes,
        sent_sizes,
        inflated_bytes,
        tuple(topic_sizes),
        _room_for_topics(broker, topic_sizes, _PREFIX_BYTES + header_bytes + max(sent_sizes)),
    )


def _room_for_topics(
    broker: BrokerRegistrant, topic_sizes: Sequence[TopicSize], taken_bytes: int
) -> int | None:
    if broker.split_size is not None or not topic_sizes:
        return None
    total_bytes = taken_bytes if broker.is_compressed else sum(size.size_bytes for size in topic_sizes)
    return (MAX_FRAME_BYTES - taken_bytes) * len(topic_sizes) // total_bytes


def encode_header(
    broker: BrokerRegistrant, body_crc32: int = WIDEST_NUMBER, opaque: int = WIDEST_NUMBER
) -> bytes:
    """The frame's header as the broker writes it."""
    header_fields = headers.RegisterBroker(
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
    ext_fields = headers.write_header(header_fields)
    return header_json.encode(
        RemotingCommand(RequestCode.REGISTER_BROKER, ext_fields, opaque=opaque, version=broker.version)
    )


def _split_topics(
    broker: BrokerRegistrant, encoded: Sequence[bytes]
) -> Iterator[tuple[Sequence[bytes], Mapping[str, WireFields]]]:
    """The topics and mappings of each frame, in sending order; the last frame carries the static topics."""
    topics_per_frame = broker.split_size or len(encoded) + 1
    full_frames_end = len(encoded) // topics_per_frame * topics_per_frame
    for part_start in range(0, full_frames_end, topics_per_frame):
        yield encoded[part_start : part_start + topics_per_frame], {}
    yield encoded[full_frames_end:], broker.mappings


def _measure_json(
    broker: BrokerRegistrant, encoded: Sequence[bytes], mappings: Mapping[str, WireFields]
) -> tuple[int, int]:
    """The size of a RegisterBrokerBody as JSON, twice: it is not compressed."""
    topic_wrapper: dict[str, object] = {"dataVersion": broker.data_version, "topicConfigTable": {}}
    if broker.version >= V5_0_0:
        topic_wrapper |= {
            "mappingDataVersion": _FRESH_DATA_VERSION,
            "topicQueueMappingDetailMap": {},
            "topicQueueMappingInfoMap": mappings,
        }
    empty_body = fastjson.encode_json({"filterServerList": [], "topicConfigSerializeWrapper": topic_wrapper})
    body_bytes = len(empty_body) + sum(map(len, encoded)) - bool(encoded)
    return body_bytes, body_bytes


def _encode_json_topic(broker: BrokerRegistrant, topic: str, config: WireFields) -> bytes:
    """A topic as a member of a JSON object, with a comma."""
    return fastjson.encode_json(topic) + b":" + fastjson.encode_json(config) + b","


def _measure_compressed(
    broker: BrokerRegistrant, encoded: Sequence[bytes], mappings: Mapping[str, WireFields]
) -> tuple[int, int]:
    """The size of the compressed form (`RegisterBrokerBody#encode`): before and after compression.

    A broker writes topics in the order of a hash table. The order does not change the size before
    compression; the compressed size differs by up to 2 %.
    """
    body_parts = [
        _prefix_length(fastjson.encode_json(broker.data_version)),
        len(encoded).to_bytes(4, "big"),
        *encoded,
        _prefix_length(b"[]"),
    ]
    if broker.version >= V5_0_0:
        body_parts.append(len(mappings).to_bytes(4, "big"))
        body_parts += [_prefix_length(fastjson.encode_json(info)) for info in mappings.values()]
    body_text = b"".join(body_parts)
    return len(body_text), len(zlib.compress(body_text, zlib.Z_BEST_COMPRESSION))


def _encode_text_topic(broker: BrokerRegistrant, topic: str, config: WireFields) -> bytes:
    """A topic as `TopicConfig#encode` writes it; only 5.x has attributes."""
    field_names = ("topicName", "readQueueNums", "writeQueueNums", "perm", "topicFilterType")
    field_texts = [str(config[topic]) for topic in field_names]
    if broker.version >= V5_0_0:
        field_texts.append(fastjson.encode_json(config.get("attributes") or {}).decode())
    return _prefix_length(" ".join(field_texts).encode())


def _prefix_length(encoded_text: bytes) -> bytes:
    return len(encoded_text).to_bytes(4, "big") + encoded_text


def _registered_configs(broker: BrokerRegistrant) -> Mapping[str, WireFields]:
    """The topic configs as registered: a broker without full permission registers restricted configs."""
    if broker.can_read_and_write:
        return broker.topics
    return {topic: _restrict_config(config, broker) for topic, config in broker.topics.items()}


def _restrict_config(config: WireFields, broker: BrokerRegistrant) -> WireFields:
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
