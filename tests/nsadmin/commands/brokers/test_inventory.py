"""inventoryList, inventoryForget, inventoryPin, and the commands that name a missing broker."""

import json
from pathlib import Path

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_reply
from tests.nsadmin.conftest import CommandResult, Run
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeBroker, FakeNameServer, Server


@pytest.fixture
def dead_addr(first_server: FakeNameServer, broker: FakeBroker, run: Run) -> str:
    """broker-b: a command saw it, and then it left the name server."""
    gone_addr = "127.0.0.1:9"
    first_server.clusters = {
        "C": {"broker-a": {0: broker.addr}, "broker-b": {0: gone_addr, 1: "127.0.0.1:7"}}
    }
    first_server.routes = {"T": {"broker-a": 6, "broker-b": 6}, "OnlyB": {"broker-b": 6}}
    run("check", "writable", "-n", first_server.addr)
    first_server.clusters = {"C": {"broker-a": {0: broker.addr}}}
    first_server.routes = {"T": {"broker-a": 6}}
    return gone_addr


def rows(result: CommandResult) -> list[dict[str, object]]:
    report: list[dict[str, object]] = json.loads(result.out)
    return report


def test_a_dead_broker_is_a_row_of_cluster_list(
    first_server: FakeNameServer, run: Run, dead_addr: str
) -> None:
    result = run("clusterList", "-n", first_server.addr, "--json")
    assert result.code == 3
    missing = [row for row in rows(result) if row["brokerName"] == "broker-b"]
    assert [(row["brokerId"], row["brokerAddr"], row["reachable"]) for row in missing] == [
        (0, dead_addr, False),
        (1, "127.0.0.1:7", False),
    ]
    assert str(missing[0]["error"]).startswith("missing: no name server lists it, last seen 20")
    assert "broker-b:0 is missing" in result.err


def test_mqadmins_form_has_no_row_of_a_dead_broker(
    first_server: FakeNameServer, run: Run, dead_addr: str
) -> None:
    result = run("clusterList", "-n", first_server.addr, "--output", "mqadmin")
    assert "broker-b" not in result.out
    assert "broker-b:0 is missing" in result.err


def test_the_only_broker_of_a_cluster_is_missing(
    first_server: FakeNameServer, run: Run, dead_addr: str
) -> None:
    first_server.clusters = {}
    done = run("clusterList", "C", "-n", first_server.addr, "--json")
    assert [row["brokerName"] for row in rows(done)] == ["broker-a", "broker-b", "broker-b"]
    assert run("clusterList", "D", "-n", first_server.addr).code == 5


def test_what_was_forgotten_is_not_missing(first_server: FakeNameServer, run: Run, dead_addr: str) -> None:
    result = run("inventory", "forget", "broker-b", "-n", first_server.addr, "--json")
    assert (result.code, [row["result"] for row in rows(result)]) == (0, ["forgotten", "forgotten"])
    result = run("clusterList", "-n", first_server.addr, "--json")
    assert (result.code, [row["brokerName"] for row in rows(result)]) == (0, ["broker-a"])
    listed = rows(run("inventory", "list", "-n", first_server.addr, "--json"))
    assert [(row["brokerName"], row["state"]) for row in listed] == [
        ("broker-a", "listed"),
        ("broker-b", "left"),
        ("broker-b", "left"),
    ]


def test_a_forgotten_broker_that_is_still_registered_may_leave_later(
    first_server: FakeNameServer, broker: FakeBroker, run: Run
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: broker.addr}}}
    run("clusterList", "-n", first_server.addr)
    run("inventory", "forget", "broker-b", "-n", first_server.addr)
    states = {
        row["brokerName"]: row["state"]
        for row in rows(run("inventoryList", "-n", first_server.addr, "--json"))
    }
    assert states == {"broker-a": "listed", "broker-b": "leaving"}
    without = {"C": {"broker-a": {0: broker.addr}}}
    first_server.clusters, with_it = without, first_server.clusters
    assert run("clusterList", "-n", first_server.addr).code == 0
    # It came back, so that it is expected again.
    first_server.clusters = with_it
    run("clusterList", "-n", first_server.addr)
    first_server.clusters = without
    assert run("clusterList", "-n", first_server.addr).code == 3


def test_the_list_names_what_is_missing(first_server: FakeNameServer, run: Run, dead_addr: str) -> None:
    result = run("inventory", "list", "-n", first_server.addr, "--json")
    assert (result.code, result.err) == (
        3,
        "nsadmin: broker-b:0 is missing\nnsadmin: broker-b:1 is missing\n",
    )
    states = [(row["brokerName"], row["state"], row["topicCount"]) for row in rows(result)]
    assert states == [("broker-a", "listed", 1), ("broker-b", "missing", 2), ("broker-b", "missing", 2)]


