"""Turns: what is left of all records, and which time counts where a clock was set back."""

from pyspark.sql import DataFrame, SparkSession

from namesrv_core.events import Heartbeats, KvPut, ServerPaused, ServerStarted, ServerStopping
from nsreport.facts.knowledge_changes import add_counted_time, add_observer_columns, select_route_records
from nsreport.facts.knowledge_intervals import build_knowledge_intervals
from tests.support.ns_events import Teller, at, empty, frame
from tests.support.silver_rows import turned


def found(turns: DataFrame) -> list[tuple[str, int, int, float]]:
    """Kinds with their places and halves, and seconds."""
    rows = turns.orderBy("recordOrder", "orderOffset", "since").collect()
    return [(row.type, row.recordOrder, row.orderOffset, (row.since - at(0)) / 1000) for row in rows]


def proof() -> Heartbeats:
    return Heartbeats(1, 29_000, "10.0.0.1:10911")


def test_of_records_that_only_prove_its_life_nothing_is_left(spark: SparkSession) -> None:
    own = Teller().tell(0, empty())
    for minute in range(1, 6):
        own.tell(60 * minute, proof())
    assert found(turned(frame(spark, own))) == [("Snapshot", 1, 0, 0), ("last", 6, 1, 300)]


def test_silence_pauses_and_ends_are_seen_by_what_stands_before(spark: SparkSession) -> None:
    own = Teller().tell(0, empty()).tell(10, proof()).tell(200, proof()).tell(250, ServerPaused(20_000))
    own.tell(260, empty(), ServerStarted("1", 2)).tell(270, ServerStopping("told to"))
    turns = turned(frame(spark, own))
    assert found(turns) == [
        ("Snapshot", 1, 0, 0),
        ("silent", 2, 1, 10),
        ("heard", 3, -1, 200),
        ("paused", 4, -1, 230),
        ("ServerPaused", 4, 0, 250),
        ("ended", 4, 1, 250),
        ("Snapshot", 5, 0, 260),
        ("ServerStarted", 6, 0, 260),
        ("ServerStopping", 7, 0, 270),
        ("last", 7, 1, 270),
    ]
    assert [row.reason for row in turns.where("type = 'last'").collect()] == ["ServerStopping"]


def test_a_record_counts_from_the_latest_time_before_it(spark: SparkSession) -> None:
    own = Teller().tell(0, empty()).tell(100, KvPut("n", "a", None, "1")).tell(40, KvPut("n", "b", None, "2"))
    events = frame(spark, own.tell(150, KvPut("n", "c", None, "3")))
    turns = turned(events)
    assert ("late", 3, 0, 100) in found(turns)
    told = add_counted_time(
        select_route_records(add_observer_columns(events), turns).where("type = 'KvPut'"), turns
    ).orderBy("recordOrder")
    assert [(row.key, (row.since - at(0)) / 1000) for row in told.collect()] == [
        ("a", 100), ("b", 100), ("c", 150)
    ]  # fmt: skip


def test_a_number_that_is_told_twice_is_of_two_journals(spark: SparkSession) -> None:
    one, other = Teller().tell(0, empty()).tell(10, proof()), Teller().tell(5, empty()).tell(12, proof())
    turns = turned(frame(spark, one, other))
    assert [(place, half) for kind, place, half, _ in found(turns) if kind == "twice"] == [(1, -1), (2, -1)]
    assert "hole" not in {row.type for row in turns.collect()}
    assert build_knowledge_intervals(turns).where("known and validTo is null").isEmpty()


def test_a_journal_is_believed_before_a_collector(spark: SparkSession) -> None:
    own, seen = Teller("ns-1").tell(0, empty()), Teller("ns-1", "collector").tell(5, empty("poll"))
    other = Teller("ns-2", "collector").tell(5, empty("poll"))
    events = frame(spark, own, seen, other)
    assert {row.observer for row in add_observer_columns(events).collect()} == {
        "ns-1", "ns-1 collector", "ns-2 collector"
    }  # fmt: skip
    route_records = select_route_records(add_observer_columns(events), turned(events))
    assert {row.observer for row in route_records.select("observer").collect()} == {
        "ns-1", "ns-2 collector"
    }  # fmt: skip
