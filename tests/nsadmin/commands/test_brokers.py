"""wipeWritePerm and addWritePerm."""

import json

import pytest

from tests.nsadmin.conftest import Run
from tests.support.servers import FakeBroker, FakeNameServer

KEYS = ["namesrvAddr", "brokerName", "topicCount", "result", "error"]


@pytest.mark.parametrize(
    "words",
    [
        ("wipeWritePerm", "broker-a"),
        ("wipeWritePerm", "-b", "broker-a"),
        ("wipe-write-perm", "--brokerName", "broker-a"),
    ],
)
def test_both_forms_wipe_on_every_name_server(
    run: Run, both: str, first: FakeNameServer, second: FakeNameServer, words: tuple[str, ...]
) -> None:
    done = run(*words, both, "--json")
    assert (done.code, done.err) == (0, "")
    assert [list(row.values()) for row in json.loads(done.out)] == [
        [first.addr, "broker-a", 1, "done", None],
        [second.addr, "broker-a", 1, "done", None],
    ]
    assert first.routes["T"]["broker-a"] == second.routes["T"]["broker-a"] == 4


def test_adding_sets_the_flat_permission(run: Run, both: str, first: FakeNameServer) -> None:
    done = run("addWritePerm", "broker-a", both, "--json")
    assert list(json.loads(done.out)[0]) == KEYS
    assert first.routes["T"]["broker-a"] == 6


def test_an_unknown_broker_is_not_found(run: Run, both: str, first: FakeNameServer) -> None:
    done = run("wipeWritePerm", "broker-x", both, "--json")
    assert done.code == 5
    assert {(row["topicCount"], row["result"], row["error"]) for row in json.loads(done.out)} == {
        (None, "not found", "no broker 'broker-x' is registered here")
    }
    assert 205 not in first.codes()


def test_what_one_server_did_not_do_is_told_beside_what_the_other_did(
    run: Run, first: FakeNameServer, dead: str
) -> None:
    done = run("wipeWritePerm", "broker-a", "-n", dead, "-n", first.addr, "--json")
    assert (done.code, done.err) == (3, "nsadmin: failed on 1 of 2 servers\n")
    assert [(row["namesrvAddr"], row["result"], row["error"]) for row in json.loads(done.out)] == [
        (dead, "failed", "connection refused, nothing listens there"),
        (first.addr, "done", None),
    ]


@pytest.mark.parametrize("command", ["wipeWritePerm", "addWritePerm"])
def test_a_dry_run_touches_nothing(
    run: Run, both: str, first: FakeNameServer, second: FakeNameServer, command: str, broker: FakeBroker
) -> None:
    done = run(command, "broker-a", both, "--dry-run", "--json")
    assert done.code == 0
    assert {(row["topicCount"], row["result"]) for row in json.loads(done.out)} == {(None, "dry-run")}
    assert {*first.codes(), *second.codes()} == {106}
    assert broker.asked == []
