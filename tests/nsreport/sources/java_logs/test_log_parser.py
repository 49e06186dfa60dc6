"""The lab's scenarios as Java's logs tell them: how much of the truth reports give back, and why not all."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import max as latest

from namesrv_core.history.record_lines import parse_record_line
from namesrv_core.history.records import JournalRecord
from namesrv_core.lab import java_logs as lab_logs
from namesrv_core.lab.truth_log import Deed
from nsreport.facts.presence import select_lifecycle_events
from nsreport.reports.broker_availability import broker_availability
from nsreport.reports.broker_flaps import broker_flaps
from nsreport.reports.drain_audit import drain_audit
from nsreport.runtime.local_rows import keep_in_memory
from nsreport.sources.java_logs import log_parser
from tests.nsreport.sources.java_logs.conftest import messages
from tests.support.observer import START
from tests.support.scores import Plays, ms, of_down_time, of_drains, of_flaps
from tests.support.silver_rows import covered

SLACK = 1005
"""Ms: Java's times are whole seconds."""

Told = tuple[str, DataFrame, DataFrame]
"""A dialect, the events of all logs in it, and when somebody looked."""


@pytest.fixture(scope="module", params=lab_logs.LOG_DIALECTS)
def said(request: pytest.FixtureRequest, spark: SparkSession, plays: Plays) -> Told:
    by_server: dict[str, list[JournalRecord]] = defaultdict(list)
    for play in plays.values():
        # All that it has is topics, one line for each.
        for line in play.lines if play.name != "topic-explosion" else ():
            record = parse_record_line(line.encode())
            by_server[record.server_name].append(record)
    logs = {
        server: {"namesrv.log": "".join(lab_logs.format_lines(records, request.param))}
        for server, records in by_server.items()
    }
    parsed = log_parser.parse_logs(keep_in_memory(messages(spark, logs)), keep_in_memory)
    events, facts = keep_in_memory(parsed.event_rows), keep_in_memory(parsed.fact_rows)
    return request.param, events, keep_in_memory(covered(events, facts))


@pytest.fixture(scope="module")
def until(plays: Plays) -> int:
    return max(play.end for play in plays.values())


@pytest.fixture(scope="module")
def seats(plays: Plays) -> dict[str, tuple[str, int]]:
    """Who has an address, as the journals know it: logs do not name every slave, nor tell its id."""
    records = [json.loads(line) for play in plays.values() for line in play.lines]
    came = [record for record in records if record["type"] == "BrokerRegistered"]
    return {record["brokerAddr"]: (record["brokerName"], record["brokerId"]) for record in came}


def recognised(rows: Iterable[Row], seats: Mapping[str, tuple[str, int]]) -> list[Row]:
    """Rows with the names and ids of those who go by an address, or are the only slave of their group."""
    slaves: dict[str, set[int]] = defaultdict(set)
    for name, number in seats.values():
        slaves[name] |= {number} - {0}
    found = []
    for row in rows:
        name, number = seats.get(row.brokerName, (row.brokerName, row.brokerId))
        if number is None and len(slaves[name]) == 1:
            [number] = slaves[name]
        found.append(Row(**{**row.asDict(), "brokerName": name, "brokerId": number}))
    return found


def test_flaps(said: Told, plays: Plays, until: int, seats: Mapping[str, tuple[str, int]]) -> None:
    dialect, events, _ = said
    rows = recognised(broker_flaps(select_lifecycle_events(events), START, until).collect(), seats)
    print(f"\n{dialect}")
    of_flaps(rows, plays, SLACK).show()


def test_drains(said: Told, plays: Plays, until: int) -> None:
    dialect, events, looked = said
    known = [
        (row.server, ms(row.validFrom), until if row.validTo is None else ms(row.validTo))
        for row in looked.where("known").collect()
    ]

    def why(case: Any) -> str | None:
        """Of (deed, server): a wipe left that one out."""
        if not isinstance(case, tuple) or not isinstance(case[0], Deed):
            return None
        deed, server = case
        [scenario] = [name for name, play in plays.items() if deed in play.deeds]
        spans = [span for span in known if span[0] == f"{scenario}/{server}"]
        is_silent = not any(since <= deed.time_ms < end for _, since, end in spans)
        return (
            "the log of who was left out says nothing any more: who knows whether it lived"
            if is_silent
            else None
        )

    rows = drain_audit(select_lifecycle_events(events), looked, START, until).collect()
    print(f"\n{dialect}")
    reasons = of_drains(rows, plays, SLACK).show(why)
    # 5.x writes each five seconds that it scans, so there is nothing that it does not prove.
    assert dialect == "4.x" or not reasons


def test_down_time(said: Told, plays: Plays, until: int, seats: Mapping[str, tuple[str, int]]) -> None:
    dialect, events, looked = said
    rows = recognised(
        broker_availability(select_lifecycle_events(events), looked, START, until).collect(), seats
    )
    ends = {
        row.server: ms(row.end)
        for row in looked.where("known").groupBy("server").agg(latest("validTo").alias("end")).collect()
    }
    print(f"\n{dialect}")
    precision, recall = of_down_time(rows, plays, ends)
    # Slaves of a group, of which 5.x names only the last one to go, cannot be told apart.
    assert precision >= (0.97 if dialect == "5.x" else 1.0)
    assert recall >= (0.99 if dialect == "5.x" else 1.0)
