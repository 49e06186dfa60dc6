"""Silver: the tables that are built from lines, from the events of a day, and from all events. Pure."""

from collections.abc import Callable, Sequence
from datetime import date

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from nsreport import coverage, entries, journals, looks, presence, routes, turns
from nsreport.java_logs import Parsed
from nsreport.java_logs.facts import LOG_FACT, STATS_MINUTE
from nsreport.sinks import Heads, Table

EVENTS = Table("silver/ns_event", ("date", "cluster"), ("type", "changesWrite", "server", "time"))
QUARANTINE = Table("silver/quarantine", ("date",))
FACTS = Table("silver/log_fact", ("date",))
STATS = Table("silver/stats_minute", ("date",))

OF_LINES = (EVENTS, QUARANTINE, FACTS, STATS)
"""Tables built from the lines of the same day. Log lines also depend on the days before."""


def of_lines(lines: DataFrame, logs: Parsed | None, days: Sequence[date]) -> dict[Table, DataFrame | Heads]:
    """Build LINE_TABLES, except the quarantine, from lines of some days and from all parsed logs, if any."""
    heads = journals.heads(lines)
    if logs is None:
        return {EVENTS: Heads(heads, journals.parsed)}
    events, facts, stats = (_of(rows, days) for rows in (logs.events, logs.facts, logs.stats))
    return {EVENTS: Heads(journals.with_others(heads, events), journals.parsed), FACTS: facts, STATS: stats}


def quarantine(lines: DataFrame, events: DataFrame, logs: Parsed | None, days: Sequence[date]) -> DataFrame:
    """Return the journal lines without an event, and the log lines that could not be parsed."""
    lost = journals.quarantine(journals.lost(lines, events))
    return lost if logs is None else lost.unionByName(_of(logs.quarantine, days))


def _of(rows: DataFrame, days: Sequence[date]) -> DataFrame:
    return rows.where(col("date").isin(list(days)))


def of_no_logs(spark: SparkSession) -> dict[Table, DataFrame]:
    """Build empty log tables, for a run without logs."""
    return {FACTS: spark.createDataFrame([], LOG_FACT), STATS: spark.createDataFrame([], STATS_MINUTE)}


OF_DAYS: dict[Table, Callable[[DataFrame], DataFrame]] = {
    Table("silver/poll", ("date", "cluster")): looks.poll,
    Table("silver/broker_runtime", ("date", "cluster")): looks.broker_runtime,
    Table("silver/consumer_lag", ("date", "cluster")): looks.consumer_lag,
}
"""Tables built from the events of the same day."""

TOLD = Table("silver/told", (), ("type", "time"))
TURNS = Table("silver/turn")
OF_ALL: dict[Table, tuple[Callable[..., DataFrame], tuple[Table, ...]]] = {
    TOLD: (presence.told_by_witnesses, (EVENTS,)),
    TURNS: (turns.turns, (EVENTS, FACTS)),
    Table("silver/coverage"): (coverage.coverage, (TURNS,)),
    Table("silver/route_fact", ("date", "cluster")): (routes.facts, (EVENTS, TURNS)),
    Table("silver/entry_fact"): (entries.facts, (EVENTS, TURNS)),
}
"""Tables built from all events and log facts: a state that begins on one day may last for months."""
