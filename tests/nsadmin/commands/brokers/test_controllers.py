"""Commands about controllers."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from namesrv_core.protocol.command import build_reply
from nsadmin.console.session import Session
from tests.nsadmin.conftest import Run
from tests.support.controllers import FakeController
from tests.support.fake_servers import FakeNameServer, Server, answer_json, refuse_with

EPOCHS = {"epochList": [{"epoch": 1, "startOffset": 0, "endOffset": 2**63 - 1}], "maxOffset": 9}


@pytest.fixture
def leader() -> Iterator[FakeController]:
    with FakeController() as running:
        yield running


@pytest.fixture
def follower(leader: FakeController) -> Iterator[FakeController]:
    with FakeController(leader.addr) as running:
        yield running


@pytest.fixture
def controllers(leader: FakeController, follower: FakeController, dead_addr: str) -> tuple[str, ...]:
    return ("-a", f"{dead_addr};{follower.addr};{leader.addr}", "--json")


def test_each_says_who_leads(
    run: Run, controllers: tuple[str, ...], follower: FakeController, leader: FakeController, dead_addr: str
) -> None:
    result = run("getControllerMetaData", *controllers)
    assert result.code == 3
    assert [(row["isLeader"], row["leaderAddr"]) for row in json.loads(result.out)] == [
        (False, leader.addr),
        (True, leader.addr),
    ]
    assert f"controller {dead_addr}: connection refused" in result.err
    follower.leader = "h:9"
    stderr = run("getControllerMetaData", *controllers).err
    assert f"the controllers name different leaders: {leader.addr}, h:9" in stderr


def test_replicas_are_asked_of_who_leads(run: Run, controllers: tuple[str, ...]) -> None:
    result = run("getSyncStateSet", *controllers, "-b", "broker-a")
    assert result.code == 0
    assert [(row["brokerId"], row["isMaster"], row["inSync"]) for row in json.loads(result.out)] == [
        (1, True, True),
        (2, False, True),
    ]
    with FakeNameServer({"C": {"broker-a": {0: "h:1"}, "broker-b": {0: "h:2"}}}) as server:
        result = run("getSyncStateSet", *controllers, "-c", "C", "-n", server.addr)
    assert (result.code, len(json.loads(result.out))) == (3, 2)
    assert 'the controllers have no broker "broker-b"' in result.err
    assert run("getSyncStateSet", *controllers).code == 2
    assert run("getSyncStateSet", *controllers, "-b", "broker-a", "-i", "0").code == 2
    assert run("getSyncStateSet", "-a", "here", "-b", "broker-a").err == (
        'nsadmin: invalid address list "here" for -a: write HOST:PORT;HOST:PORT\n'
    )


def test_without_a_list_the_controllers_are_those_that_brokers_name(
    run: Run, leader: FakeController, dead_addr: str
) -> None:
    config = f"brokerName=broker-a\ncontrollerAddr={dead_addr};{leader.addr}".encode()
    with (
        Server({26: lambda asked: build_reply(asked, body=config)}) as broker,
        FakeNameServer({"C": {"broker-a": {0: dead_addr, 1: broker.addr}}}) as server,
    ):
        result = run("getControllerMetaData", "-n", server.addr, "--json")
        assert [(row["controllerAddr"], row["isLeader"]) for row in result.json] == [(leader.addr, True)]
        with Server({26: lambda asked: build_reply(asked, body=b"controllerAddr=h:1")}) as other:
            server.clusters = {**server.clusters, "D": {"broker-b": {0: other.addr}}}
            several = run("getControllerMetaData", "-n", server.addr)
            chosen = run("getSyncStateSet", "-c", "C", "-n", server.addr)
        config = b"brokerName=broker-a"
        server.clusters = {"C": server.clusters["C"]}
        silent = run("getSyncStateSet", "-b", "broker-a", "-n", server.addr)
        server.clusters = {"C": {"broker-a": {1: broker.addr}}}
        result = run("getSyncStateSet", "-b", "broker-a", "-n", server.addr)
    assert silent.code == 2
    assert f"(controllerAddr; 1 of 2 brokers is silent: {dead_addr}: connection refused" in silent.err
    addrs = f"'{dead_addr};{leader.addr}'"
    assert (several.code, several.err) == (
        2,
        f"nsadmin: brokers name different controllers: pass -a {addrs} or -a h:1\n",
    )
    assert chosen.code == 0
    assert (result.code, result.err) == (
        2,
        "nsadmin: no broker names a controller (controllerAddr): pass -a ADDRS. Without controllers, nobody "
        "elects a master: nsadmin guide when-a-master-dies\n",
    )


def test_a_broker_without_controllers_hides_no_other(run: Run) -> None:
    refusing = {1007: refuse_with(1, "this request only for controllerMode ")}
    with (
        Server({1007: lambda asked: answer_json(asked, EPOCHS)}) as master,
        Server(refusing) as slave,
        FakeNameServer({"C": {"broker-a": {0: master.addr, 1: slave.addr}}}) as server,
    ):
        result = run("getBrokerEpoch", "-b", "broker-a", "-n", server.addr, "--json")
        assert result.code == 3
        [row] = json.loads(result.out)
        assert (row["epoch"], row["endOffset"], row["maxOffset"]) == (1, None, 9)
        assert "this request only for controllerMode" in result.err
        assert run("getBrokerEpoch", "-b", "nope", "-n", server.addr).code == 5
        assert json.loads(run("getBrokerEpoch", "-n", server.addr, "--json").out) == [row]
        for process in (master.addr, "broker-a:0"):
            result = run("getBrokerEpoch", "-b", process, "-n", server.addr, "--json")
            assert (result.code, [r["epoch"] for r in json.loads(result.out)]) == (0, [1])
        assert run("getBrokerEpoch", "-b", master.addr).code == 0


def test_settings_of_every_controller(
    run: Run, controllers: tuple[str, ...], follower: FakeController
) -> None:
    result = run("getControllerConfig", *controllers)
    assert (result.code, [row["value"] for row in json.loads(result.out)]) == (3, ["5000", "5000"])
    follower.items["scanNotActiveBrokerInterval"] = "6000"
    words = ("updateControllerConfig", "scanNotActiveBrokerInterval", "6000", *controllers)
    planned, result = run(*words, "--dry-run"), run(*words)
    assert [row["result"] for row in json.loads(planned.out)] == ["failed", "unchanged", "dry-run"]
    assert [row["result"] for row in json.loads(result.out)] == ["failed", "unchanged", "done"]


def test_it_goes_on_until_somebody_stops_it(
    run: Run, controllers: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def repeat(session: Session, seconds: float, once: Callable[[], Any]) -> Iterator[Any]:
        assert seconds == 5
        yield once()
        yield once()

    monkeypatch.setattr(Session, "repeat_every", repeat)
    result = run(
        "getSyncStateSet", *controllers[:2], "-b", "broker-a", "-i", "5", "--output", "tsv", "--no-headers"
    )
    assert len(result.out.splitlines()) == 4
    with (
        Server({1007: lambda asked: answer_json(asked, EPOCHS)}) as master,
        FakeNameServer({"C": {"broker-a": {0: master.addr}}}) as server,
    ):
        words = ("getBrokerEpoch", "-b", "broker-a", "-n", server.addr, "-i", "5", "--output", "tsv")
        assert len(run(*words, "--no-headers").out.splitlines()) == 2
