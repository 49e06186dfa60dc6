"""Facts of a day that continue those of the days before are the facts of all days at once."""

from datetime import date

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, lit, unix_millis

from namesrv_core.events import (
    AlikeTopics,
    EventsLost,
    Group,
    KvDeleted,
    KvPut,
    Member,
    PollFailed,
    QueueData,
    ServerStarted,
    ServerStopping,
    Snapshot,
)
from nsreport.facts.agreement import build_agreement_intervals, list_route_servers
from nsreport.facts.entries import build_entry_intervals
from nsreport.facts.knowledge_changes import build_observer_days, find_knowledge_changes
from nsreport.facts.knowledge_intervals import build_knowledge_intervals
from nsreport.facts.routes import build_route_intervals, list_broker_clusters
from nsreport.runtime.local_rows import keep_in_memory
from tests.support.ns_events import DAY, Teller, at, empty, frame, lost, master, opened, wiped
from tests.support.silver_rows import LOG_FACT, every, rows

SECOND_DAY = date(2025, 11, 22)


def full(reason: str, perm: int = 6) -> Snapshot:
    """A snapshot of the broker b with two topics, and of a KV value."""
    return empty(
        reason,
        groups=(Group("c", "b", False, None, (Member(0, "10.0.0.1:10911"),)),),
        queues=(QueueData("b", 8, 8, perm),),
        routes=(AlikeTopics(("T", "U"), (0,)),),
        kv={"N": {"kept": "1"}},
    )


def tellers() -> list[Teller]:
    """Name servers that continue in different ways after the midnight at DAY."""
    told = []
    for server in ("keeps", "starts", "ends", "loses", "polled"):
        own = Teller(server, "collector" if server == "polled" else None)
        own.tell(DAY - 240, full("poll" if server == "polled" else "start"), ServerStarted("1", 1))
        own.tell(DAY - 200, opened("b", "old", "gone", "back"), KvPut("N", "new", None, "2"))
        own.tell(DAY - 150, master("d", "10.0.0.2:1"), opened("b", "gone", before=6, after=None))
        own.tell(DAY - 100, wiped("b", "T"), KvDeleted("N", "new", "2"))
        match server:
            case "ends":
                own.tell(DAY - 60, ServerStopping("told to")).tell(DAY + 50, full("start", 4))
            case "loses":
                own.tell(DAY - 60, EventsLost(3)).tell(DAY - 1, KvPut("N", "x", None, "1"))
                own.tell(DAY + 50, full("loss", 4))
            case "polled":
                own.tell(DAY - 50, full("poll")).tell(DAY - 20, PollFailed("refused", 1))
                own.tell(DAY + 40, full("poll")).tell(DAY + 50, full("poll", 4))
            case "starts":
                own.tell(DAY - 20, opened("b", "U", before=6, after=4)).tell(DAY + 50, full("start"))
            case _:
                own.tell(DAY - 20, opened("b", "U", before=6, after=4))
        own.tell(DAY + 90, opened("b", "T", before=4), opened("b", "back", before=6, after=None), lost("d"))
        own.tell(
            DAY + 120, opened("b", "back", "late"), KvPut("N", "kept", "1", "3"), master("b", "10.0.0.9:1")
        )
        told.append(own.tell(DAY + 150, opened("b", "old", before=6, after=4)))
    return told


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    logs = [
        Teller(server).tell(DAY - 500, master()).tell(DAY + 300, master()) for server in ("scans", "busy")
    ]
    logged = frame(spark, *logs).withColumns({"dialect": lit("4.x"), "seq": lit(None).cast("long")})
    return keep_in_memory(frame(spark, *tellers()).unionByName(logged))


@pytest.fixture(scope="module")
def log_facts(spark: SparkSession) -> DataFrame:
    scans = every(range(DAY - 490, DAY, 100), server="scans", kind="scan", value=1.0)
    traffic = every([DAY - 300], server="busy", kind="traffic", value=1.0)
    return rows(spark, LOG_FACT, *scans, *traffic)


def since(facts: DataFrame) -> DataFrame:
    return facts.where(col("date") >= SECOND_DAY)


def lasting(intervals: DataFrame) -> DataFrame:
    return intervals.where(col("endDate").isNull() | (col("endDate") >= SECOND_DAY))


def carried(intervals: DataFrame) -> DataFrame:
    return lasting(intervals).where(unix_millis("validFrom") < at(DAY))


def check(whole: DataFrame, continued: DataFrame) -> None:
    expected = sorted(map(str, whole.collect()))
    assert expected
    assert sorted(map(str, continued.collect())) == expected


@pytest.fixture(scope="module")
def changes(events: DataFrame, log_facts: DataFrame) -> DataFrame:
    return keep_in_memory(find_knowledge_changes(events, log_facts))


@pytest.fixture(scope="module")
def routes(events: DataFrame, changes: DataFrame) -> DataFrame:
    return keep_in_memory(build_route_intervals(events, changes, list_broker_clusters(events)))


def test_changes_of_knowledge(events: DataFrame, log_facts: DataFrame, changes: DataFrame) -> None:
    all_days = keep_in_memory(build_observer_days(events, log_facts))
    past_days = all_days.where(col("date") < SECOND_DAY)
    check(since(all_days), build_observer_days(since(events), since(log_facts), past_days))
    check(since(changes), since(find_knowledge_changes(since(events), since(log_facts), past_days)))


def test_routes(events: DataFrame, changes: DataFrame, routes: DataFrame) -> None:
    clusters = list_broker_clusters(events)
    continued = build_route_intervals(since(events), changes, clusters, carried(routes), at(DAY))
    check(lasting(routes), continued)


def test_agreement(changes: DataFrame, routes: DataFrame) -> None:
    inputs = list_route_servers(routes), build_knowledge_intervals(changes)
    whole = keep_in_memory(build_agreement_intervals(routes, *inputs))
    check(lasting(whole), build_agreement_intervals(lasting(routes), *inputs, carried(whole), at(DAY)))


def test_entries(events: DataFrame, changes: DataFrame) -> None:
    whole = keep_in_memory(build_entry_intervals(events, changes))
    check(lasting(whole), build_entry_intervals(since(events), changes, carried(whole), at(DAY)))
