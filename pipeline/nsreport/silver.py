"""Silver: which tables are made of lines, and of events. Pure."""

from collections.abc import Callable, Sequence
from datetime import date

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from nsreport import coverage, entries, journals, looks, presence, routes, turns
from nsreport.java_logs import Parsed
from nsreport.java_logs.facts import LOG_FACT, STATS_MINUTE
from nsreport.sinks import Table

EVENTS = Table("silver/ns_event", ("date", "cluster"), ("type", "changesWrite", "server", "time"))
QUARANTINE = Table("silver/quarantine", ("date",))
FACTS = Table("silver/log_fact", ("date",))
STATS = Table("silver/stats_minute", ("date",))

OF_LINES = (EVENTS, QUARANTINE, FACTS, STATS)
"""Made of the lines of the same day; what logs say, of those before it as well."""


def of_lines(lines: DataFrame, logs: Parsed | None, days: Sequence[date]) -> dict[Table, DataFrame]:
    """These tables, of journals' lines of some days and of all that logs say, if there are any."""
    made = {EVENTS: journals.events(lines), QUARANTINE: journals.quarantine(lines)}
    if logs is None:
        return made
    of_logs = {EVENTS: logs.events, QUARANTINE: logs.quarantine, FACTS: logs.facts, STATS: logs.stats}
    for table, rows in of_logs.items():
        said = rows.where(col("date").isin(list(days)))
        made[table] = made[table].unionByName(said) if table in made else said
    return made


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
