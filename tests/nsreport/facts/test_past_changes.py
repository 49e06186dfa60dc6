"""New rows that change what tables say about the days before."""

from datetime import date, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from nsreport.facts.past_changes import (
    find_new_clusters,
    find_new_logs,
    find_new_observers,
    find_new_route_servers,
)
from tests.support.silver_rows import KNOWLEDGE_INTERVAL, ROUTE_INTERVAL, looked, moment, rows

CUT = date(2025, 1, 3)
OBSERVER_DAY = "date date, observer string, server string, isLog boolean, hasSnapshot boolean"


def frame(spark: SparkSession, columns: str, *values: tuple[Any, ...]) -> DataFrame:
    """Rows that begin with the number of a day of January."""
    return spark.createDataFrame([(date(2025, 1, day), *rest) for day, *rest in values], columns)


def observers(spark: SparkSession, *values: tuple[Any, ...]) -> DataFrame:
    return frame(spark, OBSERVER_DAY, *values)


def test_another_observer_is_better(spark: SparkSession) -> None:
    known = [(1, "ns b", "ns", False, True), (3, "ns b", "ns", False, True), (3, "new", "new", False, True)]
    assert find_new_observers(observers(spark, *known), CUT).isEmpty()
    assert find_new_observers(observers(spark, *known, (3, "ns c", "ns", False, True)), CUT).isEmpty()
    assert not find_new_observers(observers(spark, *known, (3, "ns a", "ns", False, True)), CUT).isEmpty()
    assert find_new_logs(observers(spark, *known), CUT).isEmpty()
    assert not find_new_logs(observers(spark, *known, (3, "ns log", "ns", True, False)), CUT).isEmpty()


@pytest.mark.parametrize(
    ("later", "is_changed"),
    [
        # The same cluster, and a new broker.
        ([(3, "ns", "b", "c", 3), (3, "ns", "d", "c", 3)], False),
        # The same name in a cluster of another name server.
        ([(3, "other", "b", "c2", 3)], False),
        ([(3, "ns", "b", "c2", 3)], True),
        # It moved and came back.
        ([(3, "ns", "b", "c2", 3), (4, "ns", "b", "c", 4)], True),
        # Its routes were known before its cluster.
        ([(3, "ns", "homeless", "c", 3)], True),
    ],
)
def test_a_known_broker_is_in_another_cluster(
    spark: SparkSession, later: list[tuple[Any, ...]], is_changed: bool
) -> None:
    columns = "date date, server string, brokerName string, clusterName string, time bigint"
    clusters = frame(spark, columns, (1, "ns", "b", "c", 1), *later)
    homeless = {"server": "ns", "cluster": "-", "brokerName": "homeless", "topic": "T"}
    found = find_new_clusters(
        observers(spark, (1, "ns", "ns", False, True)), clusters, rows(spark, ROUTE_INTERVAL, homeless), CUT
    )
    assert found.isEmpty() != is_changed


def test_a_known_name_server_reports_a_known_cluster(spark: SparkSession) -> None:
    known = rows(spark, KNOWLEDGE_INTERVAL, looked("ns-1", 0, None), looked("ns-2", 0, None))
    first_day = moment(0).date() + timedelta(days=1)
    for server, cluster, is_changed in (("ns-2", "c", True), ("ns-2", "new", False), ("ns-3", "c", False)):
        pairs = [(moment(0).date(), "ns-1", "c"), (first_day, server, cluster)]
        servers = spark.createDataFrame(pairs, "date date, server string, cluster string")
        assert find_new_route_servers(servers, known, first_day).isEmpty() != is_changed, (server, cluster)
