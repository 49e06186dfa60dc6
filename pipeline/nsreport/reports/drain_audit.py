"""drain_audit: each drain of a broker, the name servers that it missed, and the event that ended it. Pure."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import coalesce, col, lag, last, lit, round, timestamp_millis, to_date, when

from nsreport.coverage import watched
from nsreport.drains import BY_PERMISSION, drains
from nsreport.presence import presence
from nsreport.spans import number

WITHIN = 60_000
"""Drains of a broker on several name servers with a shorter gap belong to one act."""

_GROUP = ["cluster", "brokerName"]


def drain_audit(
    told: DataFrame, coverage: DataFrame, since: int, until: int, within: int = WITHIN
) -> DataFrame:
    """Return a row for each act and name server, for acts from `since_ms` to `until_ms` (ms since 1970).

    `outcome` is one of

    - holds: the broker is still closed;
    - given back: by ADD_WRITE_PERM_OF_BROKER, by a client that registered its topics, or by brokerPermission;
    - undone: the broker's registration opened the closed topics;
    - restarted: the broker restarted and registered its topics with WRITE;
    - forgotten: the name server started;
    - missed: the name server had the broker open, and the act did not close it there.
    """
    told = told.where(col("time") < until)
    closed = drains(told, until)
    window = Window.partitionBy(number(_GROUP)).orderBy("since", "witness")
    begins = when(coalesce(col("since") - lag("since").over(window) > within, lit(True)), col("since"))
    acts = closed.select("*", begins.alias("begins")).select(
        "*", last("begins", ignorenulls=True).over(window).alias("act")
    )
    rows = acts.select(*_GROUP, "act", "server", *_of_closed())
    missed = _missed(told, acts, watched(coverage, until), until, within).select(
        *_GROUP, "act", "server", *_of_missed()
    )
    return (
        rows.unionByName(missed)
        .where(col("act") >= since)
        .select(
            to_date(timestamp_millis("act")).alias("date"),
            *_GROUP,
            timestamp_millis("act").alias("ts"),
            "server",
            "outcome",
            "how",
            "client",
            timestamp_millis("closedAt").alias("closedTs"),
            "topics",
            "closedTopics",
            "heldSeconds",
            timestamp_millis("openedAt").alias("openedTs"),
            "openedTopics",
            "openedType",
            "openedCause",
            "openedClient",
        )
    )


def _of_closed() -> list[Column]:
    is_open = col("openType").isNotNull()
    outcome = (
        when(~is_open, "holds")
        .when(col("openType") == "ServerStarted", "forgotten")
        .when(col("openType") == "WritePermAdded", "given back")
        .when(col("restarted"), "restarted")
        .when(col("asked") | (col("how") == BY_PERMISSION), "given back")
        .otherwise("undone")
    )
    return [
        outcome.alias("outcome"),
        col("how"),
        col("client"),
        col("since").alias("closedAt"),
        col("has").alias("topics"),
        col("closed").alias("closedTopics"),
        round((col("until") - col("since")) / 1000, 3).alias("heldSeconds"),
        when(is_open, col("until")).alias("openedAt"),
        col("openTopics").alias("openedTopics"),
        col("openType").alias("openedType"),
        col("openCause").alias("openedCause"),
        col("openClient").alias("openedClient"),
    ]


def _of_missed() -> list[Column]:
    types = {
        "how": "string", "client": "string", "closedAt": "long", "topics": "int", "closedTopics": "int",
        "heldSeconds": "double", "openedAt": "long", "openedTopics": "int", "openedType": "string",
        "openedCause": "string", "openedClient": "string",
    }  # fmt: skip
    nothing = [lit(None).cast(kind).alias(name) for name, kind in types.items()]
    return [lit("missed").alias("outcome"), *nothing]


def _missed(told: DataFrame, acts: DataFrame, looked: DataFrame, until: int, within: int) -> DataFrame:
    """Return the name servers with known tables that had the broker, and on which it stayed open."""
    each = acts.select(*_GROUP, "act").distinct()
    there = presence(told, until).where("state = 'up'").select("witness", "server", *_GROUP, "since", "until")
    had = each.join(there, _GROUP).where("since <= act and act < until")
    had = had.select(*_GROUP, "act", "witness", "server").distinct()
    seen = looked.select("witness", col("since").alias("seenSince"), col("until").alias("seenUntil"))
    had = had.join(seen, "witness").where("seenSince <= act and act < seenUntil")
    closed = acts.select("witness", "brokerName", "since", "until")
    is_same = (had.witness == closed.witness) & (had.brokerName == closed.brokerName)
    is_closed = (closed.since <= had.act + within) & (closed.until > had.act)
    return had.join(closed, is_same & is_closed, "left_anti")
