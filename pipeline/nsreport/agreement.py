"""Whether name servers say the same of something, from moment to moment. Pure."""

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
    """What is known of routes before `until`, as spans (`since`, `until` in ms)."""
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
    """What is known of entries before `until`, as spans; KV config in each cluster of its name server."""
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
    """When the tables of the name servers of a cluster were known: a server is one of a cluster's if it ever
    told of one of its brokers; `spans` are `facts`.
    """
    known = watched(coverage, until).where("tellsRoutes").select("server", "since", "until")
    return spans.select("server", "cluster").distinct().join(known, "server")


def seen(facts: DataFrame, looks: DataFrame) -> DataFrame:
    """The parts of `facts` in which their server was looked at; tables are known for longer than that."""
    return overlaps(facts, broadcast(looks), ["server", "cluster"])


def moments(
    spans: DataFrame, looks: DataFrame, key: Sequence[str] = KEY, values: Sequence[str] = QUEUES
) -> DataFrame:
    """Spans of each key from change to change: `differ` says whether name servers contradict each other.

    Spans are of what name servers said while they were looked at (`seen`).

    They do where not all that are looked at say the same, having no such thing included. `looked` is whether
    that was so because of who was looked at, and not because of what they said.
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
