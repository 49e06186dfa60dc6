"""Which brokers name servers had when."""

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, lit, when

from namesrv_core.events import Group, Member, ServerStarted, Snapshot
from nsreport.facts.presence import build_presence, select_lifecycle_events
from tests.support.ns_events import Teller, at, empty, frame, lost, master


def having(reason: str, *names: str) -> Snapshot:
    return empty(
        reason, groups=tuple(Group("c", name, False, None, (Member(0, "10.0.0.1:10911"),)) for name in names)
    )


def test_spans_follow_events_and_snapshots(spark: SparkSession) -> None:
    own = (
        Teller()
        .tell(0, having("interval", "told"), master("comes"))
        .tell(10, lost("comes", "channel closed"))
    )
    # What a snapshot has is there, what it lacks is not, whatever happened in between.
    own.tell(20, having("loss", "comes")).tell(30, empty(), ServerStarted("1", 1)).tell(40, master("told"))
    # A log has no snapshots, and may have an address without a name.
    log = Teller("log").tell(50, master("logged")).tell(60, ServerStarted("1", 1)).tell(70, lost("nameless"))
    logged = frame(spark, log).withColumns(
        {
            "dialect": lit("4.x"),
            "seq": lit(None).cast("long"),
            "brokerName": when(col("brokerName") != "nameless", col("brokerName")),
        }
    )
    events = frame(spark, own).unionByName(logged)
    found = build_presence(select_lifecycle_events(events), at(100))
    moment = [((col(name) - at(0)) / 1000).cast("int") for name in ("since", "until")]
    rows = (
        found.select("brokerName", *moment, "state", "type", "reason")
        .orderBy("brokerName", "since")
        .collect()
    )
    assert [tuple(row) for row in rows] == [
        ("10.0.0.1:10911", 70, 100, "down", "BrokerUnregistered", "expired"),
        ("comes", 0, 10, "up", "BrokerRegistered", None),
        ("comes", 10, 20, "down", "BrokerUnregistered", "channel closed"),
        ("comes", 20, 30, "up", "Snapshot", "loss"),
        ("comes", 30, 100, "starting", "Snapshot", "start"),
        ("logged", 50, 60, "up", "BrokerRegistered", None),
        ("logged", 60, 100, "starting", "ServerStarted", None),
        ("told", 0, 20, "up", "Snapshot", "interval"),
        ("told", 20, 40, "down", "Snapshot", "loss"),
        ("told", 40, 100, "up", "BrokerRegistered", None),
    ]
