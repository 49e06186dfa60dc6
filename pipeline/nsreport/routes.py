"""Route facts: the spans in which a topic had certain queues on a broker, per name server. Pure.

Only fresh snapshots count. The others repeat the events before them, which `journalVerify` checks.
"""

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql.functions import (
    broadcast,
    coalesce,
    col,
    explode,
    expr,
    greatest,
    lag,
    lead,
    least,
    lit,
    posexplode,
    struct,
    timestamp_millis,
    to_date,
    when,
)

from nsreport import coverage, journals
from nsreport.spans import number
from nsreport.turns import tellers, timely

QUEUES = ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag")
_BEGIN = ("fromType", "fromCause", "fromClient")
_END = ("toType", "toCause", "toClient")
_KEY = ("server", "topic", "brokerName")
_NEVER = 1 << 62


def facts(ns_event: DataFrame, turns: DataFrame) -> DataFrame:
    """Return a row for each span in which a topic's queues on a broker stayed the same.

    `known` is false while the tables were unknown; the row then has the last known queues. `validTo` is null
    for the present state. `from…` and `to…` describe the record that began or ended the span, or a mark of
    `coverage.find_route_marks`.
    """
    told = tellers(ns_event)
    marks = coverage.marks(turns)
    steps = _changes(told, turns).unionByName(_snapshots(told, marks)).withColumn("key", number(_KEY))
    merged = _merged(_split(_lasting(steps, marks), marks))
    named = merged.join(broadcast(journals.clusters(told)), "brokerName", "left")
    return named.select(
        "server",
        journals.known_cluster().alias("cluster"),
        "topic",
        "brokerName",
        *QUEUES,
        timestamp_millis("since").alias("validFrom"),
        timestamp_millis("until").alias("validTo"),
        *_BEGIN,
        *_END,
        "known",
        to_date(timestamp_millis("since")).alias("date"),
    )


def _changes(told: DataFrame, turns: DataFrame) -> DataFrame:
    """Return the steps from events: queues that are new, changed or gone."""
    changes = told.where("changes is not null").select(
        "witness", "server", "place", "time", "type", "cause", "client", "changes"
    )
    named = timely(changes, turns).withColumnRenamed("place", "seq")
    groups = named.select("*", posexplode("changes").alias("nth", "group"))
    each = groups.select("*", explode("group.topics").alias("topic"))
    broker = coalesce("group.after.brokerName", "group.before.brokerName")
    return each.select(
        "server",
        "seq",
        "nth",
        "since",
        "topic",
        broker.alias("brokerName"),
        *(col(f"group.after.{name}").alias(name) for name in QUEUES),
        col("group.after").isNotNull().alias("isThere"),
        *_began_by(),
    )


def _snapshots(told: DataFrame, marks: DataFrame) -> DataFrame:
    """Return the steps from fresh snapshots: one per topic and broker."""
    fresh = marks.where("isFresh").select("server", col("epoch").alias("seq"), "since")
    tables = told.select("server", "seq", "routes", "queues", "type", "cause", "client")
    begun = tables.where("type = 'Snapshot'").join(broadcast(fresh), ["server", "seq"])
    alike = begun.select("*", explode("routes").alias("alike"))
    placed = alike.select("*", explode("alike.places").alias("at"))
    queued = placed.select("*", expr("element_at(queues, int(at) + 1)").alias("queue")).drop("queues")
    each = queued.select("*", explode("alike.topics").alias("topic"))
    return each.select(
        "server",
        "seq",
        lit(-1).alias("nth"),
        "since",
        "topic",
        "queue.brokerName",
        *(col(f"queue.{name}").alias(name) for name in QUEUES),
        lit(True).alias("isThere"),
        *_began_by(),
    )


def _by_key(*order: str) -> WindowSpec:
    return Window.partitionBy("key").orderBy(*order)


def _began_by() -> list[Column]:
    return [col(name).alias(begin) for name, begin in zip(("type", "cause", "client"), _BEGIN, strict=True)]


