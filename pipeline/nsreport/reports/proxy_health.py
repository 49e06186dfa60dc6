"""proxy_health: starts, clients, failed routes, requests and errors of each proxy of 5.x. Pure."""

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    coalesce,
    col,
    collect_list,
    collect_set,
    concat_ws,
    count,
    greatest,
    lit,
    map_from_entries,
    max,
    nullif,
    regexp_extract,
    sort_array,
    struct,
    sum,
    when,
)

_PROXY_LOG_PATTERN = r"(^|/)proxy(\.\d+)?\.log(\.gz)?$"
_COLUMN_BY_KIND = {
    "proxyBoot": "starts",
    "proxyShutdown": "stops",
    "clientConnected": "clients",
    "clientLeft": "clientsLeft",
    "clientLost": "clientsLost",
    "routeFailed": "routeFailures",
    "syncFailed": "syncFailures",
    "requestFailed": "requestErrors",
    "complaint": "unparsedWarnings",
}
_OWN_FILE_PATTERN = r"(^|/)proxy[^/]*$"
_KINDS_OF_OWN_FILES = ("complaint", "traffic", "waterMark")
"""Facts that count only in a proxy's own log: in local mode, a broker writes to the same folder."""

_CLIENT_STEPS = {"clientConnected": 1, "clientLeft": -1, "clientLost": -1}
_INNER_PRODUCER = "CLIENT_INNER_PRODUCER"
"""A producer that every remoting client registers in addition to its own groups."""

_CONNECTION_ERRORS = "Remoting(Connect|Timeout|SendRequest)Exception"
_FAILED_ADDRESS_PATTERN = r"(?:connect to|send request to|wait response on the channel) <?([^\s>,]+)"


def proxy_health(log_fact: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    """Return a row for each proxy and day. A proxy is a server with a proxy.log.

    Requests and responses are those of remoting clients: a proxy does not log gRPC requests. It logs its
    clients to broker.log, in the same folder.
    """
    facts_before_end = log_fact.where(col("time") < until_ms)
    is_proxy_log = (col("kind") == "lines") & col("file").rlike(_PROXY_LOG_PATTERN)
    proxies = facts_before_end.where(is_proxy_log).select("server").distinct()
    # A client of another proxy has no key.
    is_own_fact = (
        when(
            col("kind").isin(*_CLIENT_STEPS),
            col("key").isNotNull() & ~col("name").eqNullSafe(_INNER_PRODUCER),
        )
        .when(col("kind").isin(*_KINDS_OF_OWN_FILES), col("file").rlike(_OWN_FILE_PATTERN))
        .otherwise(lit(True))
    )
    proxy_facts = facts_before_end.where(is_own_fact).join(proxies, "server", "left_semi")
    facts_in_range = proxy_facts.where(col("time") >= since_ms)
    figure_parts = [
        _list_fact_figures(facts_in_range),
        _list_connection_failures(facts_in_range),
        _count_clients(proxy_facts).where(col("time") >= since_ms).drop("time"),
    ]
    key_figures = (
        reduce(DataFrame.unionByName, figure_parts)
        .groupBy("date", "server", "figure", "key")
        .agg(sum("value").alias("sum"), max("value").alias("max"))
    )
    return key_figures.groupBy("date", "server").agg(
        _sum_figure("starts"),
        _sum_figure("stops"),
        _count_keys("clients").alias("clients"),
        max(_figure_value("peakClients", "max")).cast("long").alias("peakClients"),
        _sum_figure("clientsLeft"),
        _sum_figure("clientsLost"),
        _sum_figure("routeFailures"),
        _count_keys("routeFailures").alias("failedTopics"),
        _sum_figure("nameServerFailures"),
        sort_array(collect_set(_figure_value("nameServerFailures", "key"))).alias("unreachableServers"),
        _sum_figure("syncFailures"),
        _sum_figure("requestErrors"),
        _sum_figure("unparsedWarnings"),
        _map_figures("requests", "sum"),
        _map_figures("responses", "sum"),
        _map_figures("waterMarks", "max"),
    )


def _figure_value(figure_name: str, column_name: str) -> Column:
    return when(col("figure") == figure_name, col(column_name))


def _sum_figure(figure_name: str) -> Column:
    return coalesce(sum(_figure_value(figure_name, "sum")), lit(0.0)).cast("long").alias(figure_name)


def _count_keys(figure_name: str) -> Column:
    return count(_figure_value(figure_name, "key"))


def _map_figures(figure_name: str, value_column: str) -> Column:
    map_entries = collect_list(when(col("figure") == figure_name, struct("key", value_column)))
    return map_from_entries(map_entries).alias(figure_name)


def _list_fact_figures(proxy_facts: DataFrame) -> DataFrame:
    """Return the figure of each fact. The figure "lines" makes a row for a day without any other."""
    fact_kind = col("kind")
    figure_name = reduce(
        lambda case_column, kind: case_column.when(fact_kind == kind, _COLUMN_BY_KIND[kind]),
        _COLUMN_BY_KIND,
        when(fact_kind == "lines", "lines")
        .when(fact_kind == "waterMark", "waterMarks")
        .when((fact_kind == "traffic") & (col("name") == "Request"), "requests")
        .when((fact_kind == "traffic") & (col("name") == "Response"), "responses"),
    )
    figure_key = when(fact_kind == "waterMark", concat_ws(" ", "name", "key")).otherwise(col("key"))
    return proxy_facts.select(
        "date", "server", figure_name.alias("figure"), figure_key.alias("key"), "value"
    ).where(col("figure").isNotNull())


def _list_connection_failures(proxy_facts: DataFrame) -> DataFrame:
    """Return the failed routes whose reason is the connection to a name server; the key is its address."""
    failed_address = nullif(regexp_extract("text", _FAILED_ADDRESS_PATTERN, 1), lit(""))
    return proxy_facts.where((col("kind") == "routeFailed") & col("text").rlike(_CONNECTION_ERRORS)).select(
        "date", "server", lit("nameServerFailures").alias("figure"), failed_address.alias("key"), "value"
    )


def _count_clients(proxy_facts: DataFrame) -> DataFrame:
    """Return how many consumers and producers are connected after each of them came or went.

    The count begins at 0 with each start of the proxy.
    """
    step_facts = proxy_facts.where(col("kind").isin("proxyBoot", *_CLIENT_STEPS))
    server_window = Window.partitionBy("server").orderBy("time", "line")
    boot_count = sum(when(col("kind") == "proxyBoot", 1).otherwise(0)).over(server_window)
    step = reduce(
        lambda case_column, kind: case_column.when(col("kind") == kind, _CLIENT_STEPS[kind]),
        _CLIENT_STEPS,
        when(col("kind") == "proxyBoot", 0),
    )
    client_count = sum(step).over(Window.partitionBy("server", "boots").orderBy("time", "line"))
    return step_facts.withColumn("boots", boot_count).select(
        "date",
        "server",
        lit("peakClients").alias("figure"),
        lit(None).cast("string").alias("key"),
        greatest(client_count, lit(0)).cast("double").alias("value"),
        "time",
    )
