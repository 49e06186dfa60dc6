"""replicaDiff and check replicas: simulated slaves that copy, and one that lacks a topic for good."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeBroker, FakeNameServer
from tests.support.lab import start_lab
from tests.support.replica_brokers import SETTINGS, TOPICS, serve_tables


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSADMIN_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("NSADMIN_INVENTORY", raising=False)


@contextmanager
def replicas() -> Iterator[tuple[FakeNameServer, FakeBroker, FakeBroker]]:
    with FakeBroker() as master, FakeBroker() as slave:
        serve_tables(master, TOPICS)
        serve_tables(slave, TOPICS)
        with FakeNameServer({"C": {"broker-a": {0: master.addr, 1: slave.addr}}}) as server:
            yield server, master, slave


def test_equal_replicas_have_no_rows(run: Run) -> None:
    with replicas() as (server, _, _):
        result = run("replicaDiff", "-n", server.addr, "--json")
        checked = run("check", "replicas", "-n", server.addr)
    assert (result.code, json.loads(result.out), result.err) == (
        0,
        [],
        "nsadmin: no differences on 1 slave\n",
    )
    assert checked.out.startswith("OK: 1 slave is equal to its master")


def test_a_missing_topic_and_another_setting_are_rows_and_a_secret_is_not_shown(run: Run) -> None:
    with replicas() as (server, _, slave):
        others = SETTINGS.replace("72", "48").replace("=secret", "=other").replace("broker-a", "x")
        serve_tables(slave, {"orders": {"perm": 6}}, others)
        result = run("replicaDiff", "-n", server.addr, "--json")
        checked = run("check", "replicas", "-n", server.addr)
    assert result.code == 1
    rows = json.loads(result.out)
    assert [(row["kind"], row["name"], row["differs"], row["master"]) for row in rows] == [
        ("topic", "payments", "missing on the slave", {"perm": 6}),
        ("setting", "fileReservedTime", "72 on the master, 48 on the slave", "72"),
        ("setting", "rocketmqSecretKey", "differs", None),
    ]
    assert {row["state"] for row in rows} == {"drift"}
    assert result.err == "nsadmin: 1 slave: 1 topic, 2 settings will stay different\n"
    assert "secret" not in result.out.replace("rocketmqSecretKey", "")
    assert checked.code == 2
    assert "broker-a:1 topic payments: missing on the slave" in checked.out


def test_a_frozen_slave_is_named_and_changes_the_exit_code(run: Run) -> None:
    with replicas() as (server, _, slave):
        slave.handlers.clear()
        result = run("replicaDiff", "-n", server.addr, "--json")
        checked = run("check", "replicas", "-n", server.addr)
    assert (result.code, json.loads(result.out)) == (3, [])
    assert f"broker-a:1 at {slave.addr}: " in result.err
    assert result.err.endswith("nsadmin: no slave was compared completely\n")
    assert checked.code == 3


def test_simulated_slaves_copy_everything_but_the_newest_offsets(run: Run, tmp_path: Path) -> None:
    with start_lab(tmp_path) as there:
        result = run("replicaDiff", "-n", there.namesrv_addr, "--lag", "--json")
        checked = run("check", "replicas", "-n", there.namesrv_addr)
    assert result.code == 0
    assert {(row["kind"], row["state"]) for row in json.loads(result.out)} <= {("offset", "lag")}
    assert checked.out.startswith("OK: topics, groups and settings of 6 slaves equal their masters'; ")


def test_without_an_answer_nothing_is_equal(run: Run, dead_addr: str) -> None:
    result = run("replicaDiff", "-n", dead_addr)
    assert (result.code, result.err) == (
        3,
        f"nsadmin: name server {dead_addr}: connection refused, no server listens on this port\n"
        "nsadmin: no slave was compared\n",
    )


def test_brokers_without_slaves_are_not_compared(run: Run) -> None:
    with FakeBroker() as master, FakeNameServer({"C": {"broker-a": {0: master.addr}}}) as server:
        result = run("replicaDiff", "-n", server.addr)
        named = run("replicaDiff", "-n", server.addr, "-b", "broker-a", "-c", "C")
        checked = run("check", "replicas", "-n", server.addr)
    assert (result.code, result.err) == (
        5,
        "nsadmin: nothing was compared: no broker with a slave is registered\n",
    )
    assert named.err == (
        'nsadmin: nothing was compared: no broker "broker-a" in cluster "C" with a slave is registered\n'
    )
    assert checked.code == 3
