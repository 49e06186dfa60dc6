"""orphan_topics: topics without a broker, without traffic or without a consumer group. Pure."""

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import (
    array,
    array_compact,
    array_contains,
    array_sort,
    arrays_overlap,
    coalesce,
    col,
    collect_set,
    date_from_unix_date,
    explode,
    lit,
    max,
    min,
    regexp_extract,
    sum,
    timestamp_millis,
    to_date,
    when,
)

from nsreport.facts.presence import build_presence
from nsreport.facts.spans import DAY_MS
from nsreport.runtime.session import broadcast_rows

SYSTEM_TOPICS = (
    "TBW102", "BenchmarkTest", "SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT", "SCHEDULE_TOPIC_XXXX",
    "DefaultHeartBeatSyncerTopic", "TRANS_CHECK_MAX_TIME_TOPIC",
)  # fmt: skip
_SYSTEM_TOPIC_PATTERN = "^(rmq_sys_|RMQ_SYS_|%SYS%)|_REPLY_TOPIC$"
_GROUP_TOPIC_PATTERN = "^%(?:RETRY|DLQ)%(.*)$"


def orphan_topics(
    lifecycle_events: DataFrame,
    route_interval: DataFrame,
    stats_minute: DataFrame,
    consumer_lag: DataFrame,
    since_ms: int,
    until_ms: int,
) -> DataFrame:
    """Return a row for each orphaned topic at `until_ms` (ms since 1970) and each reason.

    The reasons are

    - no broker: none of the topic's brokers is registered;
    - no traffic: producers put no message since `since_ms`, and statistics cover the first and the last day;
    - no group: a retry or dead-letter topic whose group has no lag sample, while other groups have some.

    Missing data are never a reason.
    """
    # Spark reads no files of routes that ended on earlier days.
    is_late_end = col("endDate").isNull() | (col("endDate") >= to_date(timestamp_millis(lit(until_ms))))
    current_routes = route_interval.where(is_late_end).where(
        col("validTo").isNull() | (col("validTo") >= timestamp_millis(lit(until_ms)))
    )
    known_topics = (
        current_routes.where(col("validFrom") < timestamp_millis(lit(until_ms)))
        .groupBy("cluster", "topic")
        .agg(array_sort(collect_set("brokerName")).alias("brokers"), min("validFrom").alias("knownSince"))
    )
    up_spans = build_presence(lifecycle_events, until_ms).where(
        (col("state") == "up") & (col("until") == until_ms)
    )
    registered_brokers = up_spans.groupBy("cluster").agg(collect_set("brokerName").alias("registered"))
    known_groups = (
        _select_time_range(consumer_lag, since_ms, until_ms)
        .groupBy("cluster")
        .agg(collect_set("consumerGroup").alias("groups"))
    )
    topic_traffic = _select_time_range(stats_minute, since_ms, until_ms).where("name = 'TOPIC_PUT_NUMS'")
    topic_puts = topic_traffic.groupBy("topic").agg(
        sum("sum").alias("puts"), max(when(col("sum") > 0, col("ts"))).alias("lastPut")
    )
    topics_with_evidence = (
        known_topics.join(broadcast_rows(registered_brokers), "cluster", "left")
        .join(broadcast_rows(known_groups), "cluster", "left")
        .join(topic_puts, "topic", "left")
        .crossJoin(broadcast_rows(_has_traffic_stats(stats_minute, since_ms, until_ms)))
    )
    return (
        topics_with_evidence.select(
            "*", explode(array_compact(array(*_orphan_reasons(since_ms)))).alias("reason")
        )
        .select(lit((until_ms - 1) // DAY_MS).cast("int").alias("day"), "*")
        .select(
            date_from_unix_date("day").alias("date"),
            "cluster",
            "topic",
            "brokers",
            "reason",
            "knownSince",
            "lastPut",
        )
    )


def _orphan_reasons(since_ms: int) -> list[Column]:
    is_old = col("knownSince") <= timestamp_millis(lit(since_ms))
    group_name = regexp_extract("topic", _GROUP_TOPIC_PATTERN, 1)
    is_system_topic = (
        col("topic").isin(*SYSTEM_TOPICS)
        | col("topic").rlike(_SYSTEM_TOPIC_PATTERN)
        | (col("topic") == col("cluster"))
    )
    is_silent = is_old & col("isComplete") & (coalesce("puts", lit(0.0)) == 0)
    has_no_broker = col("registered").isNotNull() & ~arrays_overlap("brokers", "registered")
    return [
        when(has_no_broker, "no broker"),
        when(
            is_silent & ~is_system_topic & (group_name == "") & ~array_contains("brokers", col("topic")),
            "no traffic",
        ),
        when(
            (group_name != "") & col("groups").isNotNull() & ~array_contains("groups", group_name), "no group"
        ),
    ]


def _has_traffic_stats(stats_minute: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    """Return one row: `isComplete` is true if traffic statistics reach from the first day to the last."""
    stats_times = _select_time_range(stats_minute, since_ms, until_ms).agg(
        min("ts").alias("first"), max("ts").alias("last")
    )
    is_from_first_day = col("first") < timestamp_millis(lit(since_ms + DAY_MS))
    is_to_last_day = col("last") >= timestamp_millis(lit(until_ms - DAY_MS))
    return stats_times.select(coalesce(is_from_first_day & is_to_last_day, lit(False)).alias("isComplete"))


def _select_time_range(timed_rows: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    return timed_rows.where(
        (col("ts") >= timestamp_millis(lit(since_ms))) & (col("ts") < timestamp_millis(lit(until_ms)))
    )
