"""ns_convergence: how long name servers take to agree again after a change. Pure."""

from pyspark.sql import DataFrame, Window
from pyspark.sql.functions import (
    coalesce,
    col,
    count,
    count_if,
    lag,
    last,
    lit,
    max,
    percentile,
    round,
    timestamp_millis,
    to_date,
    when,
)

from nsreport import agreement
from nsreport.agreement import KEY
from nsreport.spans import number


def ns_convergence(route_fact: DataFrame, coverage: DataFrame, since: int, until: int) -> DataFrame:
    """Return a row for each cluster, day and beginning: a change of queues, or a new name server.

    A change is one of a topic's queues on a broker. It lasts from the first name server that has it until all
    watched name servers have the same. A change is `open` if it has not reached all of them, or had not when
    the set of watched name servers changed.
    """
    known = agreement.facts(route_fact, until)
    looks = agreement.looking(known, coverage, until)
    spans = agreement.moments(agreement.seen(known, looks), looks)
    window = Window.partitionBy(number(KEY)).orderBy("since")
    before = coalesce(lag("differ").over(window), lit(False))
    turns = spans.select("*", before.alias("before"))
    begins = when(col("differ") & ~col("before"), col("since"))
    after = when(col("differ") & ~col("before"), col("looked"))
    sofar = window.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    runs = turns.select(
        "*",
        last(begins, ignorenulls=True).over(sofar).alias("began"),
        last(after, ignorenulls=True).over(sofar).alias("newServer"),
    )
    # All name servers had the change in the same millisecond.
    at_once = ~col("differ") & ~col("before") & ~col("looked")
    # The end of a watch is no agreement: neither a name server that left nor the end of the data counts.
    agreed = ~col("looked")
    changes = runs.where(~col("differ") & col("before") | at_once).select(
        "cluster",
        when(at_once, col("since")).otherwise(col("began")).alias("began"),
        when(~at_once & col("newServer"), "name server").otherwise("change").alias("after"),
        when(at_once, 0.0).when(agreed, (col("since") - col("began")) / 1000).alias("seconds"),
    )
    days = changes.where(col("began") >= since).groupBy(
        to_date(timestamp_millis("began")).alias("date"), "cluster", "after"
    )
    return days.agg(
        count(lit(1)).alias("changes"),
        count_if(col("seconds").isNull()).alias("open"),
        round(percentile("seconds", 0.5), 3).alias("p50Seconds"),
        round(percentile("seconds", 0.95), 3).alias("p95Seconds"),
        round(max("seconds"), 3).alias("maxSeconds"),
    ).select("date", "cluster", "after", "changes", "open", "p50Seconds", "p95Seconds", "maxSeconds")
