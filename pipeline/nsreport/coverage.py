"""Coverage: the spans in which a witness knows the tables of a name server. Pure.

The tables are unknown before the first snapshot, and from a loss of events or a hole in the record numbers
until the next snapshot. They are unknown while a collector cannot reach the name server, and while the name
server is stopped, paused or without a sign of life. They are unknown after the last record. A broker in an
unknown span is neither up nor down.
"""

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql.functions import (
    broadcast,
    coalesce,
    col,
    greatest,
    lag,
    last,
    lead,
    lit,
    timestamp_millis,
    unix_millis,
    when,
)
from pyspark.sql.functions import max as highest
from pyspark.sql.functions import min as lowest

from nsreport.turns import HEARD, LAST, LATE, MARKS, SIGHT, STOPS, TWICE, is_snapshot

PROOF_MILLIS = 120_000
"""A running name server writes a record at least every minute; after two silent minutes it may be gone."""

_JUDGED = ("witness", "server", "isLog", "place", "half", "since", "type", "reason", "cause", "client")


def marks(turns: DataFrame) -> DataFrame:
    """Return the moments at which route tables become known or unknown. Route facts are built on them.

    The marks come from one witness per name server, the one that `select_route_events` chooses. They are
    ordered by `place`, and by `half` for marks just before or after a record. `isFresh` marks a snapshot
    whose content does not follow from earlier records. `epoch` is the place of the latest fresh snapshot.
    Here the tables of a paused name server still count as known, and so do those of a silent one for
    `PROOF_MILLIS` after its last record.
    """
    best = (
        turns.where(is_snapshot() & ~col("isLog")).groupBy("server").agg(lowest("witness").alias("witness"))
    )
    own = turns.join(broadcast(best), ["server", "witness"], "left_semi")
    proved = greatest("since", col("time") + PROOF_MILLIS)
    end = when((col("type") == LAST) & ~col("reason").isin(*STOPS), proved).otherwise(col("since"))
    told = own.where(col("type").isin(*MARKS, "hole", TWICE, "ended", LAST)).withColumn("since", end)
    judged = _judged(_silent(told))
    fresh = col("reason").isin("start", "poll") | ~lag("isTold", 1, False).over(_in_order())
    found = judged.withColumn("isFresh", is_snapshot() & fresh)
    return found.withColumn("epoch", _latest(when(col("isFresh"), col("place")))).where("epoch is not null")


def coverage(turns: DataFrame) -> DataFrame:
    """Return the spans in which each witness knows, or does not know, the tables of each name server.

    `validTo` is null for the open span. `fromType` and `toType` are the types of the records that bound the
    span, or hole, twice, ended, silent, heard (again) or paused. `tellsRoutes` is true for the witness on
    which route facts are built.
    """
    is_end = (col("type") == LAST) & col("reason").isin(*STOPS)
    judged = _judged(_silent(turns.where((col("type") != LATE) & ~is_end)))
    teller = lowest(when(is_snapshot() & ~col("isLog"), col("witness"))).over(Window.partitionBy("server"))
    so_far = _in_order().rowsBetween(Window.unboundedPreceding, Window.currentRow)
    begun = judged.select(
        "*",
        teller.alias("teller"),
        lag("known").over(_in_order()).alias("before"),
        highest("known").over(so_far).alias("hasBegun"),
    )
    changes = begun.where("hasBegun and (before is null or before <> known)")
    return (
        changes.select(
            "witness",
            "server",
            coalesce(col("witness") == col("teller"), lit(False)).alias("tellsRoutes"),
            "known",
            "since",
            lead("since").over(_in_order()).alias("until"),
            col("type").alias("fromType"),
            lead("type").over(_in_order()).alias("toType"),
        )
        .where("until is null or until > since")
        .select(
            "witness",
            "server",
            "tellsRoutes",
            "known",
            timestamp_millis("since").alias("validFrom"),
            timestamp_millis("until").alias("validTo"),
            "fromType",
            "toType",
        )
    )


def watched(coverage: DataFrame, until: int) -> DataFrame:
    """Return the known spans before `until_ms`, with `witness`, `server` and `tellsRoutes`."""
    end = coalesce(unix_millis("validTo"), lit(until))
    spans = coverage.where("known").select(
        "witness",
        "server",
        "tellsRoutes",
        unix_millis("validFrom").alias("since"),
        when(end < until, end).otherwise(until).alias("until"),
    )
    return spans.where("since < until")


def _silent(turns: DataFrame) -> DataFrame:
    """Turn the transition after the last record of a witness into silence."""
    is_last = col("type") == LAST
    return turns.withColumns(
        {
            "type": when(is_last, "silent").otherwise(col("type")),
            "reason": when(~is_last, col("reason")),
        }
    ).select(*_JUDGED)


def _judged(found: DataFrame) -> DataFrame:
    """Add `isTold` (the witness sees complete tables) and `known` (and the name server is running)."""
    kind = col("type")
    # A log has no snapshots: its statement about a broker holds from that line on.
    whole = when(is_snapshot() | col("isLog"), True).when(kind.isin("EventsLost", "hole", TWICE), False)
    seen = when(is_snapshot() | col("isLog"), True)
    for name, sees in SIGHT.items():
        seen = seen.when(kind == name, sees)
    gone = kind.isin("ServerStopping", "ended", "silent", "paused")
    is_back = is_snapshot() | col("isLog") | kind.isin("ServerStarted", "ServerPaused", HEARD)
    there = when(gone, False).when(is_back, True)
    told = coalesce(_latest(whole) & _latest(seen), lit(False))
    return found.select(
        "*", told.alias("isTold"), coalesce(_latest(there), lit(False)).alias("isThere")
    ).select(*_JUDGED, "isTold", (col("isTold") & col("isThere")).alias("known"))


def _in_order() -> WindowSpec:
    return Window.partitionBy("witness").orderBy("place", "half")


def _latest(value: Column) -> Column:
    so_far = _in_order().rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return last(value, ignorenulls=True).over(so_far)
