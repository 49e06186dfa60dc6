"""ns_convergence: how long it takes until all name servers say the same again after a change. Pure."""

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
    """A row for each cluster, day and kind of beginning: a change of queues, or a name server that came new.

    A change is that of a topic's queues on a broker. Seconds are from the first name server that has it to
    the moment when all that are looked at have the same. Changes that are not everywhere are `open`, and so
    are those that were not when somebody was looked at no more.
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
    # All had it in the same millisecond.
    at_once = ~col("differ") & ~col("before") & ~col("looked")
    # Nobody came to say the same who went, or was there when all that is known ends.
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
