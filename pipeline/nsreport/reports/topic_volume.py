"""topic_volume: messages and bytes per day for each topic and consumer group. Pure."""

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import col, count_distinct, lit, sum, timestamp_millis, when

_STATS_BY_COLUMN = {
    "messagesIn": ("TOPIC_PUT_NUMS",),
    "bytesIn": ("TOPIC_PUT_SIZE",),
    "messagesOut": ("GROUP_GET_NUMS",),
    "bytesOut": ("GROUP_GET_SIZE",),
    "sentBack": ("SNDBCK_PUT_NUMS",),
}


def topic_volume(stats_minute: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    """Return a row per topic and day for produced messages (`group` is null), and one per consumer group.

    The figures add up the brokers' minutes: the brokers' own figures for hours and days are wrong
    (apache/rocketmq#3190). `minutes` counts the minutes with figures: a low count reveals a hole in the logs.
    """
    stats_names = [stats_name for column_stats in _STATS_BY_COLUMN.values() for stats_name in column_stats]
    is_in_range = (col("ts") >= timestamp_millis(lit(since_ms))) & (
        col("ts") < timestamp_millis(lit(until_ms))
    )
    volume_stats = stats_minute.where(is_in_range & col("name").isin(*stats_names) & col("topic").isNotNull())
    day_volumes = volume_stats.groupBy("date", "topic", "group").agg(
        *(
            _sum_stats(column_stats).alias(volume_column)
            for volume_column, column_stats in _STATS_BY_COLUMN.items()
        ),
        count_distinct("ts").alias("minutes"),
        count_distinct("broker").alias("brokers"),
    )
    return day_volumes.select("date", "topic", "group", *_STATS_BY_COLUMN, "minutes", "brokers")


def _sum_stats(stats_names: tuple[str, ...]) -> Column:
    """The sum of some statistics; null if there are none."""
    return sum(when(col("name").isin(*stats_names), col("sum"))).cast("long")
