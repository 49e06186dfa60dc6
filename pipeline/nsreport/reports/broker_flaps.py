"""broker_flaps: sessions in which a broker was lost and came back, once or several times. Pure."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    array_sort,
    coalesce,
    col,
    collect_set,
    count_if,
    greatest,
    least,
    lit,
    max,
    min,
    mode,
    round,
    sum,
    timestamp_millis,
    to_date,
    when,
)

from nsreport.facts.presence import BROKER_KEY, build_presence
from nsreport.facts.spans import hash_key

SESSION_GAP_MS = 600_000
"""Two losses with a shorter gap belong to one session."""


def broker_flaps(
    lifecycle_events: DataFrame, since_ms: int, until_ms: int, session_gap_ms: int = SESSION_GAP_MS
) -> DataFrame:
    """Return a row for each session of a broker that is not over at `since_ms` (ms since 1970).

    A loss that several name servers saw at the same time is one outage. `cause` is the most frequent reason,
    or address conflict if another process registered with the broker's name.
    """
    down_spans = (
        build_presence(lifecycle_events, until_ms)
        .where("state = 'down'")
        .select(*BROKER_KEY, "server", "since", "until", "reason", "type")
    )
    loss_spans = down_spans.unionByName(_select_conflicts(lifecycle_events.where(col("time") < until_ms)))
    broker_window = Window.partitionBy(hash_key(BROKER_KEY)).orderBy("since", "until", "server")
    end_so_far = max("until").over(broker_window.rowsBetween(Window.unboundedPreceding, -1))
    marked_spans = loss_spans.select("*", coalesce(end_so_far, lit(0)).alias("before"))
    is_outage = col("type") != "AddressConflict"
    session_spans = marked_spans.select(
        "*",
        sum((col("since") - col("before") > session_gap_ms).cast("int")).over(broker_window).alias("session"),
    )
    span_seconds = (col("until") - col("since")) / 1000
    new_seconds = (col("until") - greatest("since", least("before", "until"))) / 1000
    return (
        session_spans.groupBy(*BROKER_KEY, "session")
        .agg(
            min("since").alias("since"),
            max("until").alias("until"),
            array_sort(collect_set("server")).alias("servers"),
            sum((is_outage & (col("since") > col("before"))).cast("int")).alias("outages"),
            count_if(~is_outage).alias("conflicts"),
            round(sum(when(is_outage, new_seconds).otherwise(0.0)), 3).alias("downSeconds"),
            round(max(when(is_outage, span_seconds).otherwise(0.0)), 3).alias("longestSeconds"),
            mode(when(is_outage, _loss_reason()), deterministic=True).alias("reason"),
        )
        .where(col("until") > since_ms)
        .select(
            to_date(timestamp_millis("since")).alias("date"),
            *BROKER_KEY,
            timestamp_millis("since").alias("ts"),
            timestamp_millis("until").alias("endTs"),
            (col("until") == until_ms).alias("ongoing"),
            "servers",
            "outages",
            "conflicts",
            "downSeconds",
            "longestSeconds",
            when(col("conflicts") > 0, "address conflict").otherwise(col("reason")).alias("cause"),
        )
    )


def _loss_reason() -> Column:
    return when(col("type") == "Snapshot", "not in a snapshot").otherwise(col("reason"))


def _select_conflicts(lifecycle_events: DataFrame) -> DataFrame:
    return lifecycle_events.where("type = 'AddressConflict'").select(
        *BROKER_KEY, "server", col("time").alias("since"), col("time").alias("until"), "reason", "type"
    )
