"""Differences between two bundles."""

from pathlib import Path

from namesrv_core.protocol.codes import RequestCode
from nsadmin.client.bundles.answer_table import AnswerTable, RecordedAnswer
from nsadmin.client.bundles.bundle_file import SupportBundle
from nsadmin.operations.bundles.comparison import compare_bundles
from tests.support.bundles import NAMESRV, json_answer, request_key, write_bundle

BROKER = "10.0.0.2:10911"
CLUSTER = {
    "brokerAddrTable": {"broker-a": {"brokerName": "broker-a", "cluster": "C", "brokerAddrs": {"0": BROKER}}},
    "clusterAddrTable": {"C": ["broker-a"]},
}


def topic_config(name: str, queues: int) -> dict[str, object]:
    return {
        "topicName": name,
        "readQueueNums": queues,
        "writeQueueNums": queues,
        "perm": 6,
        "topicSysFlag": 0,
    }


def stats(lag: int) -> RecordedAnswer:
    queue = '{"brokerName":"broker-a","queueId":0,"topic":"orders"}'
    offsets = f'{{{queue}:{{"brokerOffset":{lag},"consumerOffset":0,"lastTimestamp":1}}}}'
    text = f'{{"consumeStatsList":[{{"billing":[{{"offsetTable":{offsets}}}]}}]}}'
    return RecordedAnswer(0, None, text.encode(), None, 513)


def open_bundle(path: Path, release: str, queues: int, lag: int) -> SupportBundle:
    namesrv: AnswerTable = {
        request_key(RequestCode.GET_BROKER_CLUSTER_INFO): json_answer(CLUSTER),
        request_key(RequestCode.GET_KVLIST_BY_NAMESPACE, namespace="ORDER_TOPIC_CONFIG"): json_answer(
            {"table": {}}
        ),
    }
    broker: AnswerTable = {
        request_key(RequestCode.GET_BROKER_RUNTIME_INFO): json_answer(
            {"table": {"brokerVersionDesc": release}}
        ),
        request_key(RequestCode.GET_BROKER_CONFIG): RecordedAnswer(
            0, None, b"brokerName=broker-a\nfileReservedTime=48\nlistenPort=%d" % queues, None, 513
        ),
        request_key(RequestCode.GET_ALL_TOPIC_CONFIG): json_answer(
            {"topicConfigTable": {"orders": topic_config("orders", queues)}}
        ),
        request_key(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG): json_answer(
            {"subscriptionGroupTable": {}}
        ),
        request_key(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER): json_answer({"topicList": []}),
        request_key(RequestCode.GET_ALL_CONSUMER_OFFSET): json_answer(
            {"offsetTable": {"orders@billing": {"0": 0}}}
        ),
        request_key(RequestCode.GET_BROKER_CONSUME_STATS, isOrder="false"): stats(lag),
    }
    return SupportBundle(write_bundle(path, {NAMESRV: namesrv, BROKER: broker}))


def test_equal_bundles_have_no_differences_and_changes_are_listed_by_section(tmp_path: Path) -> None:
    with (
        open_bundle(tmp_path / "a.zip", "V5_3_3", 8, 5) as before,
        open_bundle(tmp_path / "b.zip", "V5_5_0", 4, 9) as after,
    ):
        assert compare_bundles(before, before) == []
        differences = compare_bundles(before, after)
    assert [(item.section, item.parent_name, item.name) for item, _, _ in differences] == [
        ("brokers", "broker-a", "0"),
        ("topics", "broker-a", "orders"),
        ("lags", "", "orders billing"),
    ]
    broker, topic, lag = differences
    assert broker.before == {"address": BROKER, "release": "5.3.3"}
    assert (topic.before["readQueueNums"], topic.after["readQueueNums"]) == (8, 4)
    assert (lag.before, lag.after) == ({"": 5}, {"": 9})
