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
    min,
    round,
    size,
    struct,
    timestamp_millis,
    to_date,
    to_json,
    transform,
    when,
)

from nsreport.facts import agreement
from nsreport.facts.agreement import ENTRY_KEY, QUEUE_COLUMNS, ROUTE_KEY
from nsreport.facts.entries import ADDRESS_FIELD
from nsreport.facts.spans import merge_spans

ABSENT_VALUE, PRESENT_VALUE = "absent", "present"


def ns_divergence(
    route_interval: DataFrame,
    entry_interval: DataFrame,
    agreement_intervals: DataFrame,
    route_servers: DataFrame,
    knowledge_intervals: DataFrame,
    since_ms: int,
    until_ms: int,
) -> DataFrame:
    """Return a row for each divergent field and span that is not over at `since_ms` (ms since 1970).

    `field` is route if some name servers had no such queues; the other queue fields are compared among the
    name servers that had them. Broker addresses and the KV config have one field each, and a missing entry is
    a value. `values` contains only watched name servers.
    """
    watch_spans = agreement.find_watch_spans(route_servers, knowledge_intervals, until_ms)
    entry_spans = agreement.select_entry_spans(entry_interval, watch_spans, until_ms)
    differing_routes = agreement.select_agreement_spans(agreement_intervals.where("differ"), until_ms)
    # Spark then reads only the files with routes that lasted until the first difference.
    first_day = differing_routes.select(to_date(timestamp_millis(min("since")))).scalar()
    route_spans = agreement.select_route_spans(
        route_interval.where(col("endDate").isNull() | (col("endDate") >= first_day)), until_ms
    )
    route_values = _collect_values(differing_routes, route_spans, watch_spans, ROUTE_KEY, QUEUE_COLUMNS)
    route_differences = route_values.select(
        *ROUTE_KEY, "since", "until", explode(_field_structs()).alias("field")
    )
    distinct_values = array_distinct(transform("field.said", lambda server_value: server_value["value"]))
    queue_differences = route_differences.where(size(distinct_values) > 1).select(
        *ROUTE_KEY,
        lit(None).cast("string").alias("key"),
        "since",
        "until",
        col("field.name").alias("field"),
        to_json(map_from_entries("field.said")).alias("values"),
    )
    merged_differences = merge_spans(
        queue_differences.unionByName(_find_entry_differences(entry_spans, watch_spans)),
        [*ROUTE_KEY, "key", "field", "values"],
    )
    return merged_differences.where(col("until") > since_ms).select(
        to_date(timestamp_millis("since")).alias("date"),
        *ROUTE_KEY,
        "key",
        "field",
        timestamp_millis("since").alias("ts"),
        timestamp_millis("until").alias("endTs"),
        round((col("until") - col("since")) / 1000, 3).alias("seconds"),
        (col("until") == until_ms).alias("ongoing"),
        "values",
    )


def _find_entry_differences(entry_spans: DataFrame, watch_spans: DataFrame) -> DataFrame:
    """Return the spans in which broker addresses or KV values differed."""
    agreement_spans = agreement.build_agreement_spans(entry_spans, watch_spans, ENTRY_KEY, ["value"])
    differing_entries = agreement_spans.where("differ and until is not null")
    entry_values = _collect_values(differing_entries, entry_spans, watch_spans, ENTRY_KEY, ["value"])
    server_values = transform(
        "serverValues", lambda server_value: _server_pair(server_value["server"], server_value["value"])
    )
    is_address = col("field") == ADDRESS_FIELD
    return entry_values.select(
        "cluster",
        lit(None).cast("string").alias("topic"),
        when(is_address, col("name")).alias("brokerName"),
        when(is_address, col("key")).otherwise(concat_ws("/", "name", "key")).alias("key"),
        "since",
        "until",
        "field",
        to_json(map_from_entries(server_values), {"ignoreNullFields": "false"}).alias("values"),
    )


def _collect_values(
    differing_spans: DataFrame,
    server_spans: DataFrame,
    watch_spans: DataFrame,
    key_columns: list[str],
    value_columns: list[str],
) -> DataFrame:
    """Add the values of each watched name server to spans in which they differ, as `serverValues`.

    The values of a name server without the key are null.
    """
    renamed_watch_spans = watch_spans.withColumnsRenamed({"since": "lookSince", "until": "lookUntil"})
    watched_servers = differing_spans.select(*key_columns, "since", "until").join(
        renamed_watch_spans, "cluster"
    )
    watched_servers = watched_servers.where("lookSince <= since and until <= lookUntil")
    server_key = ["server", *key_columns]
    holding_spans = server_spans.where("since < until").select(
        *(col(key_column).alias(f"{key_column}Held") for key_column in server_key),
        col("since").alias("holdsSince"),
        col("until").alias("holdsUntil"),
        *value_columns,
    )
    # As a part of the join, these conditions keep Spark from making a row for each pair of spans of a key.
    is_holding = (col("holdsSince") <= col("since")) & (col("until") <= col("holdsUntil"))
    for key_column in server_key:
        is_holding &= col(key_column) == col(f"{key_column}Held")
    server_rows = watched_servers.join(holding_spans, is_holding, "left")
    # At most one of the facts of a name server covers the span; `max` picks its values.
    values_by_server = server_rows.groupBy(*server_key, "since", "until").agg(
        *(max(value_column).alias(value_column) for value_column in value_columns)
    )
    server_struct = struct("server", *value_columns)
    return values_by_server.groupBy(*key_columns, "since", "until").agg(
        array_sort(collect_list(server_struct)).alias("serverValues")
    )


def _field_structs() -> Column:
    """The values of each field per name server, as text."""
    route_values = transform(
        "serverValues",
        lambda server_queues: _server_pair(
            server_queues["server"],
            when(server_queues["perm"].isNull(), ABSENT_VALUE).otherwise(PRESENT_VALUE),
        ),
    )
    field_structs = [struct(lit("route").alias("name"), route_values.alias("said"))]
    present_routes = filter("serverValues", lambda server_queues: server_queues["perm"].isNotNull())
    for queue_column in QUEUE_COLUMNS:
        field_structs.append(
            struct(
                lit(queue_column).alias("name"),
                transform(present_routes, _pair_builder(queue_column)).alias("said"),
            )
        )
    return array(*field_structs)


def _pair_builder(queue_column: str) -> Callable[[Column], Column]:
    return lambda server_queues: _server_pair(
        server_queues["server"], server_queues[queue_column].cast("string")
    )


def _server_pair(server_column: Column, value_column: Column) -> Column:
    return struct(server_column.alias("key"), value_column.alias("value"))
