"""Agreement: the spans in which the name servers of a cluster report equal or different values. Pure."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    array,
    broadcast,
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

from nsreport.coverage import watched
from nsreport.journals import NOWHERE
from nsreport.spans import number, overlaps

KEY = ["cluster", "topic", "brokerName"]
QUEUES = ["readQueueNums", "writeQueueNums", "perm", "topicSysFlag"]
ENTRY = ["cluster", "field", "name", "key"]


def facts(route_fact: DataFrame, until: int) -> DataFrame:
    """Return the route facts known before `until_ms` as spans (`since` and `until` in ms since 1970)."""
    ends = coalesce(unix_millis("validTo"), lit(until))
    spans = route_fact.where("known").select(
        "server",
        *KEY,
        *QUEUES,
        unix_millis("validFrom").alias("since"),
        when(ends < until, ends).otherwise(until).alias("until"),
    )
    return spans.where("since < until")


def entries(entry_fact: DataFrame, looks: DataFrame, until: int) -> DataFrame:
    """Return the entry facts known before `until_ms` as spans.

    A KV entry has no cluster: it appears in each cluster of its name server.
    """
    ends = coalesce(unix_millis("validTo"), lit(until))
    spans = entry_fact.select(
        "server",
        *ENTRY,
        "value",
        unix_millis("validFrom").alias("since"),
        when(ends < until, ends).otherwise(until).alias("until"),
    ).where("since < until")
    seen = looks.withColumnRenamed("cluster", "ofCluster")
    own = overlaps(spans, seen, ["server"]).where(
        (col("cluster") == NOWHERE) | (col("cluster") == col("ofCluster"))
    )
    return own.drop("cluster").withColumnRenamed("ofCluster", "cluster")


def looking(spans: DataFrame, coverage: DataFrame, until: int) -> DataFrame:
    """Return the spans in which the tables of each cluster's name servers were known.

    A name server belongs to a cluster if it ever reported one of the cluster's brokers. `route_spans` come
    from `select_route_spans`.
    """
    known = watched(coverage, until).where("tellsRoutes").select("server", "since", "until")
    return spans.select("server", "cluster").distinct().join(known, "server")


def seen(facts: DataFrame, looks: DataFrame) -> DataFrame:
    """Keep the parts of route spans in which their name server was watched; a fact may outlast the watch."""
    return overlaps(facts, broadcast(looks), ["server", "cluster"])


def moments(
    spans: DataFrame, looks: DataFrame, key: Sequence[str] = KEY, values: Sequence[str] = QUEUES
) -> DataFrame:
    """Split the time of each key into spans, at every change of a value or of the watched name servers.

    `server_spans` come from `clip_to_watch_spans`. `differ` is true if the watched name servers report
    different values; a name server that lacks the key differs from one that has it. `told` is true if a
    watched name server has the key. `looked` is true if a watch began or ended at the start of the span.
    """
    said = xxhash64(*values).alias("said")
    told = spans.select(*key, said, "since", "until").select(*key, "said", explode(_steps()).alias("step"))
    steps = told.groupBy(*key, "said", col("step.at").alias("at")).agg(sum("step.by").alias("by"))
    window = Window.partitionBy(number([*key, "said"])).orderBy("at")
    count = sum("by").over(window)
    squares = steps.select(
        *key, "at", "by", (count * count - (count - col("by")) * (count - col("by"))).alias("square")
    )
    keys = spans.select(*key).distinct()
    looked = keys.join(looks, "cluster").select(*key, explode(_steps()).alias("step"))
    both = squares.select(*key, "at", "by", "square", lit(0).alias("look")).unionByName(
        looked.select(
            *key,
            col("step.at").alias("at"),
            lit(0).alias("by"),
            lit(0).alias("square"),
            col("step.by").alias("look"),
        )
    )
    each = both.groupBy(*key, "at").agg(
        sum("by").alias("by"),
        sum("square").alias("square"),
        sum("look").alias("look"),
        _any("look").alias("looked"),
    )
    by_key = Window.partitionBy(number(key)).orderBy("at")
    held, same, known = (sum(name).over(by_key) for name in ("by", "square", "look"))
    return each.select(
        *key,
        col("at").alias("since"),
        lead("at").over(by_key).alias("until"),
        ((held > 0) & (same != known * known)).alias("differ"),
        (held > 0).alias("told"),
        "looked",
    )


def _any(name: str) -> Column:
    return sum(when(col(name) != 0, 1).otherwise(0)) > 0


def _steps() -> Column:
    return array(
        struct(col("since").alias("at"), lit(1).alias("by")),
        struct(col("until").alias("at"), lit(-1).alias("by")),
    )
