"""Coverage: from when to when the tables of a name server are known, and by whom. Pure.

Not known: before the first snapshot; behind a loss or a hole in the numbers, until the next one; while a
collector is blind; from the end of a name server to its next start; while it could do nothing, or nothing
proves that it lives; behind the last word. What nobody knows is neither up nor down.
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
"""A running name server writes at least every minute; after two without a word it may be gone."""

_JUDGED = ("witness", "server", "isLog", "place", "half", "since", "type", "reason", "cause", "client")


def marks(turns: DataFrame) -> DataFrame:
    """Each moment at which something is known from then on, or is not, to `tellers`: what routes stand on.

    They are ordered by `place`, and by `half` among what is before or behind a record. `isFresh`: nothing
    before that snapshot says what is in it. `epoch` is the number of the fresh snapshot that a mark follows.
    Tables of a name server that could do nothing are known all the same; so they are for `PROOF_MILLIS`
    behind its last word.
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
    """From when to when the tables of each name server are known to each witness, or are not.

    `validTo` is null for what goes on. `fromType` and `toType` are the kinds of the records between which it
    was so, or hole, twice, ended, silent, heard (again), paused. `tellsRoutes`: route facts are of this
    witness.
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
    """Spans before `until` in which tables are known, with `witness`, `server` and `tellsRoutes`."""
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
    """What stands behind the last word is silence."""
    is_last = col("type") == LAST
    return turns.withColumns(
        {
            "type": when(is_last, "silent").otherwise(col("type")),
            "reason": when(~is_last, col("reason")),
        }
    ).select(*_JUDGED)


def _judged(found: DataFrame) -> DataFrame:
    """With `known`, and `isTold`: the tables were seen and are whole, if the name server is there."""
    kind = col("type")
    # A log has no snapshots: what it says of a broker is true from then on.
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
