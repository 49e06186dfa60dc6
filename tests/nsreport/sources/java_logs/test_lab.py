"""What the pipeline finds in Java's logs of a scenario, beside its journals: precision and recall."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from namesrv_core.history.records import JournalRecord
from namesrv_core.lab import java_logs as lab_logs
from namesrv_core.storage.journal import reader
from nsreport.facts.presence import select_lifecycle_events
from nsreport.reports.broker_availability import broker_availability
from nsreport.runtime.local_rows import keep_in_memory
from nsreport.sources.java_logs import log_parser
from tests.nsreport.sources.java_logs.conftest import messages, rows
from tests.support.silver_rows import covered

SCENARIOS = ("flapping-broker", "undone-wipe", "address-conflict")
SERVERS = ("ns-1", "ns-2", "ns-3")

TOLD = (
    "BrokerRegistered",
    "BrokerUnregistered",
    "WritePermWiped",
    "WritePermAdded",
    "KvPut",
    "SettingsChanged",
)
"""What Java tells of, if not with every field. Not: BrokerChanged, HeartbeatGap, Heartbeats, snapshots."""


class Found(NamedTuple):
    """The events of all logs, as rows and as what reports take; servers are "SCENARIO DIALECT SERVER"."""

    rows: list[dict[str, Any]]
    frame: DataFrame

    def of(self, name: str, dialect: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["server"] == f"{name} {dialect} {SERVERS[0]}"]

    def events(self, name: str, dialect: str) -> DataFrame:
        return self.frame.where(col("server").startswith(f"{name} {dialect} "))


@pytest.fixture(scope="module")
def found(spark: SparkSession, played: Callable[[str], Path]) -> Found:
    """All scenarios in both dialects, read at once."""
    logs = {
        f"{name} {dialect} {server}": {
            "namesrv.log": "".join(lab_logs.format_lines(journal(played(name), server), dialect))
        }
        for name in SCENARIOS
        for dialect in lab_logs.LOG_DIALECTS
        for server in SERVERS
    }
    parsed = log_parser.parse_logs(keep_in_memory(messages(spark, logs)), keep_in_memory)
    events = keep_in_memory(parsed.event_rows)
    assert parsed.quarantine_rows.collect() == []
    return Found(rows(events.orderBy("server", "time", "sourceLine").collect()), events)


def journal(folder: Path, server: str = SERVERS[0]) -> list[JournalRecord]:
    return list(reader.read_records(folder / server / "journal"))


def keys_of_log(events: Iterable[Mapping[str, Any]], *fields: str) -> Counter[tuple[Any, ...]]:
    return Counter(
        (event["type"], event["time"] // 1000, *(event.get(field) for field in fields))
        for event in events
        if event["type"] in TOLD
    )


def keys_of_journal(records: Iterable[JournalRecord], *fields: str) -> Counter[tuple[Any, ...]]:
    def value(record: JournalRecord, field: str) -> Any:
        return record.origin.cause if field == "cause" else record.event_fields.get(field)

    return Counter(
        (record.event_type, record.time_ms // 1000, *(value(record, field) for field in fields))
        for record in records
        if record.event_type in TOLD
    )


@pytest.mark.parametrize("dialect", lab_logs.LOG_DIALECTS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_logs_of_a_scenario_give_its_events_back(
    played: Callable[[str], Path], found: Found, name: str, dialect: str
) -> None:
    fields = ("brokerAddr", "cause", "clusterName")
    truth = keys_of_journal(journal(played(name)), *fields)
    seen = keys_of_log(found.of(name, dialect), *fields)
    hits = (truth & seen).total()
    print(f"{name} {dialect}: precision {hits / seen.total():.3f}, recall {hits / truth.total():.3f}")
    print(f"  missed: {sorted(truth - seen, key=str)}; not so: {sorted(seen - truth, key=str)}")
    assert (truth - seen, seen - truth) == (Counter(), Counter())


@pytest.mark.parametrize("name", SCENARIOS)
def test_4_x_tells_every_broker_s_name_and_5_x_those_of_masters(
    played: Callable[[str], Path], found: Found, name: str
) -> None:
    fields = ("brokerAddr", "brokerName", "brokerId")
    truth = {key[2]: key[3:] for key in keys_of_journal(journal(played(name)), *fields) if key[2]}
    for dialect in lab_logs.LOG_DIALECTS:
        for key in keys_of_log(found.of(name, dialect), *fields):
            told = [item for item in key[3:] if item is not None]
            assert not key[2] or set(told) <= set(truth[key[2]])
            is_unknown = key[2] and key[3] is None
            # A slave that its log never names: nobody registers topics for it, and it never was the last.
            assert not is_unknown or truth[key[2]][1] > 0, key


def test_a_wipe_that_a_registration_undid_is_seen(found: Found) -> None:
    for dialect in lab_logs.LOG_DIALECTS:
        undone = [
            change
            for event in found.of("undone-wipe", dialect)
            if event["type"] == "TopicsChanged" and event["cause"] == "REGISTER_BROKER"
            for change in event["changes"]
            if change["before"] and not change["before"]["perm"] & 2 and change["after"]["perm"] & 2
        ]
        assert undone


def down(events: DataFrame, first: int, end: int) -> dict[str, float]:
    """How long masters were down, in seconds."""
    lifecycle_events = select_lifecycle_events(events)
    found = broker_availability(lifecycle_events, covered(events), first, end).where("brokerId = 0")
    return {row.brokerName: row.downSeconds for row in found.collect()}


def test_down_times_are_those_of_the_journals_to_the_second(
    ns_event: Callable[[str], DataFrame], found: Found
) -> None:
    name = "flapping-broker"
    span = ns_event(name).selectExpr("min(time)", "max(time) + 1").collect()[0]
    truth = down(ns_event(name), *span)
    for dialect in lab_logs.LOG_DIALECTS:
        seen = down(found.events(name, dialect), *span)
        print(f"down {dialect}: {sum(seen.values()):.0f} s, journals {sum(truth.values()):.0f} s")
        assert truth.keys() == seen.keys()
        # Java's times are whole seconds.
        assert all(abs(seen[broker] - seconds) < 2 * (8 + 1) for broker, seconds in truth.items())
