"""config_changes: changes of settings and KV values of name servers, with client, old and new value. Pure."""

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import array, coalesce, col, explode, struct, transform, when


def config_changes(ns_event: DataFrame, since: int, until: int) -> DataFrame:
    """Return a row for each value that changed on a name server from `since_ms` to `until_ms` (since 1970).

    `before` or `after` is null if the value did not exist. Events of a collector have no client.
    """
    kinds = ns_event.where(col("type").isin("KvPut", "KvDeleted", "SettingsChanged"))
    told = kinds.where((col("time") >= since) & (col("time") < until))
    each = told.select("*", explode(_changes()).alias("change"))
    return each.select(
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


def _changes() -> Column:
    """The key, old value and new value of each change in an event; SettingsChanged has several."""
    itself = struct(
        col("key").alias("key"),
        col("before").alias("before"),
        when(col("type") == "KvPut", col("value")).alias("after"),
    )
    settings = transform(
        "settingChanges",
        lambda one: struct(
            one["key"].alias("key"), one["before"].alias("before"), one["after"].alias("after")
        ),
    )
    return when(col("type") == "SettingsChanged", coalesce(settings, array())).otherwise(array(itself))
