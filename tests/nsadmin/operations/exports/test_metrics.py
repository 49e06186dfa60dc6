"""Load, versions and sizes; what is unknown is null and no part of a sum."""

from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.topics.topic_traffic import MessageCount
from nsadmin.operations.exports.metrics import BrokerMetrics, build_metrics_document

TABLE = {
    "brokerVersionDesc": "V5_5_0",
    "putTps": "2.5 1.0 0.5",
    "getTransferredTps": "1.5 1.0 0.5",
    "msgPutTotalYesterdayMorning": "10",
    "msgPutTotalTodayMorning": "110",
    "commitLogDiskRatio": "0.4",
    "putMessageAverageSize": "812.5",
}
FULL = BrokerMetrics(
    "a",
    RuntimeInfo(TABLE),
    {"clientCallbackExecutorThreads": "2"},
    3,
    4,
    MessageCount(0.5, 7),
    MessageCount(0.0, 0),
    frozenset({"JAVA%V5_5_0", "GO%V4_9_7"}),
)


def test_a_broker_and_what_it_does_not_tell() -> None:
    bare = BrokerMetrics("b", RuntimeInfo({"putTps": "1.0"}), {}, None, None, None, None, None)
    document = build_metrics_document([FULL, bare])
    a, b = (document["evaluateReport"][name] for name in ("a", "b"))
    assert a["runtimeVersion"] == {"rocketmqVersion": "V5_5_0", "clientInfo": ["GO%V4_9_7", "JAVA%V5_5_0"]}
    assert a["runtimeEnv"] == {"clientCallbackExecutorThreads": "2", "totalMemKBytes": None}
    quota = a["runtimeQuota"]
    assert quota["tps"] == {"normalInTps": 2.5, "normalOutTps": 1.5, "transInTps": 0.5, "scheduleInTps": 0.0}
    assert quota["oneDayNum"]["normalOneDayInNum"] == 100
    assert quota["oneDayNum"]["normalOneDayOutNum"] is None
    assert (quota["topicSize"], quota["groupSize"], quota["messageAverageSize"]) == (3, 4, "812.5")
    assert b["runtimeVersion"] == {"rocketmqVersion": None, "clientInfo": None}
    assert b["runtimeQuota"]["tps"]["transInTps"] is None
    assert document["totalData"] == {
        "totalTps": {
            "totalNormalInTps": 3.5,
            "totalNormalOutTps": 1.5,
            "totalTransInTps": 0.5,
            "totalScheduleInTps": 0.0,
        },
        "totalOneDayNum": {
            "normalOneDayInNum": 100,
            "normalOneDayOutNum": None,
            "transOneDayInNum": 7,
            "scheduleOneDayInNum": 0,
        },
    }
