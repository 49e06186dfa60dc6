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

from nsreport.reports.topic_growth import topic_growth
from nsreport.spans import number

LIMIT = 16 * 1024 * 1024
"""Java's remoting accepts no larger frame."""

DAYS = 90
"""The forecast uses this many of the latest days."""

FARTHEST = 36_500
"""A date further ahead is not reported."""

_BROKER = ["cluster", "brokerName"]


def registration_forecast(route_fact: DataFrame, since: int, until: int, limit: int = LIMIT) -> DataFrame:
    """Return a row for each broker: growth in bytes a day and the day of `limit_bytes`, with 95 % intervals.

    Growth is the Theil-Sen estimator, the median of the slopes between all pairs of days: a single large day
    hardly changes it. The interval is based on Kendall's tau. With fewer than three days, or without growth,
    there is no date.
    """
    window = Window.partitionBy(number(_BROKER))
    days = topic_growth(route_fact, since, until).select("*", max("date").over(window).alias("lastDate"))
    days = days.where(datediff("lastDate", "date") < DAYS)
    later = days.select(*_BROKER, col("date").alias("laterDate"), col("bytes").alias("laterBytes"))
    apart = datediff("laterDate", "date")
    slope = when(apart > 0, (col("laterBytes") - col("bytes")) / apart)
    pairs = days.join(later, _BROKER).select("*", slope.alias("slope"))
    fits = pairs.groupBy(*_BROKER).agg(
        max("lastDate").alias("date"),
        max_by("topics", "date").alias("topics"),
        max_by("bytes", "date").alias("bytes"),
        sqrt(count(lit(1))).cast("int").alias("days"),
        array_sort(collect_list("slope")).alias("slopes"),
    )
    n, pairs_of = col("days"), size("slopes")
    spread = 1.96 * sqrt(n * (n - 1) * (2 * n + 5) / 18)
    figures = fits.select(
        "*",
        _at((pairs_of + 1) / 2).alias("middle"),
        _at((pairs_of - spread) / 2).alias("low"),
        _at((pairs_of + spread) / 2 + 1).alias("high"),
    )
    return figures.select(
        "date",
        *_BROKER,
        "days",
        "topics",
        "bytes",
        *(round(col(name), 1).alias(shown) for name, shown in _SHOWN.items()),
        _day("middle", limit).alias("fullDate"),
        _day("high", limit).alias("earliestDate"),
        _day("low", limit).alias("latestDate"),
    )


_SHOWN = {"middle": "bytesPerDay", "low": "lowBytesPerDay", "high": "highBytesPerDay"}


def _at(place: Column) -> Column:
    """The slope with a rank (from 1); the first or last slope if the rank is out of range."""
    whole = greatest(lit(1), least(size("slopes"), round(place).cast("int")))
    return when(col("days") >= 3, element_at("slopes", whole))


def _day(growth: str, limit: int) -> Column:
    ahead = greatest(lit(0.0), (limit - col("bytes")) / col(growth))
    return when((col(growth) > 0) & (ahead < FARTHEST), date_add("date", ahead.cast("int")))
