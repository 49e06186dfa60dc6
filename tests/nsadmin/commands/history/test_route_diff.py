"""routeDiff: only what differs, with the exit codes of diff."""

from pathlib import Path

import pytest

from namesrv_core.events import QueueData, TopicChange, TopicsChanged, WritePermWiped, group_topic_changes
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer
from tests.support.journals import make_snapshot, registration_events, write_journal

RW, RO = QueueData("a", 8, 8, 6), QueueData("a", 8, 8, 4)
AT = "2025-11-21T14:03:{:02d}Z".format


@pytest.fixture
def folder(tmp_path: Path) -> str:
    events = [
        make_snapshot("start"),
        *registration_events("a", "T", "U"),
        WritePermWiped("a", 2, group_topic_changes([TopicChange("T", RW, RO)])),
        TopicsChanged(
            "a", "registration", group_topic_changes([TopicChange("U", RW, None), TopicChange("V", None, RO)])
        ),
    ]
    return write_journal(tmp_path / "j", events)


def test_only_what_differs_between_two_times(run: Run, folder: str) -> None:
    result = run("routeDiff", "--from", AT(2), "--to", AT(4), "--journal", folder)
    assert result.code == 1
    assert result.err == "nsadmin: 3 differences\n"
    assert [line.split("  ")[0] for line in result.out.splitlines()] == ["what", "topic", "topic", "topic"]
    rows = run("routeDiff", "--from", AT(2), "--to", AT(4), "--journal", folder, "--json").json
    assert [(row["name"], row["brokerName"], row["changes"]) for row in rows] == [
        ("T", "a", "perm rw- -> r--"),
        ("U", "a", "removed: readQueueNums 8, writeQueueNums 8, perm rw-, topicSysFlag 0"),
        ("V", "a", "new: readQueueNums 8, writeQueueNums 8, perm r--, topicSysFlag 0"),
    ]
    assert rows[0]["before"] == {"readQueueNums": 8, "writeQueueNums": 8, "perm": 6, "topicSysFlag": 0}
    result = run("routeDiff", "T", "--from", AT(2), "--to", AT(4), "--journal", folder)
    assert (result.code, result.err) == (1, "nsadmin: 1 difference\n")


def test_the_same_is_0_and_nothing(run: Run, folder: str) -> None:
    result = run("routeDiff", "--from", AT(2), "--to", AT(2), "--journal", folder, "--json")
    assert (result.code, result.out, result.err) == (0, "[]\n", "nsadmin: no differences\n")
    result = run("routeDiff", "--from", AT(2), "--to", AT(2), "--journal", folder, "--unified")
    assert (result.code, result.out, result.err) == (0, "", "")
    result = run("routeDiff", "TT", "--from", AT(2), "--to", AT(4), "--journal", folder)
    assert (result.code, result.err) == (0, 'nsadmin: neither side has the topic "TT"\n')


def test_as_unified_text(run: Run, folder: str) -> None:
    result = run("routeDiff", "--from", AT(1), "--to", AT(4), "--journal", folder, "--unified")
    assert (result.code, result.err) == (1, "")
    assert result.out.splitlines() == [
        "--- s:9876 at 2025-11-21T14:03:01.000Z",
        "+++ s:9876 at 2025-11-21T14:03:04.000Z",
        "@@ -1,0 +2,2 @@",
        "+topic T a readQueueNums=8 writeQueueNums=8 perm=r-- topicSysFlag=0",
        "+topic V a readQueueNums=8 writeQueueNums=8 perm=r-- topicSysFlag=0",
    ]


def test_a_line_end_in_a_name_is_no_other_line_of_the_text(
    run: Run, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    second_server.routes = {"U\n-topic T\x1b": {"broker-a": 6}}
    result = run("routeDiff", "--from", first_server.addr, "--to", second_server.addr, "--unified")
    assert [line.partition(" broker-a")[0] for line in result.out.splitlines()[3:]] == [
        "-topic T",
        "+topic U\\n-topic T\\x1b",
    ]


def test_two_name_servers_that_tell_another_story(
    run: Run, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    assert run("routeDiff", "--from", first_server.addr, "--to", second_server.addr).code == 0
    second_server.routes = {"T": {"broker-a": 4}}
    second_server.clusters = {"C": {"broker-a": {0: "other:1"}}}
    result = run(
        "routeDiff",
        "--from",
        first_server.addr,
        "--to",
        second_server.addr,
        "--output",
        "tsv",
        "--columns",
        "what,changes",
    )
    assert result.code == 1
    _, broker, topic = result.out.splitlines()
    assert broker.startswith("broker\tbrokerAddrs 0=")
    assert broker.endswith("-> 0=other:1")
    assert topic == "topic\tperm rwi -> r--"


def test_debug_shows_what_both_sides_are_asked(
    run: Run, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    assert run("contextSet", "prod", "-n", second_server.addr).code == 0
    result = run("routeDiff", "--from", first_server.addr, "--to", "prod", "--debug")
    for server in (first_server, second_server):
        assert f"{server.addr} GET_BROKER_CLUSTER_INFO (106): SUCCESS (0)" in result.err
        assert f"{server.addr} GET_ROUTEINFO_BY_TOPIC (105): SUCCESS (0)" in result.err


def test_trouble_is_no_difference(
    run: Run, first_server: FakeNameServer, folder: str, dead_addr: str
) -> None:
    for args, code in (
        (("--from", AT(2), "--to", "-2h"), 2),
        (("--from", "nonsense", "--to", AT(2)), 2),
        (("--from", first_server.addr, "--to", dead_addr), 4),
    ):
        result = run("routeDiff", *args, "--journal", folder)
        assert (result.code, result.out) == (code, "")
        assert result.err.startswith("nsadmin: ")
