"""topicList, topicRoute, topicClusterList, deleteTopic."""

import json
import time
from typing import Any

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeBroker, FakeNameServer, answer_json, refuse_with
from tests.support.topic_brokers import TopicBroker, topic_config


def test_names_alone_or_with_their_consumers(run: Run, both_servers: str, broker: FakeBroker) -> None:
    broker.topics = {"T": ["G2", "G1"]}
    assert run("topicList", both_servers) == (0, "topic\nT\n", "")
    for flag in ("-c", "--clusterModel"):
        assert json.loads(run("topicList", flag, both_servers, "--json").out) == [
            {"clusterName": "C", "topic": "T", "groups": ["G1", "G2"]}
        ]


def test_consumers_that_could_not_be_asked_for_are_null_and_told(
    run: Run, first_server: FakeNameServer, broker: FakeBroker
) -> None:
    first_server.routes["U"] = {"broker-a": 6}
    broker.handlers[300] = lambda asked: (
        refuse_with(1, "no")(asked) if asked.ext == {"topic": "U"} else FakeBroker._groups(broker, asked)
    )
    result = run("topicList", "-c", "-n", first_server.addr, "--json")
    assert (result.code, result.err) == (3, "nsadmin: topic U: SYSTEM_ERROR (1): no\n")
    assert [row["groups"] for row in json.loads(result.out)] == [[], None]


def test_a_dead_broker_is_one_line_however_many_topics_it_has(
    run: Run, first_server: FakeNameServer, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: dead_addr}}}
    first_server.routes = {name: {"broker-a": 6} for name in "ABC"}
    result = run("topicList", "-c", "-n", first_server.addr)
    line = f"nsadmin: topic A and 2 more: {dead_addr}: connection refused, no server listens on this port\n"
    assert (result.code, result.err) == (3, line)


