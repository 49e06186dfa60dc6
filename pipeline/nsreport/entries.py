"""Entry facts: the spans in which a name server had a broker address or a value of the KV config. Pure."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    broadcast,
    coalesce,
    col,
    explode,
    lead,
    lit,
    timestamp_millis,
    to_date,
    when,
)

from nsreport import coverage
from nsreport.journals import NOWHERE
from nsreport.turns import tellers, timely

ADDRESS, KV = "brokerAddr", "kv"
_KEY = ["server", "cluster", "field", "name", "key"]


def facts(ns_event: DataFrame, turns: DataFrame) -> DataFrame:
    """Return a row for each span in which an entry had the same value, as far as the witness reports it.

    `field` is brokerAddr (`name` is the broker's name, `key` its id) or kv (`name` is the namespace).
    `validTo` is null for the present value.
    """
    told = tellers(ns_event)
    fresh = coverage.marks(turns).where("isFresh").select("server", col("epoch").alias("place"), "since")
    begun = broadcast(fresh)
    snapshots = told.where("type = 'Snapshot'").join(begun, ["server", "place"])
    there = _changes(told, turns).unionByName(_brokers(snapshots)).unionByName(_values(snapshots))
    # An entry that a fresh snapshot lacks is gone: each fresh snapshot first ends every entry.
    gone = (
        there.select(*_KEY)
        .distinct()
        .join(begun, "server")
        .select(*_KEY, "place", lit(0).alias("nth"), "since")
    )
    steps = there.unionByName(gone.withColumn("value", lit(None).cast("string")))
    order = Window.partitionBy(*_KEY).orderBy("place", "nth")
    lasting = steps.withColumn("until", lead("since").over(order))
    return lasting.where("value is not null and (until is null or since < until)").select(
        *_KEY,
        "value",
        timestamp_millis("since").alias("validFrom"),
        timestamp_millis("until").alias("validTo"),
        to_date(timestamp_millis("since")).alias("date"),
    )


def _changes(told: DataFrame, turns: DataFrame) -> DataFrame:
    kind = col("type")
    is_kv = kind.isin("KvPut", "KvDeleted")
    events = timely(told.where(is_kv | kind.isin("BrokerRegistered", "BrokerUnregistered")), turns)
    value = when(kind == "KvPut", coalesce("value", lit(""))).when(
        kind == "BrokerRegistered", col("brokerAddr")
    )
    return events.select(
        "server",
        when(is_kv, lit(NOWHERE)).otherwise(col("cluster")).alias("cluster"),
        when(is_kv, KV).otherwise(ADDRESS).alias("field"),
        coalesce("namespace", "brokerName").alias("name"),
        coalesce("key", col("brokerId").cast("string")).alias("key"),
        "place",
        lit(1).alias("nth"),
        "since",
        value.alias("value"),
    )


def _brokers(snapshots: DataFrame) -> DataFrame:
    groups = snapshots.select("server", "place", "since", explode("groups").alias("of"))
    members = groups.select("*", explode("of.members").alias("one"))
    key = col("one.brokerId").cast("string")
    return members.select(
        *_entry(col("of.clusterName"), ADDRESS, col("of.brokerName"), key, col("one.brokerAddr"))
    )


def _values(snapshots: DataFrame) -> DataFrame:
    spaces = snapshots.select("server", "place", "since", explode("kv").alias("namespace", "items"))
    each = spaces.select("*", explode("items").alias("key", "value"))
    return each.select(*_entry(lit(NOWHERE), KV, col("namespace"), col("key"), coalesce("value", lit(""))))


def _entry(cluster: Column, field: str, name: Column, key: Column, value: Column) -> list[Column]:
    return [
        col("server"),
        cluster.alias("cluster"),
        lit(field).alias("field"),
        name.alias("name"),
        key.alias("key"),
        col("place"),
        lit(1).alias("nth"),
        col("since"),
        value.alias("value"),
    ]
