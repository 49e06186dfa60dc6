"""Broker identity: finds cluster, broker name and broker id for the addresses in log lines.

Java's log lines rarely contain all three, so this module looks at neighbouring lines: lines that one thread
writes within a second belong to one request. A value that no line contains stays null.
"""

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql.functions import (
    broadcast,
    coalesce,
    col,
    lag,
    last,
    lead,
    lit,
    max_by,
    nullif,
    struct,
    sum,
    when,
)

SAID, NEAR, ELSEWHERE, UNKNOWN = 1.0, 0.9, 0.8, 0.5
"""Confidence by source: the line itself, a neighbouring line, other lines with the address, or none."""

_AT_ONCE = 1
"""Most seconds between lines of one request: log times are whole seconds."""

ABOUT = (
    "started", "ready", "stopping", "master", "registered", "registered4", "conflict", "stranger", "expired",
    "idle", "destroyed", "offLive", "offPlace", "offName", "offPlace4", "offName4", "minId", "topicNew",
    "topicChanged", "topicGone", "topicGone4", "topicDeleted", "wiped", "added", "kvNew", "kvUpdated",
    "kvDeleted", "kvListed", "configCalled", "replaced", "brokerBoot",
)  # fmt: skip
"""The rules of lines that become events, or that identify the broker of other lines."""

_OWN = ("topicNew", "topicChanged", "master")


def known(read: DataFrame) -> DataFrame:
    """Return the lines of IDENTIFYING_RULES with `broker`, `id`, `cluster` (null if unknown) and `sure`."""
    near = _near(read.where(col("rule").isin(*ABOUT)), _ids(read))
    order = Window.partitionBy("server", "addr").orderBy("ts", "line")
    back = Window.partitionBy("server", "addr").orderBy(col("ts").desc(), col("line").desc())
    once = [
        when(
            col("addr").isNotNull(),
            coalesce(last(f"told_{name}", True).over(order), last(f"told_{name}", True).over(back)),
        ).alias(f"once_{name}")
        for name in _WHAT
    ]
    found = near.select("*", *once).join(broadcast(_anywhere(near)), "addr", "left")
    sure = (
        when(col("addr").isNull() | col("broker").isNotNull() | (col("rule") == "ready"), SAID)
        .when(col("told_broker").isNotNull(), NEAR)
        .when(coalesce("once_broker", "else_broker").isNotNull(), ELSEWHERE)
        .otherwise(UNKNOWN)
    )
    own = {name: coalesce(name, f"told_{name}", f"once_{name}", f"else_{name}") for name in _WHAT}
    found = found.withColumns({"sure": sure, **own})
    found = _with_cluster(found)
    return found.drop(*(f"{how}_{name}" for how in ("told", "once", "else") for name in _WHAT))


_WHAT = ("broker", "id", "cluster")


def _near(read: DataFrame, ids: DataFrame) -> DataFrame:
    """Add `told_broker`, `told_id` and `told_cluster` from the line itself and its neighbours."""
    thread = Window.partitionBy("server", "kind", "thread").orderBy("ts", "line")
    own = _neighbour(lag, thread, _OWN, coalesce("afterBroker", "beforeBroker", "broker"))
    name = _neighbour(lead, thread, ("offName", "offName4"), col("broker"))
    is_place = col("rule").isin("offPlace", "offPlace4")
    of_address = Window.partitionBy("server", "addr").orderBy("ts", "line")
    is_first = sum(_is_new().cast("int")).over(of_address) == 1
    # One request registers the broker's topics first, then the broker.
    beside = when(_is_new(), own).when(is_place, name)
    return (
        read.join(broadcast(ids), "server", "left")
        .withColumn("told_broker", coalesce("broker", beside))
        .withColumn("told_id", coalesce("id", _own_id(own, is_first)))
        .withColumn("told_cluster", col("cluster"))
        .drop("ownId")
    )


def _is_new() -> Column:
    return col("rule").isin("registered", "registered4")


def _own_id(own: Column, is_first: Column) -> Column:
    """The broker id as the lines imply it: "0" for a master.

    4.x logs the master's address. In 5.x a master is a broker that brings topics with its first registration;
    later a slave may bring topics too, when it acts for its master.
    """
    brings = (col("rule") == "registered") & is_first & own.isNotNull()
    return when((col("rule") == "master") | brings, lit("0")).when(col("rule") == "brokerBoot", col("ownId"))


def _neighbour(side: object, thread: WindowSpec, rules: tuple[str, ...], value: Column) -> Column:
    """A value of the thread's previous (`lag`) or next (`lead`) line, if it belongs to the same request."""
    assert callable(side)
    line = side(struct("rule", "ts", value.alias("value"))).over(thread)
    apart = line["ts"].cast("long") - col("ts").cast("long")
    return when(line["rule"].isin(*rules) & apart.between(-_AT_ONCE, _AT_ONCE), line["value"])


def _ids(read: DataFrame) -> DataFrame:
    """Return the broker id that a 4.9 broker writes to its own log."""
    return read.where("rule = 'heard4'").groupBy("server").agg(max_by("id", "ts").alias("ownId"))


def _anywhere(near: DataFrame) -> DataFrame:
    """Return the latest values for each address from the logs of all servers."""
    told = near.where(col("addr").isNotNull() & coalesce(*(f"told_{name}" for name in _WHAT)).isNotNull())
    latest = [
        max_by(f"told_{name}", when(col(f"told_{name}").isNotNull(), struct("ts", "server", "line"))).alias(
            f"else_{name}"
        )
        for name in _WHAT
    ]
    return told.groupBy("addr").agg(*latest)


def _with_cluster(found: DataFrame) -> DataFrame:
    """Add the cluster of the broker's name to lines without a cluster, if another line contains it."""
    named = coalesce("broker", "afterBroker", "beforeBroker")
    told = found.where(col("broker").isNotNull() & nullif(col("cluster"), lit("")).isNotNull())
    latest = max_by("cluster", struct("ts", "server", "line")).alias("group_cluster")
    groups = told.groupBy(col("broker").alias("group_name")).agg(latest)
    joined = found.join(broadcast(groups), named == col("group_name"), "left")
    return joined.withColumn("of_group", coalesce("cluster", "group_cluster")).drop(
        "group_name", "group_cluster"
    )
