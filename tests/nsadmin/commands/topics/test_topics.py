"""topicList, topicRoute, topicClusterList, deleteTopic."""

import json

import pytest

from tests.nsadmin.conftest import Run
from tests.support.servers import FakeBroker, FakeNameServer, refuse
from tests.support.topic_brokers import TopicBroker, topic_config


def test_names_alone_or_with_their_consumers(run: Run, both: str, broker: FakeBroker) -> None:
    broker.topics = {"T": ["G2", "G1"]}
    assert run("topicList", both) == (0, "topic\nT\n", "")
    for flag in ("-c", "--clusterModel"):
        assert json.loads(run("topicList", flag, both, "--json").out) == [
            {"clusterName": "C", "topic": "T", "consumerGroups": ["G1", "G2"]}
        ]


def test_consumers_that_could_not_be_asked_for_are_null_and_told(
    run: Run, first: FakeNameServer, broker: FakeBroker
) -> None:
    first.routes["U"] = {"broker-a": 6}
    broker.handlers[300] = lambda asked: (
        refuse(1, "no")(asked) if asked.ext == {"topic": "U"} else FakeBroker._groups(broker, asked)
    )
    result = run("topicList", "-c", "-n", first.addr, "--json")
    assert (result.code, result.err) == (3, "nsadmin: topic U: SYSTEM_ERROR (1): no\n")
    assert [row["consumerGroups"] for row in json.loads(result.out)] == [[], None]


def test_a_dead_broker_is_one_line_however_many_topics_it_has(
    run: Run, first: FakeNameServer, dead: str
) -> None:
    first.clusters = {"C": {"broker-a": {0: dead}}}
    first.routes = {name: {"broker-a": 6} for name in "ABC"}
    result = run("topicList", "-c", "-n", first.addr)
    line = f"nsadmin: topic A and 2 more: {dead}: connection refused, no server listens on this port\n"
    assert (result.code, result.err) == (3, line)


def test_system_topics_can_be_hidden(
    run: Run, both: str, first: FakeNameServer, second: FakeNameServer
) -> None:
    for server in (first, second):
        server.routes = {name: {"broker-a": 6} for name in ("T", "TBW102", "C", "%DLQ%G")}
    assert run("topicList", both).out == "topic\n%DLQ%G\nC\nT\nTBW102\n"
    assert run("topicList", both, "--no-system").out == "topic\n%DLQ%G\nT\n"


def test_topics_of_one_cluster(run: Run, both: str, first: FakeNameServer) -> None:
    assert run("topicList", both, "--cluster", "C").out == "topic\nT\n"
    assert 224 in first.codes()
    assert run("topicList", both, "--cluster", "X").code == 5


@pytest.mark.parametrize("words", [("T",), ("-t", "T"), ("--topic", "T", "-l")])
def test_a_route_is_readable_in_a_table_and_has_wire_values_in_json(
    run: Run, both: str, broker: FakeBroker, words: tuple[str, ...]
) -> None:
    result = run("topicRoute", *words, both)
    assert result.out.splitlines()[1].split() == [
        "T",
        "broker-a",
        "C",
        f"0={broker.addr}",
        "rwi",
        "8",
        "8",
        "0",
    ]
    assert json.loads(run("topicRoute", *words, both, "--json").out) == [
        {
            "topic": "T",
            "brokerName": "broker-a",
            "clusterName": "C",
            "brokerAddrs": {"0": broker.addr},
            "perm": 7,
            "readQueueNums": 8,
            "writeQueueNums": 8,
            "topicSysFlag": 0,
            "logicalQueues": None,
        }
    ]


def test_the_raw_route_is_the_servers_json(run: Run, both: str) -> None:
    assert json.loads(run("topicRoute", "T", both, "--raw").out)["queueDatas"][0]["perm"] == 7


def test_all_clusters_of_a_topic(run: Run, first: FakeNameServer) -> None:
    first.clusters = {"C": {"a": {0: "h:1"}}, "D": {"b": {0: "h:2"}}}
    first.routes = {"T": {"a": 6, "b": 6}}
    assert run("topicClusterList", "T", "-n", first.addr) == (0, "clusterName\nC\nD\n", "")
    assert run("topicClusterList", "U", "-n", first.addr).code == 5


QUEUES = {"broker-a": {"readQueueNums": 8, "writeQueueNums": 8, "perm": 7}}
ROUTED = "removed: queues on broker-a"


