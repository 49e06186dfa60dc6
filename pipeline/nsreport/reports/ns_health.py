"""ns_health: starts, pauses, scans, queues, requests and errors of each name server. Pure."""

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import (
    coalesce,
    col,
    collect_list,
    lit,
    map_from_entries,
    max,
    round,
    struct,
    sum,
    timestamp_millis,
    to_date,
    when,
)

from nsreport.facts.knowledge_intervals import select_known_spans
from nsreport.facts.spans import clip_spans, find_silences, split_by_day

SCAN_GAP_MS = 15_000
"""Java scans for silent brokers every five seconds; a longer time than this between two scans is a gap."""

_COLUMN_BY_TYPE = {
    "ServerStarted": "starts",
    "ServerStopping": "stops",
    "ServerPaused": "pauses",
    "PollFailed": "failedPolls",
    "EventsLost": "eventsLost",
    "JournalRepaired": "repairs",
    "decodeError": "decodeErrors",
    "checksumError": "decodeErrors",
    "complaint": "unparsedWarnings",
}
_SUM_COLUMNS = ("knownSeconds", *dict.fromkeys(_COLUMN_BY_TYPE.values()), "scanGaps")
_LONGEST_COLUMNS = ("longestPauseSeconds", "longestScanGapSeconds")


def ns_health(
    lifecycle_events: DataFrame,
    knowledge_intervals: DataFrame,
    log_fact: DataFrame,
    since_ms: int,
    until_ms: int,
) -> DataFrame:
    """Return a row for each name server and day. More starts than stops: it was killed, or crashed.

    Only Java logs contain scans, water marks (greatest value of the day), requests by code and errors. During
    a gap in the scans the whole process was stopped or paused.
    """
    lifecycle_events = lifecycle_events.where(col("time") < until_ms)
    known_servers = lifecycle_events.select("server").distinct()
    figure_parts = [
        _count_events(lifecycle_events, since_ms),
        _sum_known_seconds(knowledge_intervals, since_ms, until_ms),
        *_log_figures(log_fact.join(known_servers, "server", "left_semi"), since_ms, until_ms),
    ]
    figure_rows = reduce(DataFrame.unionByName, figure_parts)
    key_figures = figure_rows.groupBy("date", "server", "name", "key").agg(
        sum("value").alias("sum"), max("value").alias("max")
    )
    figure_name = col("name")
    day_figures = key_figures.groupBy("date", "server").agg(
        *(
            coalesce(sum(when(figure_name == column_name, col("sum"))), lit(0.0)).alias(column_name)
            for column_name in _SUM_COLUMNS
        ),
        *(
            max(when(figure_name == column_name, col("max"))).alias(column_name)
            for column_name in _LONGEST_COLUMNS
        ),
        _figure_map("waterMark", "max").alias("waterMarks"),
        _figure_map("requests", "sum").alias("requests"),
    )
    whole_columns = [col(column_name).cast("long").alias(column_name) for column_name in _SUM_COLUMNS[1:]]
    return day_figures.select(
        "date",
        "server",
        round("knownSeconds", 3).alias("knownSeconds"),
        *whole_columns,
        *_LONGEST_COLUMNS,
        "waterMarks",
        "requests",
    )


def _figure_map(figure_name: str, value_column: str) -> Column:
    map_entries = collect_list(when(col("name") == figure_name, struct("key", value_column)))
    return map_from_entries(map_entries).alias(figure_name)


def _count_events(lifecycle_events: DataFrame, since_ms: int) -> DataFrame:
    """Return a figure of 1 for each event, the number of lost events, and the length of each pause."""
    counted_events = lifecycle_events.where((col("time") >= since_ms) & col("type").isin(*_COLUMN_BY_TYPE))
    figure_name = reduce(
        lambda case_column, event_type: case_column.when(
            col("type") == event_type, _COLUMN_BY_TYPE[event_type]
        ),
        _COLUMN_BY_TYPE,
        when(lit(False), ""),
    )
    event_count = when(col("type") == "EventsLost", col("lost")).otherwise(1).cast("double")
    count_rows = _figure_rows(counted_events, figure_name, event_count)
    pause_events = counted_events.where("type = 'ServerPaused'")
    return count_rows.unionByName(
        _figure_rows(pause_events, lit("longestPauseSeconds"), col("pauseMillis") / 1000)
    )


def _figure_rows(
    timed_rows: DataFrame, figure_name: Column, figure_value: Column, figure_key: Column | None = None
) -> DataFrame:
    return timed_rows.select(
        to_date(timestamp_millis("time")).alias("date"),
        "server",
        figure_name.alias("name"),
        (lit(None).cast("string") if figure_key is None else figure_key).alias("key"),
        figure_value.alias("value"),
    )


def _sum_known_seconds(knowledge_intervals: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    day_spans = split_by_day(
        clip_spans(select_known_spans(knowledge_intervals, until_ms), since_ms, until_ms),
        "server",
        "observer",
    )
    seconds_by_observer = day_spans.groupBy("date", "server", "observer").agg(
        (sum(col("until") - col("since")) / 1000).alias("value")
    )
    # Of several observers, the one with the longest coverage counts.
    longest_seconds = seconds_by_observer.groupBy("date", "server").agg(max("value").alias("value"))
    return longest_seconds.select(
        "date", "server", lit("knownSeconds").alias("name"), lit(None).cast("string").alias("key"), "value"
    )


def _log_figures(log_fact: DataFrame, since_ms: int, until_ms: int) -> list[DataFrame]:
    facts_in_range = log_fact.where((col("time") >= since_ms) & (col("time") < until_ms))
    fact_kind = col("kind")
    error_facts = facts_in_range.where(fact_kind.isin("decodeError", "checksumError", "complaint"))
    error_name = when(fact_kind == "complaint", "unparsedWarnings").otherwise("decodeErrors")
    scan_gaps = find_silences(facts_in_range.where(fact_kind == "scan"), ["server"], SCAN_GAP_MS).withColumn(
        "time", col("since")
    )
    gap_seconds = ((col("until") - col("since")) / 1000).cast("double")
    water_marks = facts_in_range.where(fact_kind == "waterMark")
    request_counts = facts_in_range.where((fact_kind == "traffic") & (col("name") == "Request"))
    return [
        _figure_rows(error_facts, error_name, lit(1.0)),
        _figure_rows(scan_gaps, lit("scanGaps"), lit(1.0)),
        _figure_rows(scan_gaps, lit("longestScanGapSeconds"), gap_seconds),
        _figure_rows(water_marks, lit("waterMark"), col("value"), col("key")),
        _figure_rows(request_counts, lit("requests"), col("value"), col("key")),
    ]
