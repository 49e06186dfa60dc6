"""Presence: the spans in which each name server had each broker in its tables, per observer. Pure."""

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql.functions import (
    array,
    coalesce,
    col,
    explode,
    flatten,
    lag,
    last,
    lead,
    lit,
    struct,
    transform,
    when,
)

from nsreport.facts.knowledge_changes import add_observer_columns
from nsreport.facts.spans import hash_key
from nsreport.runtime.local_rows import share_rows
from nsreport.sources.write_permissions import may_change_write

BROKER_KEY = ["cluster", "brokerName", "brokerId"]
REGISTRATION_KEY = ["observer", "server", *BROKER_KEY]

LIFECYCLE_COLUMNS = (
    "type", "cause", "client", "seq", "time", "reason", "brokerName", "brokerId", "brokerAddr", "topics",
    "changes", "groups", "pauseMillis", "silentMillis", "resumed", "brokers", "lost",
    "cluster", "server",
)  # fmt: skip
"""The event columns about brokers and about the name server itself, out of about a hundred."""

_CAUSE_COLUMNS = ("type", "reason", "cause", "client")


def select_lifecycle_events(ns_event: DataFrame) -> DataFrame:
    """Return the events about brokers and about name servers, with `observer` and `recordOrder`: the table
    `broker_lifecycle`.

    A broker whose name no log contains is named by its address. The many changes of brokers and topics are
    left out, except changes that close topics to writes or open them.
    """
    event_type = col("type")
    # Topic changes from a log lack the details to decide this.
    is_relevant = (event_type != "TopicsChanged") | col("isLog") | may_change_write()
    lifecycle_events = add_observer_columns(ns_event).where((event_type != "BrokerChanged") & is_relevant)
    named_events = lifecycle_events.withColumn("brokerName", coalesce("brokerName", "brokerAddr"))
    return named_events.select(*LIFECYCLE_COLUMNS, "observer", "isLog", "recordOrder", "date")


@share_rows
def build_presence(lifecycle_events: DataFrame, until_ms: int) -> DataFrame:
    """Return the spans of each broker per observer: `up`, `down`, or `starting` after a name server's start.

    `lifecycle_events` come from `select_lifecycle_events`; those from `until_ms` on do not count. Spans begin
    with the first event of an observer about a broker; the last span ends at `until_ms`. `type`, `reason`,
    `cause`, `client` and `brokerAddr` belong to the event that began the span. `cause` and `client` are null
    if a snapshot lacks the broker.
    """
    registration_states = _list_registration_states(lifecycle_events.where(col("time") < until_ms)).select(
        "*", lag("state").over(_registration_window()).alias("before")
    )
    # A broker that was down stays down when the name server starts.
    is_transition = col("before").isNull() | (col("before") != col("state")) & ~(
        (col("before") == "down") & (col("state") == "starting")
    )
    end_ms = coalesce(lead("since").over(_registration_window()), lit(until_ms)).alias("until")
    return (
        registration_states.where(is_transition)
        .select(*REGISTRATION_KEY, "recordOrder", "since", end_ms, "state", *_CAUSE_COLUMNS, "brokerAddr")
        .where("since < until")
    )


def _list_registration_states(lifecycle_events: DataFrame) -> DataFrame:
    """Return the state of each broker after each event, and its absence from a later snapshot."""
    is_table = (col("type") == "Snapshot") | col("isLog") & (col("type") == "ServerStarted")
    presence_events = lifecycle_events.where(
        is_table | col("type").isin("BrokerRegistered", "BrokerUnregistered")
    )
    table_struct = when(is_table, struct("recordOrder", "time", "type", "reason"))
    reverse_window = Window.partitionBy(hash_key(["observer"])).orderBy(col("recordOrder").desc())
    next_table = last(table_struct, ignorenulls=True).over(
        reverse_window.rowsBetween(Window.unboundedPreceding, -1)
    )
    registration_struct = explode(
        when(is_table, coalesce(_snapshot_registrations(), array())).otherwise(array(_own_registration()))
    ).alias("registration")
    registration_events = presence_events.select("*", next_table.alias("behind")).select(
        "*", registration_struct
    )
    # A key column of its own lets Spark reuse one partitioning for all windows over it.
    registration_rows = registration_events.select(
        "observer", "server", "registration.*", "recordOrder", "time", *_CAUSE_COLUMNS, "behind"
    ).withColumn("registration", hash_key(REGISTRATION_KEY))
    registration_rows = registration_rows.select(
        "*", lead("recordOrder").over(_registration_window()).alias("following")
    )
    is_missing = col("behind").isNotNull() & coalesce(col("following") > col("behind.recordOrder"), lit(True))
    is_new_server = (col("behind.type") == "ServerStarted") | (col("behind.reason") == "start")
    null_text = lit(None).cast("string")
    snapshot_event = struct("behind.*", null_text.alias("cause"), null_text.alias("client"))
    missing_state = _state_struct(
        snapshot_event, when(is_new_server, "starting").otherwise("down"), null_text
    )
    own_state = _state_struct(struct("recordOrder", "time", *_CAUSE_COLUMNS), col("state"), col("brokerAddr"))
    both_states = registration_rows.select(
        "registration",
        *REGISTRATION_KEY,
        explode(when(is_missing, array(own_state, missing_state)).otherwise(array(own_state))).alias("it"),
    )
    return both_states.select("registration", *REGISTRATION_KEY, "it.*")


def _registration_window() -> WindowSpec:
    return Window.partitionBy("registration").orderBy("recordOrder")


def _state_struct(event_struct: Column, state_column: Column, broker_addr: Column) -> Column:
    return struct(
        event_struct["recordOrder"].alias("recordOrder"),
        event_struct["time"].alias("since"),
        state_column.alias("state"),
        *(event_struct[column_name].alias(column_name) for column_name in _CAUSE_COLUMNS),
        broker_addr.alias("brokerAddr"),
    )


def _own_registration() -> Column:
    registration_state = when(col("type") == "BrokerRegistered", "up").otherwise("down")
    return struct("cluster", "brokerName", "brokerId", "brokerAddr", registration_state.alias("state"))


def _snapshot_registrations() -> Column:
    """The brokers in a snapshot, as an array of structs."""
    return flatten(
        transform(
            "groups",
            lambda broker_group: transform(
                broker_group["members"],
                lambda group_member: struct(
                    broker_group["clusterName"].alias("cluster"),
                    broker_group["brokerName"].alias("brokerName"),
                    group_member["brokerId"].alias("brokerId"),
                    group_member["brokerAddr"].alias("brokerAddr"),
                    lit("up").alias("state"),
                ),
            ),
        )
    )
