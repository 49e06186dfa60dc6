"""Entry intervals: the spans in which a name server had a broker address or a KV value. Pure."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    coalesce,
    col,
    explode,
    lead,
    lit,
    timestamp_millis,
    to_date,
    unix_millis,
    when,
)

from nsreport.facts import knowledge_intervals
from nsreport.facts.knowledge_changes import add_counted_time, add_observer_columns, select_route_records
from nsreport.facts.spans import ALWAYS_MS
from nsreport.runtime.session import broadcast_rows
from nsreport.sources.journals import NO_CLUSTER

ADDRESS_FIELD, KV_FIELD = "brokerAddr", "kv"
_ENTRY_KEY = ["server", "cluster", "field", "name", "key"]


def build_entry_intervals(
    ns_event: DataFrame,
    knowledge_changes: DataFrame,
    carried_intervals: DataFrame | None = None,
    since_ms: int = ALWAYS_MS,
) -> DataFrame:
    """Return a row for each span in which an entry had the same value, as far as the observer reports it.

    `field` is brokerAddr (`name` is the broker's name, `key` its id) or kv (`name` is the namespace).
    `validTo` is null for the present value. `carried_intervals` and `since_ms` are as in
    `routes.build_route_intervals`.
    """
    observer_events = select_route_records(add_observer_columns(ns_event), knowledge_changes)
    fresh_marks = (
        knowledge_intervals.find_route_marks(knowledge_changes)
        .where(col("isFresh") & (col("since") >= since_ms))
        .select("server", col("epoch").alias("recordOrder"), "since")
    )
    epoch_starts = broadcast_rows(fresh_marks)
    fresh_snapshots = observer_events.where("type = 'Snapshot'").join(epoch_starts, ["server", "recordOrder"])
    present_steps = (
        _event_entries(observer_events, knowledge_changes)
        .unionByName(_snapshot_addresses(fresh_snapshots))
        .unionByName(_snapshot_kv_values(fresh_snapshots))
    )
    if carried_intervals is not None:
        carried_steps = carried_intervals.select(
            *_ENTRY_KEY,
            lit(-1).alias("recordOrder"),
            lit(1).alias("nth"),
            unix_millis("validFrom").alias("since"),
            "value",
        )
        present_steps = present_steps.unionByName(carried_steps)
    # An entry that a fresh snapshot lacks is gone: each fresh snapshot first ends every entry.
    absent_steps = (
        present_steps.select(*_ENTRY_KEY)
        .distinct()
        .join(epoch_starts, "server")
        .select(*_ENTRY_KEY, "recordOrder", lit(0).alias("nth"), "since")
    )
    entry_steps = present_steps.unionByName(absent_steps.withColumn("value", lit(None).cast("string")))
    entry_window = Window.partitionBy(*_ENTRY_KEY).orderBy("recordOrder", "nth")
    lasting_entries = entry_steps.withColumn("until", lead("since").over(entry_window))
    return lasting_entries.where("value is not null and (until is null or since < until)").select(
        *_ENTRY_KEY,
        "value",
        timestamp_millis("since").alias("validFrom"),
        timestamp_millis("until").alias("validTo"),
        to_date(timestamp_millis("since")).alias("date"),
        to_date(timestamp_millis("until")).alias("endDate"),
    )


def _event_entries(observer_events: DataFrame, knowledge_changes: DataFrame) -> DataFrame:
    event_type = col("type")
    is_kv = event_type.isin("KvPut", "KvDeleted")
    timed_events = add_counted_time(
        observer_events.where(is_kv | event_type.isin("BrokerRegistered", "BrokerUnregistered")),
        knowledge_changes,
    )
    entry_value = when(event_type == "KvPut", coalesce("value", lit(""))).when(
        event_type == "BrokerRegistered", col("brokerAddr")
    )
    return timed_events.select(
        "server",
        when(is_kv, lit(NO_CLUSTER)).otherwise(col("cluster")).alias("cluster"),
        when(is_kv, KV_FIELD).otherwise(ADDRESS_FIELD).alias("field"),
        coalesce("namespace", "brokerName").alias("name"),
        coalesce("key", col("brokerId").cast("string")).alias("key"),
        "recordOrder",
        lit(1).alias("nth"),
        "since",
        entry_value.alias("value"),
    )


def _snapshot_addresses(snapshots: DataFrame) -> DataFrame:
    broker_groups = snapshots.select("server", "recordOrder", "since", explode("groups").alias("of"))
    group_members = broker_groups.select("*", explode("of.members").alias("one"))
    broker_id = col("one.brokerId").cast("string")
    return group_members.select(
        *_entry_columns(
            col("of.clusterName"), ADDRESS_FIELD, col("of.brokerName"), broker_id, col("one.brokerAddr")
        )
    )


def _snapshot_kv_values(snapshots: DataFrame) -> DataFrame:
    kv_namespaces = snapshots.select(
        "server", "recordOrder", "since", explode("kv").alias("namespace", "items")
    )
    kv_items = kv_namespaces.select("*", explode("items").alias("key", "value"))
    return kv_items.select(
        *_entry_columns(lit(NO_CLUSTER), KV_FIELD, col("namespace"), col("key"), coalesce("value", lit("")))
    )


def _entry_columns(
    cluster_name: Column, field_name: str, entry_name: Column, entry_key: Column, entry_value: Column
) -> list[Column]:
    return [
        col("server"),
        cluster_name.alias("cluster"),
        lit(field_name).alias("field"),
        entry_name.alias("name"),
        entry_key.alias("key"),
        col("recordOrder"),
        lit(1).alias("nth"),
        col("since"),
        entry_value.alias("value"),
    ]
