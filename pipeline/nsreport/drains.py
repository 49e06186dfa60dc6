"""Drains: the spans in which an operator closed a broker to writes, and the events that ended them. Pure."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    array,
    array_contains,
    array_distinct,
    array_intersect,
    broadcast,
    coalesce,
    col,
    collect_set,
    explode,
    expr,
    flatten,
    lag,
    last,
    lit,
    min_by,
    size,
    struct,
    transform,
    when,
)

from nsreport.permissions import CLOSES, OPENS
from nsreport.spans import number

BY_PERMISSION = "brokerPermission"

_KINDS = ("WritePermWiped", "WritePermAdded", "TopicsChanged", "BrokerRegistered", "ServerStarted")
_OPENING = (
    "openPlace",
    "openTime",
    "openType",
    "openCause",
    "openClient",
    "openTopics",
    "restarted",
    "asked",
)


def drains(told: DataFrame, until: int) -> DataFrame:
    """Return the spans in which a witness saw a broker closed to writes.

    `witness_events` come from `presence.select_witness_events`. A drain begins in one of two ways:

    - An operator wipes the write permission; `how` is the cause of that request.
    - The broker registers even the topic of its own name without WRITE, because its brokerPermission was set;
      `how` is brokerPermission.

    A drain ends when one of the closed topics is open again, or when the name server starts and forgets all
    tables. `openType`, `openCause` and `openClient` describe the event that ended it, and `openTopics` counts
    the topics that it opened. `restarted` is true if the broker registered anew with that event. `asked` is
    true if another client than the broker registered its topics, as `nsadmin undrain` does. While a drain
    lasts, these columns are null and `until` is `until_ms`. `closed` counts the closed topics, `has` all
    topics of the broker.
    """
    changes = _changes(_concerned(told))
    closings = changes.where("isClosing").select(
        "witness",
        "server",
        "cluster",
        "brokerName",
        "place",
        "time",
        "how",
        "client",
        "closedNames",
        "has",
        "start",
    )
    openings = changes.where("size(openNames) > 0 or openAgain > 0").select(
        "witness",
        "brokerName",
        struct(
            col("place").alias("openPlace"),
            col("time").alias("openTime"),
            col("type").alias("openType"),
            col("cause").alias("openCause"),
            col("client").alias("openClient"),
            "openNames",
            "openAgain",
            "restarted",
            "asked",
        ).alias("open"),
    )
    # A log line about a wipe does not name the topics.
    among = size(array_intersect("closedNames", "open.openNames"))
    count = when(size("closedNames") > 0, among).otherwise(col("open.openAgain"))
    pairs = closings.join(openings, ["witness", "brokerName"], "left")
    counts = (col("open.openPlace") > col("place")) & (count > 0)
    found = when(
        counts,
        struct(*(count.alias(n) if n == "openTopics" else col(f"open.{n}").alias(n) for n in _OPENING)),
    )
    key = [name for name in closings.columns if name not in ("start", "closedNames")]
    first = (
        pairs.select(*key, size("closedNames").alias("closed"), "start", found.alias("found"))
        .groupBy(*key, "closed", "start")
        .agg(min_by("found", "found.openPlace").alias("found"))
    )
    forgotten = coalesce(col("start.openPlace") < col("found.openPlace"), col("start").isNotNull())
    ended = first.withColumn("end", when(forgotten, col("start")).otherwise(col("found")))
    return ended.select(
        "witness",
        "server",
        "cluster",
        "brokerName",
        col("time").alias("since"),
        coalesce("end.openTime", lit(until)).alias("until"),
        "how",
        "client",
        "closed",
        "has",
        *(col(f"end.{name}").alias(name) for name in _OPENING[2:]),
    )


def _concerned(told: DataFrame) -> DataFrame:
    """Keep the topic changes that close a topic, or that open a topic which was ever closed there.

    Events from logs lack these details: all of them stay.
    """
    kinds = told.where(col("type").isin(*_KINDS))
    closes = expr(f"exists(changes, change -> {CLOSES})")
    topics = explode(flatten(_topics_of(CLOSES)))
    closed = kinds.where(closes).select("witness", "brokerName", topics.alias("topic"))
    names = closed.groupBy("witness", "brokerName").agg(collect_set("topic").alias("everClosed"))
    each = kinds.join(broadcast(names), ["witness", "brokerName"], "left")
    again = "(change.before is not null or arrays_overlap(change.topics, everClosed))"
    opens = expr(f"exists(changes, change -> {OPENS} and {again})")
    is_plain = col("isLog") | ~col("type").isin("TopicsChanged", "BrokerRegistered")
    returns = (col("type") == "BrokerRegistered") & col("everClosed").isNotNull()
    return each.where(is_plain | returns | coalesce(closes, lit(False)) | coalesce(opens, lit(False))).drop(
        "everClosed"
    )


def _changes(told: DataFrame) -> DataFrame:
    """Return the events that close or open topics, with the next start of the name server.

    A name server forgets closed topics when it starts.
    """
    kinds = told.where(col("type").isin(*_KINDS))
    later = Window.partitionBy(number(["witness"])).orderBy(col("place").desc())
    start = when(
        col("type") == "ServerStarted",
        struct(
            col("place").alias("openPlace"),
            col("time").alias("openTime"),
            col("type").alias("openType"),
            col("cause").alias("openCause"),
            lit(None).cast("string").alias("openClient"),
            lit(None).cast("int").alias("openTopics"),
            lit(False).alias("restarted"),
            lit(False).alias("asked"),
        ),
    )
    behind = last(start, ignorenulls=True).over(later.rowsBetween(Window.unboundedPreceding, -1))
    before = Window.partitionBy(number(["witness", "brokerName"])).orderBy("place")
    # The registration of a returning broker is the record right before the change of its topics.
    returned = (lag("type").over(before) == "BrokerRegistered") & (
        lag("place").over(before) == col("place") - 1
    )
    # A log has no line for topics that leave with their broker, and one line for each topic that comes.
    is_anew = col("isLog") & array_contains(_topics(OPENS + " and change.before is null"), col("brokerName"))
    registers = collect_set(when(col("cause") == "REGISTER_BROKER", col("client")))
    own = registers.over(Window.partitionBy(number(["witness", "brokerName"])))
    asked = (col("cause") == "REGISTER_TOPIC_IN_NAMESRV") & ~array_contains(own, col("client"))
    is_wipe = col("type") == "WritePermWiped"
    # A log line counts the topics that a request opened, but does not name them.
    restored = when((col("type") == "WritePermAdded") & col("changes").isNull(), col("topics").cast("int"))
    by_broker = (col("type") == "TopicsChanged") & col("reason").isin("registration", "poll")
    named = kinds.select(
        "witness", "server", "cluster", "brokerName", "place", "time", "type", "cause", "client",
        behind.alias("start"),
        coalesce(returned | is_anew, lit(False)).alias("restarted"),
        coalesce(asked, lit(False)).alias("asked"),
        when(is_wipe, col("cause")).otherwise(BY_PERMISSION).alias("how"),
        when(is_wipe | by_broker, _topics(CLOSES)).otherwise(_none()).alias("closedNames"),
        when(~is_wipe, _topics(OPENS)).otherwise(_none()).alias("openNames"),
        coalesce(restored, when(is_anew, 1), size(_topics(OPENS + " and change.before is not null"))).alias(
            "openAgain"
        ),
        when(is_wipe, col("topics").cast("int")).alias("told"),
    )  # fmt: skip
    is_closing = is_wipe | array_contains("closedNames", col("brokerName"))
    has = coalesce("told", size("closedNames")).alias("has")
    found = named.select("*", coalesce(is_closing, lit(False)).alias("isClosing"), has)
    return found.where("type != 'BrokerRegistered'")


def _none() -> Column:
    return array().cast("array<string>")


def _topics(which: str) -> Column:
    """The distinct topics of the changes that satisfy a SQL condition on `change`."""
    return array_distinct(flatten(_topics_of(which)))


def _topics_of(which: str) -> Column:
    chosen = expr(f"filter(coalesce(changes, array()), change -> {which})")
    return transform(chosen, lambda change: change["topics"])
