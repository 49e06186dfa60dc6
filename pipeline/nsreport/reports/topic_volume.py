"""topic_volume: messages and bytes per day for each topic and consumer group. Pure."""

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import col, count_distinct, lit, sum, timestamp_millis, when

_KINDS = {
    "messagesIn": ("TOPIC_PUT_NUMS",),
    "bytesIn": ("TOPIC_PUT_SIZE",),
    "messagesOut": ("GROUP_GET_NUMS",),
    "bytesOut": ("GROUP_GET_SIZE",),
    "sentBack": ("SNDBCK_PUT_NUMS",),
}


def topic_volume(stats_minute: DataFrame, since: int, until: int) -> DataFrame:
    """Return a row per topic and day for produced messages (`group` is null), and one per consumer group.

    The figures add up the brokers' minutes: the brokers' own figures for hours and days are wrong
    (apache/rocketmq#3190). `minutes` counts the minutes with figures: a low count reveals a hole in the logs.
    """
    names = [name for kinds in _KINDS.values() for name in kinds]
    moment = (col("ts") >= timestamp_millis(lit(since))) & (col("ts") < timestamp_millis(lit(until)))
    told = stats_minute.where(moment & col("name").isin(*names) & col("topic").isNotNull())
    days = told.groupBy("date", "topic", "group").agg(
        *(_total(kinds).alias(column) for column, kinds in _KINDS.items()),
        count_distinct("ts").alias("minutes"),
        count_distinct("broker").alias("brokers"),
    )
    return days.select("date", "topic", "group", *_KINDS, "minutes", "brokers")


def _total(kinds: tuple[str, ...]) -> Column:
    """The sum of some statistics; null if there are none."""
    return sum(when(col("name").isin(*kinds), col("sum"))).cast("long")
