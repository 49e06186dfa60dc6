"""Routes at a moment."""

from pyspark.sql import SparkSession

from nsreport.reports.route_as_of import route_as_of
from tests.support.ns_events import at
from tests.support.silver_rows import ROUTE_INTERVAL, route, rows


def test_what_held_at_that_moment(spark: SparkSession) -> None:
    facts = rows(
        spark,
        ROUTE_INTERVAL,
        route("ns-1", 0, 10, perm=6),
        route("ns-1", 10, None, perm=4),
        route("ns-2", 5, 20, known=False),
        route("ns-2", 20, 30),
    )
    shown = {
        second: {(row.server, row.perm, row.known) for row in route_as_of(facts, 0, at(second)).collect()}
        for second in (4, 10, 30)
    }
    assert shown == {
        4: {("ns-1", 6, True)},
        10: {("ns-1", 4, True), ("ns-2", 6, False)},
        30: {("ns-1", 4, True)},
    }
