"""Turns: the few of all records that decide when the tables of a name server are known. Pure.

A witness is who tells of a name server: its own journal, a collector, a log of Java's. All that it says is
put in order once, here; `coverage` judges what this leaves.
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
"""Ms without a word in a journal after which nobody looked; or in a log of 5.x, which scans each 5 s."""

QUIET = 660_000
"""The same for other logs, where a quiet name server writes a line each ten minutes."""

OF_BROKERS = ("BrokerRuntime", "ConsumerLag", "BrokerPollFailed", "BrokersPolled")
"""Events of a collector that say nothing of a name server."""

STOPS = ("ServerStopping", "CollectorStopping")
SIGHT = {
    "Snapshot": True,
    "PollRecovered": True,
    "CollectorStarted": False,
    "CollectorStopping": False,
    "PollFailed": False,
}
"""Records by which a witness begins to see, or sees no more."""

MARKS = (*SIGHT, "EventsLost", "ServerStopping", "ServerStarted")
LAST, LATE, HEARD, TWICE = "last", "late", "heard", "twice"

_SCAN = "scan"
_WHY = ("reason", "cause", "client")
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
    best = told.where(is_snapshot() & col("seq").isNotNull()).groupBy("server")
    return told.join(
        broadcast(best.agg(lowest("witness").alias("witness"))), ["server", "witness"], "left_semi"
    )


def turns(ns_event: DataFrame, log_fact: DataFrame) -> DataFrame:
    """A row for each record, or place between two, by which what is known of a name server may change.

    They are ordered by `place`, and by `half` among what is before or behind a record. `since` is in ms: no
    record's time is before that of the one in front of it, whatever the clock did; where that is not its
    `time`, a row says `late`. Other kinds that no record has: a hole in the numbers, one of them twice, ended
    without a word, silent for long and heard again, paused, and the `last` one (its kind is the `reason`).
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
    """Records with the time `since` which they count (see `turns`)."""
    late = turns.where(col("type") == LATE).groupBy("witness", "place").agg(highest("since").alias("late"))
    both = told.join(late, ["witness", "place"], "left")
    return both.withColumn("since", coalesce("late", "time")).drop("late")


def is_snapshot() -> Column:
    return col("type") == "Snapshot"


def _counts() -> Column:
    return col("type").isin(*MARKS, "ServerPaused") | col("isLog")


def _in_order(words: DataFrame) -> DataFrame:
    """All of it with what stands in front of each; many are sorted here, so that they carry little."""
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
    """Whatever proves that a name server lives: records, and what its log says beside events."""
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
    """A struct of a turn; columns of arrays have to be alike to the last detail."""
    nothing = lit(None).cast("string")
    given = [*why, *[nothing] * (len(_WHY) - len(why))]
    return struct(
        (lit(kind) if isinstance(kind, str) else kind).cast("string").alias("type"),
        col(at).cast("long").alias("place"),
        lit(half).alias("half"),
        (col(since) if isinstance(since, str) else since).cast("long").alias("since"),
        *(text.cast("string").alias(name) for text, name in zip(given, _WHY, strict=True)),
    )
