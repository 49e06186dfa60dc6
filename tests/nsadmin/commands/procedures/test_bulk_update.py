"""updateTopicList and updateSubGroupList in the lab."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from tests.nsadmin.conftest import CommandResult, Run
from tests.nsadmin.console.test_session import on_terminal
from tests.support.lab import Lab, start_lab

A, B = "broker-a-0", "broker-a-1"


@pytest.fixture
def running_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    with start_lab(tmp_path / "lab", FleetPlan(1, 2, 2, 6)) as running:
        monkeypatch.chdir(tmp_path)
        yield running


def written(value: object, name: str = "list.json") -> str:
    Path(name).write_text(value if isinstance(value, str) else json.dumps(value))
    return name


def results(result: CommandResult) -> list[tuple[str | None, list[str], str]]:
    return [(row["name"], row["servers"], row["result"]) for row in result.json]


def test_what_is_there_already_does_not_stop_the_others(run_on_lab: Run) -> None:
    file = written([{"topicName": "fresh", "writeQueueNums": 4}, {"topicName": "orders", "perm": 4}])
    planned = run_on_lab("updateTopicList", file, "-c", "cluster-a", "--dry-run")
    assert results(planned) == [("fresh", [A, B], "dry-run"), ("orders", [A, B], "dry-run")]
    result = run_on_lab("updateTopicList", file, "-c", "cluster-a")
    assert (result.code, results(result)) == (0, [("fresh", [A, B], "done"), ("orders", [A, B], "done")])
    assert result.err == "nsadmin: 4 sent (a topic counts once for each broker)\n"
    written([{"topicName": "fresh", "writeQueueNums": 4}, {"topicName": "later"}])
    again = run_on_lab("updateTopicList", "-f", file, "-c", "cluster-a")
    assert results(again) == [("later", [A, B], "done"), ("fresh", [A, B], "unchanged")]
    assert [row["action"] for row in again.json] == ["create", None]


def test_what_cannot_be_changed_is_skipped_and_said(run_on_lab: Run, running_lab: Lab) -> None:
    file = written([{"topicName": "fresh"}, {"topicName": "TBW102", "perm": 4}])
    result = run_on_lab("updateTopicList", file, "-b", running_lab.brokers[A, 0])
    assert (result.code, results(result)) == (3, [("fresh", [A], "done"), ("TBW102", [A], "skipped")])
    assert "brokers refuse to change" in result.json[1]["error"]


def test_messages_that_nobody_could_read_are_counted(run_on_lab: Run, running_lab: Lab) -> None:
    file = written([{"topicName": "orders", "readQueueNums": 1, "writeQueueNums": 1}])
    result = run_on_lab("updateTopicList", file, "-b", running_lab.brokers[A, 0], "--dry-run")
    assert "messages in queues 1 to 7 become unreadable" in result.err
    assert result.json[0]["messages"] > 0


def test_more_write_queues_than_read_queues_need_a_yes(run_on_lab: Run) -> None:
    file = written([{"topicName": "fresh", "readQueueNums": 4}])
    refused = run_on_lab("updateTopicList", file, "-c", "cluster-a")
    unread = f"consumers will not be able to read the messages of fresh in queues 4 and up on {A}, {B}"
    assert (refused.code, unread in refused.err) == (2, True)
    assert run_on_lab("updateTopicList", file, "-c", "cluster-a", "--yes").code == 0


def test_groups_of_either_kind_of_file(run_on_lab: Run) -> None:
    strict = {"consumeFromMinEnable": False, "consumeBroadcastEnable": False}
    file = written([{"groupName": "auditors", "retryMaxTimes": 3, **strict}])
    result = run_on_lab("updateSubGroupList", file, "-c", "cluster-a")
    assert (result.code, results(result)) == (0, [("auditors", [A, B], "done")])
    ours = written(f"cluster: x\ngroups:\n  auditors: {{retryMaxTimes: 3, notOn: [{B}]}}\n", "ours.yaml")
    again = run_on_lab("updateSubGroupList", ours, "-c", "cluster-a")
    assert (again.code, results(again)) == (0, [("auditors", [A], "unchanged"), ("auditors", [B], "skipped")])


def test_a_list_of_a_whole_cluster_is_warned_of(run_on_lab: Run) -> None:
    file = written({"exportTime": 1, "topicConfigTable": {"fresh": {"topicName": "fresh"}}})
    result = run_on_lab("updateTopicList", file, "-c", "cluster-a", "--dry-run")
    assert "adds up the queues of a topic on all brokers" in result.err


def test_a_slave_is_never_changed_and_a_dead_broker_told(
    run_on_lab: Run, running_lab: Lab, dead_addr: str
) -> None:
    file = written([{"topicName": "fresh"}])
    slave = run_on_lab("updateTopicList", file, "-b", running_lab.brokers[A, 1])
    assert (slave.code, "is a slave: change its master" in slave.err) == (1, True)
    assert run_on_lab("updateTopicList", file, "-b", dead_addr).code == 4
    running_lab.kill(B, 0)
    partly = run_on_lab("updateTopicList", file, "-c", "cluster-a", "--timeout", "1")
    assert (partly.code, results(partly)[0]) == (3, ("fresh", [A], "done"))
    running_lab.kill(A, 0)
    none = run_on_lab("updateTopicList", file, "-c", "cluster-a", "--timeout", "1")
    assert (none.code, results(none)) == (1, [(None, [A], "unknown"), (None, [B], "unknown")])


def test_a_file_that_cannot_be_used(run_on_lab: Run) -> None:
    assert run_on_lab("updateTopicList", "nothere.json", "-c", "cluster-a").code == 2
    bad = run_on_lab(
        "updateTopicList", written('[{"topicName": "a", "perms": 4},\n {"perm": 9}]'), "-c", "cluster-a"
    )
    assert (bad.code, bad.out) == (2, "")
    assert (
        bad.err.splitlines()[0] == 'nsadmin: list.json:1: item 1: unknown key "perms": did you mean "perm"?'
    )
    assert len(bad.err.splitlines()) == 3
    typo = run_on_lab(
        "updateTopicList", written('[{"topicName": "a"}, {"topicNam": "b"}]'), "-c", "cluster-a"
    )
    assert typo.err == 'nsadmin: list.json:1: item 2: unknown key "topicNam": did you mean "topicName"?\n'
    Path("binary").write_bytes(b"\xff\xfe")
    assert run_on_lab("updateTopicList", "binary", "-c", "cluster-a").code == 2
    assert run_on_lab("updateTopicList", "list.json").code == 2


def test_a_no_on_the_terminal_changes_nothing(running_lab: Lab, tmp_path: Path) -> None:
    file = str(tmp_path / written([{"topicName": "orders", "readQueueNums": 1, "writeQueueNums": 1}]))
    words = ("updateTopicList", file, "-c", "cluster-a", "-n", running_lab.namesrv_addr)
    code, out, terminal_text = on_terminal(b"n\n", *words)
    assert (code, out) == (1, b"")
    assert b"become unreadable" in terminal_text
    assert b"2 to send (a topic counts once for each broker). Continue? [y/N]" in terminal_text


def test_a_list_that_makes_messages_unreadable_needs_a_yes(running_lab: Lab, run: Run) -> None:
    file = written([{"topicName": "orders", "readQueueNums": 1, "writeQueueNums": 1}])
    words = ("updateTopicList", file, "-b", running_lab.brokers[A, 0], "-n", running_lab.namesrv_addr)
    refused = run(*words)
    assert (refused.code, "to do it without a terminal, pass --yes" in refused.err) == (2, True)
    assert run(*words, "--yes").code == 0
