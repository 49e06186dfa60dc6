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

from nsreport.coverage import watched
from nsreport.spans import by_day, clipped, silences

SCAN_HOLE = 15_000
"""Java scans for silent brokers every five seconds; a longer time than this between two scans is a hole."""

_COUNTS = {
    "ServerStarted": "starts",
    "ServerStopping": "stops",
    "ServerPaused": "pauses",
    "PollFailed": "failedPolls",
    "EventsLost": "eventsLost",
    "JournalRepaired": "repairs",
    "decodeError": "decodeErrors",
    "checksumError": "decodeErrors",
    "complaint": "complaints",
}
_SUMS = ("watchedSeconds", *dict.fromkeys(_COUNTS.values()), "scanHoles")
_LONGEST = ("longestPauseSeconds", "longestScanHoleSeconds")


def ns_health(told: DataFrame, coverage: DataFrame, log_fact: DataFrame, since: int, until: int) -> DataFrame:
    """Return a row for each name server and day. More starts than stops: it was killed, or crashed.

    Only Java logs contain scans, water marks (greatest value of the day), requests by code and errors. During
    a hole in the scans the whole process was stopped or paused.
    """
    told = told.where(col("time") < until)
    servers = told.select("server").distinct()
    parts = [
        _counts(told, since),
        _watched(coverage, since, until),
        *_of_logs(log_fact.join(servers, "server", "left_semi"), since, until),
    ]
    rows = reduce(DataFrame.unionByName, parts)
    each = rows.groupBy("date", "server", "name", "key").agg(
        sum("value").alias("sum"), max("value").alias("max")
    )
    name = col("name")
    days = each.groupBy("date", "server").agg(
        *(coalesce(sum(when(name == one, col("sum"))), lit(0.0)).alias(one) for one in _SUMS),
        *(max(when(name == one, col("max"))).alias(one) for one in _LONGEST),
        _map("waterMark", "max").alias("waterMarks"),
        _map("requests", "sum").alias("requests"),
    )
    whole = [col(one).cast("long").alias(one) for one in _SUMS[1:]]
    return days.select(
        "date",
        "server",
        round("watchedSeconds", 3).alias("watchedSeconds"),
        *whole,
        *_LONGEST,
        "waterMarks",
        "requests",
    )


def _map(name: str, value: str) -> Column:
    entries = collect_list(when(col("name") == name, struct("key", value)))
    return map_from_entries(entries).alias(name)


def _counts(told: DataFrame, since: int) -> DataFrame:
    """Return a figure of 1 for each event, the number of lost events, and the length of each pause."""
    events = told.where((col("time") >= since) & col("type").isin(*_COUNTS))
    name = reduce(
        lambda found, kind: found.when(col("type") == kind, _COUNTS[kind]), _COUNTS, when(lit(False), "")
    )
    many = when(col("type") == "EventsLost", col("lost")).otherwise(1).cast("double")
    counted = _row(events, name, many)
    pauses = events.where("type = 'ServerPaused'")
    return counted.unionByName(_row(pauses, lit("longestPauseSeconds"), col("pauseMillis") / 1000))


def _row(rows: DataFrame, name: Column, value: Column, key: Column | None = None) -> DataFrame:
    return rows.select(
        to_date(timestamp_millis("time")).alias("date"),
        "server",
        name.alias("name"),
        (lit(None).cast("string") if key is None else key).alias("key"),
        value.alias("value"),
    )


def _watched(coverage: DataFrame, since: int, until: int) -> DataFrame:
    days = by_day(clipped(watched(coverage, until), since, until), "server", "witness")
    seconds = days.groupBy("date", "server", "witness").agg(
        (sum(col("until") - col("since")) / 1000).alias("value")
    )
    # Of several witnesses, the one with the longest coverage counts.
    most = seconds.groupBy("date", "server").agg(max("value").alias("value"))
    return most.select(
        "date", "server", lit("watchedSeconds").alias("name"), lit(None).cast("string").alias("key"), "value"
    )


def _of_logs(log_fact: DataFrame, since: int, until: int) -> list[DataFrame]:
    facts = log_fact.where((col("time") >= since) & (col("time") < until))
    kind = col("kind")
    errors = facts.where(kind.isin("decodeError", "checksumError", "complaint"))
    named = when(kind == "complaint", "complaints").otherwise("decodeErrors")
    holes = silences(facts.where(kind == "scan"), ["server"], SCAN_HOLE).withColumn("time", col("since"))
    length = ((col("until") - col("since")) / 1000).cast("double")
    marks = facts.where(kind == "waterMark")
    requests = facts.where((kind == "traffic") & (col("name") == "Request"))
    return [
        _row(errors, named, lit(1.0)),
        _row(holes, lit("scanHoles"), lit(1.0)),
        _row(holes, lit("longestScanHoleSeconds"), length),
        _row(marks, lit("waterMark"), col("value"), col("key")),
        _row(requests, lit("requests"), col("value"), col("key")),
    ]
