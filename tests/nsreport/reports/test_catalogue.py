"""Every report is told of, and every column of it."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

import nsreport.reports
from nsreport.facts.agreement import list_route_servers
from nsreport.facts.presence import select_lifecycle_events
from nsreport.reports.catalogue import REPORTS_BY_NAME, add_source_reports
from nsreport.reports.table_catalogue import build_report_schema, find_table
from nsreport.reports.topic_growth import topic_growth
from nsreport.runtime.local_rows import build_empty_rows, is_known_empty
from nsreport.sources import schemas
from tests.support.silver_rows import (
    BROKER_RUNTIME,
    CONSUMER_LAG,
    ENTRY_INTERVAL,
    KNOWLEDGE_INTERVAL,
    LOG_FACT,
    ROUTE_INTERVAL,
    STATS_MINUTE,
    agreed,
    looked,
    rows,
)

NO_REPORT = {"__init__", "catalogue", "table_catalogue"}


def test_every_module_is_a_report_that_is_told_of() -> None:
    modules = {path.stem for path in Path(nsreport.reports.__file__).parent.glob("*.py")} - NO_REPORT
    assert modules == set(REPORTS_BY_NAME)


def empty_table(spark: SparkSession, schema: str | StructType) -> DataFrame:
    return build_empty_rows(spark, spark.createDataFrame([], schema).schema)


@pytest.fixture(scope="module")
def inputs(spark: SparkSession) -> dict[str, DataFrame]:
    """An empty table of each kind that reports are made of, and a `knowledge_interval` with a row."""
    event_rows = empty_table(spark, schemas.event_schema())
    route_rows = empty_table(spark, ROUTE_INTERVAL)
    knowledge = rows(spark, KNOWLEDGE_INTERVAL, looked("ns-1", 0, None))
    return {
        "silver/ns_event": event_rows,
        "silver/broker_lifecycle": select_lifecycle_events(event_rows),
        "silver/route_interval": route_rows,
        "silver/agreement_interval": agreed(route_rows, knowledge),
        "silver/route_server": list_route_servers(route_rows),
        "silver/entry_interval": empty_table(spark, ENTRY_INTERVAL),
        "silver/knowledge_interval": knowledge,
        "silver/stats_minute": empty_table(spark, STATS_MINUTE),
        "silver/log_fact": empty_table(spark, LOG_FACT),
        "silver/broker_runtime": empty_table(spark, BROKER_RUNTIME),
        "silver/consumer_lag": empty_table(spark, CONSUMER_LAG),
        "gold/topic_growth": topic_growth(route_rows, 0, 1),
    }


@pytest.mark.parametrize("name", REPORTS_BY_NAME)
def test_a_report_has_the_columns_that_it_tells_of_and_no_rows_without_its_subjects(
    name: str, inputs: dict[str, DataFrame]
) -> None:
    report = REPORTS_BY_NAME[name]
    make_table = report.load_function()
    made = make_table(*(inputs[table] for table in report.input_tables), 0, 1)
    assert report.name == name == make_table.__name__
    assert made.columns == list(report.columns)
    assert set(report.partition_columns) <= set(report.columns)
    assert set(report.limiting_tables) <= set(report.input_tables)
    table = find_table(f"gold/{name}")
    assert table is not None
    assert [(column.name, column.type_name) for column in table.columns] == made.dtypes
    assert build_report_schema(name).simpleString() == made.schema.simpleString()
    assert is_known_empty(made) or "silver/knowledge_interval" in report.subject_tables


def test_a_report_brings_the_reports_that_it_reads() -> None:
    assert add_source_reports(["registration_forecast"]) == ["topic_growth", "registration_forecast"]
    assert add_source_reports(["ns_health", "broker_flaps"]) == ["broker_flaps", "ns_health"]
