"""Drains as logs tell them, which name no topics, and changes of topics that are none."""

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, lit, when

from namesrv_core.events import TopicsChanged, WritePermAdded, WritePermWiped
from nsreport.facts.drains import find_drains
from nsreport.facts.presence import select_lifecycle_events
from tests.support.ns_events import Teller, at, changes, empty, frame, master, opened

WIPE, ADD = "WIPE_WRITE_PERM_OF_BROKER", "ADD_WRITE_PERM_OF_BROKER"


def test_a_drain_begins_with_a_request_or_a_registration_and_ends_with_topics_that_open(
    spark: SparkSession,
) -> None:
    log = Teller("log")
    for name in ("given", "back", "slave", "holds"):
        log.tell(0, master(name)).tell(10, WritePermWiped(name, 3, ()), cause=WIPE)
    log.tell(20, WritePermAdded("given", 2, ()), cause=ADD)
    # Java logs the topics of a registration first, and no id before 4.3.
    log.tell(30, opened("back", "T", before=4)).tell(30.5, master("back"))
    log.tell(40, opened("slave", "T", before=4)).tell(40.5, master("slave", broker_id=1))
    is_request = col("type").isin("WritePermWiped", "WritePermAdded")
    logged = frame(spark, log).withColumns(
        {
            "dialect": lit("4.x"),
            "seq": lit(None).cast("long"),
            "brokerId": when(col("brokerName") != "back", col("brokerId")),
            "changes": when(~is_request, col("changes")),
        }
    )
    own = Teller("own").tell(0, empty())
    for name, reason in (
        ("permission", "registration"),
        ("polled", "poll"),
        ("one topic", "topic registration"),
    ):
        own.tell(10, master(name), opened(name, name))
        own.tell(20, TopicsChanged(name, reason, changes(name, [name], 6, 4)))
    events = select_lifecycle_events(logged.unionByName(frame(spark, own)))
    found = find_drains(events, at(100)).orderBy("since", "brokerName").select(
        "brokerName", (col("since") - at(0)) / 1000, (col("until") - at(0)) / 1000, "method", "closed", "has",
        "openType", "openTopics", "restarted",
    )  # fmt: skip
    assert [tuple(row) for row in found.collect()] == [
        ("back", 10, 30, WIPE, 0, 3, "TopicsChanged", 1, True),
        ("given", 10, 20, WIPE, 0, 3, "WritePermAdded", 2, False),
        ("holds", 10, 100, WIPE, 0, 3, None, None, None),
        ("slave", 10, 40, WIPE, 0, 3, "TopicsChanged", 1, False),
        ("permission", 20, 100, "brokerPermission", 1, 1, None, None, None),
        ("polled", 20, 100, "brokerPermission", 1, 1, None, None, None),
    ]
