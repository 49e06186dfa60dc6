"""Silver: the tables that are built from lines, from the events of a day, and from all events. Pure."""

from collections.abc import Callable, Sequence
from datetime import date
from functools import reduce
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql.functions import col
from pyspark.sql.types import StructType

from nsreport.facts import (
    agreement,
    entries,
    knowledge_changes,
    knowledge_intervals,
    past_changes,
    poll_facts,
    presence,
    routes,
)
from nsreport.runtime.session import gather_rows
from nsreport.sources import journals
from nsreport.sources.java_logs.log_facts import LOG_FACT_SCHEMA
from nsreport.sources.java_logs.log_parser import ParsedLogs
from nsreport.sources.java_logs.minute_statistics import STATS_MINUTE_SCHEMA
from nsreport.tables.table_layout import TableSpec

EVENT_TABLE = TableSpec(
    "silver/ns_event", ("date", "cluster"), ("type", "changesWrite", "server", "time"), is_pregathered=True
)
QUARANTINE_TABLE = TableSpec("silver/quarantine", ("date",))
LOG_FACT_TABLE = TableSpec("silver/log_fact", ("date",))
STATS_TABLE = TableSpec("silver/stats_minute", ("date",))

LINE_TABLES = (EVENT_TABLE, QUARANTINE_TABLE, LOG_FACT_TABLE, STATS_TABLE)
"""Tables built from the lines of the same day. Log lines also depend on the days before."""


def build_line_tables(
    day_lines: DataFrame | None, parsed_logs: ParsedLogs | None, refreshed_days: Sequence[date]
) -> dict[TableSpec, DataFrame]:
    """Build LINE_TABLES, except the quarantine, from lines of some days and from all parsed logs.

    `day_lines` is None if there are no journals, `parsed_logs` is None if there are no logs.
    """
    journal_events = journals.parse_events(day_lines) if day_lines is not None else None
    if parsed_logs is None:
        assert journal_events is not None, "neither journals nor logs"
        return {EVENT_TABLE: journal_events}
    log_events, log_fact_rows, stats_rows = (
        _select_days(log_rows, refreshed_days)
        for log_rows in (parsed_logs.event_rows, parsed_logs.fact_rows, parsed_logs.stats_rows)
    )
    log_events = gather_rows(log_events, EVENT_TABLE.partition_columns)
    return {
        EVENT_TABLE: log_events if journal_events is None else journal_events.unionByName(log_events),
        LOG_FACT_TABLE: log_fact_rows,
        STATS_TABLE: stats_rows,
    }


def select_quarantine(
    day_lines: DataFrame | None,
    day_events: DataFrame,
    parsed_logs: ParsedLogs | None,
    refreshed_days: Sequence[date],
) -> DataFrame:
    """Return the journal lines without an event, and the log lines that could not be parsed.

    `day_lines` is None if there are no journals, `parsed_logs` is None if there are no logs.
    """
    quarantine_parts = []
    if day_lines is not None:
        quarantine_parts.append(journals.select_quarantine(journals.select_lost_lines(day_lines, day_events)))
    if parsed_logs is not None:
        quarantine_parts.append(_select_days(parsed_logs.quarantine_rows, refreshed_days))
    return reduce(DataFrame.unionByName, quarantine_parts)


def _select_days(dated_rows: DataFrame, wanted_days: Sequence[date]) -> DataFrame:
    return dated_rows.where(col("date").isin(list(wanted_days)))


LOG_TABLE_SCHEMAS: dict[TableSpec, StructType] = {
    LOG_FACT_TABLE: LOG_FACT_SCHEMA,
    STATS_TABLE: STATS_MINUTE_SCHEMA,
}
"""The schemas of the tables that only logs fill."""

DAY_TABLES: dict[TableSpec, Callable[[DataFrame], DataFrame]] = {
    TableSpec("silver/poll_fact", ("date", "cluster")): poll_facts.select_polls,
    TableSpec("silver/broker_runtime", ("date", "cluster")): poll_facts.select_broker_runtime,
    TableSpec("silver/consumer_lag", ("date", "cluster")): poll_facts.select_consumer_lag,
}
"""Tables built from the events of the same day."""

BROKER_LIFECYCLE_TABLE = TableSpec("silver/broker_lifecycle", ("date",), ("type", "time"))
OBSERVER_DAY_TABLE = TableSpec("silver/observer_day")
BROKER_CLUSTER_TABLE = TableSpec("silver/broker_cluster")
KNOWLEDGE_CHANGE_TABLE = TableSpec("silver/knowledge_change")
KNOWLEDGE_INTERVAL_TABLE = TableSpec("silver/knowledge_interval")
ROUTE_INTERVAL_TABLE = TableSpec("silver/route_interval", ("endDate", "cluster"))
ROUTE_SERVER_TABLE = TableSpec("silver/route_server")
AGREEMENT_INTERVAL_TABLE = TableSpec("silver/agreement_interval", ("endDate",), ("differ",))
ENTRY_INTERVAL_TABLE = TableSpec("silver/entry_interval")


