"""spread, of simulated brokers; the plan that it writes is read back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin.operations.plans.yaml_reader import read_desired_cluster
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, closed_port
from tests.support.lab import Lab, start_lab
from tests.support.registering_brokers import RegisteringBroker
from tests.support.topic_brokers import topic_config


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(tmp_path_factory.mktemp("lab"), name_servers=2) as running:
        yield running


def rows_of(run: Run, running_lab: Lab, *words: str) -> list[dict[str, Any]]:
    result = run("spread", *words, "-n", running_lab.namesrv_addr, "--json")
    assert result.code == 0, result.err
    return list(result.json)


def test_a_topic_in_each_cluster_that_has_it(run: Run, running_lab: Lab) -> None:
    rows = rows_of(run, running_lab, "refunds-settled")
    assert [(row["clusterName"], row["finding"], row["missing"]) for row in rows] == [
        ("cluster-a", "even", []),
        ("cluster-b", "on 1 of 3 brokers", ["broker-b-0", "broker-b-1"]),
    ]
    assert rows[1]["queues"] == {"broker-b-2": "8/8"}
    assert len(rows_of(run, running_lab, "refunds-settled", "-c", "cluster-b")) == 1


def test_several_topics_have_one_plan(run: Run, running_lab: Lab, tmp_path: Path) -> None:
    file, place = tmp_path / "even.yaml", ("-c", "cluster-a", "-n", running_lab.namesrv_addr)
    topics = "coupons-created,customers-archived"
    assert run("spread", topics, "--plan", str(file), *place).code == 0
    assert set(read_desired_cluster(file.read_text(), "even.yaml").topic_specs or ()) == {*topics.split(",")}
    for topic, problem in (
        ("nowhere", 'no broker of cluster cluster-a has the topic "nowhere"'),
        ("order", 'no topic "order"; did'),
    ):
        unknown = run("spread", f"orders,{topic}", *place)
        assert (unknown.code, unknown.err.startswith(f"nsadmin: {problem}")) == (5, True), unknown


def test_all_that_are_not_even(run: Run, running_lab: Lab) -> None:
    rows = rows_of(run, running_lab, "-c", "cluster-a")
    assert {row["finding"] for row in rows} == {"on 1 of 3 brokers"}
    assert "customers-archived" in {row["topic"] for row in rows}
    result = run("spread", "-c", "cluster-a", "-n", running_lab.namesrv_addr)
    assert result.err == (
        "nsadmin: 6 of 40 topics are unbalanced\n"
        "nsadmin: run nsadmin spread -c cluster-a --plan even-cluster-a.yaml to write a plan that puts them "
        "on all brokers of cluster-a\n"
    )


def test_only_unbalanced_topics_lead_to_a_plan(run: Run, running_lab: Lab) -> None:
    place = ("-n", running_lab.namesrv_addr)
    assert run("spread", "refunds-settled", *place).err == (
        "nsadmin: run nsadmin spread refunds-settled -c cluster-b --plan even-cluster-b.yaml to write a plan "
        "that puts it on all brokers of cluster-b\n"
    )
    assert run("spread", "orders", *place).err == ""


def test_the_plan_makes_them_even(run: Run, running_lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "even.yaml"
    words = ("spread", "--plan", str(file), "-n", running_lab.namesrv_addr)
    result = run(*words)
    assert result.code == 2
    assert "topics of cluster-a, cluster-b are unbalanced: choose one cluster with -c" in result.err
    result = run(*words, "-c", "cluster-a")
    assert result.code == 0
    assert f"wrote {file}: run nsadmin plan {file} to check it, then nsadmin apply {file}" in result.err
    desired = read_desired_cluster(file.read_text(), "even.yaml")
    assert (desired.cluster_name, desired.group_specs) == ("cluster-a", None)
    assert desired.topic_specs is not None
    assert len(desired.topic_specs) == 6
    assert all(spec.only_on is None and not spec.not_on for spec in desired.topic_specs.values())
    result = run(*words, "-c", "cluster-a")
    assert (result.code, f"{file} exists: pass another name with --plan" in result.err) == (2, True)
    assert run("spread", "orders", "--plan", "x", "-n", running_lab.namesrv_addr).err == (
        "nsadmin: no plan was written: the topics are balanced\n"
    )
    addr = running_lab.brokers["broker-a-0", 0]
    assert (
        run("updateTopicPerm", "orders", "4", "-b", addr, "-n", running_lab.namesrv_addr, "--yes").code == 0
    )
    only_perm = run("spread", "orders", "--plan", "x", "-n", running_lab.namesrv_addr)
    assert only_perm.err.endswith("a plan changes no other settings; brokers differ in orders (perm)\n")


def test_what_is_uneven_or_static(ask: Run, first_server: FakeNameServer) -> None:
    mapping = {"bname": "broker-a", "topic": "S", "hostedQueues": {}}
    with (
        RegisteringBroker(topic_config("T"), topic_config("S"), topic_config("P")) as a,
        RegisteringBroker(
            topic_config("T", readQueueNums=4), topic_config("P", perm=4), name="broker-b"
        ) as b,
        RegisteringBroker(topic_config("P"), name="broker-c") as c,
    ):
        a.mappings = {"S": mapping}
        brokers = {"broker-a": {0: a.addr}, "broker-b": {0: b.addr}}
        first_server.clusters = {"C": brokers}
        result = ask("spread", "--json")
        assert {row["topic"]: row["finding"] for row in result.json} == {
            "S": "static: updateStaticTopic balances it",
            "T": "uneven",
        }
        [row] = ask("spread", "P", "--json").json
        assert (row["finding"], row["differing"]) == ("balanced, with different settings", ["perm"])
        first_server.clusters = {"C": {**brokers, "broker-c": {0: c.addr}}}
        [row] = ask("spread", "T", "--json").json
        assert row["finding"] == "on 2 of 3 brokers, uneven"


def test_a_topic_of_two_clusters_counts_once_and_ordered_ones_are_told(
    ask: Run, first_server: FakeNameServer, tmp_path: Path
) -> None:
    ordered = topic_config("O", attributes={"message.type": "FIFO"})
    with (
        RegisteringBroker(topic_config("T"), ordered, topic_config("E", order=True)) as a,
        RegisteringBroker(topic_config("E", order=True), name="broker-b") as b,
        RegisteringBroker(topic_config("T"), topic_config("X"), name="broker-c") as c,
        RegisteringBroker(topic_config("X"), name="broker-d") as d,
    ):
        first_server.clusters = {
            "C": {"broker-a": {0: a.addr}, "broker-b": {0: b.addr}},
            "D": {"broker-c": {0: c.addr}, "broker-d": {0: d.addr}},
        }
        c.items["brokerClusterName"] = d.items["brokerClusterName"] = "D"
        result = ask("spread", "--json")
        assert ([row["topic"] for row in result.json], "2 of 4 topics are unbalanced" in result.err) == (
            ["O", "T", "T"],
            True,
        )
        moved = "another number of queues moves keys to other queues, so the order of"
        plan = ask("spread", "-c", "C", "--plan", str(tmp_path / "c.yaml"))
        assert f"nsadmin: O is FIFO in C: {moved}" in plan.err
        assert moved not in ask("spread", "-c", "D", "--plan", str(tmp_path / "d.yaml")).err


def test_a_broker_that_says_nothing_may_have_anything(
    ask: Run, first_server: FakeNameServer, tmp_path: Path
) -> None:
    with RegisteringBroker() as a:
        dead = f"127.0.0.1:{closed_port()}"
        first_server.clusters = {
            "C": {"broker-a": {0: a.addr}, "broker-b": {0: dead}, "broker-c": {1: "127.0.0.1:1"}}
        }
        result = ask("spread", "T")
        assert result.code == 3
        assert "broker broker-b did not report its topics: connection refused" in result.err
        assert "broker broker-c did not report its topics: this broker has no master now" in result.err
        file = tmp_path / "even.yaml"
        result = ask("spread", "--plan", str(file))
        assert (result.code, file.exists()) == (1, False)
        assert "no plan was written, because the topics of broker-b, broker-c are unknown" in result.err
        assert ask("spread", "U").code == 4


def test_a_process_with_two_names_counts_once(ask: Run, first_server: FakeNameServer) -> None:
    with RegisteringBroker(name="broker-b") as a:
        first_server.clusters = {"C": {"broker-a": {0: a.addr}, "broker-b": {0: a.addr}}}
        result = ask("spread", "T", "--json")
    assert [row["queues"] for row in result.json] == [{"broker-b": "8/8"}]
    assert result.err == f"nsadmin: broker-a and broker-b are one process, at {a.addr}: counted once\n"


def test_groups_are_not_topics(run: Run) -> None:
    result = run("spread", "T", "--groups")
    line = "TOPICS and --groups exclude each other: pass only one of them"
    assert (result.code, result.err) == (2, f"nsadmin: {line}\n")


def test_groups_that_some_brokers_lack_are_shown_and_planned(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "even.yaml"
    with start_lab(tmp_path / "lab", FleetPlan(clusters=2, groups=2, replicas=1, topics=3)) as lab:
        server = ("-n", lab.namesrv_addr)
        before = run("spread", "--groups", *server)
        assert (before.code, before.out) == (0, "")
        for words in (("new", "-b", "broker-a-1", "-r", "3"), ("billing", "-b", "broker-b-0", "-r", "4")):
            assert run("updateSubGroup", *words, *server, "--yes").code == 0
        result = run("spread", "--groups", *server, "--json")
        assert result.json == [
            {
                "clusterName": "cluster-a",
                "group": "new",
                "finding": "on 1 of 2 brokers",
                "missing": ["broker-a-0"],
                "differing": [],
            },
            {
                "clusterName": "cluster-b",
                "group": "billing",
                "finding": "different settings",
                "missing": [],
                "differing": ["retryMaxTimes"],
            },
        ]
        refused = run("spread", "--groups", "-c", "cluster-b", "--plan", str(file), *server)
        assert (refused.code, refused.err) == (2, "nsadmin: no plan was written: no broker lacks a group\n")
        assert run("spread", "--groups", "--plan", str(file), *server).code == 0
        assert run("apply", str(file), "--yes", *server).code == 0
        assert [row["group"] for row in run("spread", "--groups", *server, "--json").json] == ["billing"]


def test_a_broker_that_does_not_report_its_groups_prevents_the_plan(
    ask: Run, first_server: FakeNameServer, dead_addr: str, tmp_path: Path
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: dead_addr}}}
    result = ask("spread", "--groups")
    assert "broker broker-a did not report its groups: connection refused" in result.err
    refused = ask("spread", "--groups", "--plan", str(tmp_path / "x"))
    assert "no plan was written, because the groups of broker-a are unknown" in refused.err


def test_a_topic_that_nobody_has(run: Run, running_lab: Lab) -> None:
    result = run("spread", "nowhere", "-n", running_lab.namesrv_addr)
    advice = "nsadmin: run nsadmin topicList to list the topics\n"
    assert (result.code, result.err) == (5, f'nsadmin: no broker has the topic "nowhere"\n{advice}')
