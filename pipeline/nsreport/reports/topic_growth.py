"""topic_growth: the number of topics of each broker, and the size of its registration. Pure."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import coalesce, col, count, lag, least, length, lit, max, sum, unix_millis

from nsreport.spans import DAY, by_day, clipped, number

_BROKER = ["cluster", "brokerName"]

ENVELOPE = 400
"""Approximate size of a registration without topics."""


def topic_growth(route_fact: DataFrame, since: int, until: int) -> DataFrame:
    """Return a row for each broker and day, with its known topics at the end of the day.

    `bytes` is the size of the JSON of a registration with these topics, before compression. If name servers
    differ, the largest number counts.
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
    """The size of a topic in a registration: `"T":{...,"topicName":"T",...},` with its numbers."""
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