def test_system_topics_can_be_hidden(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    for server in (first_server, second_server):
        server.routes = {name: {"broker-a": 6} for name in ("T", "TBW102", "C", "%DLQ%G", "%RETRY%G")}
    assert run("topicList", both_servers).out == "topic\n%DLQ%G\n%RETRY%G\nC\nT\nTBW102\n"
    assert run("topicList", both_servers, "--no-system").out == "topic\nT\n"
    assert run("topicList", "C,T*", both_servers).out == "topic\nC\nT\nTBW102\n"
    assert run("topicList", "T*", both_servers, "--no-system").out == "topic\nT\n"
    assert run("topicList", "U*", both_servers).err.startswith('nsadmin: no topic matches "U*"')
    unknown = run("topicList", "TBW103", both_servers)
    hint = 'no topic "C1": -c takes no value, use --cluster for a cluster'
    assert hint in run("topicList", "-c", "C1", both_servers).err
    assert (unknown.code, unknown.err.partition("\n")[0]) == (
        5,
        'nsadmin: no topic "TBW103"; did you mean "TBW102"?',
    )


def test_topics_of_one_cluster(run: Run, both_servers: str, first_server: FakeNameServer) -> None:
    assert run("topicList", both_servers, "--cluster", "C").out == "topic\nT\n"
    assert 224 in first_server.asked_codes()
    assert run("topicList", both_servers, "--cluster", "X").code == 5


@pytest.mark.parametrize("words", [("T",), ("-t", "T"), ("--topic", "T", "-l")])
def test_a_route_is_readable_in_a_table_and_has_wire_values_in_json(
    run: Run, both_servers: str, broker: FakeBroker, words: tuple[str, ...]
) -> None:
    result = run("topicRoute", *words, both_servers)
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
    assert json.loads(run("topicRoute", *words, both_servers, "--json").out) == [
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


def test_a_pattern_shows_the_routes_of_all_its_topics(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    for server in (first_server, second_server):
        server.routes = {name: {"broker-a": 6} for name in ("pay", "payments", "T", "%DLQ%pay")}
    shown = run("topicRoute", "pa*,T", both_servers, "--columns", "topic,brokerName,perm", "--no-headers")
    assert [line.split() for line in shown.out.splitlines()] == [
        [name, "broker-a", "rw-"] for name in ("pay", "payments", "T")
    ]
    missing = run("topicRoute", "T,none", both_servers, "--output", "name")
    assert (missing.code, missing.out) == (3, "T\n")
    assert "none" in missing.err


def test_the_raw_route_is_the_servers_json(run: Run, both_servers: str) -> None:
    assert json.loads(run("topicRoute", "T", both_servers, "--raw").out)["queueDatas"][0]["perm"] == 7


def test_a_route_of_one_cluster(run: Run, first_server: FakeNameServer) -> None:
    first_server.clusters = {"C": {"a": {0: "h:1"}}, "D": {"b": {0: "h:2"}}}
    first_server.routes = {"T": {"a": 6, "b": 6}, "U": {"b": 6}}
    words = ("topicRoute", "--columns", "brokerName", "--output", "value", "-n", first_server.addr)
    assert run(*words, "T", "-c", "D").out == "b\n"
    assert run(*words, "T", "--cluster", "X").code == 5
    elsewhere = run(*words, "U", "-c", "C")
    assert (elsewhere.code, elsewhere.err.splitlines()[0]) == (5, "nsadmin: U has no queues in C: it is in D")


def test_all_clusters_of_a_topic(run: Run, first_server: FakeNameServer) -> None:
    first_server.clusters = {"C": {"a": {0: "h:1"}}, "D": {"b": {0: "h:2"}}}
    first_server.routes = {"T": {"a": 6, "b": 6}}
    assert run("topicClusterList", "T", "-n", first_server.addr) == (0, "clusterName\nC\nD\n", "")
    assert run("topicClusterList", "U", "-n", first_server.addr).code == 5


QUEUES = {"broker-a": {"readQueueNums": 8, "writeQueueNums": 8, "perm": 7}}
ROUTED = "removed: queues on broker-a"


@pytest.mark.parametrize("words", [("T", "C"), ("T", "-c", "C"), ("-t", "T", "--clusterName", "C")])
def test_deleting_goes_through_masters_and_name_servers(
    run: Run,
    both_servers: str,
    first_server: FakeNameServer,
    second_server: FakeNameServer,
    broker: FakeBroker,
    words: tuple[str, ...],
) -> None:
    broker.topics = {"T": []}
    result = run("deleteTopic", *words, both_servers, "--yes", "--json")
    assert (result.code, result.err) == (
        0,
        "nsadmin: T has an unknown number of messages; consumer groups: none\n",
    )
    assert [list(row.items()) for row in json.loads(result.out)] == [
        [
            ("server", addr),
            ("role", role),
            ("topic", "T"),
            ("changes", changes),
            ("before", before),
            ("after", None),
            ("result", "done"),
            ("error", None),
        ]
        for addr, role, changes, before in (
            (broker.addr, "master", "removed: topicName T", {"topicName": "T"}),
            (first_server.addr, "namesrv", ROUTED, QUEUES),
            (second_server.addr, "namesrv", ROUTED, QUEUES),
        )
    ]
    assert run("topicRoute", "T", both_servers).code == 5


def test_deleting_takes_the_brokers_out_of_the_order_configuration(
    run: Run,
    both_servers: str,
    first_server: FakeNameServer,
    second_server: FakeNameServer,
    broker: FakeBroker,
) -> None:
    broker.topics = {"T": []}
    first_server.kv["ORDER_TOPIC_CONFIG"] = {"T": "broker-a:4", "U": "broker-a:1"}
    second_server.kv["ORDER_TOPIC_CONFIG"] = {"T": "broker-a:4;other:8"}
    dry = json.loads(run("deleteTopic", "T", "C", both_servers, "--dry-run", "--json").out)
    changes = ["removed: orderConf broker-a:4", "orderConf broker-a:4;other:8 -> other:8"]
    assert [(row["server"], row["role"], row["changes"]) for row in dry[-2:]] == [
        (first_server.addr, "namesrv", changes[0]),
        (second_server.addr, "namesrv", changes[1]),
    ]
    assert first_server.kv["ORDER_TOPIC_CONFIG"]["T"] == "broker-a:4"
    result = run("deleteTopic", "T", "C", both_servers, "--yes", "--json")
    rows = json.loads(result.out)
    assert (result.code, [row["changes"] for row in rows[-2:]]) == (0, changes)
    assert first_server.kv["ORDER_TOPIC_CONFIG"] == {"U": "broker-a:1"}
    assert second_server.kv["ORDER_TOPIC_CONFIG"] == {"T": "other:8"}


def test_a_deletion_that_fails_keeps_the_order_configuration(
    run: Run, both_servers: str, first_server: FakeNameServer, broker: FakeBroker
) -> None:
    first_server.kv["ORDER_TOPIC_CONFIG"] = {"T": "broker-a:4"}
    broker.handlers[215] = refuse_with(16, "no")
    assert run("deleteTopic", "T", "C", both_servers, "-y", "--json").code == 1
    assert first_server.kv["ORDER_TOPIC_CONFIG"] == {"T": "broker-a:4"}


def test_a_master_that_fails_keeps_the_name_servers_out_of_it(
    run: Run, both_servers: str, first_server: FakeNameServer, broker: FakeBroker
) -> None:
    broker.handlers[215] = refuse_with(16, "no")
    result = run("deleteTopic", "T", "C", both_servers, "-y", "--json")
    assert result.code == 1
    assert [row["result"] for row in json.loads(result.out)] == ["failed", "skipped", "skipped"]
    assert 216 not in first_server.asked_codes()


def test_deleting_dry_touches_nothing(
    run: Run, both_servers: str, first_server: FakeNameServer, broker: FakeBroker
) -> None:
    result = run("deleteTopic", "T", "C", both_servers, "--dry-run", "--json")
    assert result.code == 0
    rows = json.loads(result.out)
    # The master has no such topic, the name servers route it all the same.
    assert [row["result"] for row in rows] == ["not found", "dry-run", "dry-run"]
    assert [(row["changes"], row["before"]) for row in rows] == [
        (None, None),
        (ROUTED, QUEUES),
        (ROUTED, QUEUES),
    ]
    assert {*first_server.asked_codes(), *broker.asked_codes()}.isdisjoint({215, 216})


@pytest.mark.parametrize(
    ("offsets", "messages"),
    [
        ({"T": {0: {"minOffset": 3, "maxOffset": 10}, 1: {"minOffset": 0, "maxOffset": 5}}}, "12 messages"),
        ({}, "0 messages"),
        (None, "an unknown number of messages"),
    ],
)
def test_a_dry_run_and_a_deletion_say_what_is_lost(
    run: Run, first_server: FakeNameServer, offsets: dict[str, Any] | None, messages: str
) -> None:
    with TopicBroker(topic_config("T")) as master:
        first_server.clusters = {"C": {"broker-a": {0: master.addr}}}
        master.topics = {"T": ["G2", "G1"]}
        if offsets is None:
            master.handlers[RequestCode.GET_TOPIC_STATS_INFO] = refuse_with(1, "no")
        else:
            master.offsets = offsets
        words = ("deleteTopic", "T", "C", "-n", first_server.addr)
        for flag in ("--dry-run", "--yes"):
            assert run(*words, flag).err.splitlines()[:2] == [
                f"nsadmin: T has {messages}; consumer groups: G1, G2",
                "nsadmin: the consumer groups stay: if nobody needs them any more, run "
                "nsadmin deleteSubGroup G1,G2 -c C -r true --dry-run",
            ]


@pytest.mark.parametrize(
    ("age_ms", "said"),
    [
        (3_700_000, "nsadmin: T: the last message arrived 1 h 1 min ago\n"),
        (
            100_000,
            "nsadmin: T is still in use: its last message arrived 1 min 40 s ago. To see who sends to it, "
            "run nsadmin producer --topic T\n",
        ),
    ],
)
def test_a_dry_run_and_a_deletion_say_when_the_last_message_arrived(
    run: Run, first_server: FakeNameServer, monkeypatch: pytest.MonkeyPatch, age_ms: int, said: str
) -> None:
    monkeypatch.setattr("nsadmin.commands.topics.topics.time", lambda: 5_000_000.0)
    with TopicBroker(topic_config("T")) as master:
        first_server.clusters = {"C": {"broker-a": {0: master.addr}}}
        newest = {"minOffset": 0, "maxOffset": 9, "lastUpdateTimestamp": 5_000_000_000 - age_ms}
        oldest = {"minOffset": 0, "maxOffset": 1, "lastUpdateTimestamp": 1}
        master.offsets = {"T": {0: newest, 1: oldest}}
        for flag in ("--dry-run", "--yes"):
            err = run("deleteTopic", "T", "C", "-n", first_server.addr, flag).err
            assert err.startswith(f"nsadmin: T has 10 messages; consumer groups: none\n{said}")


ADVICE = "if nobody needs it any more, run nsadmin deleteSubGroup G -c C -r true --if-unused --yes first"


@pytest.mark.parametrize("option", ["--dry-run", "--yes"])
@pytest.mark.parametrize(
    ("age_ms", "groups", "why"),
    [
        (7, [], "T is still in use: its last message arrived 7 ms ago"),
        (3_700_000, ["G"], f"T has 1 consumer group without connected clients (G): {ADVICE}"),
        (
            3_700_000,
            ["Busy"],
            "T has 1 consumer group with connected clients (Busy): stop these clients first",
        ),
        (3_700_000, ["Deleted"], None),
        (None, [], "T has an unknown number of messages"),
        (3_700_000, [], None),
    ],
)
def test_only_an_unused_topic_is_deleted_on_demand(
    run: Run,
    first_server: FakeNameServer,
    monkeypatch: pytest.MonkeyPatch,
    age_ms: int | None,
    groups: list[str],
    why: str | None,
    option: str,
) -> None:
    monkeypatch.setattr("nsadmin.commands.topics.topics.time", lambda: 5_000_000.0)
    with TopicBroker(topic_config("T")) as master:
        first_server.clusters = {"C": {"broker-a": {0: master.addr}}}
        master.topics = {"T": groups}
        master.handlers[RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG] = lambda asked: answer_json(
            asked, {"subscriptionGroupTable": {name: {"groupName": name} for name in ("G", "Busy")}}
        )
        client = {"clientId": "10.0.0.9@1", "clientAddr": "10.0.0.1:5", "language": "JAVA", "version": 513}
        master.handlers[RequestCode.GET_CONSUMER_CONNECTION_LIST] = lambda asked: (
            answer_json(asked, {"connectionSet": [client], "subscriptionTable": {}})
            if asked.ext == {"consumerGroup": "Busy"}
            else build_reply(asked, 206)
        )
        if age_ms is None:
            master.handlers[RequestCode.GET_TOPIC_STATS_INFO] = refuse_with(1, "no")
        else:
            newest = {"minOffset": 0, "maxOffset": 9, "lastUpdateTimestamp": 5_000_000_000 - age_ms}
            master.offsets = {"T": {0: newest}}
        result = run("deleteTopic", "T", "C", "-n", first_server.addr, "--if-unused", option)
        is_sent = RequestCode.DELETE_TOPIC_IN_BROKER in master.asked_codes()
        assert is_sent == (why is None and option == "--yes")
        assert "the consumer groups stay" not in result.err
        assert ("offsets of deleted groups: Deleted" in result.err) == (groups == ["Deleted"])
        if why is None:
            assert "nothing is deleted" not in result.err
        else:
            assert (result.code, result.out) == (1, "")
            assert result.err.endswith(f"nsadmin: nothing is deleted: {why}\n")


def test_a_dry_run_says_who_could_not_be_asked(
    run: Run, first_server: FakeNameServer, dead_addr: str
) -> None:
    with TopicBroker(topic_config("T", perm=4)) as master:
        first_server.clusters = {"C": {"broker-a": {0: master.addr}, "broker-b": {0: dead_addr}}}
        result = run("deleteTopic", "T", "C", "-n", first_server.addr, "--dry-run", "--json")
        assert result.code == 3
        here, gone, _ = json.loads(result.out)
        assert (here["changes"], here["before"]["perm"]) == (
            "removed: readQueueNums 8, writeQueueNums 8, perm r--",
            4,
        )
        assert (gone["server"], gone["result"], gone["changes"]) == (dead_addr, "failed", None)
        assert "T" in master.configs


@pytest.mark.parametrize("takes_lists", [False, True])
def test_several_topics_are_deleted_with_one_request_if_the_broker_knows_it(
    run: Run, first_server: FakeNameServer, broker: FakeBroker, takes_lists: bool
) -> None:
    names = ["orders", "test-a", "test-b"]
    broker.topics = {name: [] for name in (*names, "kept", "%RETRY%test-c")}
    first_server.routes = {name: {"broker-a": 6} for name in broker.topics}
    lists = []

    def delete_list(asked: RemotingCommand) -> RemotingCommand:
        lists.append(json.loads(asked.body)["topicList"])
        for name in lists[-1]:
            del broker.topics[name]
        return build_reply(asked)

    if takes_lists:
        broker.handlers[5002] = delete_list
    words = ("deleteTopic", "test-*,orders", "C", "-n", first_server.addr, "--json")
    planned = run(*words, "--dry-run")
    assert {row["topic"] for row in json.loads(planned.out)} == set(names)
    assert "orders" in broker.topics
    deleted = run(*words, "--yes")
    assert (deleted.code, {row["result"] for row in json.loads(deleted.out)}) == (0, {"done"}), deleted
    assert set(broker.topics) == {"kept", "%RETRY%test-c"}
    assert [sorted(names) for names in lists] == ([names] if takes_lists else [])
    assert run("deleteTopic", "none-*", "C", "-n", first_server.addr, "--yes").code == 5


def test_a_topic_is_deleted_from_several_clusters(run: Run, first_server: FakeNameServer) -> None:
    with (
        TopicBroker(topic_config("T")) as a,
        TopicBroker(topic_config("T"), topic_config("U"), name="broker-b") as b,
    ):
        first_server.clusters = {"C": {"broker-a": {0: a.addr}}, "D": {"broker-b": {0: b.addr}}}
        first_server.routes = {"T": {"broker-a": 6, "broker-b": 6}, "U": {"broker-b": 6}}
        where = ("-n", first_server.addr, "--dry-run", "--json")
        alone = run("deleteTopic", "T", "C", *where)
        assert "nsadmin: T stays in D: pass '*' as the cluster for all clusters\n" in alone.err
        first_server.routes["U"] = {"broker-a": 6, "broker-b": 6}
        both = run("deleteTopic", "T,U", "C", *where)
        assert "nsadmin: T, U stay in D: pass '*' as the cluster for all clusters\n" in both.err
        first_server.routes["U"] = {"broker-b": 6}
        both = run("deleteTopic", "T,U", "*", *where)
        rows = [(row["topic"], row["server"]) for row in json.loads(both.out) if row["role"] == "master"]
        assert rows == [("T", a.addr), ("T", b.addr), ("U", b.addr)]
        assert "T has 0 messages in C; " in both.err
        assert "stays" not in both.err
        assert run("deleteTopic", "none", "C,D", *where).code == 5


def test_the_newest_message_of_each_topic(run: Run, first_server: FakeNameServer, dead_addr: str) -> None:
    with TopicBroker(topic_config("T"), topic_config("U")) as master:
        first_server.clusters = {"C": {"broker-a": {0: master.addr}, "broker-b": {0: dead_addr}}}
        first_server.routes = {"T": {"broker-a": 6}, "U": {"broker-a": 6}, "V": {"broker-b": 6}}
        master.offsets = {
            "T": {
                0: {"minOffset": 1, "maxOffset": 9, "lastUpdateTimestamp": 5_000},
                1: {"minOffset": 1, "maxOffset": 9, "lastUpdateTimestamp": 60_000},
            },
            "U": {0: {"minOffset": 0, "maxOffset": 0, "lastUpdateTimestamp": 0}},
        }
        result = run("topicList", "--times", "-n", first_server.addr, "--json")
        rows = [(row["topic"], row["lastUpdated"], row["error"] is None) for row in json.loads(result.out)]
        assert rows == [("T", "1970-01-01T00:01:00.000Z", True), ("U", None, True), ("V", None, False)]
        assert result.code == 3


def test_message_types_take_one_request_to_each_broker(run: Run, first_server: FakeNameServer) -> None:
    first_server.routes = {name: {"broker-a": 6} for name in ("T", "U", "V")}
    fifo = topic_config("T", order=True, attributes={"message.type": "FIFO"})
    old = {key: value for key, value in topic_config("V").items() if key != "attributes"}
    with (
        TopicBroker(fifo, topic_config("U"), old) as master,
        TopicBroker(topic_config("T"), name="b") as other,
    ):
        for broker in (master, other):
            broker.as_4_9()
        first_server.clusters = {"C": {"broker-a": {0: master.addr}, "b": {0: other.addr}}}
        result = run("topicList", "--types", "-n", first_server.addr, "--json")
        assert (result.code, {row["topic"]: row["messageType"] for row in result.json}) == (
            0, {"T": "FIFO,NORMAL", "U": "NORMAL", "V": None},
        )  # fmt: skip
        assert {row["topic"]: row["order"] for row in result.json} == {"T": True, "U": False, "V": False}
        assert master.asked_codes().count(RequestCode.GET_ALL_TOPIC_CONFIG) == 1
    for flag in ("-c", "--times"):
        assert run("topicList", "--types", flag, "-n", first_server.addr).code == 2
    dead = run("topicList", "--types", "-n", first_server.addr, "--json")
    assert (dead.code, dead.json[0]["messageType"], dead.json[0]["order"]) == (3, None, None)


def test_a_pattern_matches_system_topics_on_demand(
    run: Run, both_servers: str, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    for server in (first_server, second_server):
        server.routes = {name: {"broker-a": 6} for name in ("T", "TBW102", "%RETRY%G")}

    def list_topics(*words: str) -> list[str]:
        return [row["topic"] for row in run("topicRoute", *words, both_servers, "--json").json]

    assert list_topics("*") == list_topics("*", "--no-system") == ["T"]
    assert list_topics("*", "--system") == ["T", "TBW102"]
    assert list_topics("%*") == ["%RETRY%G"]
    assert list_topics("TBW102", "--no-system") == ["TBW102"]


IDLE = (
    "nsadmin: without a message, so new, or idle since their messages expired "
    "(brokers keep messages 72 h): U\n"
)


def test_the_newest_message_and_the_groups_of_each_topic_in_each_cluster(
    run: Run, first_server: FakeNameServer
) -> None:
    now_ms = int(time.time() * 1000)
    with TopicBroker(topic_config("T"), topic_config("U")) as a, TopicBroker(topic_config("T")) as b:
        first_server.clusters = {"C": {"broker-a": {0: a.addr}}, "D": {"broker-b": {0: b.addr}}}
        first_server.routes = {"T": {"broker-a": 6, "broker-b": 6}, "U": {"broker-a": 6}}
        reading = RequestCode.QUERY_TOPIC_CONSUME_BY_WHO
        a.handlers[reading] = lambda asked: answer_json(
            asked, {"groupList": ["G"] if (asked.ext or {}).get("topic") == "T" else []}
        )
        b.handlers[reading] = lambda asked: answer_json(asked, {"groupList": []})
        queue = {"minOffset": 1, "maxOffset": 9}
        a.offsets = {"T": {0: queue | {"lastUpdateTimestamp": now_ms}}, "U": {}}
        b.offsets = {"T": {0: queue | {"lastUpdateTimestamp": 60_000}}}
        where = ("-n", first_server.addr, "--json")

        def list_topics(*words: str) -> list[tuple[object, ...]]:
            result = run("topicList", *words, *where)
            assert (result.code, result.err) == (0, IDLE if "--idle" in words and "D" not in words else "")
            keys = ("clusterName", "topic", "groups", "lastUpdated")
            return [tuple(row[key] for key in keys if key in row) for row in json.loads(result.out)]

        old = "1970-01-01T00:01:00.000Z"
        [in_c, in_d, unwritten] = list_topics("-c", "--times")
        assert in_c[:3] == ("C", "T", ["G"])
        assert isinstance(in_c[3], str)
        assert in_c[3] > "2020"
        assert [in_d, unwritten] == [("D", "T", [], old), ("C", "U", [], None)]
        assert list_topics("-c", "--idle", "30d") == [in_d, unwritten]
        assert list_topics("--idle", "30d") == [("U", None)]
        assert list_topics("-c", "--idle", "30d", "--cluster", "D") == [in_d]
        assert list_topics("--times", "--cluster", "D")[0] == ("T", old)
        result = run("topicList", "--idle", "soon", *where)
        assert result.code == 2
