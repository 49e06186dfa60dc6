"""Knowledge intervals: the spans in which an observer knows the tables of a name server. Pure.

The tables are unknown before the first snapshot, and from a loss of events or a hole in the record numbers
until the next snapshot. They are unknown while a collector cannot reach the name server, and while the name
server is stopped, paused or without a sign of life. They are unknown after the last record. A broker in an
unknown span is neither up nor down.
"""

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql.functions import (
    coalesce,
    col,
    greatest,
    lag,
    last,
    lead,
    lit,
    timestamp_millis,
    when,
)
from pyspark.sql.functions import max as highest
from pyspark.sql.functions import min as lowest

from nsreport.facts.knowledge_changes import (
    HEARD_AGAIN,
    LAST_RECORD,
    LATE_RECORD,
    MARK_TYPES,
    NUMBERED_TWICE,
    SIGHT_BY_TYPE,
    STOP_TYPES,
    is_snapshot,
)
from nsreport.facts.spans import interval_bounds
from nsreport.runtime.session import broadcast_rows

PROOF_MILLIS = 120_000
"""A running name server writes a record at least every minute; after two silent minutes it may be gone."""

_JUDGED_COLUMNS = (
    "observer",
    "server",
    "isLog",
    "recordOrder",
    "orderOffset",
    "since",
    "type",
    "reason",
    "cause",
    "client",
)


def find_route_marks(knowledge_changes: DataFrame) -> DataFrame:
    """Return the moments at which route tables become known or unknown. Route intervals are built on them.

    The marks come from one observer per name server, the one that `select_route_records` chooses. They are
    ordered by `recordOrder`, and by `orderOffset` for marks just before or after a record. `isFresh` marks a
    snapshot whose content does not follow from earlier records. `epoch` is the `recordOrder` of the latest
    fresh snapshot.
    Here the tables of a paused name server still count as known, and so do those of a silent one for
    `PROOF_MILLIS` after its last record.
    """
    best_observers = (
        knowledge_changes.where(is_snapshot() & ~col("isLog"))
        .groupBy("server")
        .agg(lowest("observer").alias("observer"))
    )
    observer_changes = knowledge_changes.join(
        broadcast_rows(best_observers), ["server", "observer"], "left_semi"
    )
    proof_end_ms = greatest("since", col("time") + PROOF_MILLIS)
    end_ms = when((col("type") == LAST_RECORD) & ~col("reason").isin(*STOP_TYPES), proof_end_ms).otherwise(
        col("since")
    )
    mark_changes = observer_changes.where(
        col("type").isin(*MARK_TYPES, "hole", NUMBERED_TWICE, "ended", LAST_RECORD)
    ).withColumn("since", end_ms)
    judged_changes = _judge_knowledge(_mark_silence(mark_changes))
    is_fresh = col("reason").isin("start", "poll") | ~lag("isComplete", 1, False).over(_observer_window())
    marks_with_freshness = judged_changes.withColumn("isFresh", is_snapshot() & is_fresh)
    return marks_with_freshness.withColumn(
        "epoch", _latest_value(when(col("isFresh"), col("recordOrder")))
    ).where("epoch is not null")


def build_knowledge_intervals(knowledge_changes: DataFrame) -> DataFrame:
    """Return the spans in which each observer knows, or does not know, the tables of each name server.

    `validTo` is null for the open span. `fromType` and `toType` are the types of the records that bound the
    span, or hole, twice, ended, silent, heard (again) or paused. `isRouteSource` is true for the observer on
    which route intervals are built.
    """
    is_orderly_end = (col("type") == LAST_RECORD) & col("reason").isin(*STOP_TYPES)
    judged_changes = _judge_knowledge(
        _mark_silence(knowledge_changes.where((col("type") != LATE_RECORD) & ~is_orderly_end))
    )
    route_observer = lowest(when(is_snapshot() & ~col("isLog"), col("observer"))).over(
        Window.partitionBy("server")
    )
    window_so_far = _observer_window().rowsBetween(Window.unboundedPreceding, Window.currentRow)
    flagged_changes = judged_changes.select(
        "*",
        route_observer.alias("routeObserver"),
        lag("known").over(_observer_window()).alias("before"),
        highest("known").over(window_so_far).alias("hasBegun"),
    )
    interval_starts = flagged_changes.where("hasBegun and (before is null or before <> known)")
    return (
        interval_starts.select(
            "observer",
            "server",
            coalesce(col("observer") == col("routeObserver"), lit(False)).alias("isRouteSource"),
            "known",
            "since",
            lead("since").over(_observer_window()).alias("until"),
            col("type").alias("fromType"),
            lead("type").over(_observer_window()).alias("toType"),
        )
        .where("until is null or until > since")
        .select(
            "observer",
            "server",
            "isRouteSource",
            "known",
            timestamp_millis("since").alias("validFrom"),
            timestamp_millis("until").alias("validTo"),
            "fromType",
            "toType",
        )
    )


def select_known_spans(knowledge_intervals: DataFrame, until_ms: int) -> DataFrame:
    """Return the known spans before `until_ms`, with `observer`, `server` and `isRouteSource`."""
    known_spans = knowledge_intervals.where("known").select(
        "observer",
        "server",
        "isRouteSource",
        *interval_bounds(until_ms),
    )
    return known_spans.where("since < until")


def _mark_silence(knowledge_changes: DataFrame) -> DataFrame:
    """Turn the change after the last record of an observer into silence."""
    is_last = col("type") == LAST_RECORD
    return knowledge_changes.withColumns(
        {
            "type": when(is_last, "silent").otherwise(col("type")),
            "reason": when(~is_last, col("reason")),
        }
    ).select(*_JUDGED_COLUMNS)


def _judge_knowledge(ordered_changes: DataFrame) -> DataFrame:
    """Add `isComplete` (the observer sees complete tables) and `known` (and the name server is running)."""
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
    is_complete = coalesce(_latest_value(is_whole) & _latest_value(is_seen), lit(False))
    return ordered_changes.select(
        "*", is_complete.alias("isComplete"), _latest_value(is_there).alias("isThere")
    ).select(*_JUDGED_COLUMNS, "isComplete", (col("isComplete") & col("isThere")).alias("known"))


def _observer_window() -> WindowSpec:
    return Window.partitionBy("observer").orderBy("recordOrder", "orderOffset")


def _latest_value(value_column: Column) -> Column:
    window_so_far = _observer_window().rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return last(value_column, ignorenulls=True).over(window_so_far)
