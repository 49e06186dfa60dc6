"""Messages a day."""

from datetime import date

from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual

from nsreport.reports.topic_volume import topic_volume
from tests.support.ns_events import DAY, at
from tests.support.silver_rows import STATS_MINUTE, every, rows


def test_minutes_are_summed_to_days(spark: SparkSession) -> None:
    told = [
        *every([0, 60, DAY], broker="b", name="TOPIC_PUT_NUMS", topic="T", sum=10.0),
        *every([0], broker="b2", name="TOPIC_PUT_NUMS", topic="T", sum=5.0),
        *every([0, 60], broker="b", name="TOPIC_PUT_SIZE", topic="T", sum=1000.0),
        *every([120], broker="b", name="GROUP_GET_NUMS", topic="T", group="G", sum=7.0),
        *every([120], broker="b", name="SNDBCK_PUT_NUMS", topic="T", group="G", sum=1.0),
        *every([0, 60], broker="b", name="TOPIC_PUT_LATENCY", topic="T", sum=30.0),
        *every([0, 60], broker="b", name="TOPIC_PUT_LATENCY_TIMES", topic="T", sum=8.0),
        *every([120], broker="b", name="GROUP_GET_LATENCY", topic="T", group="G", sum=9.0),
        *every([120], broker="b", name="GROUP_GET_LATENCY_TIMES", topic="T", group="G", sum=2.0),
        *every([120, 420], broker="b", name="GROUP_GET_FALL_TIME", topic="T", group="G", sum=1500.0),
        *every([0], broker="b", name="BROKER_PUT_NUMS", key="b", sum=99.0),
        *every([2 * DAY], broker="b", name="TOPIC_PUT_NUMS", topic="T", sum=10.0),
    ]
    found = topic_volume(rows(spark, STATS_MINUTE, *told), at(0), at(2 * DAY))
    first, second = date(2025, 11, 21), date(2025, 11, 22)
    expected = [
        (first, "T", None, 25, 2000, None, None, None, 3.75, None, None, 2, 2),
        (first, "T", "G", None, None, 7, None, 1, None, 4.5, 1.5, 2, 1),
        (second, "T", None, 10, None, None, None, None, None, None, None, 1, 1),
    ]
    assertDataFrameEqual(found, spark.createDataFrame(expected, found.schema))
