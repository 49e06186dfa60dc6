"""Broker identity: finds cluster, broker name and broker id for the addresses in log lines.

Java's log lines rarely contain all three, so this module looks at neighbouring lines: lines that one thread
writes within a second belong to one request. A value that no line contains stays null.
"""

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql.functions import (
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

from nsreport.runtime.local_rows import shorten_plan
from nsreport.runtime.session import broadcast_rows

SURE_BY_LINE, SURE_BY_NEIGHBOUR, SURE_BY_ADDRESS, SURE_OF_NOTHING = 1.0, 0.9, 0.8, 0.5
"""Confidence by source: the line itself, a neighbouring line, other lines with the address, or none."""

_REQUEST_SECONDS = 1
"""Most seconds between lines of one request: log times are whole seconds."""

IDENTIFYING_RULES = (
    "started", "ready", "stopping", "master", "registered", "registered4", "conflict", "stranger", "expired",
    "idle", "destroyed", "offLive", "offPlace", "offName", "offPlace4", "offName4", "minId", "topicNew",
    "topicChanged", "topicGone", "topicGone4", "topicDeleted", "wiped", "added", "kvNew", "kvUpdated",
    "kvDeleted", "kvListed", "configCalled", "replaced", "brokerBoot",
)  # fmt: skip
"""The rules of lines that become events, or that identify the broker of other lines."""

_REGISTRATION_RULES = ("topicNew", "topicChanged", "master")


def identify_brokers(parsed_messages: DataFrame) -> DataFrame:
    """Return the lines of IDENTIFYING_RULES with `broker`, `id`, `cluster` (null if unknown) and `sure`."""
    neighbour_lines = shorten_plan(
        _add_neighbour_values(
            parsed_messages.where(col("rule").isin(*IDENTIFYING_RULES)), _own_broker_ids(parsed_messages)
        )
    )
    address_window = Window.partitionBy("server", "addr").orderBy("ts", "line")
    reverse_window = Window.partitionBy("server", "addr").orderBy(col("ts").desc(), col("line").desc())
    address_columns = [
        when(
            col("addr").isNotNull(),
            coalesce(
                last(f"near_{field_name}", True).over(address_window),
                last(f"near_{field_name}", True).over(reverse_window),
            ),
        ).alias(f"once_{field_name}")
        for field_name in _IDENTITY_FIELDS
    ]
    identified_lines = neighbour_lines.select("*", *address_columns).join(
        broadcast_rows(_values_by_address(neighbour_lines)), "addr", "left"
    )
    line_confidence = (
        when(col("addr").isNull() | col("broker").isNotNull() | (col("rule") == "ready"), SURE_BY_LINE)
        .when(col("near_broker").isNotNull(), SURE_BY_NEIGHBOUR)
        .when(coalesce("once_broker", "else_broker").isNotNull(), SURE_BY_ADDRESS)
        .otherwise(SURE_OF_NOTHING)
    )
    identity_columns = {
        field_name: coalesce(field_name, f"near_{field_name}", f"once_{field_name}", f"else_{field_name}")
        for field_name in _IDENTITY_FIELDS
    }
    identified_lines = identified_lines.withColumns({"sure": line_confidence, **identity_columns})
    identified_lines = identified_lines.drop(
        *(
            f"{column_prefix}_{field_name}"
            for column_prefix in ("near", "once", "else")
            for field_name in _IDENTITY_FIELDS
        )
    )
    return shorten_plan(_add_cluster(shorten_plan(identified_lines)))


_IDENTITY_FIELDS = ("broker", "id", "cluster")


def _add_neighbour_values(relevant_lines: DataFrame, own_ids: DataFrame) -> DataFrame:
    """Add `near_broker`, `near_id` and `near_cluster` from the line itself and its neighbours."""
    thread_window = Window.partitionBy("server", "kind", "thread").orderBy("ts", "line")
    registered_name = _neighbour_value(
        lag, thread_window, _REGISTRATION_RULES, coalesce("afterBroker", "beforeBroker", "broker")
    )
    removed_name = _neighbour_value(lead, thread_window, ("offName", "offName4"), col("broker"))
    is_address_removal = col("rule").isin("offPlace", "offPlace4")
    address_window = Window.partitionBy("server", "addr").orderBy("ts", "line")
    is_first_registration = sum(_is_registration().cast("int")).over(address_window) == 1
    # One request registers the broker's topics first, then the broker.
    neighbour_name = when(_is_registration(), registered_name).when(is_address_removal, removed_name)
    return (
        relevant_lines.join(broadcast_rows(own_ids), "server", "left")
        .withColumn("near_broker", coalesce("broker", neighbour_name))
        .withColumn("near_id", coalesce("id", _infer_broker_id(registered_name, is_first_registration)))
        .withColumn("near_cluster", col("cluster"))
        .drop("ownId")
    )


def _is_registration() -> Column:
    return col("rule").isin("registered", "registered4")


def _infer_broker_id(registered_name: Column, is_first_registration: Column) -> Column:
    """The broker id as the lines imply it: "0" for a master.

    4.x logs the master's address. In 5.x a master is a broker that brings topics with its first registration;
    later a slave may bring topics too, when it acts for its master.
    """
    is_bringing_topics = (col("rule") == "registered") & is_first_registration & registered_name.isNotNull()
    return when((col("rule") == "master") | is_bringing_topics, lit("0")).when(
        col("rule") == "brokerBoot", col("ownId")
    )


def _neighbour_value(
    window_function: object, thread_window: WindowSpec, rule_names: tuple[str, ...], value_column: Column
) -> Column:
    """A value of the thread's previous (`lag`) or next (`lead`) line, if it belongs to the same request."""
    assert callable(window_function)
    neighbour_line = window_function(struct("rule", "ts", value_column.alias("value"))).over(thread_window)
    seconds_apart = neighbour_line["ts"].cast("long") - col("ts").cast("long")
    return when(
        neighbour_line["rule"].isin(*rule_names) & seconds_apart.between(-_REQUEST_SECONDS, _REQUEST_SECONDS),
        neighbour_line["value"],
    )


def _own_broker_ids(parsed_messages: DataFrame) -> DataFrame:
    """Return the broker id that a 4.9 broker writes to its own log."""
    return parsed_messages.where("rule = 'heard4'").groupBy("server").agg(max_by("id", "ts").alias("ownId"))


def _values_by_address(neighbour_lines: DataFrame) -> DataFrame:
    """Return the latest values for each address from the logs of all servers."""
    lines_with_values = neighbour_lines.where(
        col("addr").isNotNull()
        & coalesce(*(f"near_{field_name}" for field_name in _IDENTITY_FIELDS)).isNotNull()
    )
    latest_columns = [
        max_by(
            f"near_{field_name}", when(col(f"near_{field_name}").isNotNull(), struct("ts", "server", "line"))
        ).alias(f"else_{field_name}")
        for field_name in _IDENTITY_FIELDS
    ]
    return lines_with_values.groupBy("addr").agg(*latest_columns)


def _add_cluster(identified_lines: DataFrame) -> DataFrame:
    """Add the cluster of the broker's name to lines without a cluster, if another line contains it."""
    named_broker = coalesce("broker", "afterBroker", "beforeBroker")
    cluster_lines = identified_lines.where(
        col("broker").isNotNull() & nullif(col("cluster"), lit("")).isNotNull()
    )
    latest_cluster = max_by("cluster", struct("ts", "server", "line")).alias("group_cluster")
    clusters_by_name = cluster_lines.groupBy(col("broker").alias("group_name")).agg(latest_cluster)
    joined_lines = identified_lines.join(
        broadcast_rows(clusters_by_name), named_broker == col("group_name"), "left"
    )
    return joined_lines.withColumn("of_group", coalesce("cluster", "group_cluster")).drop(
        "group_name", "group_cluster"
    )
