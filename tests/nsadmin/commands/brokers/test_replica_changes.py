"""electMaster and cleanBrokerMetadata."""

import json
from collections.abc import Iterator

import pytest

from namesrv_core.protocol.command import build_reply
from tests.nsadmin.conftest import Run
from tests.support.controllers import FakeController
from tests.support.fake_servers import FakeBroker, answer_json, refuse_with
from tests.support.replica_brokers import TOPICS, serve_tables


@pytest.fixture
def leader() -> Iterator[FakeController]:
    with FakeController() as running:
        yield running


@pytest.fixture
def controllers(leader: FakeController, dead_addr: str) -> tuple[str, ...]:
    return ("-a", f"{dead_addr};{leader.addr}", "--json")


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
    result = run(*words, "9")
    assert (result.code, result.err) == (5, "nsadmin: broker-a has no replica 9, only 1, 2\n")
    leader.handlers[1002] = build_reply
    assert json.loads(run(*words, "2").out)[0]["error"] == "the master is 1 now, not 2"
    leader.handlers[1002] = refuse_with(2012, "Failed to elect a new master")
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
    result = run(*words, "-c", "C", "-b", "2")
    assert (result.code, result.err) == (
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


def test_a_replica_that_lacks_a_topic_is_refused_without_force(
    run: Run, controllers: tuple[str, ...], leader: FakeController
) -> None:
    with FakeBroker() as master, FakeBroker() as slave:
        serve_tables(master, TOPICS)
        serve_tables(slave, {"orders": {"perm": 6}})
        leader.replicas = {1: (master.addr, True, True), 2: (slave.addr, True, True)}
        words = ("electMaster", "broker-a", "2", "-c", "C", *controllers, "--yes")
        refused = run(*words)
        assert (refused.code, leader.master) == (1, 1)
        assert refused.err == (
            "nsadmin: replica 2 of broker-a lacks topic payments: wait until it has copied them\n"
        )
        assert (run(*words, "--force").code, leader.master) == (0, 2)


def test_a_replica_that_does_not_answer_is_refused_without_force(
    run: Run, controllers: tuple[str, ...], leader: FakeController, dead_addr: str
) -> None:
    with FakeBroker() as master:
        serve_tables(master, TOPICS)
        leader.replicas = {1: (master.addr, True, True), 2: (dead_addr, True, True)}
        words = ("electMaster", "broker-a", "2", "-c", "C", *controllers, "--yes")
        refused = run(*words)
        assert (refused.code, leader.master) == (1, 1)
        assert refused.err.startswith(
            "nsadmin: replica 2 of broker-a could not be compared with its master ("
        )
        assert refused.err.endswith("run the command again when both answer\n")
        assert (run(*words, "--force").code, leader.master) == (0, 2)


def test_an_election_among_replicas_of_a_faulty_release_says_so(
    run: Run, controllers: tuple[str, ...], leader: FakeController
) -> None:
    with FakeBroker() as master, FakeBroker() as slave:
        serve_tables(master, TOPICS)
        serve_tables(slave, TOPICS)
        master.handlers[28] = lambda asked: answer_json(asked, {"table": {"brokerVersionDesc": "V5_4_0"}})
        leader.replicas = {1: (master.addr, True, True), 2: (slave.addr, True, True)}
        planned = run("electMaster", "broker-a", "2", "-c", "C", *controllers, "--dry-run")
    assert (planned.code, len(planned.err.splitlines())) == (0, 1)
    assert planned.err.startswith("nsadmin: replica 1 of broker-a runs 5.4.0: as a slave, it deletes topics")