def test_without_a_name_server_the_list_is_what_was_known(
    first_server: FakeNameServer, run: Run, dead_addr: str
) -> None:
    first_server.close()
    result = run("inventory", "list", "-n", first_server.addr, "--json")
    assert (result.code, {row["state"] for row in rows(result)}) == (4, {None})


def test_a_pinned_broker_that_nobody_saw_is_missing(
    first_server: FakeNameServer, run: Run, tmp_path: Path
) -> None:
    names = tmp_path / "brokers"
    names.write_text("# the cluster\nbroker-a\nbroker-z:1\n")
    assert run("inventory", "pin", str(names), "-n", first_server.addr).code == 0
    done = run("clusterList", "-n", first_server.addr, "--json")
    assert [(row["brokerName"], row["error"]) for row in rows(done)] == [
        ("broker-a", None),
        ("broker-z", "missing: no name server lists it, and nsadmin never saw it"),
    ]
    run("inventory", "pin", "broker-z:1", "--unpin", "-n", first_server.addr)
    assert run("clusterList", "-n", first_server.addr).code == 0


def test_what_the_inventory_does_not_have_cannot_be_forgotten(first_server: FakeNameServer, run: Run) -> None:
    result = run("inventory", "forget", "broker-x", "-n", first_server.addr)
    assert (result.code, result.err.splitlines()[0]) == (
        5,
        'nsadmin: the inventory has no broker "broker-x": it has no broker',
    )


def test_a_name_that_no_broker_can_have_is_named(first_server: FakeNameServer, run: Run) -> None:
    result = run("inventory", "forget", "a:b", "-n", first_server.addr)
    assert (result.code, result.err) == (
        2, 'nsadmin: "a:b" is not a broker name: use broker-a or broker-a:1\n'
    )  # fmt: skip


def test_other_name_servers_have_an_inventory_of_their_own(
    first_server: FakeNameServer, second_server: FakeNameServer, run: Run, dead_addr: str
) -> None:
    assert run("clusterList", "-n", second_server.addr).code == 0
    assert run("clusterList", "-n", f"{first_server.addr};{second_server.addr}").code == 0


def test_a_context_keeps_its_inventory_when_its_name_servers_change(
    first_server: FakeNameServer, second_server: FakeNameServer, broker: FakeBroker, run: Run
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: broker.addr}}}
    run("contextSet", "prod", "-n", first_server.addr)
    run("contextUse", "prod")
    assert run("clusterList").code == 0
    run("contextSet", "prod", "-n", second_server.addr)
    assert "broker-b:0 is missing" in run("clusterList").err
    # The name servers of -n are not those of the context.
    assert run("clusterList", "-n", second_server.addr).code == 0


def test_nothing_is_kept_with_the_inventory_off(
    first_server: FakeNameServer, run: Run, dead_addr: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NSADMIN_INVENTORY", "off")
    assert run("clusterList", "-n", first_server.addr).code == 0
    result = run("inventory", "list", "-n", first_server.addr)
    assert (result.code, result.err) == (
        2,
        "nsadmin: the inventory is disabled: NSADMIN_INVENTORY is off\n",
    )


def test_a_folder_that_cannot_be_written_is_no_error_of_a_command(
    first_server: FakeNameServer, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("")
    monkeypatch.setenv("NSADMIN_STATE", str(blocked))
    result = run("clusterList", "-n", first_server.addr)
    assert (result.code, result.err) == (0, "")
    assert run("inventory", "pin", "broker-b", "-n", first_server.addr).code == 1


def test_check_brokers_is_critical_with_the_name_of_a_dead_broker(
    first_server: FakeNameServer, run: Run, dead_addr: str
) -> None:
    result = run("check", "brokers", "-n", first_server.addr)
    assert result.code == 2
    assert "broker-b:0, broker-b:1 left all name servers" in result.out
    assert f"broker-b:0 at {dead_addr}: missing: no name server lists it" in result.out


def test_check_brokers_misses_a_broker_that_expect_names(first_server: FakeNameServer, run: Run) -> None:
    assert run("check", "brokers", "-n", first_server.addr, "--expect", "broker-a").code == 0
    result = run("check", "brokers", "-n", first_server.addr, "--expect", "broker-a,broker-c")
    assert (result.code, "broker-c:0 is expected, and nsadmin never saw it" in result.out) == (2, True)
    # What --expect names is not saved.
    assert run("check", "brokers", "-n", first_server.addr).code == 0
    assert run("check", "brokers", "-n", first_server.addr, "--expect", "no such file").code == 3


def test_check_brokers_counts_a_missing_master_of_a_listed_slave_once(
    first_server: FakeNameServer, broker: FakeBroker, run: Run
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: "127.0.0.1:9", 1: broker.addr}}}
    run("clusterList", "-n", first_server.addr)
    first_server.clusters = {"C": {"broker-a": {1: broker.addr}}}
    result = run("check", "brokers", "-n", first_server.addr, "--json")
    values = {value["name"]: value["value"] for value in json.loads(result.out)["values"]}
    assert (result.code, values) == (2, {"failing": 1, "masterless": 1, "refusing": 0, "serving": 1})


