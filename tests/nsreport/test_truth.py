"""The lab's scenarios are the ground truth: from the journals, the reports give truth.jsonl back.

Precision: what a report says has a reason in the truth. Recall: what the truth is sure of is in the report.
"""

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import current_timestamp, lit, md5, timestamp_millis, to_date

from namesrv_core.lab.truth_log import Deed
from nsreport.facts import entries
from nsreport.facts.agreement import list_route_servers
from nsreport.facts.knowledge_intervals import build_knowledge_intervals
from nsreport.facts.presence import select_lifecycle_events
from nsreport.reports.broker_availability import broker_availability
from nsreport.reports.broker_flaps import broker_flaps
from nsreport.reports.drain_audit import drain_audit
from nsreport.reports.heartbeat_gaps import heartbeat_gaps
from nsreport.reports.ns_divergence import ns_divergence
from nsreport.runtime.local_rows import keep_in_memory
from nsreport.sources import journals
from tests.support.observer import START, Play, Span
from tests.support.observer import ObservedCase as Case
from tests.support.scores import (
    SLACK,
    Plays,
    Score,
    is_sure,
    ms,
    of_down_time,
    of_drains,
    of_flaps,
    overlap,
    seat,
    span_of,
)
from tests.support.silver_rows import agreed, covered, no_facts, routed, turned


@pytest.fixture(scope="module")
def until(plays: Plays) -> int:
    return max(play.end for play in plays.values())


@pytest.fixture(scope="module")
def ns_event(spark: SparkSession, plays: Plays) -> DataFrame:
    """All journals, as silver has them."""
    lines = [(text, number) for play in plays.values() for number, text in enumerate(play.lines)]
    texts = spark.createDataFrame(lines, "text string, line bigint").select(
        "text", "line", lit("journal").alias("kind"), lit("file").alias("file"), md5("text").alias("hash"),
        lit(None).cast("string").alias("server"), to_date(timestamp_millis(lit(START))).alias("date"),
        current_timestamp().alias("ingestTime"),
    )  # fmt: skip
    return keep_in_memory(journals.parse_events(texts))


def test_flaps(ns_event: DataFrame, plays: Plays, until: int) -> None:
    of_flaps(broker_flaps(select_lifecycle_events(ns_event), START, until).collect(), plays).show()


def test_heartbeat_gaps(spark: SparkSession, ns_event: DataFrame, plays: Plays, until: int) -> None:
    lifecycle_events = select_lifecycle_events(ns_event)
    rows = heartbeat_gaps(lifecycle_events, no_facts(spark), covered(ns_event), START, until).collect()
    score = Score("gaps")
    cases = [
        (name, case) for name, play in plays.items() for case in play.cases("HeartbeatGap", "ServerPaused")
    ]

    def fits(row: Row, name: str, case: Case) -> bool:
        same = row.server == f"{name}/{case.server}" and overlap(span_of(row), (case.deed.time_ms, case.due))
        if row.brokerName is None:
            return same and "ServerPaused" in case.expected.types
        return same and seat(row) == (name, case.broker)

    kinds = {"freeze": "broker", "partition": "link", "pauseNamesrv": "name server"}
    for row in rows:
        because = [case for name, case in cases if fits(row, name, case)]
        causes = {kinds.get(case.deed.fault, row.causedBy) for case in because}
        score.told.append((row, causes == {row.causedBy}))
    score.sure = [
        ((name, case), any(fits(row, name, case) for row in rows))
        for name, case in cases
        if case.expected.is_sure
    ]
    score.show()


def test_drains(ns_event: DataFrame, plays: Plays, until: int) -> None:
    rows = drain_audit(select_lifecycle_events(ns_event), covered(ns_event), START, until).collect()
    of_drains(rows, plays).show()
    configured = [row for row in rows if row.method == "brokerPermission"]
    assert {row.brokerName.split("/")[0] for row in configured} == {"no-route"}
    assert {row.outcome for row in configured} == {"given back"}
    assert {round(row.heldSeconds) for row in configured} == {120}


