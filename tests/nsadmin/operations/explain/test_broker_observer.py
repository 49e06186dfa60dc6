"""Since when the limits of a broker are reached, from a collector's journal."""

from typing import Any

from namesrv_core.history.records import JournalRecord, RecordOrigin
from nsadmin.operations.explain.broker_observer import find_reached_since

IDLE_LOCK_MS = 1_700_000_000_000


def poll(time_ms: int, addr: str = "h:1", **figures: Any) -> JournalRecord:
    broker = {"clusterName": "c", "brokerName": "a", "brokerId": 0, "brokerAddr": addr}
    return JournalRecord(
        time_ms, "brokers", RecordOrigin(time_ms, ""), "BrokerRuntime", {**broker, **figures}
    )


def test_a_limit_is_reached_since_the_first_poll_without_a_break() -> None:
    polls = [
        poll(1, sendQueueWaitMillis=300, pageCacheLockMillis=IDLE_LOCK_MS),
        poll(2, sendQueueWaitMillis=5, sendQueueSize=10, commitLogDiskRatio=0.5),
        poll(3, sendQueueWaitMillis=300, sendQueueSize=10, pageCacheLockMillis=IDLE_LOCK_MS),
        poll(
            4,
            sendQueueWaitMillis=200,
            sendQueueSize=10,
            commitLogDiskRatio=0.95,
            pageCacheLockMillis=IDLE_LOCK_MS,
        ),
        poll(4, "h:2", sendQueueWaitMillis=0),
    ]
    config = {"sendThreadPoolQueueCapacity": "10"}
    assert find_reached_since(polls, "h:1", config) == {
        "waitTimeMillsInSendQueue": 3,
        "sendThreadPoolQueueCapacity": 2,
        "diskSpaceWarningLevelRatio": 4,
    }
