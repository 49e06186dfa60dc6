"""Transitions: the few records that decide when the tables of a name server are known. Pure.

A witness is a source about a name server: its own journal, a collector, or a Java log. This module sorts the
records of each witness once; `coverage` works on the transitions that remain.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    array,
    array_compact,
    broadcast,
    coalesce,
    col,
    concat,
    explode,
    floor,
    greatest,
    lag,
    lead,
    lit,
    struct,
    when,
)
from pyspark.sql.functions import max as highest
from pyspark.sql.functions import min as lowest

from nsreport.facts.spans import event_place, hash_key

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
"""Record types after which a witness sees the tables (True), or no longer sees them (False)."""

MARK_TYPES = (*SIGHT_BY_TYPE, "EventsLost", "ServerStopping", "ServerStarted")
LAST_RECORD, LATE_RECORD, HEARD_AGAIN, NUMBERED_TWICE = "last", "late", "heard", "twice"

_SCAN_KIND = "scan"
_CAUSE_COLUMNS = ("reason", "cause", "client")
_BEFORE_RECORD, _AT_RECORD, _AFTER_RECORD = -1, 0, 1


def add_witness_columns(ns_events: DataFrame) -> DataFrame:
    """Return the events about name servers with their `witness` and `place`, the order within the witness."""
    is_log = col("dialect").isin("4.x", "5.x")
    witness_suffix = (
        when(is_log, " log").when(col("dialect") == "journal", "").otherwise(concat(lit(" "), "dialect"))
    )
    return ns_events.where(~col("type").isin(*BROKER_EVENT_TYPES)).withColumns(
        {"witness": concat("server", witness_suffix), "isLog": is_log, "place": event_place()}
    )


def select_route_events(ns_event: DataFrame) -> DataFrame:
    """Return the records of the best witness of each name server: its own journal, else a collector."""
    witness_events = add_witness_columns(ns_event)
    best_witnesses = witness_events.where(is_snapshot() & col("seq").isNotNull()).groupBy("server")
    return witness_events.join(
        broadcast(best_witnesses.agg(lowest("witness").alias("witness"))), ["server", "witness"], "left_semi"
    )


def find_transitions(ns_event: DataFrame, log_fact: DataFrame) -> DataFrame:
    """Return a row for each record, or gap between records, that may change what is known of a name server.

    Rows are ordered by `place`, and by `half` for rows just before (-1) or after (1) a record. `since` (ms)
    never decreases from record to record, even if a clock goes back; if `since` differs from `time`, a `late`
    row says so. Besides record types, `type` is one of

    - hole: record numbers are missing;
    - twice: a record number occurs twice;
    - ended: the name server started again without a record of its end;
    - silent, heard: the witness was silent for long, and wrote again;
    - paused: the name server was paused;
    - last: the last record (its type is the `reason`).
    """
    event_type, is_log = col("type"), col("isLog")
    max_silence_ms = when(is_log & (col("typeBefore") != _SCAN_KIND), QUIET_LOG_MS).otherwise(JOURNAL_HOLE_MS)
    is_start = when(is_log, event_type == "ServerStarted").otherwise(
        is_snapshot() & (col("reason") == "start")
    )
    is_running = ~col("typeBefore").isin(*STOP_TYPES)
    is_long_silence = is_running & (col("since") - col("sinceBefore") > max_silence_ms)
    is_paused = event_type == "ServerPaused"
    pause_start = greatest("sinceBefore", col("time") - col("pauseMillis"))
    transition_structs = {
        "itself": when(
            _is_counted(),
            _transition_struct(event_type, "place", _AT_RECORD, "since", *map(col, _CAUSE_COLUMNS)),
        ),
        "hole": when(
            ~is_log & (col("place") > col("placeBefore") + 1),
            _transition_struct("hole", "place", _BEFORE_RECORD, "since"),
        ),
        "twice": when(
            ~is_log & (col("place") == col("placeBefore")),
            _transition_struct(NUMBERED_TWICE, "place", _BEFORE_RECORD, "since"),
        ),
        "ended": when(
            is_start & is_running, _transition_struct("ended", "placeBefore", _AFTER_RECORD, "sinceBefore")
        ),
        "silent": when(
            is_long_silence, _transition_struct("silent", "placeBefore", _AFTER_RECORD, "sinceBefore")
        ),
        "heard": when(is_long_silence, _transition_struct(HEARD_AGAIN, "place", _BEFORE_RECORD, "since")),
        "paused": when(is_paused, _transition_struct("paused", "place", _BEFORE_RECORD, pause_start)),
        "last": when(
            col("isLast"), _transition_struct(LAST_RECORD, "place", _AFTER_RECORD, "since", event_type)
        ),
        "late": when(
            ~is_log & (col("since") > col("time")),
            _transition_struct(LATE_RECORD, "place", _AT_RECORD, "since"),
        ),
    }
    record_columns = ["witness", "server", "isLog", "time"]
    record_transitions = _order_records(_collect_records(ns_event, log_fact)).select(
        *record_columns,
        *(
            transition_struct.alias(transition_name)
            for transition_name, transition_struct in transition_structs.items()
        ),
    )
    transition_rows = record_transitions.where(coalesce(*map(col, transition_structs)).isNotNull())
    return transition_rows.select(
        *record_columns, explode(array_compact(array(*transition_structs))).alias("turn")
    ).select(*record_columns, "turn.*")


def add_counted_time(witness_events: DataFrame, transitions: DataFrame) -> DataFrame:
    """Add `since`, the time from which a record counts (see `find_transitions`)."""
    late_times = (
        transitions.where(col("type") == LATE_RECORD)
        .groupBy("witness", "place")
        .agg(highest("since").alias("late"))
    )
    events_with_late = witness_events.join(late_times, ["witness", "place"], "left")
    return events_with_late.withColumn("since", coalesce("late", "time")).drop("late")


def is_snapshot() -> Column:
    return col("type") == "Snapshot"


def _is_counted() -> Column:
    return col("type").isin(*MARK_TYPES, "ServerPaused") | col("isLog")


def _order_records(all_records: DataFrame) -> DataFrame:
    """Add the values of the previous record. Many rows are sorted here, so they carry few columns."""
    witness_window = Window.partitionBy(hash_key(["witness"])).orderBy("place")
    narrow_records = all_records.select(
        "witness", "server", "isLog", "place", "time", "type",
        *(when(_is_counted(), col(column_name)).alias(column_name) for column_name in (*_CAUSE_COLUMNS,
        "pauseMillis")),
    )  # fmt: skip
    return narrow_records.select(
        "*",
        highest("time")
        .over(witness_window.rowsBetween(Window.unboundedPreceding, Window.currentRow))
        .alias("since"),
        highest("time").over(witness_window.rowsBetween(Window.unboundedPreceding, -1)).alias("sinceBefore"),
        lag("place").over(witness_window).alias("placeBefore"),
        lag("type").over(witness_window).alias("typeBefore"),
        lead("place").over(witness_window).isNull().alias("isLast"),
    )


def _collect_records(ns_event: DataFrame, log_fact: DataFrame) -> DataFrame:
    """Return all signs of life of a name server: its records, and the facts of its log."""
    event_records = add_witness_columns(ns_event).select(
        "witness", "server", "isLog", "place", "time", "type", *_CAUSE_COLUMNS, "pauseMillis"
    )
    logged_servers = event_records.where("isLog").select("server").distinct()
    fact_kind = col("kind")
    is_life_sign = (
        fact_kind.isin(_SCAN_KIND, "traffic", "configTable")
        | (fact_kind == "waterMark") & col("name").isNull()
    )
    proof_minutes = (
        log_fact.where(is_life_sign)
        .join(broadcast(logged_servers), "server", "left_semi")
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
            concat("server", lit(" log")).alias("witness"),
            "server",
            lit(True).alias("isLog"),
            (col("time") * 1_000_000).alias("place"),
            "time",
            "type",
            *(lit(None).cast("string").alias(column_name) for column_name in _CAUSE_COLUMNS),
            lit(None).cast("bigint").alias("pauseMillis"),
        )
    )


def _transition_struct(
    transition_type: Column | str,
    place_column: str,
    half_number: int,
    since_column: Column | str,
    *cause_columns: Column,
) -> Column:
    """A transition as a struct. All structs of a Spark array need exactly the same types."""
    null_text = lit(None).cast("string")
    given_columns = [*cause_columns, *[null_text] * (len(_CAUSE_COLUMNS) - len(cause_columns))]
    return struct(
        (lit(transition_type) if isinstance(transition_type, str) else transition_type)
        .cast("string")
        .alias("type"),
        col(place_column).cast("long").alias("place"),
        lit(half_number).alias("half"),
        (col(since_column) if isinstance(since_column, str) else since_column).cast("long").alias("since"),
        *(
            text_column.cast("string").alias(column_name)
            for text_column, column_name in zip(given_columns, _CAUSE_COLUMNS, strict=True)
        ),
    )
