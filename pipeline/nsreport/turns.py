"""Transitions: the few records that decide when the tables of a name server are known. Pure.

A witness is a source about a name server: its own journal, a collector, or a Java log. This module sorts the
records of each witness once; `coverage` works on the transitions that remain.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    array,
    array_compact,
    broadcast,
    coalesce,
    col,
    concat,
    explode,
    floor,
    greatest,
    lag,
    lead,
    lit,
    struct,
    when,
)
from pyspark.sql.functions import max as highest
from pyspark.sql.functions import min as lowest

from nsreport.spans import number, place

HOLE = 150_000
"""A longer silence of a journal, or of a 5.x log with its scan every 5 s, makes the tables unknown."""

QUIET = 660_000
"""The same for other logs: there a quiet name server writes a line every ten minutes."""

OF_BROKERS = ("BrokerRuntime", "ConsumerLag", "BrokerPollFailed", "BrokersPolled")
"""Events of a collector about brokers, not about a name server."""

STOPS = ("ServerStopping", "CollectorStopping")
SIGHT = {
    "Snapshot": True,
    "PollRecovered": True,
    "CollectorStarted": False,
    "CollectorStopping": False,
    "PollFailed": False,
}
"""Record types after which a witness sees the tables (True), or no longer sees them (False)."""

MARKS = (*SIGHT, "EventsLost", "ServerStopping", "ServerStarted")
LAST, LATE, HEARD, TWICE = "last", "late", "heard", "twice"

_SCAN = "scan"
_WHY = ("reason", "cause", "client")
_BEFORE, _ITSELF, _BEHIND = -1, 0, 1


def witnessed(events: DataFrame) -> DataFrame:
    """Return the events about name servers with their `witness` and `place`, the order within the witness."""
    is_log = col("dialect").isin("4.x", "5.x")
    who = when(is_log, " log").when(col("dialect") == "journal", "").otherwise(concat(lit(" "), "dialect"))
    return events.where(~col("type").isin(*OF_BROKERS)).withColumns(
        {"witness": concat("server", who), "isLog": is_log, "place": place()}
    )


def tellers(ns_event: DataFrame) -> DataFrame:
    """Return the records of the best witness of each name server: its own journal, else a collector."""
    told = witnessed(ns_event)
    best = told.where(is_snapshot() & col("seq").isNotNull()).groupBy("server")
    return told.join(
        broadcast(best.agg(lowest("witness").alias("witness"))), ["server", "witness"], "left_semi"
    )


def turns(ns_event: DataFrame, log_fact: DataFrame) -> DataFrame:
    """Return a row for each record, or gap between records, that may change what is known of a name server.

    Rows are ordered by `place`, and by `half` for rows just before (-1) or after (1) a record. `since` (ms)
    never decreases from record to record, even if a clock goes back; if `since` differs from `time`, a `late`
    row says so. Besides record types, `type` is one of

    - hole: record numbers are missing;
    - twice: a record number occurs twice;
    - ended: the name server started again without a record of its end;
    - silent, heard: the witness was silent for long, and wrote again;
    - paused: the name server was paused;
    - last: the last record (its type is the `reason`).
    """
    kind, is_log = col("type"), col("isLog")
    longest = when(is_log & (col("typeBefore") != _SCAN), QUIET).otherwise(HOLE)
    begins = when(is_log, kind == "ServerStarted").otherwise(is_snapshot() & (col("reason") == "start"))
    goes_on = ~col("typeBefore").isin(*STOPS)
    is_long = goes_on & (col("since") - col("sinceBefore") > longest)
    is_paused = kind == "ServerPaused"
    paused = greatest("sinceBefore", col("time") - col("pauseMillis"))
    found = {
        "itself": when(_counts(), _turn(kind, "place", _ITSELF, "since", *map(col, _WHY))),
        "hole": when(
            ~is_log & (col("place") > col("placeBefore") + 1), _turn("hole", "place", _BEFORE, "since")
        ),
        "twice": when(
            ~is_log & (col("place") == col("placeBefore")), _turn(TWICE, "place", _BEFORE, "since")
        ),
        "ended": when(begins & goes_on, _turn("ended", "placeBefore", _BEHIND, "sinceBefore")),
        "silent": when(is_long, _turn("silent", "placeBefore", _BEHIND, "sinceBefore")),
        "heard": when(is_long, _turn(HEARD, "place", _BEFORE, "since")),
        "paused": when(is_paused, _turn("paused", "place", _BEFORE, paused)),
        "last": when(col("isLast"), _turn(LAST, "place", _BEHIND, "since", kind)),
        "late": when(~is_log & (col("since") > col("time")), _turn(LATE, "place", _ITSELF, "since")),
    }
    own = ["witness", "server", "isLog", "time"]
    each = _in_order(_words(ns_event, log_fact)).select(
        *own, *(turn.alias(name) for name, turn in found.items())
    )
    some = each.where(coalesce(*map(col, found)).isNotNull())
    return some.select(*own, explode(array_compact(array(*found))).alias("turn")).select(*own, "turn.*")


def timely(told: DataFrame, turns: DataFrame) -> DataFrame:
    """Add `since`, the time from which a record counts (see `find_transitions`)."""
    late = turns.where(col("type") == LATE).groupBy("witness", "place").agg(highest("since").alias("late"))
    both = told.join(late, ["witness", "place"], "left")
    return both.withColumn("since", coalesce("late", "time")).drop("late")


def is_snapshot() -> Column:
    return col("type") == "Snapshot"


def _counts() -> Column:
    return col("type").isin(*MARKS, "ServerPaused") | col("isLog")


def _in_order(words: DataFrame) -> DataFrame:
    """Add the values of the previous record. Many rows are sorted here, so they carry few columns."""
    order = Window.partitionBy(number(["witness"])).orderBy("place")
    little = words.select(
        "witness", "server", "isLog", "place", "time", "type",
        *(when(_counts(), col(name)).alias(name) for name in (*_WHY, "pauseMillis")),
    )  # fmt: skip
    return little.select(
        "*",
        highest("time").over(order.rowsBetween(Window.unboundedPreceding, Window.currentRow)).alias("since"),
        highest("time").over(order.rowsBetween(Window.unboundedPreceding, -1)).alias("sinceBefore"),
        lag("place").over(order).alias("placeBefore"),
        lag("type").over(order).alias("typeBefore"),
        lead("place").over(order).isNull().alias("isLast"),
    )


def _words(ns_event: DataFrame, log_fact: DataFrame) -> DataFrame:
    """Return all signs of life of a name server: its records, and the facts of its log."""
    told = witnessed(ns_event).select(
        "witness", "server", "isLog", "place", "time", "type", *_WHY, "pauseMillis"
    )
    logs = told.where("isLog").select("server").distinct()
    kind = col("kind")
    is_own = kind.isin(_SCAN, "traffic", "configTable") | (kind == "waterMark") & col("name").isNull()
    minutes = (
        log_fact.where(is_own)
        .join(broadcast(logs), "server", "left_semi")
        .groupBy(
            "server", when(kind == _SCAN, _SCAN).otherwise(HEARD).alias("type"), floor(col("time") / 60_000)
        )
        .agg(lowest("time").alias("first"), highest("time").alias("last"))
    )
    proofs = minutes.select("server", "type", explode(array("first", "last")).alias("time"))
    return told.unionByName(
        proofs.select(
            concat("server", lit(" log")).alias("witness"),
            "server",
            lit(True).alias("isLog"),
            (col("time") * 1_000_000).alias("place"),
            "time",
            "type",
            *(lit(None).cast("string").alias(name) for name in _WHY),
            lit(None).cast("bigint").alias("pauseMillis"),
        )
    )


def _turn(kind: Column | str, at: str, half: int, since: Column | str, *why: Column) -> Column:
    """A transition as a struct. All structs of a Spark array need exactly the same types."""
    nothing = lit(None).cast("string")
    given = [*why, *[nothing] * (len(_WHY) - len(why))]
    return struct(
        (lit(kind) if isinstance(kind, str) else kind).cast("string").alias("type"),
        col(at).cast("long").alias("place"),
        lit(half).alias("half"),
        (col(since) if isinstance(since, str) else since).cast("long").alias("since"),
        *(text.cast("string").alias(name) for text, name in zip(given, _WHY, strict=True)),
    )