def test_check_writable_names_the_topics_of_a_dead_broker(
    first_server: FakeNameServer, run: Run, dead_addr: str
) -> None:
    result = run("check", "writable", "-n", first_server.addr)
    assert result.code == 2
    assert "no broker accepts messages for OnlyB: broker-b: missing: no name server lists it" in result.out
    assert "broker-b accepts no messages for 1 topic (T): missing" in result.out


def test_check_all_names_a_dead_broker(first_server: FakeNameServer, run: Run, dead_addr: str) -> None:
    result = run("check", "all", "--skip", "registrationSize", "-n", first_server.addr)
    assert (result.code, "brokers CRITICAL" in result.out, "writable CRITICAL" in result.out) == (
        2,
        True,
        True,
    )


def test_divergence_has_a_row_of_a_dead_broker(
    first_server: FakeNameServer, second_server: FakeNameServer, broker: FakeBroker, run: Run
) -> None:
    both = f"{first_server.addr};{second_server.addr}"
    listed = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: "127.0.0.1:9"}}}
    first_server.clusters = second_server.clusters = listed
    assert run("divergence", "-n", both, "--settle", "0").code == 0
    first_server.clusters = second_server.clusters = {"C": {"broker-a": {0: broker.addr}}}
    result = run("divergence", "-n", both, "--settle", "0", "--json")
    server_rows = [(row["name"], row["state"], row["causeKind"]) for row in rows(result)]
    assert (result.code, server_rows) == (1, [("broker-b:0", "missing", "missing")])
    assert "2 name servers agree" in result.err
    assert "broker-b:0 is missing: no name server lists it" in result.err
    assert run("divergence", "-n", both, "--settle", "0", "--hashes").code == 1


def test_the_cause_of_a_topic_without_a_route_is_its_dead_broker(
    first_server: FakeNameServer, run: Run, dead_addr: str
) -> None:
    result = run("routeExplain", "OnlyB", "-n", first_server.addr, "--json")
    causes = {row["step"]: row for row in rows(result) if row["result"] == "cause"}
    assert (result.code, [*causes]) == (1, ["brokersGone"])
    assert causes["brokersGone"]["brokerName"] == "broker-b"
    assert causes["brokersGone"]["command"] == "nsadmin inventory forget broker-b"
    assert "updateTopic" not in result.out


def test_a_topic_that_lost_a_broker_is_not_fine(
    first_server: FakeNameServer, run: Run, dead_addr: str
) -> None:
    result = run("routeExplain", "T", "-n", first_server.addr, "--json")
    warnings = [(row["step"], row["brokerName"]) for row in rows(result) if row["result"] == "warning"]
    assert (result.code, warnings) == (3, [("brokersGone", "broker-b")])
    assert "but not those of brokers that left: broker-b" in result.err
    assert "fine" not in result.err


def test_a_topic_that_a_missing_broker_may_have_had_is_not_created(
    first_server: FakeNameServer, broker: FakeBroker, run: Run
) -> None:
    run("inventory", "pin", "broker-z", "-n", first_server.addr)
    result = run("routeExplain", "Elsewhere", "-n", first_server.addr, "--json")
    steps = {row["step"]: row for row in rows(result)}
    assert (result.code, steps["topicNotRegistered"]["result"]) == (3, "unknown")
    assert "broker-z possibly had the topic and is missing" in str(steps["topicNotRegistered"]["seen"])
    assert "updateTopic" not in result.out


