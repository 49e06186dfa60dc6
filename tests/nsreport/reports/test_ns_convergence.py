"""How long changes take to be everywhere."""

from datetime import date

from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual

from nsreport.reports.ns_convergence import ns_convergence
from tests.support.ns_events import at
from tests.support.silver_rows import KNOWLEDGE_INTERVAL, ROUTE_INTERVAL, agreed, looked, route, rows

DAY = date(2025, 11, 21)


def test_from_the_first_name_server_to_the_last(spark: SparkSession) -> None:
    facts = rows(
        spark,
        ROUTE_INTERVAL,
        # At once; after 4 s; never, also when ns-2 is looked at again.
        route("ns-1", 10, 100), route("ns-2", 10, 104),
        route("ns-1", 100, 200, perm=4), route("ns-2", 104, None, perm=4),
        route("ns-1", 200, None, perm=2),
        # Another one at once, before a name server is new and gets it 30 s later.
        route("ns-1", 20, None, topic="U"), route("ns-2", 20, 300, topic="U"),
        route("ns-2", 340, None, topic="U"),
    )  # fmt: skip
    looks = [looked("ns-2", 0, 300), looked("ns-2", 300, 310, known=False), looked("ns-2", 310, None)]
    knowledge = rows(spark, KNOWLEDGE_INTERVAL, looked("ns-1", 0, None), *looks)
    found = ns_convergence(agreed(facts, knowledge), at(0), at(1000))
    expected = [
        (DAY, "c", "change", 4, 1, 0.0, 3.6, 4.0),
        (DAY, "c", "name server", 2, 1, 30.0, 30.0, 30.0),
    ]
    assertDataFrameEqual(found, spark.createDataFrame(expected, found.schema))


def test_a_pause_changes_nothing_and_who_goes_did_not_come_to_agree(spark: SparkSession) -> None:
    facts = rows(
        spark,
        ROUTE_INTERVAL,
        # Known all the time, also while ns-2 could do nothing.
        route("ns-1", 10, None), route("ns-2", 10, None),
        # They differ until ns-2 goes, and nobody knows what came of it.
        route("ns-1", 100, None, topic="U", perm=4), route("ns-2", 100, None, topic="U"),
    )  # fmt: skip
    looks = [
        looked("ns-1", 0, None), looked("ns-2", 0, 50), looked("ns-2", 50, 60, known=False),
        looked("ns-2", 60, 400), looked("ns-2", 400, None, known=False),
    ]  # fmt: skip
    knowledge = rows(spark, KNOWLEDGE_INTERVAL, *looks)
    found = ns_convergence(agreed(facts, knowledge), at(0), at(1000))
    expected = [(DAY, "c", "change", 2, 1, 0.0, 0.0, 0.0)]
    assertDataFrameEqual(found, spark.createDataFrame(expected, found.schema))


def test_one_name_server_alone_agrees_with_itself(spark: SparkSession) -> None:
    facts = rows(spark, ROUTE_INTERVAL, route("ns-1", 10, None))
    looks = [looked("ns-1", 0, 300), looked("ns-1", 300, None, known=False)]
    knowledge = rows(spark, KNOWLEDGE_INTERVAL, *looks)
    found = ns_convergence(agreed(facts, knowledge), at(0), at(1000))
    expected = [(DAY, "c", "change", 1, 0, 0.0, 0.0, 0.0)]
    assertDataFrameEqual(found, spark.createDataFrame(expected, found.schema))
