"""JSON bodies, read where they are sent to a name server and written byte for byte as Java writes them."""

import pytest

from namesrv_core.events import QueueData
from namesrv_core.protocol import fastjson, json_bodies
from namesrv_core.protocol.json_bodies import (
    DataVersion,
    MappingInfo,
    mapping_info_json,
    parse_data_version,
    parse_mapping_info,
    parse_queue_datas,
)

NOW = 1_700_000_000_000


@pytest.mark.parametrize(
    ("value", "version"),
    [
        ({"counter": 3, "stateVersion": 1, "timestamp": 9}, DataVersion(3, 1, 9)),
        ({"counter": 3, "timestamp": 9}, DataVersion(3, 0, 9)),
        ({}, DataVersion(0, 0, NOW)),
        ({"counter": None, "stateVersion": None, "timestamp": None}, DataVersion(None, 0, 0)),
        ({"counter": "5", "stateVersion": "", "timestamp": 1.5}, DataVersion(5, 0, 1)),
        ({"counter": True, "timestamp": [7], "x": 1}, DataVersion(1, 0, 7)),
        ({"counter": 2**63 - 1, "timestamp": -1}, DataVersion(2**63 - 1, 0, -1)),
        (None, None),
        ("", None),
    ],
)
def test_a_data_version_is_read_as_5_5_0_reads_it(value: object, version: DataVersion | None) -> None:
    assert parse_data_version(value, NOW) == version


@pytest.mark.parametrize("value", [[], "x", 5, True, {"counter": "x"}, {"counter": 2**63}])
def test_what_is_no_data_version_is_a_value_error(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_data_version(value, NOW)


def test_a_data_version_is_written_without_a_counter_that_is_null() -> None:
    assert (
        fastjson.encode_json(DataVersion(3, 0, 9).to_json())
        == b'{"counter":3,"stateVersion":0,"timestamp":9}'
    )
    assert fastjson.encode_json(DataVersion(None, 1, 9).to_json()) == b'{"stateVersion":1,"timestamp":9}'


MAPPING = (
    b'{"bname":"a","currIdMap":{0:0,1:1},"dirty":false,"epoch":17,"scope":"__global__",'
    b'"topic":"T","totalQueues":2}'
)


def test_a_queue_mapping_reads_back_as_it_is_written() -> None:
    info = parse_mapping_info(fastjson.decode_json(MAPPING))
    assert info == MappingInfo("T", "__global__", 2, "a", 17, False, ((0, 0), (1, 1)))
    assert fastjson.encode_json(mapping_info_json(info)) == MAPPING


@pytest.mark.parametrize(
    ("value", "info"),
    [
        (None, None),
        ({}, MappingInfo()),
        ({"topic": "T", "currIdMap": None, "dirty": "TRUE"}, MappingInfo("T", dirty=True)),
        ({"totalQueues": "4", "epoch": None, "scope": None}, MappingInfo(scope=None, total_queues=4)),
    ],
)
def test_a_queue_mapping_may_lack_members(value: object, info: MappingInfo | None) -> None:
    assert parse_mapping_info(value) == info


@pytest.mark.parametrize(
    ("value", "is_dirty"),
    [
        (True, True), ("True", True), ("1", True), ("Y", True), (1, True), (-1, True),
        (False, False), ("FALSE", False), ("0", False), ("N", False), ("", False), ("null", False),
        (None, False), (0, False), (5, False), (1.0, False), (1.5, False),
        ([1], True), (["true"], True), ([[True]], True), ([1.5], False), ([None], False), ([""], False),
    ],
)  # fmt: skip
def test_dirty_is_read_as_5_5_0_reads_it(value: object, is_dirty: bool) -> None:
    info = parse_mapping_info({"dirty": value})
    assert info is not None
    assert info.dirty is is_dirty


@pytest.mark.parametrize(
    "value",
    [
        "x", 5, {"epoch": "x"},
        {"currIdMap": "x"}, {"currIdMap": []}, {"currIdMap": False}, {"currIdMap": {"a": 1}},
        {"currIdMap": {"0": None}}, {"currIdMap": {"0": ""}}, {"currIdMap": {"": 1}},
        {"currIdMap": {"null": 1}},
        {"dirty": "yes"}, {"dirty": "y"}, {"dirty": "T"}, {"dirty": []}, {"dirty": [1, 2]}, {"dirty": ["5"]},
        {"dirty": {}}, {"dirty": fastjson.DecimalNumber("0e2048")},
    ],
)  # fmt: skip
def test_what_is_no_queue_mapping_is_a_value_error(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_mapping_info(value)


QUEUE = b'{"brokerName":"a","perm":4,"readQueueNums":8,"topicSysFlag":1,"writeQueueNums":7}'


def test_queues_of_a_route_are_read_as_they_are_written() -> None:
    (queue,) = parse_queue_datas(b'{"brokerDatas":[],"queueDatas":[' + QUEUE + b"]}")
    assert queue == QueueData("a", 8, 7, 4, 1)
    assert fastjson.encode_json(json_bodies.queue_data_json(queue)) == QUEUE


@pytest.mark.parametrize(
    "body", [b"null", b"{}", b'{"queueDatas":null}', b'{"queueDatas":{}}', b'{"queueDatas":[]}']
)
def test_a_route_without_queues_has_none(body: bytes) -> None:
    assert parse_queue_datas(body) == []


@pytest.mark.parametrize(
    "body",
    [b"[]", b" ", b'{"queueDatas":"x"}', b"x", b'{"queueDatas":[{"brokerName":"a"', b'{"queueDatas":[5]}'],
)
def test_what_is_no_route_is_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_queue_datas(body)


def test_a_queue_that_stands_for_a_list_is_one() -> None:
    assert parse_queue_datas(b'{"queueDatas":{"brokerName":"a","perm":6}}') == [QueueData("a", 0, 0, 6)]


def test_queues_without_numbers_have_0() -> None:
    assert parse_queue_datas(b'{"queueDatas":[{"brokerName":"a","perm":null,"readQueueNums":"3"}]}') == [
        QueueData("a", 3, 0, 0)
    ]


def test_a_broker_group_is_written_with_bare_ids_and_without_a_zone_that_is_null() -> None:
    group = json_bodies.broker_data_json("c", "a", {1: "y", 0: "x"}, False, None)
    assert fastjson.encode_json(group) == (
        b'{"brokerAddrs":{0:"x",1:"y"},"brokerName":"a","cluster":"c","enableActingMaster":false}'
    )
    assert b'"zoneName":"z"' in fastjson.encode_json(json_bodies.broker_data_json("c", "a", {}, True, "z"))


def test_topic_lists_keep_their_order() -> None:
    assert json_bodies.encode_topic_list(["B", "A"]) == b'{"topicList":["B","A"]}'
    assert json_bodies.encode_topic_list([], "1:2") == b'{"brokerAddr":"1:2","topicList":[]}'


def test_a_kv_table_leaves_out_what_is_null() -> None:
    assert json_bodies.encode_kv_table({"b": "1", "a": None}) == b'{"table":{"b":"1"}}'
