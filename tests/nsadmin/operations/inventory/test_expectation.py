"""Brokers that an operator expects: names, files, plans and journals."""

import json
from pathlib import Path

import pytest

from nsadmin.operations.inventory.expectation import (
    BrokerLabel,
    InvalidExpectationError,
    parse_labels,
    read_expectation,
)
from nsadmin.operations.plans.plan_file import SavedPlan, format_plan
from nsadmin.operations.plans.records import DesiredCluster

NOW = 1_738_368_100_000
EVENT = {"v": 1, "server": "h:9876", "cause": "REGISTER_BROKER"}
PLACE = {"clusterName": "C", "brokerName": "broker-b", "brokerId": 1, "brokerAddr": "10.0.0.2:1"}
SNAPSHOT = {
    **{name: [] for name in ("clusters", "live", "queues", "routes", "mappings")},
    "groups": [
        {
            "clusterName": "C",
            "brokerName": "broker-a",
            "enableActingMaster": False,
            "members": [{"brokerId": 0, "brokerAddr": "10.0.0.1:1"}],
        }
    ],
    "kv": {},
    "settings": {},
    "reason": "start",
}


def expected(source: object) -> list[str]:
    return [broker.label for broker in read_expectation(str(source), NOW)]


def write_journal(folder: Path) -> None:
    folder.mkdir(parents=True)
    records = [
        {**EVENT, "seq": 1, "time": NOW - 2000, "type": "Snapshot", **SNAPSHOT},
        {**EVENT, "seq": 2, "time": NOW - 1000, "type": "BrokerRegistered", **PLACE, "topics": 1},
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "0000000000000001-20250201T000000000Z.jsonl").write_text(lines)


def test_names_stand_for_masters_unless_they_have_an_id() -> None:
    assert expected("broker-a, broker-b/1,broker-a") == ["broker-a:0", "broker-b:1"]
    assert parse_labels("broker-a") == [BrokerLabel("broker-a", None)]


def test_a_file_has_a_broker_in_each_line(tmp_path: Path) -> None:
    (tmp_path / "brokers").write_text("# all\n\nbroker-a  # the first\nbroker-b:1\n")
    assert expected(tmp_path / "brokers") == ["broker-a:0", "broker-b:1"]


def test_a_plan_names_its_brokers_and_not_its_name_servers(tmp_path: Path) -> None:
    plan = SavedPlan(DesiredCluster("C"), False, ("broker-a", "broker-b", "ns-1:9876", "[::1]:9876"), ())
    (tmp_path / "plan").write_text(format_plan(plan))
    assert expected(tmp_path / "plan") == ["broker-a:0", "broker-b:0"]


@pytest.mark.parametrize("subfolder", ["", "ns-1"])
def test_a_journal_tells_which_brokers_were_registered(tmp_path: Path, subfolder: str) -> None:
    write_journal(tmp_path / "journals" / subfolder)
    expectation = read_expectation(str(tmp_path / "journals"), NOW)
    assert [(broker.label, broker.broker_addr, broker.last_seen_ms) for broker in expectation] == [
        ("broker-a:0", "10.0.0.1:1", NOW - 2000),
        ("broker-b:1", "10.0.0.2:1", NOW - 1000),
    ]


@pytest.mark.parametrize("text", ["", ",", "broker a", "broker-a:x", "no/such/file"])
def test_what_names_no_broker_is_refused(text: str) -> None:
    with pytest.raises(InvalidExpectationError):
        parse_labels(text)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "empty").mkdir()
    for name in ("binary", "empty"):
        with pytest.raises(InvalidExpectationError):
            read_expectation(str(tmp_path / name), NOW)
