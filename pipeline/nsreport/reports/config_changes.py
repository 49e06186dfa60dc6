"""config_changes: changes of settings and KV values of name servers, with client, old and new value. Pure."""

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import array, coalesce, col, explode, lit, struct, transform, when


def config_changes(ns_event: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    """Return a row for each value that changed on a name server from `since_ms` to `until_ms` (since 1970).

    `before` or `after` is null if the value did not exist. Events of a collector have no client. A log lacks
    `before`, so a request that puts the same value again is a row, too.
    """
    change_events = ns_event.where(col("type").isin("KvPut", "KvDeleted", "SettingsChanged"))
    events_in_range = change_events.where((col("time") >= since_ms) & (col("time") < until_ms))
    change_rows = events_in_range.select("*", explode(_change_structs()).alias("change"))
    has_changed = coalesce(col("change.before") != col("change.after"), lit(True))
    return change_rows.where(has_changed).select(
        "date",
        "ts",
        "server",
        "type",
        "cause",
        "client",
        "namespace",
        "change.key",
        "change.before",
        "change.after",
    )


def _change_structs() -> Column:
    """The key, old value and new value of each change in an event; SettingsChanged has several."""
    kv_change = struct(
        col("key").alias("key"),
        col("before").alias("before"),
        when(col("type") == "KvPut", col("value")).alias("after"),
    )
    setting_changes = transform(
        "settingChanges",
        lambda setting_change: struct(
            setting_change["key"].alias("key"),
            setting_change["before"].alias("before"),
            setting_change["after"].alias("after"),
        ),
    )
    return when(col("type") == "SettingsChanged", coalesce(setting_changes, array())).otherwise(
        array(kv_change)
    )