class HistoryTable(NamedTuple):
    """How the rows of a table from a day on follow from rows of that day and later ones, and from its past.

    `build` gets the rows of `inputs` from that day on, of states those that last until then; then all rows of
    `whole_inputs`, and rows of `past_table` that it continues: those of a state that began before the day and
    lasts until then, or all rows of the days before. They are None if the table is made from nothing.
    A table of states also gets the begin of the day (ms since 1970). `find_past_changes` gets all rows of
    `deciding_tables`; if it finds rows, the table is made from nothing.

    `day_column` is the day of a row, or of the end of a state; None: the table is always made from nothing. A
    table with few rows a day `is_small`: its rows are written again, instead of a file for each day.
    """

    build: Callable[..., DataFrame]
    inputs: tuple[TableSpec, ...] = ()
    whole_inputs: tuple[TableSpec, ...] = ()
    past_table: TableSpec | None = None
    find_past_changes: Callable[..., DataFrame] | None = None
    deciding_tables: tuple[TableSpec, ...] = ()
    day_column: str | None = "date"
    is_small: bool = False

    @property
    def all_inputs(self) -> tuple[TableSpec, ...]:
        """The tables that have to be made before this one."""
        return (*self.inputs, *self.whole_inputs, *self.deciding_tables)


HISTORY_TABLES: dict[TableSpec, HistoryTable] = {
    OBSERVER_DAY_TABLE: HistoryTable(
        knowledge_changes.build_observer_days,
        (EVENT_TABLE, LOG_FACT_TABLE),
        past_table=OBSERVER_DAY_TABLE,
        is_small=True,
    ),
    BROKER_CLUSTER_TABLE: HistoryTable(routes.list_broker_clusters, (EVENT_TABLE,), is_small=True),
    BROKER_LIFECYCLE_TABLE: HistoryTable(presence.select_lifecycle_events, (EVENT_TABLE,)),
    KNOWLEDGE_CHANGE_TABLE: HistoryTable(
        knowledge_changes.find_knowledge_changes,
        (EVENT_TABLE, LOG_FACT_TABLE),
        past_table=OBSERVER_DAY_TABLE,
        find_past_changes=past_changes.find_new_logs,
        deciding_tables=(OBSERVER_DAY_TABLE,),
        is_small=True,
    ),
    KNOWLEDGE_INTERVAL_TABLE: HistoryTable(
        knowledge_intervals.build_knowledge_intervals, (), (KNOWLEDGE_CHANGE_TABLE,), day_column=None
    ),
    ROUTE_INTERVAL_TABLE: HistoryTable(
        routes.build_route_intervals,
        (EVENT_TABLE,),
        (KNOWLEDGE_CHANGE_TABLE, BROKER_CLUSTER_TABLE),
        ROUTE_INTERVAL_TABLE,
        past_changes.find_new_clusters,
        (OBSERVER_DAY_TABLE, BROKER_CLUSTER_TABLE, ROUTE_INTERVAL_TABLE),
        "endDate",
    ),
    ROUTE_SERVER_TABLE: HistoryTable(agreement.list_route_servers, (ROUTE_INTERVAL_TABLE,), is_small=True),
    AGREEMENT_INTERVAL_TABLE: HistoryTable(
        agreement.build_agreement_intervals,
        (ROUTE_INTERVAL_TABLE,),
        (ROUTE_SERVER_TABLE, KNOWLEDGE_INTERVAL_TABLE),
        AGREEMENT_INTERVAL_TABLE,
        past_changes.find_new_route_servers,
        (ROUTE_SERVER_TABLE, KNOWLEDGE_INTERVAL_TABLE),
        "endDate",
    ),
    ENTRY_INTERVAL_TABLE: HistoryTable(
        entries.build_entry_intervals,
        (EVENT_TABLE,),
        (KNOWLEDGE_CHANGE_TABLE,),
        ENTRY_INTERVAL_TABLE,
        past_changes.find_new_observers,
        (OBSERVER_DAY_TABLE,),
        "endDate",
        is_small=True,
    ),
}
"""Tables built from events and log facts of any day: a state that begins on one day may last for months."""

RECORD_TABLES = (OBSERVER_DAY_TABLE, BROKER_CLUSTER_TABLE, BROKER_LIFECYCLE_TABLE)
"""Those of them whose rows of a day follow from the records of that day alone."""
