"""Sessions of flapping brokers."""

from datetime import UTC, date, datetime

from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual

from namesrv_core.events import AddressConflict
from nsreport.facts.presence import select_lifecycle_events
from nsreport.reports.broker_flaps import broker_flaps
from tests.support.ns_events import START, Teller, at, empty, frame, lost, master

DAY = date(2025, 11, 21)


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(START / 1000 + seconds, UTC).replace(tzinfo=None)


def test_losses_that_follow_each_other_are_a_session_and_several_observers_see_one(
    spark: SparkSession,
) -> None:
    one, two = Teller("ns-1"), Teller("ns-2")
    for own, late in ((one, 0), (two, 1)):
        own.tell(0, empty(), master("b"), master("old"))
        for begin in (100, 200, 2000):
            own.tell(begin + late, lost("b", "channel closed")).tell(begin + 30 + late, master("b"))
    one.tell(2100, lost("b", "expired"))
    two.tell(2200, AddressConflict("c", "old", 0, "10.0.0.9:1", "old", "10.0.0.1:10911", 5))
    # What is over before the first moment that is asked about, is left out.
    three = Teller("ns-3").tell(0, empty(), master("early")).tell(10, lost("early")).tell(20, master("early"))
    found = broker_flaps(select_lifecycle_events(frame(spark, one, two, three)), at(50), at(3000))
    both = ["ns-1", "ns-2"]
    rows = [
        (DAY, "c", "b", 0, moment(100), moment(231), False, both, 2, 0, 62.0, 30.0, "channel closed"),
        (DAY, "c", "b", 0, moment(2000), moment(3000), True, both, 2, 0, 931.0, 900.0, "channel closed"),
        (DAY, "c", "old", 0, moment(2200), moment(2200), False, ["ns-2"], 0, 1, 0.0, 0.0, "address conflict"),
    ]
    assertDataFrameEqual(found, spark.createDataFrame(rows, found.schema))
