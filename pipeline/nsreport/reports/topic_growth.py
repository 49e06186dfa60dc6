"""topic_growth: the number of topics of each broker, and the size of its registration. Pure."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    coalesce,
    col,
    count,
    date_sub,
    lag,
    least,
    length,
    lit,
    max,
    sum,
    unix_millis,
    when,
)

from nsreport.facts.spans import DAY_MS, clip_spans, hash_key, split_by_day

_BROKER_KEY = ["cluster", "brokerName"]

ENVELOPE_BYTES = 400
"""Approximate size of a registration without topics."""


def topic_growth(route_interval: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    """Return a row for each broker and day, with its known topics at the end of the day.

    `bytes` is the size of the JSON of a registration with these topics, before compression. If name servers
    differ, the largest number counts.
    """
    end_ms = coalesce(unix_millis("validTo"), lit(until_ms))
    route_spans = route_interval.select(
        "server",
        *_BROKER_KEY,
        _topic_bytes().alias("bytes"),
        unix_millis("validFrom").alias("since"),
        end_ms.alias("until"),
    )
    day_spans = split_by_day(clip_spans(route_spans, since_ms, until_ms), "server", *_BROKER_KEY, "bytes")
    day_end_ms = least((col("until") / DAY_MS).cast("long") * DAY_MS, lit(until_ms))
    day_end_spans = day_spans.where((col("until") == day_end_ms) | (col("until") == until_ms))
    server_sums = day_end_spans.groupBy("date", "server", *_BROKER_KEY).agg(
        count(lit(1)).alias("topics"), sum("bytes").alias("bytes")
    )
    broker_sums = server_sums.groupBy("date", *_BROKER_KEY).agg(
        max("topics").alias("topics"), (max("bytes") + ENVELOPE_BYTES).alias("bytes")
    )
    broker_window = Window.partitionBy(hash_key(_BROKER_KEY)).orderBy("date")
    is_day_before = lag("date").over(broker_window) == date_sub("date", 1)
    topic_change = when(is_day_before, col("topics") - lag("topics").over(broker_window))
    return broker_sums.select("date", *_BROKER_KEY, "topics", topic_change.alias("change"), "bytes")


def _topic_bytes() -> Column:
    """The size of a topic in a registration: `"T":{...,"topicName":"T",...},` with its numbers."""
    figure_columns = ("perm", "readQueueNums", "topicSysFlag", "writeQueueNums")
    digit_counts = [length(col(column_name).cast("string")) for column_name in figure_columns]
    total_bytes = lit(EMPTY_TOPIC_BYTES) + 2 * length("topic")
    for digit_count in digit_counts:
        total_bytes = total_bytes + digit_count
    return total_bytes


EMPTY_TOPIC_BYTES = len(
    '"":{"attributes":{},"order":false,"perm":,"readQueueNums":,"topicFilterType":"SINGLE_TAG","topicName":"",'
    '"topicSysFlag":,"writeQueueNums":},'
)
