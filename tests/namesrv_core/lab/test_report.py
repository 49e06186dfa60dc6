"""A report says what was seen of each deed, what was missed, and the sum."""

from pathlib import Path

from namesrv_core.history.records import JournalRecord, RecordOrigin
from namesrv_core.lab.report import format_report, list_scenarios
from namesrv_core.lab.scenario import Scenario
from namesrv_core.lab.truth_log import Deed, ExpectedEvent
from namesrv_core.lab.verdict import ExpectationFinding, RunVerdict


def test_a_report() -> None:
    expected_event = ExpectedEvent(
        ("BrokerUnregistered",), ("ns-1", "ns-2"), 1, broker_id_texts=("a:0", "b:0")
    )
    deed = Deed(0, 60, "kill", "begin", ("a:0", "b:0"))
    findings = [
        ExpectationFinding(deed, expected_event, s, b, None if (s, b) == ("ns-2", "b:0") else 0.25)
        for s in expected_event.server_names
        for b in expected_event.broker_id_texts
    ]
    stray = (
        "ns-1",
        JournalRecord(9, "ns-1", RecordOrigin(5, "no heartbeat"), "HeartbeatGap", {"brokerName": "c"}),
    )
    assert format_report(Scenario("x", "Why."), RunVerdict(findings, [stray]), Path("/d")).splitlines() == [
        "# x: Why.",
        "     60.0 s  kill a:0, b:0",
        "             BrokerUnregistered of 2 brokers on ns-1, ns-2 within 0.2 s",
        "             MISSED: BrokerUnregistered b:0 on ns-2, due in 1 s",
        "  UNEXPLAINED on ns-1: HeartbeatGap (no heartbeat) {'brokerName': 'c'}",
        "# 3 of 4 expected events are in the journals, 1 records are unexplained; see "
        "/d/truth.jsonl and /d/ns-*/journal",
    ]


def test_a_listing() -> None:
    assert list_scenarios({"x": Scenario("x", "Why."), "longer": Scenario("longer", "So.", duration=60)}) == (
        "x          10 min  Why.\nlonger      1 min  So."
    )
