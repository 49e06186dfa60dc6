"""Agreement: the spans in which the name servers of a cluster report equal or different values. Pure.

`silver/agreement_interval` has these spans for the queues of topics.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    array,
    col,
    count_if,
    explode,
    lead,
    lit,
    struct,
    sum,
    timestamp_millis,
    to_date,
    unix_millis,
    when,
    xxhash64,
)
from pyspark.sql.functions import max as highest

from nsreport.facts.knowledge_intervals import select_known_spans
from nsreport.facts.spans import ALWAYS_MS, NEVER_MS, hash_key, intersect_spans, interval_bounds
from nsreport.runtime.session import broadcast_rows
from nsreport.sources.journals import NO_CLUSTER

ROUTE_KEY = ["cluster", "topic", "brokerName"]
QUEUE_COLUMNS = ["readQueueNums", "writeQueueNums", "perm", "topicSysFlag"]
ENTRY_KEY = ["cluster", "field", "name", "key"]


def list_route_servers(route_interval: DataFrame) -> DataFrame:
    """Return the clusters whose routes a name server began to report, day by day."""
    return route_interval.where("known").select("date", "server", "cluster").distinct()


def build_agreement_intervals(
    route_interval: DataFrame,
    route_servers: DataFrame,
    knowledge_intervals: DataFrame,
    carried_intervals: DataFrame | None = None,
    since_ms: int = ALWAYS_MS,
) -> DataFrame:
    """Return a row for each span in which the name servers of a cluster agree, or differ, about a route.

    See `build_agreement_spans`. `validTo` is null for the present state. `carried_intervals` and `since_ms`
    are as in `routes.build_route_intervals`, and `route_interval` has the rows that last until then.
    """
    route_spans = select_route_spans(route_interval, NEVER_MS)
    # Watches that ended before that time change nothing later.
    watch_spans = find_watch_spans(route_servers, knowledge_intervals, NEVER_MS).where(
        col("until") >= since_ms
    )
    watched_routes = intersect_spans(route_spans, broadcast_rows(watch_spans), ["server", "cluster"])
    carried_spans = None
    if carried_intervals is not None:
        carried_spans = carried_intervals.select(
            *ROUTE_KEY, unix_millis("validFrom").alias("since"), col("isWatchChange").alias("carriedChange")
        )
    agreement_spans = build_agreement_spans(watched_routes, watch_spans, carried_spans=carried_spans).where(
        (col("since") < NEVER_MS) & (col("until").isNull() | (col("until") >= since_ms))
    )
    if carried_spans is None:
        agreement_spans = agreement_spans.where("hasBegun")
    else:
        # Of the time before `since_ms`, only the state at its end is known here.
        is_carried = col("since") < since_ms
        agreement_spans = (
            agreement_spans.join(carried_spans.withColumnRenamed("since", "carriedSince"), ROUTE_KEY, "left")
            .where(col("hasBegun") | col("carriedSince").isNotNull())
            .withColumns(
                {
                    "since": when(is_carried, col("carriedSince")).otherwise(col("since")),
                    "isWatchChange": when(is_carried, col("carriedChange")).otherwise(col("isWatchChange")),
                }
            )
        )
    valid_from = timestamp_millis("since")
    valid_to = timestamp_millis(when(col("until") < NEVER_MS, col("until")))
    return agreement_spans.select(
        *ROUTE_KEY,
        "differ",
        "isWatchChange",
        valid_from.alias("validFrom"),
        valid_to.alias("validTo"),
        to_date(valid_from).alias("date"),
        to_date(valid_to).alias("endDate"),
    )


def select_agreement_spans(agreement_intervals: DataFrame, until_ms: int) -> DataFrame:
    """Return the agreement intervals before `until_ms` as spans (`since` and `until` in ms since 1970)."""
    return agreement_intervals.select(
        *ROUTE_KEY,
        "differ",
        "isWatchChange",
        *interval_bounds(until_ms),
    ).where("since < until")


def select_route_spans(route_interval: DataFrame, until_ms: int) -> DataFrame:
    """Return the route intervals known before `until_ms` as spans (`since` and `until` in ms since 1970)."""
    route_spans = route_interval.where("known").select(
        "server",
        *ROUTE_KEY,
        *QUEUE_COLUMNS,
        *interval_bounds(until_ms),
    )
    return route_spans.where("since < until")


def select_entry_spans(entry_interval: DataFrame, watch_spans: DataFrame, until_ms: int) -> DataFrame:
    """Return the entry intervals known before `until_ms` as spans.

    A KV entry has no cluster: it appears in each cluster of its name server.
    """
    entry_spans = entry_interval.select(
        "server",
        *ENTRY_KEY,
        "value",
        *interval_bounds(until_ms),
    ).where("since < until")
    cluster_watch_spans = watch_spans.withColumnRenamed("cluster", "ofCluster")
    cluster_entry_spans = intersect_spans(entry_spans, cluster_watch_spans, ["server"]).where(
        (col("cluster") == NO_CLUSTER) | (col("cluster") == col("ofCluster"))
    )
    return cluster_entry_spans.drop("cluster").withColumnRenamed("ofCluster", "cluster")


def find_watch_spans(route_servers: DataFrame, knowledge_intervals: DataFrame, until_ms: int) -> DataFrame:
    """Return the spans in which the tables of each cluster's name servers were known.

    A name server belongs to a cluster if it ever reported one of the cluster's brokers. `route_servers` come
    from `list_route_servers`.
    """
    known_spans = (
        select_known_spans(knowledge_intervals, until_ms)
        .where("isRouteSource")
        .select("server", "since", "until")
    )
    return route_servers.select("server", "cluster").distinct().join(known_spans, "server")


def build_agreement_spans(
    server_spans: DataFrame,
    watch_spans: DataFrame,
    key_columns: Sequence[str] = ROUTE_KEY,
    value_columns: Sequence[str] = QUEUE_COLUMNS,
    carried_spans: DataFrame | None = None,
) -> DataFrame:
    """Split the time of each key into spans, at every change of a value or of the watched name servers.

    `server_spans` contain only time in which their name server was watched. `differ` is true if the watched
    name servers report different values; a name server that lacks the key differs from one that has it.
    `isWatchChange` is true if a watch began or ended at the start of the span. `hasBegun` is false before the
    first span of the key. `until` is null after the end of the last watch. `carried_spans` are earlier rows
    that last: their keys may be without spans.
    """
    # `square` sums, over the values, the squared number of name servers with that value. Only if all watched
    # name servers have the same value does it equal the square of their number.
    value_hash = xxhash64(*value_columns).alias("valueHash")
    span_steps = server_spans.select(*key_columns, value_hash, "since", "until").select(
        *key_columns, "valueHash", explode(_start_and_end_steps()).alias("step")
    )
    value_steps = span_steps.groupBy(*key_columns, "valueHash", col("step.at").alias("at")).agg(
        sum("step.by").alias("by")
    )
    value_window = Window.partitionBy(hash_key([*key_columns, "valueHash"])).orderBy("at")
    holder_count = sum("by").over(value_window)
    square_steps = value_steps.select(
        *key_columns,
        "at",
        "by",
        (holder_count * holder_count - (holder_count - col("by")) * (holder_count - col("by"))).alias(
            "square"
        ),
    )
    all_keys = server_spans.select(*key_columns)
    if carried_spans is not None:
        all_keys = all_keys.unionByName(carried_spans.select(*key_columns))
    distinct_keys = all_keys.distinct()
    watch_steps = distinct_keys.join(watch_spans, "cluster").select(
        *key_columns, explode(_start_and_end_steps()).alias("step")
    )
    all_steps = square_steps.select(
        *key_columns, "at", "by", "square", lit(0).alias("watchStep")
    ).unionByName(
        watch_steps.select(
            *key_columns,
            col("step.at").alias("at"),
            lit(0).alias("by"),
            lit(0).alias("square"),
            col("step.by").alias("watchStep"),
        )
    )
    if carried_spans is not None:
        zero_steps = [lit(0).alias(step_column) for step_column in ("by", "square", "watchStep")]
        all_steps = all_steps.unionByName(
            carried_spans.select(*key_columns, col("since").alias("at"), *zero_steps)
        )
    steps_by_time = all_steps.groupBy(*key_columns, "at").agg(
        sum("by").alias("by"),
        sum("square").alias("square"),
        sum("watchStep").alias("watchStep"),
        (count_if(col("watchStep") != 0) > 0).alias("isWatchChange"),
    )
    key_window = Window.partitionBy(hash_key(key_columns)).orderBy("at")
    holder_total, square_total, watched_total = (
        sum(step_column).over(key_window) for step_column in ("by", "square", "watchStep")
    )
    return steps_by_time.select(
        *key_columns,
        col("at").alias("since"),
        lead("at").over(key_window).alias("until"),
        ((holder_total > 0) & (square_total != watched_total * watched_total)).alias("differ"),
        "isWatchChange",
        highest(col("by") > 0).over(key_window).alias("hasBegun"),
    )


def _start_and_end_steps() -> Column:
    return array(
        struct(col("since").alias("at"), lit(1).alias("by")),
        struct(col("until").alias("at"), lit(-1).alias("by")),
    )
