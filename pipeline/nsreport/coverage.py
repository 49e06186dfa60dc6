"""Coverage: from when to when the tables of a name server are known, and by whom. Pure.

A witness is who tells of a name server: its own journal, a collector, a log of Java's. Not known: before the
first snapshot; behind a loss or a hole in the numbers, until the next one; while a collector is blind; from
the end of a name server to its next start; while it could do nothing, or nothing proves that it lives; behind
the last word. What nobody knows is neither up nor down.
"""

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql.functions import (
    array,
    broadcast,
    coalesce,
    col,
    concat,
    explode,
    floor,
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

from nsreport.spans import place

PROOF_MILLIS = 120_000
"""A running name server writes at least every minute; after two without a word it may be gone."""

HOLE = 150_000
"""Ms without a word in a journal after which nobody looked; or in a log of 5.x, which scans each 5 s."""

QUIET = 660_000
"""The same for other logs, where a quiet name server writes a line each ten minutes."""

OF_BROKERS = ("BrokerRuntime", "ConsumerLag", "BrokerPollFailed", "BrokersPolled")
"""Events of a collector that say nothing of a name server."""

_STOPS = ("ServerStopping", "CollectorStopping")
_SIGHT = {
    "Snapshot": True,
    "PollRecovered": True,
    "CollectorStarted": False,
    "CollectorStopping": False,
    "PollFailed": False,
}
_MARKS = (*_SIGHT, "EventsLost", "ServerStopping", "ServerStarted")
_SCAN, _HEARD = "scan", "heard"
_RECORD = ("witness", "server", "isLog", "place", "time", "type", "reason", "cause", "client", "pauseMillis")
_JUDGED = ("witness", "server", "isLog", "place", "half", "since", "type", "reason", "cause", "client")
_BEFORE, _ITSELF, _BEHIND = -1, 0, 1


def witnessed(events: DataFrame) -> DataFrame:
    """Events of name servers, with their `witness`, and their `place` in what it tells."""
    is_log = col("dialect").isin("4.x", "5.x")
    who = when(is_log, " log").when(col("dialect") == "journal", "").otherwise(concat(lit(" "), "dialect"))
    return events.where(~col("type").isin(*OF_BROKERS)).withColumns(
        {"witness": concat("server", who), "isLog": is_log, "place": place()}
    )


def tellers(ns_event: DataFrame) -> DataFrame:
    """The records of those who tell tables: a name server's own journal, or else a collector's."""
    told = witnessed(ns_event)
    best = told.where(_is_snapshot() & col("seq").isNotNull()).groupBy("server")
    return told.join(
        broadcast(best.agg(lowest("witness").alias("witness"))), ["server", "witness"], "left_semi"
    )


def steady(told: DataFrame, *carried: str) -> DataFrame:
    """All records with what stands in front of each, and with no more than these columns of their events.

    `since` is in ms: no record's time is before that of the one in front of it, whatever the clock did.
    """
    order = Window.partitionBy("witness").orderBy("place")
    so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return told.select(*_RECORD, *carried, highest("time").over(so_far).alias("since")).select(
        "*",
        lag("place").over(order).alias("placeBefore"),
        lag("since").over(order).alias("sinceBefore"),
        lag("type").over(order).alias("typeBefore"),
        lead("place").over(order).isNull().alias("isLast"),
    )


def marks(told: DataFrame) -> DataFrame:
    """Each moment at which something is known from then on, or is not, of `tellers`: what routes stand on.

    They are ordered by `place`, and by `half` among what is before or behind a record. `isFresh`: nothing
    before that snapshot says what is in it. `epoch` is the number of the fresh snapshot that a mark follows.
    Tables of a name server that could do nothing are known all the same; so they are for `PROOF_MILLIS`
    behind its last word.
    """
    narrow = steady(told)
    own = narrow.where(col("type").isin(*_MARKS)).withColumn("half", lit(_ITSELF)).select(*_JUDGED)
    proved = greatest("since", col("time") + PROOF_MILLIS)
    end = when(col("type").isin(*_STOPS), col("since")).otherwise(proved)
    silent = _mark(narrow.where("isLast"), "silent", col("place"), _BEHIND, end)
    judged = _judged(own.unionByName(_ends(narrow)).unionByName(silent))
    fresh = col("reason").isin("start", "poll") | ~lag("isTold", 1, False).over(_in_order())
    found = judged.withColumn("isFresh", _is_snapshot() & fresh)
    return found.withColumn("epoch", _latest(when(col("isFresh"), col("place")))).where("epoch is not null")


def coverage(ns_event: DataFrame, log_fact: DataFrame) -> DataFrame:
    """From when to when the tables of each name server are known to each witness, or are not.

    `validTo` is null for what goes on. `fromType` and `toType` are the kinds of the records between which it
    was so, or hole, ended, silent, heard (again), paused. `tellsRoutes`: route facts are of this witness.
    """
    narrow = steady(_words(ns_event, log_fact))
    own = narrow.where(col("type").isin(*_MARKS, "ServerPaused") | col("isLog"))
    own = own.withColumn("half", lit(_ITSELF)).select(*_JUDGED)
    judged = _judged(own.unionByName(_ends(narrow)).unionByName(_unproven(narrow)))
    teller = lowest(when(_is_snapshot() & ~col("isLog"), col("witness"))).over(Window.partitionBy("server"))
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


def _words(ns_event: DataFrame, log_fact: DataFrame) -> DataFrame:
    """Whatever proves that a name server lives: records, and what its log says beside events."""
    told = witnessed(ns_event).select(*_RECORD)
    logs = told.where("isLog").select("server").distinct()
    kind = col("kind")
    is_own = kind.isin(_SCAN, "traffic", "configTable") | (kind == "waterMark") & col("name").isNull()
    minutes = (
        log_fact.where(is_own)
        .join(broadcast(logs), "server", "left_semi")
        .groupBy(
            "server", when(kind == _SCAN, _SCAN).otherwise(_HEARD).alias("type"), floor(col("time") / 60_000)
        )
        .agg(lowest("time").alias("first"), highest("time").alias("last"))
    )
    proofs = minutes.select("server", "type", explode(array("first", "last")).alias("time"))
    nothing = [lit(None).cast("string").alias(name) for name in ("reason", "cause", "client")]
    return told.unionByName(
        proofs.select(
            concat("server", lit(" log")).alias("witness"),
            "server",
            lit(True).alias("isLog"),
            (col("time") * 1_000_000).alias("place"),
            "time",
            "type",
            *nothing,
            lit(None).cast("bigint").alias("pauseMillis"),
        )
    )


def _ends(narrow: DataFrame) -> DataFrame:
    """What no record says: a hole, and an end without a word."""
    hole = narrow.where("not isLog and place <> placeBefore + 1")
    starts = when(col("isLog"), col("type") == "ServerStarted").otherwise(
        _is_snapshot() & (col("reason") == "start")
    )
    ended = narrow.where(starts & col("placeBefore").isNotNull() & ~col("typeBefore").isin(*_STOPS))
    return _mark(hole, "hole", col("place"), _BEFORE, col("since")).unionByName(
        _mark(ended, "ended", col("placeBefore"), _BEHIND, col("sinceBefore"))
    )


def _unproven(narrow: DataFrame) -> DataFrame:
    """What no record says: that nobody heard of it for long, and that it could do nothing."""
    longest = when(col("isLog") & (col("typeBefore") != _SCAN), QUIET).otherwise(HOLE)
    long = narrow.where((col("since") - col("sinceBefore") > longest) & ~col("typeBefore").isin(*_STOPS))
    end = narrow.where(col("isLast") & ~col("type").isin(*_STOPS))
    pause = narrow.where("type = 'ServerPaused'")
    began = greatest("sinceBefore", col("time") - col("pauseMillis"))
    return (
        _mark(long, "silent", col("placeBefore"), _BEHIND, col("sinceBefore"))
        .unionByName(_mark(long, _HEARD, col("place"), _BEFORE, col("since")))
        .unionByName(_mark(end, "silent", col("place"), _BEHIND, col("since")))
        .unionByName(_mark(pause, "paused", col("place"), _BEFORE, began))
    )


def _mark(rows: DataFrame, kind: str, at: Column, half: int, since: Column) -> DataFrame:
    nothing = [lit(None).cast("string").alias(name) for name in ("reason", "cause", "client")]
    return rows.select(
        "witness", "server", "isLog", at.alias("place"), lit(half).alias("half"), since.alias("since"),
        lit(kind).alias("type"), *nothing,
    )  # fmt: skip


def _judged(found: DataFrame) -> DataFrame:
    """With `known`, and `isTold`: the tables were seen and are whole, if the name server is there."""
    kind = col("type")
    # A log has no snapshots: what it says of a broker is true from then on.
    whole = when(_is_snapshot() | col("isLog"), True).when(kind.isin("EventsLost", "hole"), False)
    seen = when(_is_snapshot() | col("isLog"), True)
    for name, sees in _SIGHT.items():
        seen = seen.when(kind == name, sees)
    gone = kind.isin("ServerStopping", "ended", "silent", "paused")
    is_back = _is_snapshot() | col("isLog") | kind.isin("ServerStarted", "ServerPaused", _HEARD)
    there = when(gone, False).when(is_back, True)
    told = coalesce(_latest(whole) & _latest(seen), lit(False))
    return found.select(
        "*", told.alias("isTold"), coalesce(_latest(there), lit(False)).alias("isThere")
    ).select(*_JUDGED, "isTold", (col("isTold") & col("isThere")).alias("known"))


def _is_snapshot() -> Column:
    return col("type") == "Snapshot"


def _in_order() -> WindowSpec:
    return Window.partitionBy("witness").orderBy("place", "half")


def _latest(value: Column) -> Column:
    so_far = _in_order().rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return last(value, ignorenulls=True).over(so_far)
