"""ns_divergence: the spans in which name servers had different routes, addresses or KV values. Pure."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import (
    array,
    array_distinct,
    array_sort,
    col,
    collect_list,
    concat_ws,
    explode,
    filter,
    lit,
    map_from_entries,
    max,
    round,
    size,
    struct,
    timestamp_millis,
    to_date,
    to_json,
    transform,
    when,
)

from nsreport import agreement
from nsreport.agreement import ENTRY, KEY, QUEUES
from nsreport.entries import ADDRESS
from nsreport.spans import merged

ABSENT, PRESENT = "absent", "present"


def ns_divergence(
    route_fact: DataFrame, entry_fact: DataFrame, coverage: DataFrame, since: int, until: int
) -> DataFrame:
    """Return a row for each divergent field and span that is not over at `since_ms` (ms since 1970).

    `field` is route if some name servers had no such queues; the other queue fields are compared among the
    name servers that had them. Broker addresses and the KV config have one field each, and a missing entry is
    a value. `values` contains only watched name servers.
    """
    known = agreement.facts(route_fact, until)
    looks = agreement.looking(known, coverage, until)
    facts = agreement.seen(known, looks)
    entries = agreement.entries(entry_fact, looks, until)
    routes = _apart(facts, looks, KEY, QUEUES).select(
        *KEY, "since", "until", explode(_fields()).alias("field")
    )
    values = array_distinct(transform("field.said", lambda one: one["value"]))
    queues = routes.where(size(values) > 1).select(
        *KEY,
        lit(None).cast("string").alias("key"),
        "since",
        "until",
        col("field.name").alias("field"),
        to_json(map_from_entries("field.said")).alias("values"),
    )
    whole = merged(queues.unionByName(_entries(entries, looks)), [*KEY, "key", "field", "values"])
    return whole.where(col("until") > since).select(
        to_date(timestamp_millis("since")).alias("date"),
        *KEY,
        "key",
        "field",
        timestamp_millis("since").alias("ts"),
        timestamp_millis("until").alias("endTs"),
        round((col("until") - col("since")) / 1000, 3).alias("seconds"),
        (col("until") == until).alias("ongoing"),
        "values",
    )


def _entries(entries: DataFrame, looks: DataFrame) -> DataFrame:
    """Return the spans in which broker addresses or KV values differed."""
    apart = _apart(entries, looks, ENTRY, ["value"])
    said = transform("told", lambda one: _pair(one["server"], one["value"]))
    is_address = col("field") == ADDRESS
    return apart.select(
        "cluster",
        lit(None).cast("string").alias("topic"),
        when(is_address, col("name")).alias("brokerName"),
        when(is_address, col("key")).otherwise(concat_ws("/", "name", "key")).alias("key"),
        "since",
        "until",
        "field",
        to_json(map_from_entries(said), {"ignoreNullFields": "false"}).alias("values"),
    )


def _apart(spans: DataFrame, looks: DataFrame, key: list[str], values: list[str]) -> DataFrame:
    """Return the spans in which watched name servers differ, with the values of each in `told`.

    The values of a name server without the key are null.
    """
    apart = agreement.moments(spans, looks, key, values).where("differ and until is not null")
    there = looks.withColumnsRenamed({"since": "lookSince", "until": "lookUntil"})
    seen = apart.select(*key, "since", "until").join(there, "cluster")
    seen = seen.where("lookSince <= since and until <= lookUntil")
    holds = spans.withColumnsRenamed({"since": "holdsSince", "until": "holdsUntil"})
    within = (col("holdsSince") <= col("since")) & (col("until") <= col("holdsUntil"))
    whose = ["server", *key]
    said = seen.join(holds.where("holdsSince < holdsUntil"), whose, "left").select(
        *whose, "since", "until", *(when(within, col(name)).alias(name) for name in values)
    )
    # At most one of the facts of a name server covers the span; `max` picks its values.
    each = said.groupBy(*whose, "since", "until").agg(*(max(name).alias(name) for name in values))
    one = struct("server", *values)
    return each.groupBy(*key, "since", "until").agg(array_sort(collect_list(one)).alias("told"))


def _fields() -> Column:
    """The values of each field per name server, as text."""
    route = transform(
        "told", lambda one: _pair(one["server"], when(one["perm"].isNull(), ABSENT).otherwise(PRESENT))
    )
    fields = [struct(lit("route").alias("name"), route.alias("said"))]
    there = filter("told", lambda one: one["perm"].isNotNull())
    for name in QUEUES:
        fields.append(struct(lit(name).alias("name"), transform(there, _value_of(name)).alias("said")))
    return array(*fields)


def _value_of(name: str) -> Callable[[Column], Column]:
    return lambda one: _pair(one["server"], one[name].cast("string"))


def _pair(server: Column, value: Column) -> Column:
    return struct(server.alias("key"), value.alias("value"))
