"""queryCq in the lab."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from tests.nsadmin.conftest import Run
from tests.support.lab import Lab, start_lab


@pytest.fixture
def running_lab(tmp_path: Path) -> Iterator[Lab]:
    with start_lab(tmp_path / "lab", FleetPlan(1, 2, 1, 6)) as running:
        yield running


def first_offset(run_on_lab: Run, broker: str) -> str:
    rows = run_on_lab("topicStatus", "payments").json
    return str(next(row["minOffset"] for row in rows if (row["brokerName"], row["queueId"]) == (broker, 0)))


def test_an_entry_leads_to_its_message(run_on_lab: Run, running_lab: Lab) -> None:
    at = first_offset(run_on_lab, "broker-a-0")
    result = run_on_lab(
        "queryCq",
        "-t",
        "payments",
        "-q",
        "0",
        "-i",
        at,
        "-c",
        "2",
        "-b",
        running_lab.brokers["broker-a-0", 0],
    )
    first, second = result.json
    assert (first["queueOffset"], second["queueOffset"]) == (int(at), int(at) + 1)
    [message] = run_on_lab("queryMsgByOffset", "payments", "broker-a-0", "0", at).json
    assert (message["physicalOffset"], message["storeSize"]) == (first["physicalOffset"], first["storeSize"])


def test_every_broker_is_asked_and_who_has_nothing_there_is_told(run_on_lab: Run) -> None:
    at = first_offset(run_on_lab, "broker-a-0")
    result = run_on_lab("queryCq", "payments", "0", at, "-c", "1")
    broker_names = [row["brokerName"] for row in result.json]
    assert (result.code, "broker-a-0" in broker_names) == (0, True)
    assert len(broker_names) + result.err.count("has no entry at") == 2


def test_nothing_there(run_on_lab: Run) -> None:
    result = run_on_lab("queryCq", "payments", "0", "999999999999")
    assert (result.code, result.json) == (5, [])
    assert result.err.count("queue 0 of payments has no entry at offset 999999999999: the queue has") == 2
    assert run_on_lab("queryCq", "nowhere", "0", "0").code == 5
    assert run_on_lab("queryCq", "payments", "first", "0").code == 2


def test_a_queue_that_no_broker_has(run_on_lab: Run) -> None:
    result = run_on_lab("queryCq", "payments", "99", "0")
    assert (result.code, result.err) == (5, "nsadmin: payments has no queue 99: it has queues 0 to 7\n")
    result = run_on_lab("queryCq", "payments", "99", "0", "-b", "broker-a-0")
    assert result.code == 5
    assert "payments has no queue 99 on this broker\n" in result.err
