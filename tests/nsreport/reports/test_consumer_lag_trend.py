"""How lags go."""

from datetime import date

from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual

from nsreport.reports.consumer_lag_trend import consumer_lag_trend
from tests.support.ns_events import at
from tests.support.silver_rows import CONSUMER_LAG, every, rows


def test_trends(spark: SparkSession) -> None:
    who = {"cluster": "c", "topic": "T", "brokerName": "b"}

    def told(group: str, lags: list[int | None], offsets: list[int | None]) -> list[dict[str, object]]:
        return [
            row
            for place, (lag, offset) in enumerate(zip(lags, offsets, strict=True))
            for row in every([300 * place], **who, consumerGroup=group, lag=lag, consumerOffset=offset)
        ]

    table = [
        *told("growing", [0, 300, 600], [10, 20, 30]),
        *told("draining", [900, 600, 300], [10, 20, 30]),
        *told("stuck", [5, 5, 5], [7, 7, 7]),
        *told("steady", [5, 5, 5], [7, 8, 9]),
        *told("caught up", [0, 0], [1, 2]),
        *told("told once", [4], [1]),
        *told("uncommitted", [None, None], [None, None]),
    ]
    found = consumer_lag_trend(rows(spark, CONSUMER_LAG, *table), at(0), at(1000))
    day = date(2025, 11, 21)
    figures = {
        "growing": (3, 600, 0, 600, 1.0, None, False, "growing"),
        "draining": (3, 300, 300, 900, -1.0, 300, False, "draining"),
        "stuck": (3, 5, 5, 5, 0.0, None, True, "stuck"),
        "steady": (3, 5, 5, 5, 0.0, None, False, "steady"),
        "caught up": (2, 0, 0, 0, 0.0, None, False, "caught up"),
        "told once": (1, 4, 4, 4, None, None, False, "unknown"),
        "uncommitted": (0, None, None, None, None, None, False, "unknown"),
    }
    expected = [(day, "c", group, "T", "b", *row) for group, row in figures.items()]
    assertDataFrameEqual(found, spark.createDataFrame(expected, found.schema))
