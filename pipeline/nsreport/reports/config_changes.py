"""config_changes: who changed which setting or KV value of a name server, before and after. Pure."""

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import array, coalesce, col, explode, struct, transform, when


def config_changes(ns_event: DataFrame, since: int, until: int) -> DataFrame:
    """A row for each value that changed on a name server from `since` to `until` (ms since 1970).

    `before` or `after` is null where there was, or is, nothing. A collector does not know who did it.
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
    """The key, what was there before, and what is there now; settings change several at once."""
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
