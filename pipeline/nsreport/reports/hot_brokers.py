"""hot_brokers: brokers that take more than their share of a cluster's messages. Pure."""

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql.functions import (
    avg,
    coalesce,
    col,
    count,
    date_sub,
    lag,
    lit,
    max,
    round,
    row_number,
    struct,
    sum,
    timestamp_millis,
    to_date,
    when,
)

from nsreport.facts.spans import hash_key

_BROKER_KEY = ["cluster", "brokerName"]
_DAY_KEY = ["date", "cluster", "source"]


def hot_brokers(
    broker_runtime: DataFrame, stats_minute: DataFrame, since_ms: int, until_ms: int
) -> DataFrame:
    """Return a row for each master and day, with its share of messages put and got against an equal share.

    `source` is the source: a collector (runtime), or the log of the broker (log), which contains no cluster.
    `skew` is the load of the most loaded broker against the mean. `gini` is 0 for equal loads, and near 1 if
    one broker has all messages. `queueSkew` is the load of the most loaded queue of a topic against the mean
    of that topic's queues on the broker, for the topic with the greatest skew (`skewedTopic`). Only logs
    contain queues.
    """
    count_rows = _runtime_counts(broker_runtime, since_ms, until_ms).unionByName(
        _log_counts(stats_minute, since_ms, until_ms)
    )
    broker_days = count_rows.groupBy(*_DAY_KEY, "brokerName").agg(
        *(sum(count_column).cast("long").alias(count_column) for count_column in ("puts", "gets"))
    )
    cluster_window = Window.partitionBy(*_DAY_KEY)
    ranked_brokers = broker_days.select(
        "*", row_number().over(cluster_window.orderBy("puts", "brokerName")).alias("rank")
    )
    broker_count = count(lit(1)).over(cluster_window)
    cluster_puts, cluster_gets = sum("puts").over(cluster_window), sum("gets").over(cluster_window)
    gini_index = (
        2 * sum(col("rank") * col("puts")).over(cluster_window) / (broker_count * cluster_puts)
        - (broker_count + 1) / broker_count
    )
    queue_skews = _find_queue_skews(stats_minute, since_ms, until_ms)
    return ranked_brokers.join(queue_skews, ["date", "source", "brokerName"], "left").select(
        *_DAY_KEY,
        "brokerName",
        "puts",
        "gets",
        round(_share_of(col("puts"), cluster_puts), 4).alias("putShare"),
        round(_share_of(col("gets"), cluster_gets), 4).alias("getShare"),
        round(1 / broker_count, 4).alias("fairShare"),
        round(_share_of(col("puts") * broker_count, cluster_puts), 3).alias("putRatio"),
        round(_share_of(max("puts").over(cluster_window) * broker_count, cluster_puts), 3).alias("skew"),
        round(when(cluster_puts > 0, gini_index), 3).alias("gini"),
        "queueSkew",
        "skewedTopic",
    )


def _find_queue_skews(stats_minute: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    """Return, for each broker and day, the topic with the most unequal puts over its queues."""
    queue_stats = _select_time_range(stats_minute, since_ms, until_ms).where("name = 'QUEUE_PUT_NUMS'")
    queue_puts = queue_stats.groupBy("date", col("broker").alias("brokerName"), "topic", "key").agg(
        sum("sum").alias("puts")
    )
    topic_skews = queue_puts.groupBy("date", "brokerName", "topic").agg(
        _share_of(max("puts"), avg("puts")).alias("skew")
    )
    worst_topics = topic_skews.groupBy("date", "brokerName").agg(max(struct("skew", "topic")).alias("worst"))
    return worst_topics.select(
        "date",
        "brokerName",
        lit("log").alias("source"),
        round("worst.skew", 3).alias("queueSkew"),
        col("worst.topic").alias("skewedTopic"),
    )


def _share_of(part_value: Column, whole_value: Column) -> Column:
    return when(whole_value > 0, part_value / whole_value)


def _runtime_counts(broker_runtime: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    """Return the growth of the brokers' totals between samples; after a restart, totals begin at 0 again.

    If there is no sample before, on that day or the day before, a total grew at an unknown time: it does not
    count.
    """
    master_rows = _select_time_range(broker_runtime, since_ms, until_ms).where("brokerId = 0")
    broker_window = Window.partitionBy(hash_key([*_BROKER_KEY, "brokerAddr"])).orderBy("ts")
    is_same_boot = lag("bootTime").over(broker_window).eqNullSafe(col("bootTime"))
    growth_columns = [
        _total_growth(total_column, is_same_boot, broker_window).alias(count_column)
        for total_column, count_column in (("putTotal", "puts"), ("getTotal", "gets"))
    ]
    return master_rows.select(
        to_date("ts").alias("date"), *_BROKER_KEY, lit("runtime").alias("source"), *growth_columns
    )


def _total_growth(total_column: str, is_same_boot: Column, broker_window: WindowSpec) -> Column:
    previous_total = lag(total_column).over(broker_window)
    is_known_since = to_date(lag("ts").over(broker_window)) >= date_sub(to_date("ts"), 1)
    return when(
        is_known_since,
        when(
            is_same_boot & (col(total_column) >= previous_total), col(total_column) - previous_total
        ).otherwise(col(total_column)),
    )


def _log_counts(stats_minute: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    broker_stats = _select_time_range(stats_minute, since_ms, until_ms).where(
        col("name").isin("BROKER_PUT_NUMS", "BROKER_GET_NUMS")
    )
    return broker_stats.select(
        "date",
        lit("-").alias("cluster"),
        col("broker").alias("brokerName"),
        lit("log").alias("source"),
        *(
            coalesce(when(col("name") == stats_name, col("sum")), lit(0.0)).cast("long").alias(count_column)
            for stats_name, count_column in (("BROKER_PUT_NUMS", "puts"), ("BROKER_GET_NUMS", "gets"))
        ),
    )


def _select_time_range(timed_rows: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    return timed_rows.where(
        (col("ts") >= timestamp_millis(lit(since_ms))) & (col("ts") < timestamp_millis(lit(until_ms)))
    )
