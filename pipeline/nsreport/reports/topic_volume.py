"""topic_volume: how many messages a day, topic by topic, and group by group. Pure."""

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
    """A row for each topic and day without a `group`, of what came in, and one for each group that reads it.

    They are the sums of brokers' minutes: the figures of brokers for hours and days are wrong. `minutes` says
    how many minutes of the day there are figures of, so that a hole in the logs is not taken for silence.
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
    """Null where there is no such figure."""
    return sum(when(col("name").isin(*kinds), col("sum"))).cast("long")
