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

from nsreport.permissions import may_change_write
from nsreport.spans import number
from nsreport.turns import witnessed

BROKER = ["cluster", "brokerName", "brokerId"]
SEAT = ["witness", "server", *BROKER]

COLUMNS = (
    "type", "cause", "client", "seq", "time", "reason", "brokerName", "brokerId", "brokerAddr", "topics",
    "changes", "groups", "pauseMillis", "silentMillis", "resumed", "brokers", "lost",
    "cluster", "server",
)  # fmt: skip
"""The event columns about brokers and about the name server itself, out of about a hundred."""

_WHY = ("type", "reason", "cause", "client")


def told_by_witnesses(ns_event: DataFrame) -> DataFrame:
    """Return the events about brokers and about name servers, with `witness` and `place`: the table `told`.

    A broker whose name no log contains is named by its address. The many changes of brokers and topics are
    left out, except changes that close topics to writes or open them.
    """
    kind = col("type")
    # Topic changes from a log lack the details to decide this.
    is_told = (kind != "TopicsChanged") | col("isLog") | may_change_write()
    told = witnessed(ns_event).where((kind != "BrokerChanged") & is_told)
    named = told.withColumn("brokerName", coalesce("brokerName", "brokerAddr"))
    return named.select(*COLUMNS, "witness", "isLog", "place")


def presence(told: DataFrame, until: int) -> DataFrame:
    """Return the spans of each broker per witness: `up`, `down`, or `starting` after a name server's start.

    `witness_events` come from `select_witness_events`. Spans begin with the first event of a witness about a
    broker; the last span ends at `until_ms`. `type`, `reason`, `cause`, `client` and `brokerAddr` belong to
    the event that began the span. `cause` and `client` are null if a snapshot lacks the broker.
    """
    here = _states(told).select("*", lag("state").over(_by_seat()).alias("before"))
    # A broker that was down stays down when the name server starts.
    turn = col("before").isNull() | (col("before") != col("state")) & ~(
        (col("before") == "down") & (col("state") == "starting")
    )
    ends = coalesce(lead("since").over(_by_seat()), lit(until)).alias("until")
    return (
        here.where(turn)
        .select(*SEAT, "place", "since", ends, "state", *_WHY, "brokerAddr")
        .where("since < until")
    )


def _states(told: DataFrame) -> DataFrame:
    """Return the state of each broker after each event, and its absence from a later snapshot."""
    is_table = (col("type") == "Snapshot") | col("isLog") & (col("type") == "ServerStarted")
    events = told.where(is_table | col("type").isin("BrokerRegistered", "BrokerUnregistered"))
    table = when(is_table, struct("place", "time", "type", "reason"))
    later = Window.partitionBy(number(["witness"])).orderBy(col("place").desc())
    behind = last(table, ignorenulls=True).over(later.rowsBetween(Window.unboundedPreceding, -1))
    seats = explode(when(is_table, coalesce(_listed(), array())).otherwise(array(_own()))).alias("seat")
    each = events.select("*", behind.alias("behind")).select("*", seats)
    # A key column of its own lets Spark reuse one partitioning for all windows over it.
    seat = each.select("witness", "server", "seat.*", "place", "time", *_WHY, "behind").withColumn(
        "seat", number(SEAT)
    )
    seat = seat.select("*", lead("place").over(_by_seat()).alias("following"))
    is_missing = col("behind").isNotNull() & coalesce(col("following") > col("behind.place"), lit(True))
    is_new = (col("behind.type") == "ServerStarted") | (col("behind.reason") == "start")
    nobody = lit(None).cast("string")
    at_snapshot = struct("behind.*", nobody.alias("cause"), nobody.alias("client"))
    missing = _state(at_snapshot, when(is_new, "starting").otherwise("down"), nobody)
    itself = _state(struct("place", "time", *_WHY), col("state"), col("brokerAddr"))
    both = seat.select(
        "seat", *SEAT, explode(when(is_missing, array(itself, missing)).otherwise(array(itself))).alias("it")
    )
    return both.select("seat", *SEAT, "it.*")


def _by_seat() -> WindowSpec:
    return Window.partitionBy("seat").orderBy("place")


def _state(event: Column, state: Column, address: Column) -> Column:
    return struct(
        event["place"].alias("place"),
        event["time"].alias("since"),
        state.alias("state"),
        *(event[name].alias(name) for name in _WHY),
        address.alias("brokerAddr"),
    )


def _own() -> Column:
    state = when(col("type") == "BrokerRegistered", "up").otherwise("down")
    return struct("cluster", "brokerName", "brokerId", "brokerAddr", state.alias("state"))


def _listed() -> Column:
    """The brokers in a snapshot, as an array of structs."""
    return flatten(
        transform(
            "groups",
            lambda group: transform(
                group["members"],
                lambda member: struct(
                    group["clusterName"].alias("cluster"),
                    group["brokerName"].alias("brokerName"),
                    member["brokerId"].alias("brokerId"),
                    member["brokerAddr"].alias("brokerAddr"),
                    lit("up").alias("state"),
                ),
            ),
        )
    )