def test_availability(ns_event: DataFrame, plays: Plays, until: int) -> None:
    rows = broker_availability(select_lifecycle_events(ns_event), covered(ns_event), START, until).collect()
    assert of_down_time(rows, plays) == pytest.approx((1.0, 1.0))
    for row in rows:
        name, broker = seat(row)
        elapsed = row.upSeconds + row.downSeconds + row.plannedSeconds + row.unknownSeconds
        # Of those that were there at the beginning, all time has to be of some kind.
        whole = pytest.approx((until - START) / 1000, abs=0.2)
        assert broker not in plays[name].deeds[0].target_names or elapsed == whole
        # Nobody looks behind the end of a scenario.
        assert row.unknownSeconds >= (until - plays[name].end) / 1000 - 1
    quiet = [row for row in rows if row.brokerName.startswith("quiet-day/")]
    assert quiet
    assert all(row.downSeconds == 0 and row.failures == 0 for row in quiet)


def test_divergence(ns_event: DataFrame, plays: Plays, until: int) -> None:
    turns = keep_in_memory(turned(ns_event))
    facts = keep_in_memory(routed(ns_event, turns))
    of_keys = keep_in_memory(entries.build_entry_intervals(ns_event, turns))
    known = keep_in_memory(build_knowledge_intervals(turns))
    rows = ns_divergence(
        facts, of_keys, agreed(facts, known), list_route_servers(facts), known, START, until
    ).collect()
    rows = [row for row in rows if row.topic is not None]
    score = Score("divergence")
    for row in rows:
        name, group = row.brokerName.split("/")
        score.told.append((row, any(disturbs(deed, group, row, plays[name]) for deed in plays[name].deeds)))
    for name, play in plays.items():
        for deed in play.deeds:
            for group, field in splits(deed, play):
                found = [
                    row
                    for row in rows
                    if row.brokerName == f"{name}/{group}"
                    and row.field == field
                    and overlap(span_of(row), (deed.time_ms, deed.time_ms + 1000))
                ]
                score.sure.append(((name, deed, group), bool(found)))
        for group, span in cut_off(play):
            found = [row for row in rows if row.brokerName == f"{name}/{group}" and row.field == "route"]
            score.sure.append(((name, group, span), any(overlap(span_of(row), span) for row in found)))
    score.show()


def cut_off(play: Play) -> list[tuple[str, Span]]:
    """Groups whose brokers are all away from some name servers, and not from all; from when to when."""
    seats = set(play.deeds[0].target_names)
    losses = [loss for loss in play.losses() if is_sure(loss)]
    found = []
    for deed in {id(loss.deed): loss.deed for loss in losses}.values():
        mine = [loss for loss in losses if loss.deed is deed]
        for group in {loss.broker.partition(":")[0] for loss in mine}:
            own = {broker for broker in seats if broker.partition(":")[0] == group}
            gone = {
                server: {loss.broker for loss in mine if loss.server == server} >= own
                for server in play.servers
            }
            of_group = [loss for loss in mine if loss.broker in own and gone[loss.server]]
            if not of_group or all(gone.values()):
                continue
            span = max(loss.sure[0] for loss in of_group), min(loss.sure[1] for loss in of_group)
            elsewhere = [loss for loss in losses if loss.broker in own and not gone[loss.server]]
            if span[0] < span[1] and not any(overlap(loss.possible, span) for loss in elsewhere):
                found.append((group, span))
    return found


def disturbs(deed: Deed, group: str, row: Row, play: Play) -> bool:
    """Whether a window begins by when a deed shows that is about the broker, or about a name server."""
    about = deed.fault != "run" and any(
        name.partition(":")[0] == group or name in play.servers
        for name in (*deed.target_names, *_of_expected(deed))
    )
    last = max((deed.time_ms + item.within_seconds * 1000 for item in deed.expected), default=deed.time_ms)
    return about and deed.time_ms - SLACK <= ms(row.ts) <= last + SLACK


def _of_expected(deed: Deed) -> list[str]:
    return [name for item in deed.expected for name in item.broker_id_texts]


def splits(deed: Deed, play: Play) -> list[tuple[str, str]]:
    """Groups on which name servers differ from then on, and in which field."""
    servers = set(deed.target_names) & set(play.servers)
    if deed.fault == "wipe" and servers < set(play.servers):
        return [(name, "perm") for name in deed.target_names if name not in play.servers]
    if deed.fault == "forgetTopic" and servers < set(play.servers):
        return [
            (item.field_values["brokerName"], "route")
            for item in deed.expected
            if "brokerName" in item.field_values
        ]
    return []
