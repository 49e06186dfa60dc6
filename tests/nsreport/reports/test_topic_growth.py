"""Topics of brokers, day by day, and how long a registration is."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from pyspark.sql import SparkSession

from namesrv_core.events import DataVersion
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol import registration_codec
from nsreport.reports.topic_growth import topic_growth
from tests.support.ns_events import DAY, at
from tests.support.silver_rows import ROUTE_INTERVAL, route, rows


def test_what_there_is_at_the_end_of_each_day(spark: SparkSession) -> None:
    facts = rows(
        spark,
        ROUTE_INTERVAL,
        route("ns-1", 0, None, topic="orders"),
        route("ns-1", 100, 200, topic="gone before midnight"),
        route("ns-1", 100, DAY + 5, topic="gone on the second day"),
        route("ns-1", DAY + 5, None, topic="payments", perm=4, readQueueNums=16),
        route("ns-1", DAY + 50, None, topic="late"),
        # It knows less.
        route("ns-2", 0, None, topic="orders"),
    )
    found = topic_growth(facts, at(0), at(DAY + 600))

    def size(*topics: Mapping[str, Any]) -> int:
        body = registration_codec.encode_registration(
            DataVersion(1, 2, 3), {str(one["topicName"]): one for one in topics}
        )
        return len(body)

    first = size(make_topic_config("orders", 8), make_topic_config("gone on the second day", 8))
    second = size(
        make_topic_config("orders", 8),
        make_topic_config("payments", 16, perm=4, write_queues=8),
        make_topic_config("late", 8),
    )
    expected = [
        (date(2025, 11, 21), "c", "b", 2, None, first),
        (date(2025, 11, 22), "c", "b", 3, 1, second),
    ]
    shown = [tuple(row) for row in found.orderBy("date").collect()]
    assert [row[:5] for row in shown] == [row[:5] for row in expected]
    # The envelope has times and versions of any length.
    assert all(abs(row[5] - exact[5]) < 200 for row, exact in zip(shown, expected, strict=True))
    assert shown[1][5] - shown[0][5] == second - first
