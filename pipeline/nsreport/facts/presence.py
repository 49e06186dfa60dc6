"""Presence: the spans in which each name server had each broker in its tables, per witness. Pure."""

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

from nsreport.facts.spans import hash_key
from nsreport.facts.transitions import add_witness_columns
from nsreport.sources.write_permissions import may_change_write

BROKER_KEY = ["cluster", "brokerName", "brokerId"]
SEAT_KEY = ["witness", "server", *BROKER_KEY]

WITNESS_COLUMNS = (
    "type", "cause", "client", "seq", "time", "reason", "brokerName", "brokerId", "brokerAddr", "topics",
    "changes", "groups", "pauseMillis", "silentMillis", "resumed", "brokers", "lost",
    "cluster", "server",
)  # fmt: skip
"""The event columns about brokers and about the name server itself, out of about a hundred."""

_CAUSE_COLUMNS = ("type", "reason", "cause", "client")


def select_witness_events(ns_event: DataFrame) -> DataFrame:
    """Return the events about brokers and about name servers, with `witness` and `place`: the table `told`.

    A broker whose name no log contains is named by its address. The many changes of brokers and topics are
    left out, except changes that close topics to writes or open them.
    """
    event_type = col("type")
    # Topic changes from a log lack the details to decide this.
    is_relevant = (event_type != "TopicsChanged") | col("isLog") | may_change_write()
    witness_events = add_witness_columns(ns_event).where((event_type != "BrokerChanged") & is_relevant)
    named_events = witness_events.withColumn("brokerName", coalesce("brokerName", "brokerAddr"))
    return named_events.select(*WITNESS_COLUMNS, "witness", "isLog", "place")


def build_presence(witness_events: DataFrame, until_ms: int) -> DataFrame:
    """Return the spans of each broker per witness: `up`, `down`, or `starting` after a name server's start.

    `witness_events` come from `select_witness_events`. Spans begin with the first event of a witness about a
    broker; the last span ends at `until_ms`. `type`, `reason`, `cause`, `client` and `brokerAddr` belong to
    the event that began the span. `cause` and `client` are null if a snapshot lacks the broker.
    """
    seat_states = _list_seat_states(witness_events).select(
        "*", lag("state").over(_seat_window()).alias("before")
    )
    # A broker that was down stays down when the name server starts.
    is_transition = col("before").isNull() | (col("before") != col("state")) & ~(
        (col("before") == "down") & (col("state") == "starting")
    )
    end_ms = coalesce(lead("since").over(_seat_window()), lit(until_ms)).alias("until")
    return (
        seat_states.where(is_transition)
        .select(*SEAT_KEY, "place", "since", end_ms, "state", *_CAUSE_COLUMNS, "brokerAddr")
        .where("since < until")
    )


def _list_seat_states(witness_events: DataFrame) -> DataFrame:
    """Return the state of each broker after each event, and its absence from a later snapshot."""
    is_table = (col("type") == "Snapshot") | col("isLog") & (col("type") == "ServerStarted")
    presence_events = witness_events.where(
        is_table | col("type").isin("BrokerRegistered", "BrokerUnregistered")
    )
    table_struct = when(is_table, struct("place", "time", "type", "reason"))
    reverse_window = Window.partitionBy(hash_key(["witness"])).orderBy(col("place").desc())
    next_table = last(table_struct, ignorenulls=True).over(
        reverse_window.rowsBetween(Window.unboundedPreceding, -1)
    )
    seat_struct = explode(
        when(is_table, coalesce(_snapshot_seats(), array())).otherwise(array(_own_seat()))
    ).alias("seat")
    events_by_seat = presence_events.select("*", next_table.alias("behind")).select("*", seat_struct)
    # A key column of its own lets Spark reuse one partitioning for all windows over it.
    seat_rows = events_by_seat.select(
        "witness", "server", "seat.*", "place", "time", *_CAUSE_COLUMNS, "behind"
    ).withColumn("seat", hash_key(SEAT_KEY))
    seat_rows = seat_rows.select("*", lead("place").over(_seat_window()).alias("following"))
    is_missing = col("behind").isNotNull() & coalesce(col("following") > col("behind.place"), lit(True))
    is_new_server = (col("behind.type") == "ServerStarted") | (col("behind.reason") == "start")
    null_text = lit(None).cast("string")
    snapshot_event = struct("behind.*", null_text.alias("cause"), null_text.alias("client"))
    missing_state = _state_struct(
        snapshot_event, when(is_new_server, "starting").otherwise("down"), null_text
    )
    own_state = _state_struct(struct("place", "time", *_CAUSE_COLUMNS), col("state"), col("brokerAddr"))
    both_states = seat_rows.select(
        "seat",
        *SEAT_KEY,
        explode(when(is_missing, array(own_state, missing_state)).otherwise(array(own_state))).alias("it"),
    )
    return both_states.select("seat", *SEAT_KEY, "it.*")


def _seat_window() -> WindowSpec:
    return Window.partitionBy("seat").orderBy("place")


def _state_struct(event_struct: Column, state_column: Column, broker_addr: Column) -> Column:
    return struct(
        event_struct["place"].alias("place"),
        event_struct["time"].alias("since"),
        state_column.alias("state"),
        *(event_struct[column_name].alias(column_name) for column_name in _CAUSE_COLUMNS),
        broker_addr.alias("brokerAddr"),
    )


def _own_seat() -> Column:
    seat_state = when(col("type") == "BrokerRegistered", "up").otherwise("down")
    return struct("cluster", "brokerName", "brokerId", "brokerAddr", seat_state.alias("state"))


def _snapshot_seats() -> Column:
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
