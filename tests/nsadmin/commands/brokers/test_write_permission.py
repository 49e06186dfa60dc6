"""wipeWritePerm and addWritePerm."""

import json

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeBroker, FakeNameServer, answer_json, refuse_with
from tests.support.topic_brokers import topic_config

KEYS = ["namesrvAddr", "brokerName", "topicCount", "changes", "before", "after", "result", "error"]


@pytest.mark.parametrize(
    "words",
    [
        ("wipeWritePerm", "broker-a"),
        ("wipeWritePerm", "-b", "broker-a"),
        ("wipe-write-perm", "--brokerName", "broker-a"),
    ],
)
def test_both_forms_wipe_on_every_name_server(
    run: Run,
    both_servers: str,
    first_server: FakeNameServer,
    second_server: FakeNameServer,
    words: tuple[str, ...],
) -> None:
    result = run(*words, both_servers, "--json")
    assert (result.code, result.err.splitlines()) == (
        0,
        [
            "nsadmin: clients cannot send to 1 topic without broker-a: T",
            "nsadmin: this lasts until the broker restarts or its topics change: to keep writes away longer, "
            "run nsadmin drain broker-a",
            "nsadmin: to undo it: nsadmin repair wipe broker-a",
        ],
    )
    assert [list(row.values()) for row in json.loads(result.out)] == [
        [first_server.addr, "broker-a", 1, None, None, None, "done", None],
        [second_server.addr, "broker-a", 1, None, None, None, "done", None],
    ]
    assert first_server.routes["T"]["broker-a"] == second_server.routes["T"]["broker-a"] == 4


def test_adding_sets_the_flat_permission(run: Run, both_servers: str, first_server: FakeNameServer) -> None:
    result = run("addWritePerm", "broker-a", both_servers, "--json")
    assert list(json.loads(result.out)[0]) == KEYS
    assert first_server.routes["T"]["broker-a"] == 6


def test_an_unknown_broker_is_not_found(run: Run, both_servers: str, first_server: FakeNameServer) -> None:
    result = run("wipeWritePerm", "broker-x", both_servers, "--json")
    assert result.code == 5
    assert {(row["topicCount"], row["result"], row["error"]) for row in json.loads(result.out)} == {
        (None, "not found", 'no broker "broker-x" is registered here')
    }
    assert 205 not in first_server.asked_codes()


def test_what_one_server_did_not_do_is_told_beside_what_the_other_did(
    run: Run, first_server: FakeNameServer, dead_addr: str
) -> None:
    result = run("wipeWritePerm", "broker-a", "-n", dead_addr, "-n", first_server.addr, "--json")
    assert result.code == 3
    assert result.err.splitlines()[1] == (
        f"nsadmin: failed on 1 of 2 servers: {dead_addr}: connection refused, no server listens on this port"
    )
    assert [(row["namesrvAddr"], row["result"], row["error"]) for row in json.loads(result.out)] == [
        (dead_addr, "failed", "connection refused, no server listens on this port"),
        (first_server.addr, "done", None),
    ]


@pytest.mark.parametrize("command", ["wipeWritePerm", "addWritePerm"])
def test_a_dry_run_touches_nothing(
    run: Run,
    both_servers: str,
    first_server: FakeNameServer,
    second_server: FakeNameServer,
    command: str,
    broker: FakeBroker,
) -> None:
    result = run(command, "broker-a", both_servers, "--dry-run", "--json")
    assert result.code == 0
    assert [row["result"] for row in json.loads(result.out)] == ["dry-run"] * 2
    assert {*first_server.asked_codes(), *second_server.asked_codes()} == {106, 206, 105}
    assert broker.asked_codes() == [21 if command == "addWritePerm" else 305]


