"""Coverage: the spans in which a witness knows the tables of a name server. Pure.

The tables are unknown before the first snapshot, and from a loss of events or a hole in the record numbers
until the next snapshot. They are unknown while a collector cannot reach the name server, and while the name
server is stopped, paused or without a sign of life. They are unknown after the last record. A broker in an
unknown span is neither up nor down.
"""

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql.functions import (
    broadcast,
    coalesce,
    col,
    greatest,
    lag,
    last,
    lead,
    lit,
    timestamp_millis,
    unix_millis,
    when,
)
from pyspark.sql.functions import max as highest
from pyspark.sql.functions import min as lowest

from nsreport.facts.transitions import (
    HEARD_AGAIN,
    LAST_RECORD,
    LATE_RECORD,
    MARK_TYPES,
    NUMBERED_TWICE,
    SIGHT_BY_TYPE,
    STOP_TYPES,
    is_snapshot,
)

PROOF_MILLIS = 120_000
"""A running name server writes a record at least every minute; after two silent minutes it may be gone."""

_JUDGED_COLUMNS = (
    "witness",
    "server",
    "isLog",
    "place",
    "half",
    "since",
    "type",
    "reason",
    "cause",
    "client",
)


def find_route_marks(transitions: DataFrame) -> DataFrame:
    """Return the moments at which route tables become known or unknown. Route facts are built on them.

    The marks come from one witness per name server, the one that `select_route_events` chooses. They are
    ordered by `place`, and by `half` for marks just before or after a record. `isFresh` marks a snapshot
    whose content does not follow from earlier records. `epoch` is the place of the latest fresh snapshot.
    Here the tables of a paused name server still count as known, and so do those of a silent one for
    `PROOF_MILLIS` after its last record.
    """
    best_witnesses = (
        transitions.where(is_snapshot() & ~col("isLog"))
        .groupBy("server")
        .agg(lowest("witness").alias("witness"))
    )
    witness_transitions = transitions.join(broadcast(best_witnesses), ["server", "witness"], "left_semi")
    proof_end_ms = greatest("since", col("time") + PROOF_MILLIS)
    end_ms = when((col("type") == LAST_RECORD) & ~col("reason").isin(*STOP_TYPES), proof_end_ms).otherwise(
        col("since")
    )
    mark_transitions = witness_transitions.where(
        col("type").isin(*MARK_TYPES, "hole", NUMBERED_TWICE, "ended", LAST_RECORD)
    ).withColumn("since", end_ms)
    judged_transitions = _judge_knowledge(_mark_silence(mark_transitions))
    is_fresh = col("reason").isin("start", "poll") | ~lag("isTold", 1, False).over(_witness_window())
    marks_with_freshness = judged_transitions.withColumn("isFresh", is_snapshot() & is_fresh)
    return marks_with_freshness.withColumn("epoch", _latest_value(when(col("isFresh"), col("place")))).where(
        "epoch is not null"
    )


def build_coverage(transitions: DataFrame) -> DataFrame:
    """Return the spans in which each witness knows, or does not know, the tables of each name server.

    `validTo` is null for the open span. `fromType` and `toType` are the types of the records that bound the
    span, or hole, twice, ended, silent, heard (again) or paused. `tellsRoutes` is true for the witness on
    which route facts are built.
    """
    is_orderly_end = (col("type") == LAST_RECORD) & col("reason").isin(*STOP_TYPES)
    judged_transitions = _judge_knowledge(
        _mark_silence(transitions.where((col("type") != LATE_RECORD) & ~is_orderly_end))
    )
    route_witness = lowest(when(is_snapshot() & ~col("isLog"), col("witness"))).over(
        Window.partitionBy("server")
    )
    window_so_far = _witness_window().rowsBetween(Window.unboundedPreceding, Window.currentRow)
    flagged_transitions = judged_transitions.select(
        "*",
        route_witness.alias("teller"),
        lag("known").over(_witness_window()).alias("before"),
        highest("known").over(window_so_far).alias("hasBegun"),
    )
    knowledge_changes = flagged_transitions.where("hasBegun and (before is null or before <> known)")
    return (
        knowledge_changes.select(
            "witness",
            "server",
            coalesce(col("witness") == col("teller"), lit(False)).alias("tellsRoutes"),
            "known",
            "since",
            lead("since").over(_witness_window()).alias("until"),
            col("type").alias("fromType"),
            lead("type").over(_witness_window()).alias("toType"),
        )
        .where("until is null or until > since")
        .select(
            "witness",
            "server",
            "tellsRoutes",
            "known",
            timestamp_millis("since").alias("validFrom"),
            timestamp_millis("until").alias("validTo"),
            "fromType",
            "toType",
        )
    )


def select_known_spans(coverage: DataFrame, until_ms: int) -> DataFrame:
    """Return the known spans before `until_ms`, with `witness`, `server` and `tellsRoutes`."""
    end_ms = coalesce(unix_millis("validTo"), lit(until_ms))
    known_spans = coverage.where("known").select(
        "witness",
        "server",
        "tellsRoutes",
        unix_millis("validFrom").alias("since"),
        when(end_ms < until_ms, end_ms).otherwise(until_ms).alias("until"),
    )
    return known_spans.where("since < until")


def _mark_silence(transitions: DataFrame) -> DataFrame:
    """Turn the transition after the last record of a witness into silence."""
    is_last = col("type") == LAST_RECORD
    return transitions.withColumns(
        {
            "type": when(is_last, "silent").otherwise(col("type")),
            "reason": when(~is_last, col("reason")),
        }
    ).select(*_JUDGED_COLUMNS)


def _judge_knowledge(ordered_transitions: DataFrame) -> DataFrame:
    """Add `isTold` (the witness sees complete tables) and `known` (and the name server is running)."""
    event_type = col("type")
    # A log has no snapshots: its statement about a broker holds from that line on.
    is_whole = when(is_snapshot() | col("isLog"), True).when(
        event_type.isin("EventsLost", "hole", NUMBERED_TWICE), False
    )
    is_seen = when(is_snapshot() | col("isLog"), True)
    for sight_type, is_seeing in SIGHT_BY_TYPE.items():
        is_seen = is_seen.when(event_type == sight_type, is_seeing)
    is_gone = event_type.isin("ServerStopping", "ended", "silent", "paused")
    is_back = is_snapshot() | col("isLog") | event_type.isin("ServerStarted", "ServerPaused", HEARD_AGAIN)
    is_there = when(is_gone, False).when(is_back, True)
    is_told = coalesce(_latest_value(is_whole) & _latest_value(is_seen), lit(False))
    return ordered_transitions.select(
        "*", is_told.alias("isTold"), coalesce(_latest_value(is_there), lit(False)).alias("isThere")
    ).select(*_JUDGED_COLUMNS, "isTold", (col("isTold") & col("isThere")).alias("known"))


def _witness_window() -> WindowSpec:
    return Window.partitionBy("witness").orderBy("place", "half")


def _latest_value(value_column: Column) -> Column:
    window_so_far = _witness_window().rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return last(value_column, ignorenulls=True).over(window_so_far)
