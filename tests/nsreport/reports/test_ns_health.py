"""How name servers fared."""

from datetime import date

from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual

from namesrv_core.events import EventsLost, ServerPaused, ServerStarted, ServerStopping
from nsreport.facts.presence import select_lifecycle_events
from nsreport.reports.ns_health import ns_health
from tests.support.ns_events import Teller, at, empty, frame
from tests.support.silver_rows import LOG_FACT, covered, every, rows


def test_a_day_of_a_name_server(spark: SparkSession) -> None:
    own = Teller("ns-1").tell(0, empty(), ServerStarted("1", 1)).lives(60, 60).tell(100, ServerPaused(20_000))
    own.tell(110, EventsLost(7)).tell(115, empty("loss")).tell(150, ServerStopping("told to"))
    own.tell(200, empty(), ServerStarted("1", 2)).lives(260, 260)
    facts = [
        *every([0, 5, 10, 70, 75], server="ns-1", kind="scan", value=1.0),
        *every([60], server="ns-1", kind="waterMark", key="ClientQueueSize", value=40.0),
        *every([120], server="ns-1", kind="waterMark", key="ClientQueueSize", value=15.0),
        *every([60, 120], server="ns-1", kind="traffic", name="Request", key="105", value=100.0),
        *every([60], server="ns-1", kind="traffic", name="Response", key="0", value=100.0),
        *every([60], server="ns-1", kind="decodeError", value=1.0),
        # Of a broker, whose log is another table's matter.
        *every([60], server="b", kind="complaint", value=1.0),
    ]
    events, said = frame(spark, own), rows(spark, LOG_FACT, *facts)
    found = ns_health(select_lifecycle_events(events), covered(events, said), said, at(0), at(1000))
    watched = 80.0 + 10 + 35 + 60
    figures = (2, 1, 1, 0, 7, 0, 1, 0, 1, 20.0, 60.0)
    maps = ({"ClientQueueSize": 40.0}, {"105": 200.0})
    expected = [(date(2025, 11, 21), "ns-1", watched, *figures, *maps)]
    assertDataFrameEqual(found, spark.createDataFrame(expected, found.schema))
