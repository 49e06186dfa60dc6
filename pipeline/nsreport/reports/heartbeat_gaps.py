"""heartbeat_gaps: silences of brokers, attributed to the broker, the link or the name server. Pure."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    aggregate,
    array_except,
    array_intersect,
    coalesce,
    col,
    collect_list,
    collect_set,
    filter,
    greatest,
    last,
    lead,
    least,
    lit,
    max,
    round,
    size,
    struct,
    sum,
    timestamp_millis,
    to_date,
    transform,
    when,
)

from nsreport.facts.knowledge_intervals import select_known_spans
from nsreport.facts.presence import BROKER_KEY, REGISTRATION_KEY
from nsreport.facts.registration_gaps import MIN_SILENCE_MS, find_registration_silences
from nsreport.facts.spans import hash_key
from nsreport.runtime.session import broadcast_rows

_SILENCE_TYPES = ("HeartbeatGap", "ServerPaused")
_END_TYPES = ("BrokerUnregistered", "BrokerRegistered", "ServerStarted")
_MIN_OVERLAP_MS = MIN_SILENCE_MS // 2
"""Silences that overlap for less are not simultaneous. Every broker is silent between two heartbeats, and the
clocks of name servers differ."""

_CATCH_UP_MS = 5_000
"""After a pause, a name server handles the heartbeats that arrived meanwhile within this time."""

_EVENT_COLUMNS = (*REGISTRATION_KEY, "type", "recordOrder", "time", "silentMillis", "resumed", "pauseMillis")


def heartbeat_gaps(
    lifecycle_events: DataFrame,
    log_fact: DataFrame,
    knowledge_intervals: DataFrame,
    since_ms: int,
    until_ms: int,
) -> DataFrame:
    """Return a row for each silence of a broker at a name server that is not over at `since_ms` (since 1970).

    A name server reports silences that last three quarters of the broker expiry time. They are simultaneous
    if they overlap for half of that time. `causedBy` is

    - name server, if all its brokers were silent at once, or if the silence is only long because the name
      server was paused, and ended with the pause;
    - broker, if it was missed by all name servers that know the broker and ran until the silence was long;
    - link otherwise.

    A pause of the name server is a row without a broker. Broker logs add the times in which a broker could
    not register; in these rows `server` is the name server's address.
    """
    lifecycle_events = lifecycle_events.where(col("time") < until_ms)
    all_gaps = _find_gaps(lifecycle_events, until_ms).unionByName(
        find_registration_silences(log_fact, until_ms), allowMissingColumns=True
    )
    counted_gaps = _count_simultaneous_gaps(_keep_witnesses(all_gaps, knowledge_intervals, until_ms))
    attributed_gaps = counted_gaps.select(
        "server",
        *BROKER_KEY,
        "since",
        "until",
        "outcome",
        when(
            col("brokerName").isNull()
            | (col("silent") >= col("brokers")) & (col("silent") > 1)
            | (col("pausedMillis") > 0)
            & (col("until") - col("since") - col("pausedMillis") <= MIN_SILENCE_MS),
            "name server",
        )
        .when(size(array_except("servers", "missing")) == 0, "broker")
        .otherwise("link")
        .alias("causedBy"),
        when(col("brokerName").isNotNull(), col("silent")).alias("silentBrokers"),
    )
    return attributed_gaps.where(col("until") > since_ms).select(
        to_date(timestamp_millis("since")).alias("date"),
        coalesce("cluster", lit("-")).alias("cluster"),
        "brokerName",
        "brokerId",
        "server",
        timestamp_millis("since").alias("ts"),
        timestamp_millis("until").alias("endTs"),
        round((col("until") - col("since")) / 1000, 3).alias("seconds"),
        "outcome",
        "causedBy",
        "silentBrokers",
    )


def _find_gaps(lifecycle_events: DataFrame, until_ms: int) -> DataFrame:
    """Return the silences with their ends (resumed, lost or open). `servers` know the broker."""
    observer_window = Window.partitionBy(hash_key(["observer"])).orderBy("recordOrder")
    window_so_far = observer_window.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    silence_events = lifecycle_events.where(col("type").isin(*_SILENCE_TYPES, "Heartbeats")).select(
        *_EVENT_COLUMNS,
        coalesce(last("brokers", ignorenulls=True).over(window_so_far), lit(0)).alias("brokers"),
    )
    end_events = lifecycle_events.where(col("type").isin(*_END_TYPES)).select(
        *_EVENT_COLUMNS, lit(0).alias("brokers")
    )
    all_events = silence_events.where("type != 'Heartbeats'").unionByName(end_events)
    # All windows below are within a broker: repartition its rows once.
    broker_events = all_events.withColumns(
        {"registration": hash_key(REGISTRATION_KEY), "broker": hash_key(BROKER_KEY)}
    ).repartition("broker")
    registration_window = Window.partitionBy("broker", "registration").orderBy("recordOrder")
    events_with_next = broker_events.select(
        "*",
        lead("type").over(registration_window).alias("nextType"),
        lead("time").over(registration_window).alias("nextTime"),
        lead("time", 2).over(registration_window).alias("timeAfterNext"),
        _last_gap_without("resumed").over(registration_window.rowsBetween(-1, -1)).alias("wasReported"),
        collect_set("server").over(Window.partitionBy("broker")).alias("servers"),
    )
    # A name server reports a silence once when it is long and once when it ends; the first may be missing.
    is_gap = (col("type") == "HeartbeatGap") & (~col("resumed") | ~coalesce("wasReported", lit(False)))
    is_pause = col("type") == "ServerPaused"
    began_ms = col("time") - coalesce("pauseMillis", "silentMillis", lit(0))
    is_over = is_pause | col("resumed")
    return events_with_next.where(is_gap | is_pause).select(
        *(
            when(~is_pause, col(column_name)).alias(column_name)
            if column_name in BROKER_KEY
            else col(column_name)
            for column_name in REGISTRATION_KEY
        ),
        began_ms.alias("since"),
        when(is_over, col("time")).otherwise(coalesce("nextTime", lit(until_ms))).alias("until"),
        _gap_end(is_over).alias("outcome"),
        # A name server that lost the broker misses it until it registers again.
        when(~is_over & _is_lost(), coalesce("timeAfterNext", lit(until_ms))).alias("missedUntil"),
        "brokers",
        "servers",
    )


def _keep_witnesses(silence_gaps: DataFrame, knowledge_intervals: DataFrame, until_ms: int) -> DataFrame:
    """Keep those of `servers` that ran until the silence was long. Others may have had no time to hear it.

    A broker's log has addresses of name servers, whose runs are unknown: all of them stay.
    """
    known_spans = select_known_spans(knowledge_intervals, until_ms).agg(
        collect_list(struct("server", "since", "until")).alias("knownSpans")
    )
    running_servers = transform(
        filter(
            "knownSpans",
            lambda known_span: (
                (known_span["since"] <= col("since")) & (col("since") + MIN_SILENCE_MS <= known_span["until"])
            ),
        ),
        lambda known_span: known_span["server"],
    )
    witnesses = when(col("cluster").isNull(), col("servers")).otherwise(
        array_intersect("servers", running_servers)
    )
    return (
        silence_gaps.crossJoin(broadcast_rows(known_spans))
        .withColumn("servers", witnesses)
        .drop("knownSpans")
    )


def _last_gap_without(flag_column: str) -> Column:
    return last(when(col("type") == "HeartbeatGap", ~col(flag_column)))


def _is_lost() -> Column:
    return col("nextType") == "BrokerUnregistered"


def _gap_end(is_over: Column) -> Column:
    return (
        when(is_over, "resumed")
        .when(_is_lost(), "lost")
        .when(col("nextTime").isNull(), "open")
        .otherwise("resumed")
    )


def _count_simultaneous_gaps(silence_gaps: DataFrame) -> DataFrame:
    """Add `silent` (number of silent brokers of the name server) and `missing` (all that missed the broker).

    Both count silences that overlap for `_MIN_OVERLAP_MS`, or for half of a short silence. `pausedMillis` is
    the part of a silence that was a pause of the name server.
    """
    # Two spans overlap for a time if they still overlap when both end earlier by it. A pause begins earlier
    # instead, because it counts for each silence that it overlaps at all.
    is_pause = col("brokerName").isNull()
    half_length = ((col("until") - col("since")) / 2).cast("long")
    shift_ms = when(is_pause, 0).otherwise(least(lit(_MIN_OVERLAP_MS), half_length))
    shifted_gaps = silence_gaps.withColumns(
        {
            "shiftedSince": col("since") - when(is_pause, _MIN_OVERLAP_MS).otherwise(0),
            "shiftedUntil": col("until") - shift_ms,
            "shiftedMissedUntil": coalesce("missedUntil", "until") - shift_ms,
        }
    )
    numbered_gaps = _number_overlaps(shifted_gaps, ["observer"], "shiftedUntil", "atServer")
    numbered_gaps = _number_overlaps(numbered_gaps, BROKER_KEY, "shiftedMissedUntil", "ofBroker")
    server_window = Window.partitionBy(hash_key(["observer", "atServer"]))
    broker_window = Window.partitionBy(hash_key([*BROKER_KEY, "ofBroker"]))
    broker_hash = when(~is_pause, hash_key(BROKER_KEY))
    missing_span = struct("server", "shiftedSince", "shiftedMissedUntil")
    return numbered_gaps.select(
        "*",
        size(collect_set(broker_hash).over(server_window)).cast("long").alias("silent"),
        collect_list(when(~is_pause, missing_span)).over(broker_window).alias("missingSpans"),
        collect_list(when(is_pause, struct("since", "until"))).over(server_window).alias("pauses"),
    ).withColumns({"missing": _missing_servers(), "pausedMillis": _paused_millis()})


def _missing_servers() -> Column:
    """The name servers that missed the broker at the same time: a broker can be lost for days."""
    simultaneous_spans = filter(
        "missingSpans",
        lambda missing_span: (
            (missing_span["shiftedSince"] < col("shiftedUntil"))
            & (col("shiftedSince") < missing_span["shiftedMissedUntil"])
        ),
    )
    return transform(simultaneous_spans, lambda missing_span: missing_span["server"])


def _paused_millis() -> Column:
    """The time in which the name server was paused, in pauses with which the silence ended."""
    return aggregate(
        filter("pauses", lambda pause: col("until") <= pause["until"] + _CATCH_UP_MS),
        lit(0).cast("long"),
        lambda total, pause: (
            total
            + greatest(lit(0), least(col("until"), pause["until"]) - greatest(col("since"), pause["since"]))
        ),
    )


def _number_overlaps(
    silence_gaps: DataFrame, key_columns: list[str], end_column: str, number_column: str
) -> DataFrame:
    """Give the same number to the shifted silences of a key that overlap, directly or through others."""
    key_window = Window.partitionBy(hash_key(key_columns)).orderBy("shiftedSince")
    end_so_far = max(end_column).over(key_window.rowsBetween(Window.unboundedPreceding, -1))
    marked_gaps = silence_gaps.withColumn(
        "apart", coalesce(col("shiftedSince") >= end_so_far, lit(True)).cast("int")
    )
    return marked_gaps.withColumn(number_column, sum("apart").over(key_window)).drop("apart")
