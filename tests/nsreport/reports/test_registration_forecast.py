"""When registrations will be too long."""

from datetime import date, timedelta

from pyspark.sql import SparkSession

from nsreport.reports.registration_forecast import FRAME_LIMIT_BYTES, registration_forecast
from nsreport.reports.topic_growth import EMPTY_TOPIC_BYTES, ENVELOPE_BYTES, topic_growth
from tests.support.ns_events import DAY, at
from tests.support.silver_rows import ROUTE_INTERVAL, route, rows

FIRST = date(2025, 11, 21)


def test_growth_is_that_of_most_days(spark: SparkSession) -> None:
    # Ten topics more each day; a hundred on one day, which are gone the day after.
    places = [(day, number) for day in range(10) for number in range(10)]
    steady = [route("ns-1", day * DAY + 10, None, topic=f"T-{day:02}-{number:02}") for day, number in places]
    begin, end = 4 * DAY + 20, 5 * DAY + 20
    steady += [route("ns-1", begin, end, topic=f"L-04-{number:02}") for number in range(100)]
    still = [route("ns-1", 0, None, topic="only", brokerName="still")]
    young = [route("ns-1", 9 * DAY, None, topic="new", brokerName="young")]
    facts = rows(spark, ROUTE_INTERVAL, *steady, *still, *young)
    found = registration_forecast(topic_growth(facts, at(0), at(10 * DAY)), at(0), at(10 * DAY))
    grows, stays, new = found.orderBy("brokerName").collect()
    one = EMPTY_TOPIC_BYTES + 2 * len("T-00-00") + 4
    assert (grows.days, grows.topics, grows.bytes) == (10, 100, ENVELOPE_BYTES + 100 * one)
    assert grows.bytesPerDay == 10 * one
    assert grows.lowBytesPerDay <= grows.bytesPerDay <= grows.highBytesPerDay
    days = int((FRAME_LIMIT_BYTES - grows.bytes) / (10 * one))
    assert grows.fullDate == FIRST + timedelta(days=9 + days)
    assert grows.earliestDate <= grows.fullDate <= grows.latestDate
    assert (stays.brokerName, stays.bytesPerDay, stays.fullDate, stays.latestDate) == (
        "still",
        0.0,
        None,
        None,
    )
    assert (new.brokerName, new.days, new.bytesPerDay, new.fullDate) == ("young", 1, None, None)