def test_consumer_progress_says_whose_queues_it_does_not_count(
    first_server: FakeNameServer, consumer_broker: ConsumerBroker, run: Run
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: consumer_broker.addr}, "broker-b": {0: "127.0.0.1:9"}}}
    first_server.routes = {"T": {"broker-a": 6}, "OnlyB": {"broker-b": 6}}
    run("check", "writable", "-n", first_server.addr)
    first_server.clusters = {"C": {"broker-a": {0: consumer_broker.addr}}}
    result = run("consumerProgress", "G", "-n", first_server.addr)
    assert result.code == 3
    assert "broker-b is missing: no name server lists it" in result.err
    assert "its queues are not counted" in result.err
    assert run("consumerProgress", "-n", first_server.addr).code == 3
    # The broker never had this topic.
    assert run("consumerProgress", "G", "-t", "T", "-n", first_server.addr).code == 0


def test_a_group_whose_broker_is_missing_is_not_fine(
    first_server: FakeNameServer, consumer_broker: ConsumerBroker, run: Run
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: consumer_broker.addr}, "broker-b": {0: "127.0.0.1:9"}}}
    first_server.routes = {"T": {"broker-a": 6, "broker-b": 6}, "%RETRY%G": {"broker-a": 6, "broker-b": 6}}
    run("check", "writable", "-n", first_server.addr)
    first_server.clusters = {"C": {"broker-a": {0: consumer_broker.addr}}}
    result = run("group", "explain", "G", "-n", first_server.addr, "--json")
    [down] = [row for row in rows(result) if row["step"] == "brokerDown"]
    assert (result.code, down["brokerName"]) == (1, "broker-b")
    assert down["command"] == "nsadmin inventory forget broker-b"


@pytest.mark.parametrize(
    "words",
    [
        ("drain", "broker-b"),
        ("broker", "explain", "broker-b"),
        ("brokerStatus", "-b", "broker-b/1"),
        ("wipeWritePerm", "broker-b", "--yes"),
        ("rebalance", "plan", "-c", "C", "--remove", "broker-b"),
    ],
)
def test_a_missing_broker_is_not_taken_for_a_mistyped_one(
    first_server: FakeNameServer, run: Run, dead_addr: str, words: tuple[str, ...]
) -> None:
    result = run(*words, "-n", first_server.addr)
    assert (result.code, "did you mean" in result.err) == (5, False)
    assert "broker-b is missing: no name server lists it, last seen 20" in result.err
    assert "run `nsadmin inventory forget broker-b`; `nsadmin check writable` shows its topics" in result.err


@pytest.mark.parametrize(
    ("words", "consequence"),
    [
        (("deleteTopic", "T", "C", "--dry-run"), "when it is back, it registers the topics that it has"),
        (("deleteSubGroup", "G", "-c", "C", "--dry-run"), "this command leaves it out"),
        (("updateTopic", "T", "-c", "C", "--dry-run"), "this command leaves it out"),
        (("rollingRestart", "C", "--dry-run"), "it is not restarted"),
        (("spread", "T"), "its topics are unknown"),
        (("export", "C"), "the file lacks what only this broker has"),
        (("exportConfigs", "C"), "the export lacks what only this broker has"),
        (("backup", "create", "C", "--file", "c.zip"), "the backup lacks what only this broker has"),
        (("plan", "c.yaml"), "the plan leaves it out"),
        (("apply", "c.yaml", "--dry-run"), "apply leaves it out"),
    ],
)
def test_what_reaches_all_brokers_of_a_cluster_names_the_missing_one(
    first_server: FakeNameServer, run: Run, dead_addr: str, words: tuple[str, ...], consequence: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("c.yaml").write_text("cluster: C\ntopics: {}\n")
    result = run(*words, "-n", first_server.addr)
    assert "broker-b is missing: no name server lists it" in result.err
    assert consequence in result.err


def test_a_removed_broker_of_a_container_is_not_missing(
    first_server: FakeNameServer, broker: FakeBroker, run: Run
) -> None:
    first_server.clusters = {
        "C": {"broker-a": {0: broker.addr}, "broker-b": {0: broker.addr, 1: "127.0.0.1:9"}}
    }
    run("clusterList", "-n", first_server.addr)
    with Server({RequestCode.REMOVE_BROKER: build_reply}) as container:
        assert run("removeBroker", container.addr, "C:broker-b:1", "--yes", "-n", first_server.addr).code == 0
    first_server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: broker.addr}}}
    assert run("clusterList", "-n", first_server.addr).code == 0
    states = [
        (row["brokerName"], row["brokerId"], row["state"])
        for row in rows(run("inventoryList", "-n", first_server.addr, "--json"))
    ]
    assert states == [("broker-a", 0, "listed"), ("broker-b", 0, "listed"), ("broker-b", 1, "left")]
