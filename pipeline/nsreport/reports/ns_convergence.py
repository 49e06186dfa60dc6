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

from nsreport.facts.agreement import ROUTE_KEY, select_agreement_spans
from nsreport.facts.spans import DAY_MS, hash_key


def ns_convergence(agreement_intervals: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    """Return a row for each cluster and day, one for changes of queues, one for new name servers (`trigger`).

    A change concerns a topic's queues on a broker. `seconds` run from the first name server that has it until
    all watched name servers have the same queues. `unfinishedChanges` counts the changes that not all of
    them had after a day, when the data ended, or when the set of watched name servers changed.
    """
    agreement_spans = select_agreement_spans(agreement_intervals, until_ms)
    route_window = Window.partitionBy(hash_key(ROUTE_KEY)).orderBy("since")
    did_differ = coalesce(lag("differ").over(route_window), lit(False))
    spans_with_before = agreement_spans.select("*", did_differ.alias("before"))
    difference_start = when(col("differ") & ~col("before"), col("since"))
    is_new_server = when(col("differ") & ~col("before"), col("isWatchChange"))
    window_so_far = route_window.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    difference_runs = spans_with_before.select(
        "*",
        last(difference_start, ignorenulls=True).over(window_so_far).alias("began"),
        last(is_new_server, ignorenulls=True).over(window_so_far).alias("newServer"),
    )
    # All name servers had the change in the same millisecond.
    is_instant = ~col("differ") & ~col("before") & ~col("isWatchChange")
    # The end of a watch is no agreement: the name server left.
    is_agreed = ~col("differ") & ~col("isWatchChange") & (col("since") - col("began") <= DAY_MS)
    is_last_difference = col("differ") & (col("until") == until_ms)
    ended_changes = difference_runs.where(
        ~col("differ") & col("before") | is_instant | is_last_difference
    ).select(
        "cluster",
        when(is_instant, col("since")).otherwise(col("began")).alias("began"),
        when(~is_instant & col("newServer"), "name server").otherwise("change").alias("trigger"),
        when(is_instant, 0.0).when(is_agreed, (col("since") - col("began")) / 1000).alias("seconds"),
    )
    day_groups = ended_changes.where(col("began") >= since_ms).groupBy(
        to_date(timestamp_millis("began")).alias("date"), "cluster", "trigger"
    )
    return day_groups.agg(
        count(lit(1)).alias("changes"),
        count_if(col("seconds").isNull()).alias("unfinishedChanges"),
        round(percentile("seconds", 0.5), 3).alias("p50Seconds"),
        round(percentile("seconds", 0.95), 3).alias("p95Seconds"),
        round(max("seconds"), 3).alias("maxSeconds"),
    ).select(
        "date", "cluster", "trigger", "changes", "unfinishedChanges", "p50Seconds", "p95Seconds", "maxSeconds"
    )
