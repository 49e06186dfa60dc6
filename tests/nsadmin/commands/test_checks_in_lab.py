"""Checks of a lab: faults are made in a cluster of simulated brokers, and found."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from tests.nsadmin.conftest import Run
from tests.support.lab import Lab, start_lab

NAME = "broker-a-0"


@pytest.fixture
def running_lab(tmp_path: Path) -> Iterator[Lab]:
    """Two name servers, two masters with a slave each."""
    with start_lab(tmp_path / "lab", FleetPlan(1, 2, 2, 8), name_servers=2) as running:
        yield running


def states(run: Run, running_lab: Lab, *words: str) -> dict[str, str]:
    """What `check all` finds, without looking twice at what differs."""
    result = run("check", "all", "-n", running_lab.namesrv_addr, "--settle", "0", "--json", *words)
    value: dict[str, Any] = json.loads(result.out)
    assert value["exitCode"] == result.code
    return {check["check"]: check["state"] for check in value["checks"]}


def bad(run: Run, running_lab: Lab, *words: str) -> dict[str, str]:
    """The checks that are not OK, without the lag of all groups: one group of a lab is slow on purpose."""
    states_by_check = states(run, running_lab, *words, "--skip", "lag")
    return {check: state for check, state in states_by_check.items() if state != "OK"}


def test_a_cluster_that_is_well(run: Run, running_lab: Lab) -> None:
    states_by_check = states(run, running_lab, "-t", "orders", "-g", "warehouse")
    names = (
        "namesrv brokers divergence writable heartbeat replicas registrationSize disk dlq sends timer "
        "clocks transactions certificates topic lag"
    )
    assert states_by_check == dict.fromkeys(names.split(), "OK")


def test_writes_that_were_taken_away_on_one_name_server(run: Run, running_lab: Lab) -> None:
    first, _ = running_lab.namesrv_addrs
    assert run("wipeWritePerm", NAME, "-n", first, "--yes").code == 0
    bad_checks = bad(run, running_lab, "-t", "orders")
    assert bad_checks.pop("writable") in ("WARNING", "CRITICAL")
    assert bad_checks == {"divergence": "CRITICAL", "topic": "WARNING"}
    assert run("wipeWritePerm", "broker-a-1", "-n", running_lab.namesrv_addr, "--yes").code == 0
    assert run("wipeWritePerm", NAME, "-n", running_lab.namesrv_addr, "--yes").code == 0
    assert bad(run, running_lab, "-t", "orders") == {"writable": "CRITICAL", "topic": "CRITICAL"}


def test_a_slave_that_is_killed_is_missed_until_it_is_forgotten(run: Run, running_lab: Lab) -> None:
    assert run("check", "brokers", "-n", running_lab.namesrv_addr, "--expect", "4").code == 0
    running_lab.kill(NAME, 1)
    forgotten = run("inventory", "forget", f"{NAME}:1", "-n", running_lab.namesrv_addr)
    assert forgotten.code == 0
    waited = run("check", "brokers", "-n", running_lab.namesrv_addr, "--wait-until-ok", "20s")
    assert waited.code == 0
    assert run("check", "brokers", "-n", running_lab.namesrv_addr, "--expect", "4").code == 2


def test_a_master_that_is_killed_is_critical(run: Run, running_lab: Lab) -> None:
    running_lab.kill(NAME, 0)
    result = run("check", "brokers", "-n", running_lab.namesrv_addr)
    assert result.code == 2
    bad_checks = bad(run, running_lab, "-t", "orders")
    assert (bad_checks["brokers"], bad_checks["topic"]) == ("CRITICAL", "WARNING")


def test_heartbeats_are_told_by_our_name_servers(run: Run, running_lab: Lab) -> None:
    result = run("check", "heartbeat", "-n", running_lab.namesrv_addr, "--critical", "~:0", "--json")
    value = json.loads(result.out)
    assert result.code in (0, 2)
    by_server = {figure["of"]: figure["value"] for figure in value["values"] if figure["name"] == "silence"}
    assert by_server.keys() == set(running_lab.namesrv_addrs)
    assert all(0 <= seconds < 30 for seconds in by_server.values())


def test_a_broker_whose_clock_is_wrong_is_named(run: Run, running_lab: Lab) -> None:
    running_lab.skew(NAME, 0, -600_000)
    result = run("check", "clocks", "-n", running_lab.namesrv_addr, "--json")
    addr = running_lab.brokers[NAME, 0]
    assert result.code == 2
    assert json.loads(result.out)["summary"] == f"{NAME} 0 at {addr} is 600 s behind the others"
