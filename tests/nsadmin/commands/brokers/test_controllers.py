"""Commands about controllers."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from namesrv_core.protocol.command import build_reply
from nsadmin.session import Session
from tests.nsadmin.conftest import Run
from tests.support.controllers import FakeController
from tests.support.servers import FakeNameServer, Server, body, refuse

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
def controllers(leader: FakeController, follower: FakeController, dead: str) -> tuple[str, ...]:
    return ("-a", f"{dead};{follower.addr};{leader.addr}", "--json")


def test_each_says_who_leads(
    run: Run, controllers: tuple[str, ...], follower: FakeController, leader: FakeController, dead: str
) -> None:
    done = run("getControllerMetaData", *controllers)
    assert done.code == 3
    assert [(row["isLeader"], row["leaderAddr"]) for row in json.loads(done.out)] == [
        (False, leader.addr),
        (True, leader.addr),
    ]
    assert f"controller {dead}: connection refused" in done.err
    follower.leader = "h:9"
    said = run("getControllerMetaData", *controllers).err
    assert f"the controllers name different leaders: {leader.addr}, h:9" in said


def test_replicas_are_asked_of_who_leads(run: Run, controllers: tuple[str, ...]) -> None:
    done = run("getSyncStateSet", *controllers, "-b", "broker-a")
    assert done.code == 0
    assert [(row["brokerId"], row["isMaster"], row["inSync"]) for row in json.loads(done.out)] == [
        (1, True, True),
        (2, False, True),
    ]
    with FakeNameServer({"C": {"broker-a": {0: "h:1"}, "broker-b": {0: "h:2"}}}) as server:
        done = run("getSyncStateSet", *controllers, "-c", "C", "-n", server.addr)
    assert (done.code, len(json.loads(done.out))) == (3, 2)
    assert 'the controllers have no broker "broker-b"' in done.err
    assert run("getSyncStateSet", *controllers).code == 2
    assert run("getSyncStateSet", *controllers, "-b", "broker-a", "-i", "0").code == 2
    assert run("getSyncStateSet", "-a", "here", "-b", "broker-a").err == (
        'nsadmin: invalid address list "here" for -a: write HOST:PORT;HOST:PORT\n'
    )


def test_a_broker_without_controllers_hides_no_other(run: Run) -> None:
    refusing = {1007: refuse(1, "this request only for controllerMode ")}
    with (
        Server({1007: lambda asked: body(asked, EPOCHS)}) as master,
        Server(refusing) as slave,
        FakeNameServer({"C": {"broker-a": {0: master.addr, 1: slave.addr}}}) as server,
    ):
        done = run("getBrokerEpoch", "-b", "broker-a", "-n", server.addr, "--json")
        assert done.code == 3
        [row] = json.loads(done.out)
        assert (row["epoch"], row["endOffset"], row["maxOffset"]) == (1, None, 9)
        assert "this request only for controllerMode" in done.err
        assert run("getBrokerEpoch", "-b", "nope", "-n", server.addr).code == 5


def test_settings_of_every_controller(
    run: Run, controllers: tuple[str, ...], follower: FakeController
) -> None:
    done = run("getControllerConfig", *controllers)
    assert (done.code, [row["value"] for row in json.loads(done.out)]) == (3, ["5000", "5000"])
    follower.items["scanNotActiveBrokerInterval"] = "6000"
    words = ("updateControllerConfig", "scanNotActiveBrokerInterval", "6000", *controllers)
    planned, done = run(*words, "--dry-run"), run(*words)
    assert [row["result"] for row in json.loads(planned.out)] == ["failed", "unchanged", "dry-run"]
    assert [row["result"] for row in json.loads(done.out)] == ["failed", "unchanged", "done"]


def test_a_replica_becomes_the_master(run: Run, controllers: tuple[str, ...], leader: FakeController) -> None:
    words = ("electMaster", "broker-a", "2", "-c", "C", *controllers)
    planned = json.loads(run(*words, "--dry-run").out)
    assert leader.master == 1
    done = json.loads(run(*words, "--yes").out)
    assert (planned[0]["result"], done[0]["result"], leader.master) == ("dry-run", "done", 2)
    assert planned[0]["changes"] == done[0]["changes"] == "masterBrokerId 1 -> 2, masterAddr h:1 -> h:2"
    assert json.loads(run(*words, "--yes").out)[0]["result"] == "unchanged"


def test_what_no_election_can_do(run: Run, controllers: tuple[str, ...], leader: FakeController) -> None:
    words = ("electMaster", "-bn", "broker-a", "-c", "C", *controllers, "--yes", "-b")
    assert run(*words, "two").err == (
        'nsadmin: invalid replica id "two": use an id that getSyncStateSet shows\n'
    )
    done = run(*words, "9")
    assert (done.code, done.err) == (5, "nsadmin: broker-a has no replica 9, only 1, 2\n")
    leader.handlers[1002] = build_reply
    assert json.loads(run(*words, "2").out)[0]["error"] == "the master is 1"
    leader.handlers[1002] = refuse(2012, "Failed to elect a new master")
    assert "Failed to elect" in json.loads(run(*words, "2").out)[0]["error"]
    leader.replicas[2] = ("h:2", False, True)
    assert run(*words, "2").err == "nsadmin: replica 2 of broker-a is not alive\n"


def test_replicas_are_forgotten(run: Run, controllers: tuple[str, ...], leader: FakeController) -> None:
    words = ("cleanBrokerMetadata", "broker-a", *controllers, "--yes")
    assert "no cluster: pass -c CLUSTER, or -l" in run(*words).err
    assert (
        "-l and -b exclude each other: with -l, controllers remove the whole broker"
        in run(*words, "-l", "-b", "2").err
    )
    done = run(*words, "-c", "C", "-b", "2")
    assert (done.code, done.err) == (
        2,
        "nsadmin: replica 2 of broker-a is alive: stop it first\n",
    )
    leader.replicas[2] = ("h:2", False, True)
    assert (
        json.loads(run(*words, "-c", "C", "-b", "2", "--dry-run").out)[0]["changes"] == "replicas 1, 2 -> 1"
    )
    clean, leader.handlers[1011] = leader.handlers[1011], build_reply
    assert (
        json.loads(run(*words, "-c", "C", "-b", "2").out)[0]["error"]
        == "the controllers still have replica 2"
    )
    leader.handlers[1011] = clean
    assert json.loads(run(*words, "-c", "C", "-b", "2").out)[0]["changes"] == "replicas 1, 2 -> 1"
    assert json.loads(run(*words, "-l").out)[0]["changes"] == "replicas 1 -> none"


def test_it_goes_on_until_somebody_stops_it(
    run: Run, controllers: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def repeat(session: Session, seconds: float, once: Callable[[], Any]) -> Iterator[Any]:
        assert seconds == 5
        yield once()
        yield once()

    monkeypatch.setattr(Session, "repeat_every", repeat)
    done = run(
        "getSyncStateSet", *controllers[:2], "-b", "broker-a", "-i", "5", "--output", "tsv", "--no-headers"
    )
    assert len(done.out.splitlines()) == 4
    with (
        Server({1007: lambda asked: body(asked, EPOCHS)}) as master,
        FakeNameServer({"C": {"broker-a": {0: master.addr}}}) as server,
    ):
        words = ("getBrokerEpoch", "-b", "broker-a", "-n", server.addr, "-i", "5", "--output", "tsv")
        assert len(run(*words, "--no-headers").out.splitlines()) == 2
