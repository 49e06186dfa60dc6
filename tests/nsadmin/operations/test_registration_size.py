"""Sizes of registrations, beside what the protocol's own encoder writes; interop tests have real ones."""

import zlib
from typing import Any

import pytest

from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol import registration_codec
from namesrv_core.protocol.codes import V5_5_0
from namesrv_core.protocol.frame import MAX_FRAME_BYTES
from namesrv_core.protocol.json_bodies import DataVersion
from nsadmin.client.brokers.registrations import BrokerRegistrant
from nsadmin.operations.registration_size import TopicSize, encode_header, measure_registration

V4_9_7 = 407
VERSION = DataVersion(3, 0, 1_700_000_000_000)
TOPICS = {
    name: make_topic_config(name, number, attributes={"message.type": "FIFO"} if number == 2 else None)
    for number, name in enumerate(("a", "topic-b", "%RETRY%c"), 1)
}
MAPPING = {
    "T": {"bname": "b", "currIdMap": {0: 0}, "dirty": False, "epoch": 1, "topic": "T", "totalQueues": 1}
}


def broker(**more: Any) -> BrokerRegistrant:
    fields: dict[str, Any] = {
        "broker_name": "b", "broker_addr": "127.0.0.1:10911", "cluster_name": "c",
        "ha_server_addr": "127.0.0.1:10912", "broker_id": 0, "version": V5_5_0, "permission": 6,
        "is_compressed": False, "split_size": None, "heartbeat_timeout_millis": None,
        "enable_acting_master": False, "namesrv_addrs": (), "has_dynamic_name_servers": False,
        "data_version": VERSION.to_json(), "topics": TOPICS, "mappings": {},
    }  # fmt: skip
    return BrokerRegistrant(**fields | more)


def as_json(topics: Any) -> int:
    """What the encoder makes of it; it has 0 for the time of the mappings' version, and brokers 13 digits."""
    return len(registration_codec.encode_registration(VERSION, topics)) + 12


def test_a_registration_is_counted_to_the_byte() -> None:
    size = measure_registration(broker())
    assert size.body_bytes == (as_json(TOPICS),)
    assert size.frame_bytes == 8 + size.header_bytes + as_json(TOPICS)
    assert size.frame_share == size.frame_bytes / MAX_FRAME_BYTES
    assert measure_registration(broker(topics={})).body_bytes == (as_json({}),)


def test_each_topic_is_what_it_adds_to_two_others() -> None:
    size = measure_registration(broker())
    assert [item.topic for item in size.topic_sizes] == ["topic-b", "%RETRY%c", "a"]
    rest = {name: TOPICS[name] for name in ("a", "%RETRY%c")}
    assert size.topic_sizes[0] == TopicSize("topic-b", as_json(TOPICS) - as_json(rest))


def test_as_many_topics_fit_as_it_says() -> None:
    topics = {f"{number:06}": make_topic_config(f"{number:06}", 8) for number in range(1000)}
    fits = measure_registration(broker(topics=topics)).room_for_topics
    assert fits is not None
    bytes_each = as_json(topics) - as_json(dict(list(topics.items())[1:]))
    for more, is_read in ((fits, True), (fits + 10, False)):
        assert (
            measure_registration(broker(topics=topics)).frame_bytes + more * bytes_each <= MAX_FRAME_BYTES
        ) is is_read


def test_beyond_the_limit_the_rest_is_below_zero() -> None:
    many = {str(number): make_topic_config("x" * 2_000_000, 1) for number in range(9)}
    size = measure_registration(broker(topics=many))
    assert size.frame_share > 1
    assert size.room_for_topics == -1


def test_a_compressed_one() -> None:
    size = measure_registration(broker(is_compressed=True))
    body = registration_codec.encode_compressed_registration(VERSION, TOPICS)
    assert size.inflated_bytes == len(zlib.decompress(body))
    assert size.body_bytes == (len(zlib.compress(zlib.decompress(body), 9)),)
    # What each adds to the text that is compressed is not what it adds to JSON.
    assert sum(item.size_bytes for item in size.topic_sizes) < as_json(TOPICS)


def test_mappings_come_with_the_last_frame_of_a_split_one() -> None:
    size = measure_registration(broker(split_size=2, mappings=MAPPING))
    first = {name: TOPICS[name] for name in ("a", "topic-b")}
    assert size.body_bytes[0] == as_json(first)
    assert size.body_bytes[1] > as_json({"%RETRY%c": TOPICS["%RETRY%c"]}) + 80
    assert size.room_for_topics is None
    # Where the last full one took all topics, an empty one follows.
    assert len(measure_registration(broker(split_size=3)).body_bytes) == 2
    compressed = measure_registration(broker(is_compressed=True, mappings=MAPPING))
    assert compressed.inflated_bytes > measure_registration(broker(is_compressed=True)).inflated_bytes + 80


@pytest.mark.parametrize(("version", "perms"), [(V5_5_0, [0, 4]), (V4_9_7, [4, 4])])
def test_a_broker_that_may_only_read_tells_less_of_its_topics(version: int, perms: list[int]) -> None:
    topics = {
        "w": make_topic_config("w", 8, 2, {"message.type": "FIFO"}, sys_flag=10, is_ordered=True),
        "r": make_topic_config("r", 8),
    }
    told_topics = {name: make_topic_config(name, 8, perm) for name, perm in zip(topics, perms, strict=True)}
    size = measure_registration(broker(version=version, permission=4, topics=topics))
    without = {
        name: {key: v for key, v in told_topics[name].items() if key != "attributes"} for name in told_topics
    }
    wanted = told_topics if version == V5_5_0 else without
    assert size.body_bytes == measure_registration(broker(version=version, topics=wanted)).body_bytes


def test_a_header_says_what_its_release_says() -> None:
    old = encode_header(broker(version=V4_9_7, is_compressed=True, enable_acting_master=None), 5, 7)
    assert old == (
        b'{"code":103,"extFields":{"bodyCrc32":"5","brokerAddr":"127.0.0.1:10911","brokerId":"0","brokerName":"b"'
        b',"clusterName":"c","compressed":"true","haServerAddr":"127.0.0.1:10912"},"flag":0,"language":"JAVA"'
        b',"opaque":7,"serializeTypeCurrentRPC":"JSON","version":407}'
    )
    new = encode_header(broker(is_compressed=True, heartbeat_timeout_millis=10000, enable_acting_master=True))
    assert b'"compressed":"false","enableActingMaster":"true"' in new
    assert b'"heartbeatTimeoutMillis":"10000"' in new
