"""topic_growth: how many topics each broker registers, and how long that makes a registration. Pure."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import coalesce, col, count, lag, least, length, lit, max, sum, unix_millis

from nsreport.spans import DAY, by_day, clipped, number

_BROKER = ["cluster", "brokerName"]

ENVELOPE = 400
"""Bytes of a registration that has no topics, about."""


def topic_growth(route_fact: DataFrame, since: int, until: int) -> DataFrame:
    """A row for each broker and day, of what there is at its end, as far as anybody knows.

    `bytes` is the JSON of a registration that has all of them, as brokers send it (they may compress it);
    with topics as long as those are. Where name servers differ, the largest number counts.
    """
    ends = coalesce(unix_millis("validTo"), lit(until))
    spans = route_fact.select(
        "server",
        *_BROKER,
        _bytes().alias("bytes"),
        unix_millis("validFrom").alias("since"),
        ends.alias("until"),
    )
    days = by_day(clipped(spans, since, until), "server", *_BROKER, "bytes")
    midnight = least((col("until") / DAY).cast("long") * DAY, lit(until))
    at_end = days.where((col("until") == midnight) | (col("until") == until))
    each = at_end.groupBy("date", "server", *_BROKER).agg(
        count(lit(1)).alias("topics"), sum("bytes").alias("bytes")
    )
    most = each.groupBy("date", *_BROKER).agg(
        max("topics").alias("topics"), (max("bytes") + ENVELOPE).alias("bytes")
    )
    window = Window.partitionBy(number(_BROKER)).orderBy("date")
    change = col("topics") - lag("topics").over(window)
    return most.select("date", *_BROKER, "topics", change.alias("change"), "bytes")


def _bytes() -> Column:
    """A topic's part of a registration: `"T":{...,"topicName":"T",...},` with its figures."""
    figures = ("perm", "readQueueNums", "topicSysFlag", "writeQueueNums")
    digits = [length(col(name).cast("string")) for name in figures]
    total = lit(TOPIC) + 2 * length("topic")
    for one in digits:
        total = total + one
    return total


TOPIC = len(
    '"":{"attributes":{},"order":false,"perm":,"readQueueNums":,"topicFilterType":"SINGLE_TAG","topicName":"",'
    '"topicSysFlag":,"writeQueueNums":},'
)
