"""The catalogue has the columns and types that the functions of each table make."""

import pytest
from pyspark.sql import DataFrame, SparkSession

from nsreport.facts import (
    agreement,
    entries,
    knowledge_changes,
    knowledge_intervals,
    poll_facts,
    presence,
    routes,
)
from nsreport.reports.table_catalogue import find_table, list_tables
from nsreport.sources import journals, schemas
from nsreport.sources.java_logs.log_facts import LOG_FACT_SCHEMA
from nsreport.sources.java_logs.minute_statistics import STATS_MINUTE_SCHEMA
from tests.support.silver_rows import agreed, routed


@pytest.fixture(scope="module")
def made_tables(spark: SparkSession) -> dict[str, DataFrame]:
    """Every table without rows, as the functions make it."""
    lines = spark.createDataFrame([], schemas.BRONZE_SCHEMA)
    events = spark.createDataFrame([], schemas.event_schema())
    log_facts = spark.createDataFrame([], LOG_FACT_SCHEMA)
    changes = knowledge_changes.find_knowledge_changes(events, log_facts)
    route_rows = routed(events, changes)
    known = knowledge_intervals.build_knowledge_intervals(changes)
    return {
        "bronze/lines": lines,
        "silver/ns_event": events,
        "silver/quarantine": journals.select_quarantine(lines),
        "silver/log_fact": log_facts,
        "silver/stats_minute": spark.createDataFrame([], STATS_MINUTE_SCHEMA),
        "silver/poll_fact": poll_facts.select_polls(events),
        "silver/broker_runtime": poll_facts.select_broker_runtime(events),
        "silver/consumer_lag": poll_facts.select_consumer_lag(events),
        "silver/broker_lifecycle": presence.select_lifecycle_events(events),
        "silver/knowledge_change": changes,
        "silver/observer_day": knowledge_changes.build_observer_days(events, log_facts),
        "silver/broker_cluster": routes.list_broker_clusters(events),
        "silver/route_server": agreement.list_route_servers(route_rows),
        "silver/knowledge_interval": known,
        "silver/route_interval": route_rows,
        "silver/agreement_interval": agreed(route_rows, known),
        "silver/entry_interval": entries.build_entry_intervals(events, changes),
    }


def test_columns_and_types_are_those_that_a_run_writes(made_tables: dict[str, DataFrame]) -> None:
    for name, made in made_tables.items():
        table = find_table(name)
        assert table is not None
        # Partition columns are last in files, wherever the function has them.
        assert {column.name: column.type_name for column in table.columns} == dict(made.dtypes), name


def test_a_table_is_found_by_any_of_its_names() -> None:
    names = [table.name for table in list_tables()]
    assert names[0] == "gold/broker_availability"
    assert names[-1] == "bronze/lines"
    for name in ("told", "silver/told", "broker_lifecycle", "silver/broker_lifecycle"):
        table = find_table(name)
        assert table is not None
        assert table.name == "silver/broker_lifecycle"
    assert find_table("gold/told") is None
