"""Silences, and whose they were."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertDataFrameEqual

from namesrv_core.events import Event, HeartbeatGap, Heartbeats, ServerPaused
from nsreport.facts.presence import select_lifecycle_events
from nsreport.reports.heartbeat_gaps import heartbeat_gaps
from nsreport.runtime.local_rows import keep_in_memory
from tests.support.ns_events import START, Teller, at, empty, frame, lost, master
from tests.support.silver_rows import LOG_FACT, covered, every, rows

DAY = date(2025, 11, 21)


def gap(name: str, seconds: float, *, resumed: bool = False) -> Event:
    return HeartbeatGap("c", name, 0, "10.0.0.1:10911", int(seconds * 1000), resumed)


def tell_each_minute(server: str, events: dict[float, list[Event]]) -> Teller:
    """A name server with three brokers that runs for 20 minutes."""
    own = Teller(server).tell(0, empty(), master("a"), master("b"), master("x"))
    for seconds in sorted({*events, *range(0, 1200, 60)}):
        own.tell(seconds, *events.get(seconds, []), Heartbeats(3, None, None))
    return own


def history() -> list[Teller]:
    # Both miss a, and give it up; ns-2 alone misses b, which comes back; nobody told when it became long.
    events: dict[float, list[Event]] = {200: [gap("a", 91)], 231: [lost("a")], 300: [master("a")]}
    one = tell_each_minute("ns-1", events)
    two = tell_each_minute("ns-2", {**events, 1100: [gap("b", 100, resumed=True)]})
    # This one knows a, and does not run in that time.
    ended, alone = Teller("ended"), Teller("alone")
    ended.tell(0, empty(), master("a"), Heartbeats(1, None, None)).tell(60, Heartbeats(1, None, None))
    # All that a name server knows at once: itself. Then it is asleep.
    alone.tell(0, empty(), master("p"), master("q"), Heartbeats(2, None, None))
    alone.tell(400, gap("p", 95)).tell(401, gap("q", 93)).tell(410, gap("p", 105, resumed=True))
    alone.tell(411, gap("q", 103, resumed=True)).tell(500, ServerPaused(20_000)).tell(900, gap("p", 92))
    # A pause makes the silence of one broker too long, and another one was silent for long before it.
    paused = Teller("paused")
    paused.tell(0, empty(), master("f"), master("g"), master("h"), Heartbeats(3, None, None))
    paused.tell(400, gap("f", 95, resumed=True), gap("g", 200, resumed=True), ServerPaused(50_000))
    # r is lost shortly before a pause makes all other brokers silent.
    frozen = Teller("frozen")
    frozen.tell(0, empty(), master("r"), master("s"), master("t"), Heartbeats(3, None, None))
    frozen.tell(200, gap("r", 95)).tell(225, lost("r"))
    frozen.tell(400, gap("s", 190, resumed=True), gap("t", 185, resumed=True), ServerPaused(170_000))
    # near has given d up for long when far misses it.
    near, far = Teller("near"), Teller("far")
    for name_server in (near, far):
        name_server.tell(0, empty(), master("d"), master("e"), Heartbeats(2, None, None))
    for seconds in range(60, 660, 60):
        near.tell(seconds, Heartbeats(2, None, None))
        far.tell(seconds, Heartbeats(2, None, None))
        if seconds == 240:
            near.tell(241, gap("d", 91)).tell(271, lost("d"))
    near.tell(700, master("d"))
    far.tell(640, gap("d", 100, resumed=True))
    # The silence of k lasts longer than the pause in it.
    outlasted = Teller("outlasted")
    outlasted.tell(0, empty(), master("k"), master("l"), Heartbeats(2, None, None))
    outlasted.tell(60, ServerPaused(50_000)).tell(105, gap("k", 95)).tell(131, lost("k"))
    return [one, two, ended, alone, paused, frozen, near, far, outlasted]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> DataFrame:
    told = [
        # Neither broker registers with one of its two name servers for a while; the other one is as ever.
        *every([0, 30, 60, 260, 290], server="broker-1", kind="registered", key="10.0.0.9:9876"),
        *every([90, 120], server="broker-1", kind="notRegistered", key="10.0.0.9:9876"),
        *every(range(0, 300, 30), server="broker-1", kind="registered", key="10.0.0.8:9876"),
        *every([10, 40], server="broker-2", kind="registered", key="10.0.0.9:9876"),
        *every([70, 250], server="broker-2", kind="notRegistered", key="10.0.0.9:9876"),
        *every(range(0, 300, 30), server="broker-2", kind="registered", key="10.0.0.8:9876"),
    ]
    facts = rows(spark, LOG_FACT, *told)
    ns_event = frame(spark, *history())
    return keep_in_memory(
        heartbeat_gaps(select_lifecycle_events(ns_event), facts, covered(ns_event), at(0), at(1200))
    )


def row(server: str, name: str | None, since: float, until: float, *rest: Any) -> tuple[Any, ...]:
    moments = [
        datetime.fromtimestamp(START / 1000 + each, UTC).replace(tzinfo=None) for each in (since, until)
    ]
    seat = ("-", name, None) if ":" in server else ("c", name, 0) if name else ("-", None, None)
    return (DAY, *seat, server, *moments, float(until - since), *rest)


def test_a_silence_ends_with_a_loss_or_a_sign_of_life(spark: SparkSession, found: DataFrame) -> None:
    expected = [
        row("ns-1", "a", 109, 231, "lost", "broker", 1),
        row("ns-2", "a", 109, 231, "lost", "broker", 1),
        row("ns-2", "b", 1000, 1100, "resumed", "link", 1),
    ]
    shown = found.where("server like 'ns-%'")
    assertDataFrameEqual(shown, spark.createDataFrame(expected, found.schema))


def test_what_all_brokers_share_is_the_name_servers_own(spark: SparkSession, found: DataFrame) -> None:
    expected = [
        row("alone", "p", 305, 410, "resumed", "name server", 2),
        row("alone", "q", 308, 411, "resumed", "name server", 2),
        row("alone", None, 480, 500, "resumed", "name server", None),
        row("alone", "p", 808, 1200, "open", "broker", 1),
    ]
    assertDataFrameEqual(found.where("server = 'alone'"), spark.createDataFrame(expected, found.schema))


def test_a_pause_of_the_name_server_explains_what_would_be_no_silence_without_it(
    spark: SparkSession, found: DataFrame
) -> None:
    expected = [
        row("paused", "f", 305, 400, "resumed", "name server", 2),
        row("paused", "g", 200, 400, "resumed", "broker", 2),
        row("paused", None, 350, 400, "resumed", "name server", None),
        row("outlasted", "k", 10, 131, "lost", "broker", 1),
        row("outlasted", None, 10, 60, "resumed", "name server", None),
    ]
    shown = found.where("server in ('paused', 'outlasted')")
    assertDataFrameEqual(shown, spark.createDataFrame(expected, found.schema))


def test_silences_that_hardly_overlap_are_not_simultaneous(spark: SparkSession, found: DataFrame) -> None:
    expected = [
        row("frozen", "r", 105, 225, "lost", "broker", 1),
        row("frozen", "s", 210, 400, "resumed", "name server", 2),
        row("frozen", "t", 215, 400, "resumed", "name server", 2),
        row("frozen", None, 230, 400, "resumed", "name server", None),
    ]
    assertDataFrameEqual(found.where("server = 'frozen'"), spark.createDataFrame(expected, found.schema))


def test_a_name_server_that_lost_the_broker_before_did_not_hear_it(
    spark: SparkSession, found: DataFrame
) -> None:
    expected = [
        row("near", "d", 150, 271, "lost", "link", 1),
        row("far", "d", 540, 640, "resumed", "broker", 1),
    ]
    shown = found.where("server in ('near', 'far')")
    assertDataFrameEqual(shown, spark.createDataFrame(expected, found.schema))


def test_brokers_tell_that_they_could_not_register(spark: SparkSession, found: DataFrame) -> None:
    expected = [
        row("10.0.0.9:9876", "broker-1", 60, 260, "resumed", "name server", 2),
        row("10.0.0.9:9876", "broker-2", 40, 250, "open", "name server", 2),
    ]
    assertDataFrameEqual(found.where("server like '10.%'"), spark.createDataFrame(expected, found.schema))
