"""registration_forecast: the day on which a broker's registration will exceed a frame of 16 MiB. Pure."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    array_sort,
    col,
    collect_list,
    count,
    date_add,
    datediff,
    element_at,
    greatest,
    least,
    lit,
    max,
    max_by,
    round,
    size,
    sqrt,
    when,
)

from nsreport.facts.spans import hash_key

FRAME_LIMIT_BYTES = 16 * 1024 * 1024
"""Java's remoting accepts no larger frame."""

MAX_SAMPLE_DAYS = 90
"""The forecast uses this many of the latest days."""

MAX_FORECAST_DAYS = 36_500
"""A date further ahead is not reported."""

_BROKER_KEY = ["cluster", "brokerName"]


def registration_forecast(
    topic_growth: DataFrame, since_ms: int, until_ms: int, limit_bytes: int = FRAME_LIMIT_BYTES
) -> DataFrame:
    """Return a row for each broker: growth in bytes a day and the day of `limit_bytes`, with 95 % intervals.

    Growth is the Theil-Sen estimator, the median of the slopes between all pairs of days: a single large day
    hardly changes it. The interval is based on Kendall's tau. With fewer than three days, or without growth,
    there is no date. The range of times is that of `topic_growth`.
    """
    broker_window = Window.partitionBy(hash_key(_BROKER_KEY))
    broker_days = topic_growth.select("*", max("date").over(broker_window).alias("lastDate"))
    broker_days = broker_days.where(datediff("lastDate", "date") < MAX_SAMPLE_DAYS)
    later_days = broker_days.select(
        *_BROKER_KEY, col("date").alias("laterDate"), col("bytes").alias("laterBytes")
    )
    days_apart = datediff("laterDate", "date")
    byte_slope = when(days_apart > 0, (col("laterBytes") - col("bytes")) / days_apart)
    day_pairs = broker_days.join(later_days, _BROKER_KEY).select("*", byte_slope.alias("slope"))
    slope_fits = day_pairs.groupBy(*_BROKER_KEY).agg(
        max("lastDate").alias("date"),
        max_by("topics", "date").alias("topics"),
        max_by("bytes", "date").alias("bytes"),
        sqrt(count(lit(1))).cast("int").alias("days"),
        array_sort(collect_list("slope")).alias("slopes"),
    )
    day_count, pair_count = col("days"), size("slopes")
    rank_spread = 1.96 * sqrt(day_count * (day_count - 1) * (2 * day_count + 5) / 18)
    slope_figures = slope_fits.select(
        "*",
        _slope_at_rank((pair_count + 1) / 2).alias("middle"),
        _slope_at_rank((pair_count - rank_spread) / 2).alias("low"),
        _slope_at_rank((pair_count + rank_spread) / 2 + 1).alias("high"),
    )
    return slope_figures.select(
        "date",
        *_BROKER_KEY,
        "days",
        "topics",
        "bytes",
        *(
            round(col(slope_column), 1).alias(report_column)
            for slope_column, report_column in _SLOPE_COLUMNS.items()
        ),
        _day_of_limit("middle", limit_bytes).alias("fullDate"),
        _day_of_limit("high", limit_bytes).alias("earliestDate"),
        _day_of_limit("low", limit_bytes).alias("latestDate"),
    )


_SLOPE_COLUMNS = {"middle": "bytesPerDay", "low": "lowBytesPerDay", "high": "highBytesPerDay"}


def _slope_at_rank(slope_rank: Column) -> Column:
    """The slope with a rank (from 1); the first or last slope if the rank is out of range."""
    bounded_rank = greatest(lit(1), least(size("slopes"), round(slope_rank).cast("int")))
    return when(col("days") >= 3, element_at("slopes", bounded_rank))


def _day_of_limit(growth_column: str, limit_bytes: int) -> Column:
    days_ahead = greatest(lit(0.0), (limit_bytes - col("bytes")) / col(growth_column))
    return when(
        (col(growth_column) > 0) & (days_ahead < MAX_FORECAST_DAYS), date_add("date", days_ahead.cast("int"))
    )
