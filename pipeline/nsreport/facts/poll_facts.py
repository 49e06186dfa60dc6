"""Poll facts: a collector's polls, the runtime figures of brokers, and the lag of consumer groups. Pure."""

from pyspark.sql import DataFrame
from pyspark.sql.functions import col, explode, lit, when

_RUNTIME_COLUMNS = (
    "brokerVersion", "bootTime", "brokerActive", "putTps", "getTps", "putTotal", "getTotal",
    "commitLogDiskRatio", "commitLogMinOffset", "commitLogMaxOffset", "dispatchBehindBytes", "sendQueueSize",
    "sendQueueWaitMillis", "pullQueueSize", "pageCacheLockMillis", "earliestMessageTime",
)  # fmt: skip
_LAG_COLUMNS = (
    "topic", "queueCount", "uncommittedQueues", "brokerOffset", "consumerOffset", "lag", "inflight",
    "consumedTime",
)  # fmt: skip
_BROKER_COLUMNS = ("server", "ts", "brokerName", "brokerId", "brokerAddr")


def select_polls(ns_event: DataFrame) -> DataFrame:
    """Return a row for each record about polls of a name server, or about a round of polls of brokers.

    `ok` is false if an answer is missing. `polls` counts the polls of the record; `millis` is the time of the
    longest.
    """
    event_type, is_round = col("type"), col("type") == "BrokersPolled"
    return ns_event.where(event_type.isin("Polled", "PollFailed", "PollRecovered", "BrokersPolled")).select(
        "server",
        "ts",
        when(is_round, col("silentBrokers") == 0).otherwise(event_type != "PollFailed").alias("ok"),
        "error",
        when(event_type == "Polled", col("polls")).otherwise(lit(1)).cast("bigint").alias("polls"),
        "brokers",
        "topics",
        when(is_round, col("pollMillis")).otherwise(col("longestPollMillis")).alias("millis"),
        "date",
        "cluster",
    )


def select_broker_runtime(ns_event: DataFrame) -> DataFrame:
    """Return the runtime figures of brokers from `BrokerRuntime` events."""
    runtime_events = ns_event.where("type = 'BrokerRuntime'")
    return runtime_events.select(*_BROKER_COLUMNS, *_RUNTIME_COLUMNS, "date", "cluster")


def select_consumer_lag(ns_event: DataFrame) -> DataFrame:
    """Return a row for each group, topic and broker from `ConsumerLag` events."""
    lag_events = ns_event.where("type = 'ConsumerLag'")
    lag_rows = lag_events.select(
        *_BROKER_COLUMNS, "consumerGroup", explode("lags").alias("one"), "date", "cluster"
    )
    return lag_rows.select(
        *_BROKER_COLUMNS,
        "consumerGroup",
        *(f"one.{column_name}" for column_name in _LAG_COLUMNS),
        "date",
        "cluster",
    )
