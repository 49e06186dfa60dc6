"""Knowledge changes: the few records that decide when the tables of a name server are known. Pure.

An observer is a source about a name server: its own journal, a collector, or a Java log. This module sorts
the records of each observer once; `knowledge_intervals` works on the changes that remain.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    array,
    array_compact,
    coalesce,
    col,
    concat,
    explode,
    floor,
    greatest,
    lag,
    lead,
    lit,
    max_by,
    struct,
    timestamp_millis,
    to_date,
    when,
)
from pyspark.sql.functions import max as highest
from pyspark.sql.functions import min as lowest

from nsreport.facts.spans import hash_key, record_order
from nsreport.runtime.session import broadcast_rows

JOURNAL_HOLE_MS = 150_000
"""A longer silence of a journal, or of a 5.x log with its scan every 5 s, makes the tables unknown."""

QUIET_LOG_MS = 660_000
"""A longer silence of any other log does so: there a quiet name server writes a line every ten minutes."""

BROKER_EVENT_TYPES = ("BrokerRuntime", "ConsumerLag", "BrokerPollFailed", "BrokersPolled")
"""Events of a collector about brokers, not about a name server."""

STOP_TYPES = ("ServerStopping", "CollectorStopping")
SIGHT_BY_TYPE = {
    "Snapshot": True,
    "PollRecovered": True,
    "CollectorStarted": False,
    "CollectorStopping": False,
    "PollFailed": False,
}
"""Record types after which an observer sees the tables (True), or no longer sees them (False)."""

MARK_TYPES = (*SIGHT_BY_TYPE, "EventsLost", "ServerStopping", "ServerStarted")
LAST_RECORD, LATE_RECORD, HEARD_AGAIN, NUMBERED_TWICE = "last", "late", "heard", "twice"

_SCAN_KIND = "scan"
_CAUSE_COLUMNS = ("reason", "cause", "client")
_BEFORE_RECORD, _AT_RECORD, _AFTER_RECORD = -1, 0, 1


def add_observer_columns(ns_events: DataFrame) -> DataFrame:
    """Return the events about name servers with their `observer`, and `recordOrder`, the order within it."""
    is_log = col("dialect").isin("4.x", "5.x")
    observer_suffix = (
        when(is_log, " log").when(col("dialect") == "journal", "").otherwise(concat(lit(" "), "dialect"))
    )
    return ns_events.where(~col("type").isin(*BROKER_EVENT_TYPES)).withColumns(
        {"observer": concat("server", observer_suffix), "isLog": is_log, "recordOrder": record_order()}
    )


def select_route_records(observer_rows: DataFrame, knowledge_changes: DataFrame) -> DataFrame:
    """Keep the rows of the best observer of each name server: its own journal, else a collector."""
    best_observers = knowledge_changes.where(is_snapshot() & ~col("isLog")).groupBy("server")
    return observer_rows.join(
        broadcast_rows(best_observers.agg(lowest("observer").alias("observer"))),
        ["server", "observer"],
        "left_semi",
    )


def build_observer_days(
    ns_event: DataFrame, log_fact: DataFrame, earlier_days: DataFrame | None = None
) -> DataFrame:
    """Return a row for each observer and day: the orders and times of its records, and the type of the last.

    From these rows follows what `find_knowledge_changes` has to know of the days before those that it reads,
    `earlier_days`.
    """
    own_records = _collect_records(ns_event, log_fact, earlier_days).where("not isEarlier")
    observer_days = own_records.groupBy(_record_date(), "observer", "server", "isLog")
    return observer_days.agg(
        highest(is_snapshot() & ~col("isLog")).alias("hasSnapshot"),
        lowest("recordOrder").alias("firstOrder"),
        highest("recordOrder").alias("lastOrder"),
        highest("time").alias("lastTime"),
        max_by("type", "recordOrder").alias("lastType"),
    )


def find_knowledge_changes(
    ns_event: DataFrame, log_fact: DataFrame, earlier_days: DataFrame | None = None
) -> DataFrame:
    """Return a row for each record, or gap between records, that may change what is known of a name server.

    Rows are ordered by `recordOrder`, and by `orderOffset` for rows just before (-1) or after (1) a record.
    `since` (ms) never decreases from record to record, even if a clock goes back; if `since` differs from
    `time`, a `late` row says so. Besides record types, `type` is one of

    - hole: record numbers are missing;
    - twice: a record number occurs twice;
    - ended: the name server started again without a record of its end;
    - silent, heard: the observer was silent for long, and wrote again;
    - paused: the name server was paused;
    - last: the last record (its type is the `reason`).

    `earlier_days` are the rows of `build_observer_days` for the days before these events.
    """
    event_type, is_log = col("type"), col("isLog")
    max_silence_ms = when(is_log & (col("typeBefore") != _SCAN_KIND), QUIET_LOG_MS).otherwise(JOURNAL_HOLE_MS)
    is_start = when(is_log, event_type == "ServerStarted").otherwise(
        is_snapshot() & (col("reason") == "start")
    )
    is_running = ~col("typeBefore").isin(*STOP_TYPES)
    is_long_silence = is_running & (col("since") - col("sinceBefore") > max_silence_ms)
    is_paused = event_type == "ServerPaused"
    # A process that continues first handles the requests that arrived meanwhile, then writes that it was
    # paused. So the record before may be younger than the start of the pause. A later one is a clock's error.
    pause_start = when(col("sinceBefore") <= col("time"), col("time") - col("pauseMillis")).otherwise(
        greatest("sinceBefore", col("time") - col("pauseMillis"))
    )
    change_structs = {
        "itself": when(
            _is_counted(),
            _change_struct(event_type, "recordOrder", _AT_RECORD, "since", *map(col, _CAUSE_COLUMNS)),
        ),
        "hole": when(
            ~is_log & (col("recordOrder") > col("recordOrderBefore") + 1),
            _change_struct("hole", "recordOrder", _BEFORE_RECORD, "since"),
        ),
        "twice": when(
            ~is_log & (col("recordOrder") == col("recordOrderBefore")),
            _change_struct(NUMBERED_TWICE, "recordOrder", _BEFORE_RECORD, "since"),
        ),
        "ended": when(
            is_start & is_running, _change_struct("ended", "recordOrderBefore", _AFTER_RECORD, "sinceBefore")
        ),
        "silent": when(
            is_long_silence, _change_struct("silent", "recordOrderBefore", _AFTER_RECORD, "sinceBefore")
        ),
        "heard": when(is_long_silence, _change_struct(HEARD_AGAIN, "recordOrder", _BEFORE_RECORD, "since")),
        "paused": when(is_paused, _change_struct("paused", "recordOrder", _BEFORE_RECORD, pause_start)),
        "last": when(
            col("isLast"), _change_struct(LAST_RECORD, "recordOrder", _AFTER_RECORD, "since", event_type)
        ),
        "late": when(
            ~is_log & (col("since") > col("time")),
            _change_struct(LATE_RECORD, "recordOrder", _AT_RECORD, "since"),
        ),
    }
    record_columns = ["observer", "server", "isLog", "time"]
    ordered_records = _order_records(_collect_records(ns_event, log_fact, earlier_days))
    record_changes = ordered_records.where("not isEarlier").select(
        *record_columns,
        *(change_struct.alias(change_name) for change_name, change_struct in change_structs.items()),
    )
    change_rows = record_changes.where(coalesce(*map(col, change_structs)).isNotNull())
    return change_rows.select(
        *record_columns, explode(array_compact(array(*change_structs))).alias("change")
    ).select(*record_columns, "change.*", _record_date())


def add_counted_time(observer_events: DataFrame, knowledge_changes: DataFrame) -> DataFrame:
    """Add `since`, the time from which a record counts (see `find_knowledge_changes`)."""
    late_times = (
        knowledge_changes.where(col("type") == LATE_RECORD)
        .groupBy("observer", "recordOrder")
        .agg(highest("since").alias("late"))
    )
    events_with_late = observer_events.join(late_times, ["observer", "recordOrder"], "left")
    return events_with_late.withColumn("since", coalesce("late", "time")).drop("late")


def is_snapshot() -> Column:
    return col("type") == "Snapshot"


def _record_date() -> Column:
    return to_date(timestamp_millis("time")).alias("date")


def _is_counted() -> Column:
    return col("type").isin(*MARK_TYPES, "ServerPaused") | col("isLog")


def _order_records(all_records: DataFrame) -> DataFrame:
    """Add the values of the previous record. Many rows are sorted here, so they carry few columns."""
    observer_window = Window.partitionBy(hash_key(["observer"])).orderBy("recordOrder")
    narrow_records = all_records.select(
        "observer", "server", "isLog", "recordOrder", "time", "type", "isEarlier",
        *(when(_is_counted(), col(column_name)).alias(column_name) for column_name in (*_CAUSE_COLUMNS,
        "pauseMillis")),
    )  # fmt: skip
    return narrow_records.select(
        "*",
        highest("time")
        .over(observer_window.rowsBetween(Window.unboundedPreceding, Window.currentRow))
        .alias("since"),
        highest("time").over(observer_window.rowsBetween(Window.unboundedPreceding, -1)).alias("sinceBefore"),
        lag("recordOrder").over(observer_window).alias("recordOrderBefore"),
        lag("type").over(observer_window).alias("typeBefore"),
        lead("recordOrder").over(observer_window).isNull().alias("isLast"),
    )


def _collect_records(
    ns_event: DataFrame, log_fact: DataFrame, earlier_days: DataFrame | None = None
) -> DataFrame:
    """Return all signs of life of a name server: its records, and the facts of its log.

    The last record of each observer in `earlier_days` has the latest time of all of them, and `isEarlier`.
    """
    event_records = add_observer_columns(ns_event).select(
        "observer", "server", "isLog", "recordOrder", "time", "type", *_CAUSE_COLUMNS, "pauseMillis",
        lit(False).alias("isEarlier"),
    )  # fmt: skip
    if earlier_days is not None:
        last_records = earlier_days.groupBy("observer", "server", "isLog").agg(
            highest("lastOrder").alias("recordOrder"),
            highest("lastTime").alias("time"),
            max_by("lastType", "lastOrder").alias("type"),
            lit(True).alias("isEarlier"),
        )
        event_records = event_records.unionByName(last_records, allowMissingColumns=True)
    logged_servers = event_records.where("isLog").select("server").distinct()
    fact_kind = col("kind")
    is_life_sign = (
        fact_kind.isin(_SCAN_KIND, "traffic", "configTable")
        | (fact_kind == "waterMark") & col("name").isNull()
    )
    proof_minutes = (
        log_fact.where(is_life_sign)
        .join(broadcast_rows(logged_servers), "server", "left_semi")
        .groupBy(
            "server",
            when(fact_kind == _SCAN_KIND, _SCAN_KIND).otherwise(HEARD_AGAIN).alias("type"),
            floor(col("time") / 60_000),
        )
        .agg(lowest("time").alias("first"), highest("time").alias("last"))
    )
    proof_times = proof_minutes.select("server", "type", explode(array("first", "last")).alias("time"))
    return event_records.unionByName(
        proof_times.select(
            concat("server", lit(" log")).alias("observer"),
            "server",
            lit(True).alias("isLog"),
            (col("time") * 1_000_000).alias("recordOrder"),
            "time",
            "type",
            *(lit(None).cast("string").alias(column_name) for column_name in _CAUSE_COLUMNS),
            lit(None).cast("bigint").alias("pauseMillis"),
            lit(False).alias("isEarlier"),
        )
    )


def _change_struct(
    change_type: Column | str,
    order_column: str,
    order_offset: int,
    since_column: Column | str,
    *cause_columns: Column,
) -> Column:
    """A change as a struct. All structs of a Spark array need exactly the same types."""
    null_text = lit(None).cast("string")
    given_columns = [*cause_columns, *[null_text] * (len(_CAUSE_COLUMNS) - len(cause_columns))]
    return struct(
        (lit(change_type) if isinstance(change_type, str) else change_type).cast("string").alias("type"),
        col(order_column).cast("long").alias("recordOrder"),
        lit(order_offset).alias("orderOffset"),
        (col(since_column) if isinstance(since_column, str) else since_column).cast("long").alias("since"),
        *(
            text_column.cast("string").alias(column_name)
            for text_column, column_name in zip(given_columns, _CAUSE_COLUMNS, strict=True)
        ),
    )
