"""Who closed which broker, where nobody did, and what undid it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertDataFrameEqual

from namesrv_core.events import ServerStarted, WritePermAdded
from nsreport.facts.presence import select_lifecycle_events
from nsreport.reports.drain_audit import drain_audit
from nsreport.runtime.local_rows import keep_in_memory
from tests.support.ns_events import START, Teller, at, changes, empty, frame, lost, master, opened, wiped
from tests.support.silver_rows import covered

COLUMNS = [
    "brokerName",
    "ts",
    "server",
    "outcome",
    "method",
    "client",
    "topics",
    "closedTopics",
    "heldSeconds",
]
OPENED = ["openedTopics", "openedType", "openedCause", "openedClient"]
ADMIN, BROKER = "10.0.0.77:5000", "10.0.0.1:5001"
WIPE = "WIPE_WRITE_PERM_OF_BROKER"


def history() -> list[Teller]:
    one, two = Teller("ns-1"), Teller("ns-2")
    names = ("undone", "given", "restarted", "by permission", "holds")
    for own in (one, two):
        own.tell(0, empty(), ServerStarted("1", 1))
        for name in names:
            own.tell(0, master(name), opened(name, name, "T", "U"))
        own.lives(60, 90)
        own.tell(100, wiped("undone", "undone", "T", "U"), cause=WIPE, client=ADMIN)
        # A topic that was not closed undoes nothing.
        own.tell(110, opened("undone", "new"), client=BROKER)
        own.lives(120, 120)
    # ns-2 is not asked to.
    one.tell(150, wiped("given", "given", "T"), cause=WIPE, client=ADMIN).lives(180, 180)
    two.lives(180, 180)
    two.tell(200, opened("undone", "undone", "T", before=4), client=BROKER)
    for own in (one, two):
        own.lives(240, 240)
        own.tell(250, wiped("restarted", "restarted", "T"), cause=WIPE, client=ADMIN)
        own.tell(
            260,
            lost("restarted", "unregistered"),
            opened("restarted", "restarted", "T", before=4, after=None),
        )
        own.lives(300, 300).tell(
            310, master("restarted"), opened("restarted", "restarted", "T"), client=BROKER
        )
        own.tell(320, opened("by permission", "by permission", "T", before=6, after=4), client=BROKER).lives(
            360, 360
        )
        own.tell(370, opened("by permission", "by permission", "T", before=4, after=6), client=BROKER)
    one.tell(
        380, WritePermAdded("given", 2, changes("given", ["given", "T"], 4, 6)), cause="ADD", client=ADMIN
    )
    for own in (one, two):
        own.lives(420, 420).tell(430, wiped("holds", "holds"), cause=WIPE, client=ADMIN).lives(480, 500)
    return [
        one.tell(510, empty(), ServerStarted("1", 2), cause="name server").lives(540, 600),
        two.lives(540, 600),
    ]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> DataFrame:
    events = frame(spark, *history())
    return keep_in_memory(drain_audit(select_lifecycle_events(events), covered(events), at(0), at(600)))


def check(spark: SparkSession, found: DataFrame, name: str, *rows: tuple[Any, ...]) -> None:
    shown = found.where(found.brokerName == name).select(*COLUMNS, *OPENED)
    expected = [
        (name, datetime.fromtimestamp(START / 1000 + second, UTC).replace(tzinfo=None), *rest)
        for second, *rest in rows
    ]
    assertDataFrameEqual(shown, spark.createDataFrame(expected, shown.schema))


def test_a_registration_that_opens_what_was_closed_undoes_a_drain(
    spark: SparkSession, found: DataFrame
) -> None:
    changed = ("TopicsChanged", "REGISTER_BROKER", BROKER)
    started = (None, "ServerStarted", "name server", None)
    check(
        spark,
        found,
        "undone",
        (100, "ns-1", "forgotten", WIPE, ADMIN, 3, 3, 410.0, *started),
        (100, "ns-2", "undone", WIPE, ADMIN, 3, 3, 100.0, 2, *changed),
    )


def test_who_registers_its_topics_gives_a_broker_back_and_the_broker_itself_does_not(
    spark: SparkSession,
) -> None:
    own = Teller("ns-1").tell(0, empty(), ServerStarted("1", 1))
    for name, client in (("a", ADMIN), ("b", BROKER)):
        own.tell(0, master(name), cause="REGISTER_BROKER", client=BROKER)
        own.tell(10, opened(name, name, "T"), client=BROKER)
        own.tell(100, wiped(name, name, "T"), cause=WIPE, client=ADMIN)
        own.tell(110, opened(name, "T", before=4), cause="REGISTER_TOPIC_IN_NAMESRV", client=client)
    events = frame(spark, own.lives(120, 200))
    found = drain_audit(select_lifecycle_events(events), covered(events), at(0), at(200))
    assert {row.brokerName: row.outcome for row in found.collect()} == {"a": "given back", "b": "undone"}


def test_a_name_server_that_was_left_out_is_missed(spark: SparkSession, found: DataFrame) -> None:
    check(
        spark,
        found,
        "given",
        (150, "ns-1", "given back", WIPE, ADMIN, 2, 2, 230.0, 2, "WritePermAdded", "ADD", ADMIN),
        (150, "ns-2", "missed", *[None] * 9),
    )


def test_a_restart_brings_back_what_the_broker_has(spark: SparkSession, found: DataFrame) -> None:
    back = (2, "TopicsChanged", "REGISTER_BROKER", BROKER)
    rows = [(250, server, "restarted", WIPE, ADMIN, 2, 2, 60.0, *back) for server in ("ns-1", "ns-2")]
    check(spark, found, "restarted", *rows)


def test_a_broker_may_be_closed_by_its_own_permission(spark: SparkSession, found: DataFrame) -> None:
    back = (2, "TopicsChanged", "REGISTER_BROKER", BROKER)
    rows = [
        (320, server, "given back", "brokerPermission", BROKER, 2, 2, 50.0, *back)
        for server in ("ns-1", "ns-2")
    ]
    check(spark, found, "by permission", *rows)


def test_what_nobody_undid_holds(spark: SparkSession, found: DataFrame) -> None:
    check(
        spark,
        found,
        "holds",
        (430, "ns-1", "forgotten", WIPE, ADMIN, 1, 1, 80.0, None, "ServerStarted", "name server", None),
        (430, "ns-2", "holds", WIPE, ADMIN, 1, 1, 170.0, None, None, None, None),
    )