@pytest.mark.parametrize("words", [("T", "C"), ("T", "-c", "C"), ("-t", "T", "--clusterName", "C")])
def test_deleting_goes_through_masters_and_name_servers(
    run: Run,
    both: str,
    first: FakeNameServer,
    second: FakeNameServer,
    broker: FakeBroker,
    words: tuple[str, ...],
) -> None:
    broker.topics = {"T": []}
    result = run("deleteTopic", *words, both, "--yes", "--json")
    assert (result.code, result.err) == (0, "")
    assert [list(row.items()) for row in json.loads(result.out)] == [
        [
            ("target", addr),
            ("role", role),
            ("topic", "T"),
            ("changes", changes),
            ("before", before),
            ("after", None),
            ("result", "done"),
            ("error", None),
        ]
        for addr, role, changes, before in (
            (broker.addr, "master", "gone: topicName T", {"topicName": "T"}),
            (first.addr, "nameserver", ROUTED, QUEUES),
            (second.addr, "nameserver", ROUTED, QUEUES),
        )
    ]
    assert run("topicRoute", "T", both).code == 5


def test_deleting_takes_the_brokers_out_of_the_order_configuration(
    run: Run, both: str, first: FakeNameServer, second: FakeNameServer, broker: FakeBroker
) -> None:
    broker.topics = {"T": []}
    first.kv["ORDER_TOPIC_CONFIG"] = {"T": "broker-a:4", "U": "broker-a:1"}
    second.kv["ORDER_TOPIC_CONFIG"] = {"T": "broker-a:4;other:8"}
    dry = json.loads(run("deleteTopic", "T", "C", both, "--dry-run", "--json").out)
    changes = ["gone: orderConf broker-a:4", "orderConf broker-a:4;other:8 -> other:8"]
    assert [(row["target"], row["role"], row["changes"]) for row in dry[-2:]] == [
        (first.addr, "nameserver", changes[0]),
        (second.addr, "nameserver", changes[1]),
    ]
    assert first.kv["ORDER_TOPIC_CONFIG"]["T"] == "broker-a:4"
    result = run("deleteTopic", "T", "C", both, "--yes", "--json")
    rows = json.loads(result.out)
    assert (result.code, [row["changes"] for row in rows[-2:]]) == (0, changes)
    assert first.kv["ORDER_TOPIC_CONFIG"] == {"U": "broker-a:1"}
    assert second.kv["ORDER_TOPIC_CONFIG"] == {"T": "other:8"}


def test_a_deletion_that_fails_keeps_the_order_configuration(
    run: Run, both: str, first: FakeNameServer, broker: FakeBroker
) -> None:
    first.kv["ORDER_TOPIC_CONFIG"] = {"T": "broker-a:4"}
    broker.handlers[215] = refuse(1, "no")
    assert run("deleteTopic", "T", "C", both, "-y", "--json").code == 1
    assert first.kv["ORDER_TOPIC_CONFIG"] == {"T": "broker-a:4"}


def test_a_master_that_fails_keeps_the_name_servers_out_of_it(
    run: Run, both: str, first: FakeNameServer, broker: FakeBroker
) -> None:
    broker.handlers[215] = refuse(1, "no")
    result = run("deleteTopic", "T", "C", both, "-y", "--json")
    assert result.code == 1
    assert [row["result"] for row in json.loads(result.out)] == ["failed", "skipped", "skipped"]
    assert 216 not in first.codes()


def test_deleting_dry_touches_nothing(run: Run, both: str, first: FakeNameServer, broker: FakeBroker) -> None:
    result = run("deleteTopic", "T", "C", both, "--dry-run", "--json")
    assert result.code == 0
    rows = json.loads(result.out)
    assert [row["result"] for row in rows] == ["dry-run"] * 3
    # The master has no such topic, the name servers route it all the same.
    assert [(row["changes"], row["before"]) for row in rows] == [
        (None, None),
        (ROUTED, QUEUES),
        (ROUTED, QUEUES),
    ]
    assert {*first.codes(), *broker.codes()}.isdisjoint({215, 216})


def test_a_dry_run_says_who_could_not_be_asked(run: Run, first: FakeNameServer, dead: str) -> None:
    with TopicBroker(topic_config("T", perm=4)) as master:
        first.clusters = {"C": {"broker-a": {0: master.addr}, "broker-b": {0: dead}}}
        result = run("deleteTopic", "T", "C", "-n", first.addr, "--dry-run", "--json")
        assert result.code == 3
        here, gone, _ = json.loads(result.out)
        assert (here["changes"], here["before"]["perm"]) == (
            "gone: readQueueNums 8, writeQueueNums 8, perm r--",
            4,
        )
        assert (gone["target"], gone["result"], gone["changes"]) == (dead, "failed", None)
        assert "T" in master.configs
