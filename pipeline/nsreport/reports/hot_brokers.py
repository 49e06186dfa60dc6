"""hot_brokers: brokers that take more than their share of a cluster's messages. Pure."""

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql.functions import (
    avg,
    coalesce,
    col,
    count,
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

from nsreport.spans import number

_BROKER = ["cluster", "brokerName"]
_ALL = ["date", "cluster", "told"]


def hot_brokers(broker_runtime: DataFrame, stats_minute: DataFrame, since: int, until: int) -> DataFrame:
    """Return a row for each master and day, with its share of messages put and got against an equal share.

    `told` is the source: a collector (runtime), or the log of the broker (log), which contains no cluster.
    `skew` is the load of the most loaded broker against the mean. `gini` is 0 for equal loads, and near 1 if
    one broker has all messages. `queueSkew` is the load of the most loaded queue of a topic against the mean
    of that topic's queues on the broker, for the topic with the greatest skew (`skewedTopic`). Only logs
    contain queues.
    """
    told = _of_runtime(broker_runtime, since, until).unionByName(_of_logs(stats_minute, since, until))
    days = told.groupBy(*_ALL, "brokerName").agg(
        *(sum(name).cast("long").alias(name) for name in ("puts", "gets"))
    )
    whole = Window.partitionBy(*_ALL)
    ranked = days.select("*", row_number().over(whole.orderBy("puts", "brokerName")).alias("rank"))
    brokers = count(lit(1)).over(whole)
    puts, gets = sum("puts").over(whole), sum("gets").over(whole)
    gini = 2 * sum(col("rank") * col("puts")).over(whole) / (brokers * puts) - (brokers + 1) / brokers
    queues = _queues(stats_minute, since, until)
    return ranked.join(queues, ["date", "told", "brokerName"], "left").select(
        *_ALL,
        "brokerName",
        "puts",
        "gets",
        round(_part(col("puts"), puts), 4).alias("putShare"),
        round(_part(col("gets"), gets), 4).alias("getShare"),
        round(1 / brokers, 4).alias("fairShare"),
        round(_part(col("puts") * brokers, puts), 3).alias("putRatio"),
        round(_part(max("puts").over(whole) * brokers, puts), 3).alias("skew"),
        round(when(puts > 0, gini), 3).alias("gini"),
        "queueSkew",
        "skewedTopic",
    )


def _queues(stats_minute: DataFrame, since: int, until: int) -> DataFrame:
    """Return, for each broker and day, the topic with the most unequal puts over its queues."""
    told = _within(stats_minute, since, until).where("name = 'QUEUE_PUT_NUMS'")
    each = told.groupBy("date", col("broker").alias("brokerName"), "topic", "key").agg(
        sum("sum").alias("puts")
    )
    topics = each.groupBy("date", "brokerName", "topic").agg(_part(max("puts"), avg("puts")).alias("skew"))
    worst = topics.groupBy("date", "brokerName").agg(max(struct("skew", "topic")).alias("worst"))
    return worst.select(
        "date",
        "brokerName",
        lit("log").alias("told"),
        round("worst.skew", 3).alias("queueSkew"),
        col("worst.topic").alias("skewedTopic"),
    )


def _part(of: Column, whole: Column) -> Column:
    return when(whole > 0, of / whole)


def _of_runtime(broker_runtime: DataFrame, since: int, until: int) -> DataFrame:
    """Return the growth of the brokers' totals between samples. A restart resets them: then all is growth."""
    masters = _within(broker_runtime, since, until).where("brokerId = 0")
    window = Window.partitionBy(number([*_BROKER, "brokerAddr"])).orderBy("ts")
    same = lag("bootTime").over(window).eqNullSafe(col("bootTime"))
    grown = [
        _grown(name, same, window).alias(kind) for name, kind in (("putTotal", "puts"), ("getTotal", "gets"))
    ]
    return masters.select(to_date("ts").alias("date"), *_BROKER, lit("runtime").alias("told"), *grown)


def _grown(name: str, same: Column, window: WindowSpec) -> Column:
    before = lag(name).over(window)
    # The total of the first sample grew at an unknown time: it does not count.
    is_first = lag("ts").over(window).isNull()
    return when(~is_first, when(same & (col(name) >= before), col(name) - before).otherwise(col(name)))


def _of_logs(stats_minute: DataFrame, since: int, until: int) -> DataFrame:
    told = _within(stats_minute, since, until).where(col("name").isin("BROKER_PUT_NUMS", "BROKER_GET_NUMS"))
    return told.select(
        "date",
        lit("-").alias("cluster"),
        col("broker").alias("brokerName"),
        lit("log").alias("told"),
        *(
            coalesce(when(col("name") == name, col("sum")), lit(0.0)).cast("long").alias(kind)
            for name, kind in (("BROKER_PUT_NUMS", "puts"), ("BROKER_GET_NUMS", "gets"))
        ),
    )


def _within(rows: DataFrame, since: int, until: int) -> DataFrame:
    return rows.where(
        (col("ts") >= timestamp_millis(lit(since))) & (col("ts") < timestamp_millis(lit(until)))
    )
