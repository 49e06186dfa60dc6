"""Silver: which tables are made of lines, and of events. Pure."""

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
"""Made of the lines of the same day; what logs say, of those before it as well."""


def of_lines(lines: DataFrame, logs: Parsed | None, days: Sequence[date]) -> dict[Table, DataFrame | Heads]:
    """These tables but the quarantine, of journals' lines of some days and of all that logs say, if any."""
    heads = journals.heads(lines)
    if logs is None:
        return {EVENTS: Heads(heads, journals.parsed)}
    events, facts, stats = (_of(rows, days) for rows in (logs.events, logs.facts, logs.stats))
    return {EVENTS: Heads(journals.with_others(heads, events), journals.parsed), FACTS: facts, STATS: stats}


def quarantine(lines: DataFrame, events: DataFrame, logs: Parsed | None, days: Sequence[date]) -> DataFrame:
    """Of these lines those that are none of these events; and of all logs what nobody understands."""
    lost = journals.quarantine(journals.lost(lines, events))
    return lost if logs is None else lost.unionByName(_of(logs.quarantine, days))


def _of(rows: DataFrame, days: Sequence[date]) -> DataFrame:
    return rows.where(col("date").isin(list(days)))


def of_no_logs(spark: SparkSession) -> dict[Table, DataFrame]:
    """What there is where nobody gave logs."""
    return {FACTS: spark.createDataFrame([], LOG_FACT), STATS: spark.createDataFrame([], STATS_MINUTE)}


OF_DAYS: dict[Table, Callable[[DataFrame], DataFrame]] = {
    Table("silver/poll", ("date", "cluster")): looks.poll,
    Table("silver/broker_runtime", ("date", "cluster")): looks.broker_runtime,
    Table("silver/consumer_lag", ("date", "cluster")): looks.consumer_lag,
}
"""Made of the events of the same day."""

TOLD = Table("silver/told", (), ("type", "time"))
TURNS = Table("silver/turn")
OF_ALL: dict[Table, tuple[Callable[..., DataFrame], tuple[Table, ...]]] = {
    TOLD: (presence.told_by_witnesses, (EVENTS,)),
    TURNS: (turns.turns, (EVENTS, FACTS)),
    Table("silver/coverage"): (coverage.coverage, (TURNS,)),
    Table("silver/route_fact", ("date", "cluster")): (routes.facts, (EVENTS, TURNS)),
    Table("silver/entry_fact"): (entries.facts, (EVENTS, TURNS)),
}
"""Made of all events and facts of logs: what was begun on a day may go on for months."""
