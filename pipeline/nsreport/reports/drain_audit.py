"""drain_audit: each drain of a broker, the name servers that it missed, and the event that ended it. Pure."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import coalesce, col, lag, last, lit, round, timestamp_millis, to_date, when

from nsreport.facts.drains import BY_PERMISSION, find_drains
from nsreport.facts.knowledge_intervals import select_known_spans
from nsreport.facts.presence import build_presence
from nsreport.facts.spans import hash_key

ACT_GAP_MS = 60_000
"""Drains of a broker on several name servers with a shorter gap belong to one act."""

_BROKER_KEY = ["cluster", "brokerName"]


def drain_audit(
    lifecycle_events: DataFrame,
    knowledge_intervals: DataFrame,
    since_ms: int,
    until_ms: int,
    act_gap_ms: int = ACT_GAP_MS,
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
    drain_spans = find_drains(lifecycle_events, until_ms)
    broker_window = Window.partitionBy(hash_key(_BROKER_KEY)).orderBy("since", "observer")
    act_start = when(
        coalesce(col("since") - lag("since").over(broker_window) > act_gap_ms, lit(True)), col("since")
    )
    drain_acts = drain_spans.select("*", act_start.alias("begins")).select(
        "*", last("begins", ignorenulls=True).over(broker_window).alias("act")
    )
    act_rows = drain_acts.select(*_BROKER_KEY, "act", "server", *_closed_columns())
    missed_rows = _find_missed_servers(
        lifecycle_events, drain_acts, select_known_spans(knowledge_intervals, until_ms), until_ms, act_gap_ms
    ).select(*_BROKER_KEY, "act", "server", *_missed_columns())
    return (
        act_rows.unionByName(missed_rows)
        .where(col("act") >= since_ms)
        .select(
            to_date(timestamp_millis("act")).alias("date"),
            *_BROKER_KEY,
            timestamp_millis("act").alias("ts"),
            "server",
            "outcome",
            "method",
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


def _closed_columns() -> list[Column]:
    is_opened = col("openType").isNotNull()
    outcome = (
        when(~is_opened, "holds")
        .when(col("openType") == "ServerStarted", "forgotten")
        .when(col("openType") == "WritePermAdded", "given back")
        .when(col("restarted"), "restarted")
        .when(col("asked") | (col("method") == BY_PERMISSION), "given back")
        .otherwise("undone")
    )
    return [
        outcome.alias("outcome"),
        col("method"),
        col("client"),
        col("since").alias("closedAt"),
        col("has").alias("topics"),
        col("closed").alias("closedTopics"),
        round((col("until") - col("since")) / 1000, 3).alias("heldSeconds"),
        when(is_opened, col("until")).alias("openedAt"),
        col("openTopics").alias("openedTopics"),
        col("openType").alias("openedType"),
        col("openCause").alias("openedCause"),
        col("openClient").alias("openedClient"),
    ]


def _missed_columns() -> list[Column]:
    column_types = {
        "method": "string", "client": "string", "closedAt": "long", "topics": "int", "closedTopics": "int",
        "heldSeconds": "double", "openedAt": "long", "openedTopics": "int", "openedType": "string",
        "openedCause": "string", "openedClient": "string",
    }  # fmt: skip
    null_columns = [
        lit(None).cast(type_name).alias(column_name) for column_name, type_name in column_types.items()
    ]
    return [lit("missed").alias("outcome"), *null_columns]


def _find_missed_servers(
    lifecycle_events: DataFrame, drain_acts: DataFrame, watch_spans: DataFrame, until_ms: int, act_gap_ms: int
) -> DataFrame:
    """Return the name servers with known tables that had the broker, and on which it stayed open."""
    distinct_acts = drain_acts.select(*_BROKER_KEY, "act").distinct()
    up_spans = (
        build_presence(lifecycle_events, until_ms)
        .where("state = 'up'")
        .select("observer", "server", *_BROKER_KEY, "since", "until")
    )
    servers_with_broker = distinct_acts.join(up_spans, _BROKER_KEY).where("since <= act and act < until")
    servers_with_broker = servers_with_broker.select(*_BROKER_KEY, "act", "observer", "server").distinct()
    seen_spans = watch_spans.select(
        "observer", col("since").alias("seenSince"), col("until").alias("seenUntil")
    )
    servers_with_broker = servers_with_broker.join(seen_spans, "observer").where(
        "seenSince <= act and act < seenUntil"
    )
    closed_spans = drain_acts.select("observer", "brokerName", "since", "until")
    is_same_broker = (servers_with_broker.observer == closed_spans.observer) & (
        servers_with_broker.brokerName == closed_spans.brokerName
    )
    is_closed = (closed_spans.since <= servers_with_broker.act + act_gap_ms) & (
        closed_spans.until > servers_with_broker.act
    )
    return servers_with_broker.join(closed_spans, is_same_broker & is_closed, "left_anti")
