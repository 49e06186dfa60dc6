"""What a collector saw, as tables."""

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from nsreport.facts import poll_facts
from nsreport.sources import schemas

NS = {"server": "a"}
ROUND = {"server": "brokers", "type": "BrokersPolled", "brokers": 5}


def events(spark: SparkSession, *given: dict[str, Any]) -> DataFrame:
    """Events with these fields, and nothing else."""
    shape = schemas.event_schema()
    assert all(set(one) <= set(shape.names) for one in given)
    return spark.createDataFrame([tuple(one.get(name) for name in shape.names) for one in given], shape)


def test_polls_that_failed_are_rows_too(spark: SparkSession) -> None:
    found = poll_facts.select_polls(
        events(
            spark,
            {**NS, "type": "Polled", "polls": 4, "brokers": 2, "topics": 9, "longestPollMillis": 7},
            {**NS, "type": "PollFailed", "error": "no answer", "failedPolls": 3},
            {**NS, "type": "PollRecovered", "failedPolls": 3},
            {**ROUND, "silentBrokers": 1, "pollMillis": 8},
            {**ROUND, "silentBrokers": 0, "pollMillis": 9},
            {**NS, "type": "KvPut"},
        )
    ).drop("ts", "date", "cluster")  # fmt: skip
    assert sorted(map(tuple, found.collect()), key=str) == sorted(
        [
            ("a", True, None, 4, 2, 9, 7),
            ("a", False, "no answer", 1, None, None, None),
            ("a", True, None, 1, None, None, None),
            ("brokers", False, None, 1, 5, None, 8),
            ("brokers", True, None, 1, 5, None, 9),
        ],
        key=str,
    )


def test_brokers_and_groups_are_flat(spark: SparkSession) -> None:
    broker = {"server": "brokers", "brokerName": "b", "brokerId": 0, "brokerAddr": "h:1", "cluster": "c"}
    lag = {
        "topic": "T",
        "queueCount": 4,
        "uncommittedQueues": 0,
        "brokerOffset": 9,
        "consumerOffset": 7,
        "lag": 2,
    }
    lag_type = schemas.event_schema()["lags"].dataType.elementType  # type: ignore[attr-defined]
    row = tuple(lag.get(name) for name in lag_type.names)
    told = events(
        spark,
        {**broker, "type": "BrokerRuntime", "putTps": 1.5},
        {**broker, "type": "ConsumerLag", "consumerGroup": "g", "lags": [row, row]},
    )
    [runtime] = poll_facts.select_broker_runtime(told).collect()
    assert (runtime.brokerName, runtime.putTps, runtime.getTps, runtime.cluster) == ("b", 1.5, None, "c")
    lags = poll_facts.select_consumer_lag(told).collect()
    assert [(one.consumerGroup, one.topic, one.lag, one.inflight) for one in lags] == [
        ("g", "T", 2, None)
    ] * 2