@pytest.mark.parametrize(
    ("command", "after", "changes"),
    [
        ("wipeWritePerm", {"R": 4, "T": 5, "U": 4}, "rwi -> r-i on 1 topic, rw- -> r-- on 1 topic"),
        ("addWritePerm", {"R": 6, "T": 6, "U": 6}, "r-- -> rw- on 1 topic, rwi -> rw- on 1 topic"),
    ],
)
def test_a_dry_run_shows_each_topic_before_and_after(
    run: Run, first_server: FakeNameServer, dead_addr: str, command: str, after: dict[str, int], changes: str
) -> None:
    first_server.routes = {
        "T": {"broker-a": 7, "other": 2},
        "U": {"broker-a": 6},
        "R": {"broker-a": 4},
        "X": {"z": 6},
    }
    result = run(command, "broker-a", "-n", f"{dead_addr};{first_server.addr}", "--dry-run", "--json")
    assert result.code == 3
    refused, row = json.loads(result.out)
    assert (refused["result"], refused["before"]) == ("failed", None)
    assert (row["topicCount"], row["changes"]) == (3, changes)
    assert (row["before"], row["after"]) == ({"R": 4, "T": 7, "U": 6}, after)
    again = json.loads(run(command, "broker-a", "-n", first_server.addr, "--json").out)[0]
    assert (again["topicCount"], again["before"], again["after"]) == (3, None, None)


@pytest.mark.parametrize(("more", "outcome"), [("--dry-run", "will be rw-"), ("--yes", "are rw- now")])
def test_topics_with_other_permissions_on_the_broker_are_named(
    run: Run, first_server: FakeNameServer, broker: FakeBroker, more: str, outcome: str
) -> None:
    table = {
        "old": topic_config("old", perm=4),
        "T": topic_config("T"),
        "inner": topic_config("inner", perm=1),
    }
    broker.handlers[21] = lambda asked: answer_json(asked, {"topicConfigTable": table})
    result = run("addWritePerm", "broker-a", more, "-n", first_server.addr)
    assert (result.code, result.err) == (
        0,
        f"nsadmin: on the name servers, 2 topics of broker-a {outcome}, unlike on the broker (old r--, inner "
        "--i). It refuses what it does not allow itself: to give only these topics their permissions "
        "back, run nsadmin repair wipe broker-a\n",
    )
    broker.handlers[21] = refuse_with(1, "busy")
    unknown = run("addWritePerm", "broker-a", more, "-n", first_server.addr)
    assert "the permissions that topics have on broker-a are unknown: SYSTEM_ERROR (1): busy" in unknown.err
    assert unknown.code == 0


def test_a_server_that_does_not_tell_fails_in_a_dry_run(run: Run, first_server: FakeNameServer) -> None:
    first_server.handlers[206] = refuse_with(1, "disable")
    result = run("wipeWritePerm", "broker-a", "-n", first_server.addr, "--dry-run", "--json")
    assert (result.code, json.loads(result.out)[0]["error"]) == (1, "SYSTEM_ERROR (1): disable")
    first_server.handlers[206] = lambda asked: answer_json(asked, {"topicList": ["T", "just-deleted"]})
    result = run("wipeWritePerm", "broker-a", "-n", first_server.addr, "--dry-run", "--json")
    assert (result.code, json.loads(result.out)[0]["before"]) == (0, {"T": 7})
    first_server.handlers[105] = refuse_with(2, "busy")
    assert run("wipeWritePerm", "broker-a", "-n", first_server.addr, "--dry-run").code == 1


def test_a_wipe_and_its_dry_run_name_the_topics_that_no_other_broker_takes(
    run: Run, first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: broker.addr}, "other": {0: dead_addr}}}
    first_server.routes = {
        "T": {"broker-a": 6, "other": 4},
        "U": {"broker-a": 6, "other": 6},
        "V": {"broker-a": 4},
        "W": {"broker-a": 6},
        "%RETRY%G": {"broker-a": 6},
    }
    result = run("wipeWritePerm", "broker-a", "--dry-run", "-n", first_server.addr)
    lone = "nsadmin: clients cannot send to 2 topics without broker-a: T, W\n"
    assert result.err == lone
    assert run("wipeWritePerm", "broker-a", "--yes", "-n", first_server.addr).err.startswith(lone)


def test_the_warning_of_adding_names_each_topic_that_a_repair_changes(run_on_lab: Run) -> None:
    told = run_on_lab("addWritePerm", "broker-a-0", "--yes").err
    [row] = run_on_lab("repair", "wipe", "broker-a-0", "--dry-run").json
    assert len(row["after"]) > 1
    assert f"on the name servers, {len(row['after'])} topics of broker-a-0 are rw- now" in told