def _lasting(steps: DataFrame, marks: DataFrame) -> DataFrame:
    """Add the end of each step: the next step of the same key, or the next fresh snapshot."""
    by_server = Window.partitionBy("server").orderBy("epoch")
    epochs = marks.where("isFresh").select(
        col("server").alias("of"),
        "epoch",
        lead("epoch").over(by_server).alias("nextEpoch"),
        *(lead(name).over(by_server).alias(f"next_{name}") for name in ("since", "type", "cause", "client")),
    )
    within = (col("seq") >= col("epoch")) & (col("nextEpoch").isNull() | (col("seq") < col("nextEpoch")))
    placed = steps.join(broadcast(epochs), (col("server") == col("of")) & within).drop("of")
    ordered = _by_key("seq", "nth")
    goes_on = lead("epoch").over(ordered) == col("epoch")
    ends = {"until": "since", **dict(zip(_END, _BEGIN, strict=True))}
    over = {"until": "since", **dict(zip(_END, ("type", "cause", "client"), strict=True))}
    found = placed.select(
        "*",
        *(
            when(goes_on, lead(ends[name]).over(ordered)).otherwise(col(f"next_{over[name]}")).alias(name)
            for name in ("until", *_END)
        ),
    )
    return found.where("isThere").drop("isThere", "nextEpoch", *(f"next_{name}" for name in over.values()))


def _split(lasting: DataFrame, marks: DataFrame) -> DataFrame:
    """Split the steps where the tables become unknown, and where they become known again."""
    by_epoch = Window.partitionBy("server", "epoch").orderBy("place", "half")
    turns = marks.select("*", lag("known").over(by_epoch).alias("before")).where(
        "before is null or before <> known"
    )
    spans = turns.select(
        col("server").alias("s"),
        col("epoch").alias("e"),
        "known",
        *(
            column
            for name in ("since", "type", "cause", "client")
            for column in (
                col(name).alias(f"span_{name}"),
                lead(name).over(by_epoch).alias(f"past_{name}"),
            )
        ),
    )
    ends, stops = coalesce("until", lit(_NEVER)), coalesce("past_since", lit(_NEVER))
    begins = greatest("since", "span_since")
    overlaps = (col("server") == col("s")) & (col("epoch") == col("e")) & (begins < least(ends, stops))
    cut = lasting.join(broadcast(spans), overlaps)
    is_whole_begin, is_whole_end = col("since") >= col("span_since"), ends <= stops
    names = ("type", "cause", "client")
    return cut.select(
        "key",
        *_KEY,
        *QUEUES,
        "known",
        *(
            when(is_whole_begin, col(begin)).otherwise(col(f"span_{name}")).alias(begin)
            for begin, name in zip(_BEGIN, names, strict=True)
        ),
        *(
            when(is_whole_end, col(end)).otherwise(col(f"past_{name}")).alias(end)
            for end, name in zip(_END, names, strict=True)
        ),
        begins.alias("since"),
        when(least(ends, stops) < _NEVER, least(ends, stops)).alias("until"),
    )


def _merged(split: DataFrame) -> DataFrame:
    """Merge adjacent rows with equal values: the begin of the first row, the end of the last."""
    ordered = _by_key("since")
    follows = lag("until").over(ordered).eqNullSafe(col("since"))
    for name in (*QUEUES, "known"):
        follows = follows & col(name).eqNullSafe(lag(name).over(ordered))
    marked = split.select("*", follows.alias("follows"))
    edges = marked.select("*", coalesce(~lead("follows").over(ordered), lit(True)).alias("isEnd")).where(
        "isEnd or not follows"
    )
    end = struct("until", *_END)
    whole = edges.select(
        *_KEY, *QUEUES, "known", "since", *_BEGIN, "follows",
        when(col("isEnd"), end).otherwise(lead(end).over(ordered)).alias("end"),
    )  # fmt: skip
    return whole.where("not follows").select("*", "end.*")
