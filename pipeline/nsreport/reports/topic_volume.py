"""topic_volume: messages and bytes per day for each topic and consumer group. Pure."""

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import col, count_distinct, lit, max, nullif, round, sum, timestamp_millis, when

from nsreport.sources.java_logs.minute_statistics import TIMES_SUFFIX

_STATS_BY_COLUMN = {
    "messagesIn": ("TOPIC_PUT_NUMS",),
    "bytesIn": ("TOPIC_PUT_SIZE",),
    "messagesOut": ("GROUP_GET_NUMS",),
    "bytesOut": ("GROUP_GET_SIZE",),
    "sentBack": ("SNDBCK_PUT_NUMS",),
}
_PUT_LATENCY, _GET_LATENCY = "TOPIC_PUT_LATENCY", "GROUP_GET_LATENCY"
_LATENCY_STATS = [
    stats_name + suffix for stats_name in (_PUT_LATENCY, _GET_LATENCY) for suffix in ("", TIMES_SUFFIX)
]
_AGE_STATS = "GROUP_GET_FALL_TIME"
"""How old the messages are that a group reads, in ms; 0 if it reads the newest ones."""


def topic_volume(stats_minute: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    """Return a row per topic and day for produced messages (`group` is null), and one per consumer group.

    The figures add up the brokers' minutes: the brokers' own figures for hours and days are wrong
    (apache/rocketmq#3190). `minutes` counts the minutes with figures: a low count reveals a hole in the logs.
    """
    stats_names = [stats_name for column_stats in _STATS_BY_COLUMN.values() for stats_name in column_stats]
    is_in_range = (col("ts") >= timestamp_millis(lit(since_ms))) & (
        col("ts") < timestamp_millis(lit(until_ms))
    )
    volume_stats = stats_minute.where(
        is_in_range & col("name").isin(*stats_names, *_LATENCY_STATS, _AGE_STATS) & col("topic").isNotNull()
    )
    day_volumes = volume_stats.groupBy("date", "topic", "group").agg(
        *(
            _sum_stats(column_stats).alias(volume_column)
            for volume_column, column_stats in _STATS_BY_COLUMN.items()
        ),
        _mean_latency(_PUT_LATENCY).alias("putMillis"),
        _mean_latency(_GET_LATENCY).alias("getMillis"),
        (max(when(col("name") == _AGE_STATS, col("sum"))) / 1000).alias("behindSeconds"),
        count_distinct("ts").alias("minutes"),
        count_distinct("broker").alias("brokers"),
    )
    return day_volumes.select(
        "date",
        "topic",
        "group",
        *_STATS_BY_COLUMN,
        *("putMillis", "getMillis", "behindSeconds", "minutes", "brokers"),
    )


def _mean_latency(stats_name: str) -> Column:
    """The mean of a latency in ms; null if there was no operation."""
    total, times = (_sum_stats((stats_name + suffix,)) for suffix in ("", TIMES_SUFFIX))
    return round(total / nullif(times, lit(0)), 2)


def _sum_stats(stats_names: tuple[str, ...]) -> Column:
    """The sum of some statistics; null if there are none."""
    return sum(when(col("name").isin(*stats_names), col("sum"))).cast("long")
