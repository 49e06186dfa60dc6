"""Minute statistics: what brokers write to stats.log."""

from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import (
    array,
    coalesce,
    col,
    concat,
    date_trunc,
    element_at,
    explode,
    expr,
    lit,
    nullif,
    regexp_replace,
    round,
    size,
    split,
    struct,
    to_date,
    translate,
    when,
)
from pyspark.sql.types import DateType, TimestampType

from nsreport.sources.java_logs.log_line_patterns import (
    SKIPPED_STATISTICS,
    STATISTIC_PATTERN,
    STATISTICS_KIND,
)
from nsreport.sources.schemas import REAL_TYPE, TEXT_TYPE, build_schema

TIMES_SUFFIX = "_TIMES"
"""The statistic NAME_TIMES is the number of operations whose latencies NAME adds up."""

_SEPARATOR = "\x01"
_GROUPS_REPLACEMENT = _SEPARATOR.join(f"${group_number}" for group_number in range(1, 8))

STATS_MINUTE_SCHEMA = build_schema(
    broker=TEXT_TYPE,
    ts=TimestampType(),
    name=TEXT_TYPE,
    key=TEXT_TYPE,
    topic=TEXT_TYPE,
    group=TEXT_TYPE,
    sum=REAL_TYPE,
    date=DateType(),
)
"""A statistic that `broker` logged for the minute that begins at `ts`; sizes are in bytes."""


def build_minute_stats(all_messages: DataFrame) -> DataFrame:
    """Return the statistics that brokers log: the sums of each minute, and values of every five minutes.

    Figures of hours and days are skipped (`SKIPPED_STATISTICS`): add up the minutes instead.
    """
    statistic_lines = all_messages.where(col("message").rlike(STATISTIC_PATTERN))
    # The broker writes the line at the end of the minute, sometimes a moment late.
    minute_start = date_trunc("minute", col("ts") - expr("interval 30 seconds"))
    # One search for all groups: brokers write these lines by the thousand.
    line_parts = split(regexp_replace("message", STATISTIC_PATTERN, _GROUPS_REPLACEMENT), _SEPARATOR)
    statistic_rows = statistic_lines.select(
        col("server").alias("broker"), minute_start.alias("ts"), line_parts.alias("parts")
    )
    figure_rows = statistic_rows.select(
        "broker", "ts", col("parts")[1].alias("key"), explode(_list_figures()).alias("figure")
    ).select("broker", "ts", "figure.name", "key", "figure.sum")
    figure_rows = figure_rows.dropDuplicates(["broker", "ts", "name", "key", "sum"])
    described_rows = figure_rows.withColumns(
        {"topic": _topic_of_key(), "group": _group_of_key(), "date": to_date("ts")}
    )
    return described_rows.select(
        *(col(field.name).cast(field.dataType) for field in STATS_MINUTE_SCHEMA.fields)
    )


def select_unread_statistics(all_messages: DataFrame) -> DataFrame:
    """Return the lines of statistics logs that are no statistic, and none that is skipped on purpose."""
    is_skipped = reduce(or_, (col("message").contains(skipped_text) for skipped_text in SKIPPED_STATISTICS))
    return all_messages.where(
        (col("kind") == STATISTICS_KIND) & ~col("message").rlike(STATISTIC_PATTERN) & ~is_skipped
    )


def _list_figures() -> Column:
    """The figures of a line. A latency also has the number of operations behind it, as NAME_TIMES."""
    statistic_name = col("parts")[0]
    minute_sum, mean, times, time_mean, moment_value = (
        translate(col("parts")[part_index], ",\u066b", "..").try_cast("double") for part_index in range(2, 7)
    )
    total = coalesce(minute_sum, round(times * time_mean), moment_value)
    operation_count = coalesce(times, round(minute_sum / nullif(mean, lit(0.0))))
    total_figure = struct(statistic_name.alias("name"), total.alias("sum"))
    times_figure = struct(
        concat(statistic_name, lit(TIMES_SUFFIX)).alias("name"), operation_count.alias("sum")
    )
    is_latency = statistic_name.endswith("_LATENCY") & operation_count.isNotNull()
    return when(is_latency, array(total_figure, times_figure)).otherwise(array(total_figure))


def _key_parts() -> Column:
    """The parts of a key without the queue id: the topic, or topic and consumer group."""
    return expr("filter(split(key, '@'), part -> not part rlike '^-?[0-9]+$')")


def _topic_of_key() -> Column:
    is_about_topic = col("name").rlike("^(TOPIC|QUEUE|GROUP|SNDBCK|DLQ)_") & (size(_key_parts()) > 0)
    return when(is_about_topic, element_at(_key_parts(), 1))


def _group_of_key() -> Column:
    return when(_topic_of_key().isNotNull() & (size(_key_parts()) > 1), element_at(_key_parts(), 2))
