"""Poll facts: a collector's polls, the runtime figures of brokers, and the lag of consumer groups. Pure."""

from pyspark.sql import DataFrame
from pyspark.sql.functions import col, explode, lit, when

_RUNTIME = (
    "brokerVersion", "bootTime", "brokerActive", "putTps", "getTps", "putTotal", "getTotal",
    "commitLogDiskRatio", "commitLogMinOffset", "commitLogMaxOffset", "dispatchBehindBytes", "sendQueueSize",
    "sendQueueWaitMillis", "pullQueueSize", "pageCacheLockMillis", "earliestMessageTime",
)  # fmt: skip
_LAG = (
    "topic", "queueCount", "uncommittedQueues", "brokerOffset", "consumerOffset", "lag", "inflight",
    "consumedTime",
)  # fmt: skip
_BROKER = ("server", "ts", "brokerName", "brokerId", "brokerAddr")


def poll(ns_event: DataFrame) -> DataFrame:
    """Return a row for each record about polls of a name server, or about a round of polls of brokers.

    `ok` is false if an answer is missing. `polls` counts the polls of the record, `millis` is the longest.
    """
    kind, is_round = col("type"), col("type") == "BrokersPolled"
    return ns_event.where(kind.isin("Polled", "PollFailed", "PollRecovered", "BrokersPolled")).select(
        "server",
        "ts",
        when(is_round, col("silentBrokers") == 0).otherwise(kind != "PollFailed").alias("ok"),
        "error",
        when(kind == "Polled", col("polls")).otherwise(lit(1)).cast("bigint").alias("polls"),
        "brokers",
        "topics",
        when(is_round, col("pollMillis")).otherwise(col("longestPollMillis")).alias("millis"),
        "date",
        "cluster",
    )


def broker_runtime(ns_event: DataFrame) -> DataFrame:
    """Return the runtime figures of brokers from `BrokerRuntime` events."""
    told = ns_event.where("type = 'BrokerRuntime'")
    return told.select(*_BROKER, *_RUNTIME, "date", "cluster")


def consumer_lag(ns_event: DataFrame) -> DataFrame:
    """Return a row for each group, topic and broker from `ConsumerLag` events."""
    told = ns_event.where("type = 'ConsumerLag'")
    each = told.select(*_BROKER, "consumerGroup", explode("lags").alias("one"), "date", "cluster")
    return each.select(*_BROKER, "consumerGroup", *(f"one.{name}" for name in _LAG), "date", "cluster")
