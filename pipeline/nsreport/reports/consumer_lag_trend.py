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

STUCK_MS = 600_000
"""A group with a backlog that consumes no message for this long is stuck."""

STEADY_RATE = 0.001
"""A lag that changes by fewer messages per second is steady."""

_LAG_KEY = ["cluster", "consumerGroup", "topic", "brokerName"]


def consumer_lag_trend(
    consumer_lag: DataFrame, since_ms: int, until_ms: int, stuck_ms: int = STUCK_MS
) -> DataFrame:
    """Return a row for each group, topic, broker and day, with the slope of a line through all samples.

    `trend` is unknown if the group never committed an offset, or if there is only one sample.
    """
    is_in_range = (col("ts") >= timestamp_millis(lit(since_ms))) & (
        col("ts") < timestamp_millis(lit(until_ms))
    )
    day_lags = (
        consumer_lag.where(is_in_range)
        .groupBy(to_date("ts").alias("date"), *_LAG_KEY)
        .agg(
            count("lag").alias("samples"),
            max_by("lag", "ts").alias("lastLag"),
            min("lag").alias("minLag"),
            max("lag").alias("maxLag"),
            regr_slope(col("lag").cast("double"), unix_millis("ts") / 1000).alias("slope"),
            (max("consumerOffset") == min("consumerOffset")).alias("still"),
            (max(unix_millis("ts")) - min(unix_millis("ts"))).alias("observedMillis"),
        )
    )
    is_stuck = col("still") & (col("minLag") > 0) & (col("observedMillis") >= stuck_ms)
    lag_slope, last_lag = col("slope"), col("lastLag")
    trend_name = (
        when(col("lastLag").isNull() | lag_slope.isNull(), "unknown")
        .when(is_stuck, "stuck")
        .when(col("maxLag") == 0, "caught up")
        .when(lag_slope > STEADY_RATE, "growing")
        .when(lag_slope < -STEADY_RATE, "draining")
        .otherwise("steady")
    )
    return day_lags.select(
        "date",
        *_LAG_KEY,
        "samples",
        "lastLag",
        "minLag",
        "maxLag",
        round(lag_slope, 4).alias("lagPerSecond"),
        round(when((lag_slope < -STEADY_RATE) & (last_lag > 0), last_lag / -lag_slope), 0)
        .cast("long")
        .alias("drainSeconds"),
        coalesce(is_stuck, lit(False)).alias("stuck"),
        trend_name.alias("trend"),
    )
