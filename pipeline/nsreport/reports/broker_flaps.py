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

from nsreport.presence import BROKER, presence
from nsreport.spans import number

WITHIN = 600_000
"""Two losses with a shorter gap belong to one session."""


def broker_flaps(told: DataFrame, since: int, until: int, within: int = WITHIN) -> DataFrame:
    """Return a row for each session of a broker that is not over at `since_ms` (ms since 1970).

    A loss that several name servers saw at the same time is one outage. `cause` is the most frequent reason,
    or address conflict if another process registered with the broker's name.
    """
    told = told.where(col("time") < until)
    lost = (
        presence(told, until)
        .where("state = 'down'")
        .select(*BROKER, "server", "since", "until", "reason", "type")
    )
    found = lost.unionByName(_conflicts(told))
    window = Window.partitionBy(number(BROKER)).orderBy("since", "until", "server")
    before = max("until").over(window.rowsBetween(Window.unboundedPreceding, -1))
    marked = found.select("*", coalesce(before, lit(0)).alias("before"))
    is_outage = col("type") != "AddressConflict"
    sessions = marked.select(
        "*", sum((col("since") - col("before") > within).cast("int")).over(window).alias("session")
    )
    length = (col("until") - col("since")) / 1000
    alone = (col("until") - greatest("since", least("before", "until"))) / 1000
    return (
        sessions.groupBy(*BROKER, "session")
        .agg(
            min("since").alias("since"),
            max("until").alias("until"),
            array_sort(collect_set("server")).alias("servers"),
            sum((is_outage & (col("since") > col("before"))).cast("int")).alias("outages"),
            count_if(~is_outage).alias("conflicts"),
            round(sum(when(is_outage, alone).otherwise(0.0)), 3).alias("downSeconds"),
            round(max(when(is_outage, length).otherwise(0.0)), 3).alias("longestSeconds"),
            mode(when(is_outage, _reason()), deterministic=True).alias("reason"),
        )
        .where(col("until") > since)
        .select(
            to_date(timestamp_millis("since")).alias("date"),
            *BROKER,
            timestamp_millis("since").alias("ts"),
            timestamp_millis("until").alias("endTs"),
            (col("until") == until).alias("ongoing"),
            "servers",
            "outages",
            "conflicts",
            "downSeconds",
            "longestSeconds",
            when(col("conflicts") > 0, "address conflict").otherwise(col("reason")).alias("cause"),
        )
    )


def _reason() -> Column:
    return when(col("type") == "Snapshot", "not in a snapshot").otherwise(col("reason"))


def _conflicts(told: DataFrame) -> DataFrame:
    return told.where("type = 'AddressConflict'").select(
        *BROKER, "server", col("time").alias("since"), col("time").alias("until"), "reason", "type"
    )
