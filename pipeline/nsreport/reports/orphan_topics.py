"""orphan_topics: topics without a broker, without traffic or without a consumer group. Pure."""

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import (
    array,
    array_compact,
    array_contains,
    array_sort,
    arrays_overlap,
    broadcast,
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
    when,
)

from nsreport.presence import presence
from nsreport.spans import DAY

SYSTEM = (
    "TBW102", "BenchmarkTest", "SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT", "SCHEDULE_TOPIC_XXXX",
    "DefaultHeartBeatSyncerTopic", "TRANS_CHECK_MAX_TIME_TOPIC",
)  # fmt: skip
_SYSTEM = "^(rmq_sys_|RMQ_SYS_|%SYS%)|_REPLY_TOPIC$"
_OF_GROUPS = "^%(?:RETRY|DLQ)%(.*)$"


def orphan_topics(
    told: DataFrame,
    route_fact: DataFrame,
    stats_minute: DataFrame,
    consumer_lag: DataFrame,
    since: int,
    until: int,
) -> DataFrame:
    """Return a row for each orphaned topic at `until_ms` (ms since 1970) and each reason.

    The reasons are

    - no broker: none of the topic's brokers is registered;
    - no traffic: producers put no message since `since_ms`, and statistics cover the first and the last day;
    - no group: a retry or dead-letter topic whose group has no lag sample, while other groups have some.

    Missing data are never a reason.
    """
    now = route_fact.where(col("validTo").isNull() | (col("validTo") >= timestamp_millis(lit(until))))
    topics = (
        now.where(col("validFrom") < timestamp_millis(lit(until)))
        .groupBy("cluster", "topic")
        .agg(array_sort(collect_set("brokerName")).alias("brokers"), min("validFrom").alias("knownSince"))
    )
    there = presence(told.where(col("time") < until), until).where(
        (col("state") == "up") & (col("until") == until)
    )
    registered = there.groupBy("cluster").agg(collect_set("brokerName").alias("registered"))
    groups = (
        _within(consumer_lag, since, until)
        .groupBy("cluster")
        .agg(collect_set("consumerGroup").alias("groups"))
    )
    traffic = _within(stats_minute, since, until).where("name = 'TOPIC_PUT_NUMS'")
    puts = traffic.groupBy("topic").agg(
        sum("sum").alias("puts"), max(when(col("sum") > 0, col("ts"))).alias("lastPut")
    )
    judged = (
        topics.join(broadcast(registered), "cluster", "left")
        .join(broadcast(groups), "cluster", "left")
        .join(puts, "topic", "left")
        .crossJoin(broadcast(_told(stats_minute, since, until)))
    )
    return (
        judged.select("*", explode(array_compact(array(*_reasons(since)))).alias("reason"))
        .select(lit((until - 1) // DAY).cast("int").alias("day"), "*")
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


def _reasons(since: int) -> list[Column]:
    is_old = col("knownSince") <= timestamp_millis(lit(since))
    group = regexp_extract("topic", _OF_GROUPS, 1)
    is_own = col("topic").isin(*SYSTEM) | col("topic").rlike(_SYSTEM) | (col("topic") == col("cluster"))
    is_silent = is_old & col("isTold") & (coalesce("puts", lit(0.0)) == 0)
    no_broker = col("registered").isNotNull() & ~arrays_overlap("brokers", "registered")
    return [
        when(no_broker, "no broker"),
        when(is_silent & ~is_own & (group == "") & ~array_contains("brokers", col("topic")), "no traffic"),
        when((group != "") & col("groups").isNotNull() & ~array_contains("groups", group), "no group"),
    ]


def _told(stats_minute: DataFrame, since: int, until: int) -> DataFrame:
    """Return one row: `isTold` is true if traffic statistics reach from the first day to the last."""
    times = _within(stats_minute, since, until).agg(min("ts").alias("first"), max("ts").alias("last"))
    begins = col("first") < timestamp_millis(lit(since + DAY))
    ends = col("last") >= timestamp_millis(lit(until - DAY))
    return times.select(coalesce(begins & ends, lit(False)).alias("isTold"))


def _within(rows: DataFrame, since: int, until: int) -> DataFrame:
    return rows.where(
        (col("ts") >= timestamp_millis(lit(since))) & (col("ts") < timestamp_millis(lit(until)))
    )
