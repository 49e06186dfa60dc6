"""When the tables of a name server are known, and to whom; `test_routes` compares marks with a replay."""

from datetime import datetime

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, lit, when

from namesrv_core.events import (
    CollectorStarted,
    EventsLost,
    PollFailed,
    PollRecovered,
    ServerPaused,
    ServerReady,
    ServerStarted,
    ServerStopping,
)
from nsreport.facts.knowledge_intervals import select_known_spans
from nsreport.sources import schemas
from tests.support.ns_events import START, Teller, at, empty, frame, master
from tests.support.silver_rows import LOG_FACT, covered, every, rows


def tellers() -> list[Teller]:
    stops = Teller("stops").lives(0, 60).tell(70, empty(), ServerStarted("1", 1)).lives(80, 200)
    stops.tell(210, ServerStopping("told to")).tell(250, empty(), ServerStarted("1", 2)).lives(300, 360)
    killed = Teller("killed").tell(0, empty(), ServerStarted("1", 1)).lives(60, 120)
    killed.tell(150, empty(), ServerStarted("1", 2)).lives(200, 260)
    paused = Teller("paused").tell(0, empty()).lives(60, 60).tell(110, ServerPaused(20_000)).lives(120, 120)
    # A process that continues handles the requests that wait for it before it notices the pause.
    busy = Teller("busy").tell(0, empty()).lives(60, 60).tell(109.8, master())
    busy.tell(110, ServerPaused(20_000)).lives(120, 120)
    loses = (
        Teller("loses")
        .tell(0, empty())
        .lives(30, 30)
        .tell(40, EventsLost(3))
        .tell(60, empty("loss"))
        .lives(90, 90)
    )
    silent = Teller("silent").tell(0, empty()).lives(60, 60).lives(500, 500)
    polled = Teller("polled", "collector").tell(0, CollectorStarted("1", 1, 15_000)).tell(5, empty("poll"))
    polled.tell(60, PollFailed("refused", 1)).tell(100, PollRecovered(1, 40_000)).lives(120, 120)
    return [stops, killed, paused, busy, loses, silent, polled]


@pytest.fixture(scope="module")
def spans(spark: SparkSession) -> dict[str, list[tuple[float, float]]]:
    logs = [
        Teller(name).tell(0, master()).tell(600, ServerReady("0.0.0.0:9876")).tell(2000, master())
        for name in ("quiet", "scans", "alive")
    ]
    dialect = when(col("server") == "quiet", "4.x").otherwise("5.x")
    log = frame(spark, *logs).withColumns({"dialect": dialect, "seq": lit(None).cast("long")})
    said = every(range(610, 1000, 5), server="scans", kind="scan", value=1.0)
    said += every([1100, 1700], server="alive", kind="traffic", value=1.0)
    # Of a broker, whose folder has the name of none that is known.
    said += every([900], server="broker", kind="waterMark", name="Send", value=1.0)
    events = frame(spark, *tellers()).unionByName(log)
    return collected(select_known_spans(covered(events, rows(spark, LOG_FACT, *said)), at(10_000)))


def collected(found: DataFrame) -> dict[str, list[tuple[float, float]]]:
    rows = found.orderBy("since").select(
        "observer", (col("since") - at(0)) / 1000, (col("until") - at(0)) / 1000
    )
    result: dict[str, list[tuple[float, float]]] = {}
    for observer, since, until in rows.collect():
        result.setdefault(observer, []).append((since, until))
    return result


def test_what_is_known_begins_with_a_snapshot_and_ends_in_order_or_with_the_last_word(
    spans: dict[str, list[tuple[float, float]]],
) -> None:
    assert spans["stops"] == [(70, 210), (250, 360)]
    assert spans["killed"] == [(0, 120), (150, 260)]


def test_nobody_looks_while_a_name_server_can_do_nothing_or_tells_nothing(
    spans: dict[str, list[tuple[float, float]]],
) -> None:
    assert spans["paused"] == spans["busy"] == [(0, 90), (110, 120)]
    assert spans["loses"] == [(0, 40), (60, 90)]
    assert spans["silent"] == [(0, 60)]


def test_a_collector_looks_while_polls_succeed(spans: dict[str, list[tuple[float, float]]]) -> None:
    assert spans["polled collector"] == [(5, 60), (100, 120)]


def test_a_log_is_known_from_its_beginning_and_may_be_quiet_for_longer(
    spans: dict[str, list[tuple[float, float]]],
) -> None:
    assert spans["quiet log"] == [(0, 600)]
    # Scans prove its life, and that it had none when they ended.
    assert spans["scans log"] == [(0, 995)]
    assert spans["alive log"] == [(0, 2000)]
    assert "broker log" not in spans


def test_coverage_tells_from_when_to_when_and_why(spark: SparkSession) -> None:
    told = [
        (1, 0, "Snapshot", "start"), (2, 10, "KvPut", None), (3, 20, "EventsLost", None),
        (4, 30, "Snapshot", "loss"), (6, 40, "KvPut", None), (7, 50, "Snapshot", "interval"),
        (8, 60, "ServerStopping", "told to"), (9, 90, "Snapshot", "start"), (10, 100, "KvPut", None),
        (11, 200, "Snapshot", "start"), (12, 260, "Heartbeats", None), (13, 500, "Heartbeats", None),
        (14, 600, "ServerPaused", None), (15, 650, "Heartbeats", None),
    ]  # fmt: skip
    names = [field.name for field in schemas.event_schema()]
    given = [
        {
            "server": "ns",
            "dialect": "journal",
            "seq": seq,
            "time": at(later),
            "type": kind,
            "reason": reason,
            "pauseMillis": 30_000,
        }
        for seq, later, kind, reason in told
    ]
    values = [tuple(row.get(name) for name in names) for row in given]
    events = spark.createDataFrame(values, schemas.event_schema())
    found = covered(events).orderBy("validFrom").collect()
    assert [
        (row.known, later(row.validFrom), later(row.validTo), row.fromType, row.toType) for row in found
    ] == [
        (True, 0, 20, "Snapshot", "EventsLost"),
        (False, 20, 30, "EventsLost", "Snapshot"),
        (True, 30, 40, "Snapshot", "hole"),
        (False, 40, 50, "hole", "Snapshot"),
        (True, 50, 60, "Snapshot", "ServerStopping"),
        (False, 60, 90, "ServerStopping", "Snapshot"),
        (True, 90, 100, "Snapshot", "ended"),
        (False, 100, 200, "ended", "Snapshot"),
        (True, 200, 260, "Snapshot", "silent"),
        (False, 260, 500, "silent", "heard"),
        (True, 500, 570, "heard", "paused"),
        (False, 570, 600, "paused", "ServerPaused"),
        (True, 600, 650, "ServerPaused", "silent"),
        (False, 650, None, "silent", None),
    ]


def later(moment: datetime | None) -> int | None:
    """Seconds after the start."""
    return None if moment is None else round(moment.timestamp()) - START // 1000
