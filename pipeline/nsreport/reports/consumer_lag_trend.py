"""consumer_lag_trend: the consumer groups that fall behind, catch up or are stuck. Pure."""

from pyspark.sql import DataFrame
from pyspark.sql.functions import (
    coalesce,
    col,
    count,
    lit,
    max,
    max_by,
    min,
    regr_slope,
    round,
    timestamp_millis,
    to_date,
    unix_millis,
    when,
)

STUCK = 600_000
"""A group with a backlog that consumes no message for this long is stuck."""

STEADY = 0.001
"""A lag that changes by fewer messages per second is steady."""

_KEY = ["cluster", "consumerGroup", "topic", "brokerName"]


def consumer_lag_trend(consumer_lag: DataFrame, since: int, until: int, stuck: int = STUCK) -> DataFrame:
    """Return a row for each group, topic, broker and day, with the slope of a line through all samples.

    `trend` is unknown if the group never committed an offset, or if there is only one sample.
    """
    moment = (col("ts") >= timestamp_millis(lit(since))) & (col("ts") < timestamp_millis(lit(until)))
    days = (
        consumer_lag.where(moment)
        .groupBy(to_date("ts").alias("date"), *_KEY)
        .agg(
            count("lag").alias("samples"),
            max_by("lag", "ts").alias("lastLag"),
            min("lag").alias("minLag"),
            max("lag").alias("maxLag"),
            regr_slope(col("lag").cast("double"), unix_millis("ts") / 1000).alias("slope"),
            (max("consumerOffset") == min("consumerOffset")).alias("still"),
            (max(unix_millis("ts")) - min(unix_millis("ts"))).alias("told"),
        )
    )
    is_stuck = col("still") & (col("minLag") > 0) & (col("told") >= stuck)
    slope, last = col("slope"), col("lastLag")
    trend = (
        when(col("lastLag").isNull() | slope.isNull(), "unknown")
        .when(is_stuck, "stuck")
        .when(col("maxLag") == 0, "caught up")
        .when(slope > STEADY, "growing")
        .when(slope < -STEADY, "draining")
        .otherwise("steady")
    )
    return days.select(
        "date",
        *_KEY,
        "samples",
        "lastLag",
        "minLag",
        "maxLag",
        round(slope, 4).alias("lagPerSecond"),
        round(when((slope < -STEADY) & (last > 0), last / -slope), 0).cast("long").alias("drainSeconds"),
        coalesce(is_stuck, lit(False)).alias("stuck"),
        trend.alias("trend"),
    )
