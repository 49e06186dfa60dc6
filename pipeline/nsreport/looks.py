"""What a collector saw: its polls, what brokers told of themselves, how far groups were behind. Pure."""

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
    """A row for each record that says whether somebody looked: at name servers, or as `brokers` at brokers.

    `ok` is false where not all answers came, `polls` how many it is about, `millis` the longest of them.
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
    """What each broker told of itself, as `BrokerRuntime` has it."""
    told = ns_event.where("type = 'BrokerRuntime'")
    return told.select(*_BROKER, *_RUNTIME, "date", "cluster")


def consumer_lag(ns_event: DataFrame) -> DataFrame:
    """A row for each group and topic on each broker, as `ConsumerLag` has it."""
    told = ns_event.where("type = 'ConsumerLag'")
    each = told.select(*_BROKER, "consumerGroup", explode("lags").alias("one"), "date", "cluster")
    return each.select(*_BROKER, "consumerGroup", *(f"one.{name}" for name in _LAG), "date", "cluster")
