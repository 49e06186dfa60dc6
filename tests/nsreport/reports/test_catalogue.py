"""Every report is told of, and every column of it."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import nsreport.reports
from nsreport.facts.presence import select_lifecycle_events
from nsreport.reports.catalogue import REPORTS_BY_NAME
from nsreport.reports.report_functions import FUNCTIONS_BY_REPORT
from nsreport.reports.table_catalogue import find_table
from nsreport.sources import schemas
from tests.support.silver_rows import (
    BROKER_RUNTIME,
    CONSUMER_LAG,
    ENTRY_INTERVAL,
    KNOWLEDGE_INTERVAL,
    LOG_FACT,
    ROUTE_INTERVAL,
    STATS_MINUTE,
)

NO_REPORT = {"__init__", "catalogue", "report_functions", "table_catalogue"}


def test_every_module_is_a_report_that_is_told_of() -> None:
    modules = {path.stem for path in Path(nsreport.reports.__file__).parent.glob("*.py")} - NO_REPORT
    assert modules == set(REPORTS_BY_NAME)


@pytest.fixture(scope="module")
def inputs(spark: SparkSession) -> dict[str, DataFrame]:
    """An empty table of each kind that reports are made of."""
    return {
        "ns_event": spark.createDataFrame([], schemas.event_schema()),
        "broker_lifecycle": select_lifecycle_events(spark.createDataFrame([], schemas.event_schema())),
        "route_interval": spark.createDataFrame([], ROUTE_INTERVAL),
        "entry_interval": spark.createDataFrame([], ENTRY_INTERVAL),
        "knowledge_interval": spark.createDataFrame([], KNOWLEDGE_INTERVAL),
        "stats_minute": spark.createDataFrame([], STATS_MINUTE),
        "log_fact": spark.createDataFrame([], LOG_FACT),
        "broker_runtime": spark.createDataFrame([], BROKER_RUNTIME),
        "consumer_lag": spark.createDataFrame([], CONSUMER_LAG),
    }


@pytest.mark.parametrize("name", REPORTS_BY_NAME)
def test_a_report_has_the_columns_that_it_tells_of(name: str, inputs: dict[str, DataFrame]) -> None:
    report = REPORTS_BY_NAME[name]
    make_table = FUNCTIONS_BY_REPORT[name]
    made = make_table(*(inputs[table] for table in report.input_tables), 0, 1)
    assert report.name == name == make_table.__name__
    assert made.columns == list(report.columns)
    assert set(report.partition_columns) <= set(report.columns)
    table = find_table(f"gold/{name}")
    assert table is not None
    assert [(column.name, column.type_name) for column in table.columns] == made.dtypes
