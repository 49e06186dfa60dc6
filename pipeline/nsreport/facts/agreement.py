"""Agreement: the spans in which the name servers of a cluster report equal or different values. Pure."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    array,
    coalesce,
    col,
    explode,
    lead,
    lit,
    struct,
    sum,
    unix_millis,
    when,
    xxhash64,
)

from nsreport.facts.knowledge_intervals import select_known_spans
from nsreport.facts.spans import hash_key, intersect_spans
from nsreport.runtime.session import broadcast_rows
from nsreport.sources.journals import NO_CLUSTER

ROUTE_KEY = ["cluster", "topic", "brokerName"]
QUEUE_COLUMNS = ["readQueueNums", "writeQueueNums", "perm", "topicSysFlag"]
ENTRY_KEY = ["cluster", "field", "name", "key"]


def select_route_spans(route_interval: DataFrame, until_ms: int) -> DataFrame:
    """Return the route intervals known before `until_ms` as spans (`since` and `until` in ms since 1970)."""
    end_ms = coalesce(unix_millis("validTo"), lit(until_ms))
    route_spans = route_interval.where("known").select(
        "server",
        *ROUTE_KEY,
        *QUEUE_COLUMNS,
        unix_millis("validFrom").alias("since"),
        when(end_ms < until_ms, end_ms).otherwise(until_ms).alias("until"),
    )
    return route_spans.where("since < until")


def select_entry_spans(entry_interval: DataFrame, watch_spans: DataFrame, until_ms: int) -> DataFrame:
    """Return the entry intervals known before `until_ms` as spans.

    A KV entry has no cluster: it appears in each cluster of its name server.
    """
    end_ms = coalesce(unix_millis("validTo"), lit(until_ms))
    entry_spans = entry_interval.select(
        "server",
        *ENTRY_KEY,
        "value",
        unix_millis("validFrom").alias("since"),
        when(end_ms < until_ms, end_ms).otherwise(until_ms).alias("until"),
    ).where("since < until")
    cluster_watch_spans = watch_spans.withColumnRenamed("cluster", "ofCluster")
    cluster_entry_spans = intersect_spans(entry_spans, cluster_watch_spans, ["server"]).where(
        (col("cluster") == NO_CLUSTER) | (col("cluster") == col("ofCluster"))
    )
    return cluster_entry_spans.drop("cluster").withColumnRenamed("ofCluster", "cluster")


def find_watch_spans(route_spans: DataFrame, knowledge_intervals: DataFrame, until_ms: int) -> DataFrame:
    """Return the spans in which the tables of each cluster's name servers were known.

    A name server belongs to a cluster if it ever reported one of the cluster's brokers. `route_spans` come
    from `select_route_spans`.
    """
    known_spans = (
        select_known_spans(knowledge_intervals, until_ms)
        .where("isRouteSource")
        .select("server", "since", "until")
    )
    return route_spans.select("server", "cluster").distinct().join(known_spans, "server")


def clip_to_watch_spans(route_spans: DataFrame, watch_spans: DataFrame) -> DataFrame:
    """Keep the parts of route spans in which their name server was watched; a fact may outlast the watch."""
    return intersect_spans(route_spans, broadcast_rows(watch_spans), ["server", "cluster"])


def build_agreement_spans(
    server_spans: DataFrame,
    watch_spans: DataFrame,
    key_columns: Sequence[str] = ROUTE_KEY,
    value_columns: Sequence[str] = QUEUE_COLUMNS,
) -> DataFrame:
    """Split the time of each key into spans, at every change of a value or of the watched name servers.

    `server_spans` come from `clip_to_watch_spans`. `differ` is true if the watched name servers report
    different values; a name server that lacks the key differs from one that has it. `isPresent` is true if
    a watched name server has the key. `isWatchChange` is true if a watch began or ended at the start of the
    span.
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
    distinct_keys = server_spans.select(*key_columns).distinct()
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
    steps_by_time = all_steps.groupBy(*key_columns, "at").agg(
        sum("by").alias("by"),
        sum("square").alias("square"),
        sum("watchStep").alias("watchStep"),
        _is_any_nonzero("watchStep").alias("isWatchChange"),
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
        (holder_total > 0).alias("isPresent"),
        "isWatchChange",
    )


def _is_any_nonzero(column_name: str) -> Column:
    return sum(when(col(column_name) != 0, 1).otherwise(0)) > 0


def _start_and_end_steps() -> Column:
    return array(
        struct(col("since").alias("at"), lit(1).alias("by")),
        struct(col("until").alias("at"), lit(-1).alias("by")),
    )
