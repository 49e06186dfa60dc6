"""updateTopic and updateTopicPerm."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from namesrv_core.protocol.codes import RequestCode
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, answer_json, answer_nothing, closed_port, refuse_with
from tests.support.topic_brokers import TopicBroker, topic_config

MOVED_KEYS = (
    "nsadmin: T is ordered: another number of queues moves keys to other queues, so the order of the "
    "messages of a key is not kept across the change\n"
)


@pytest.fixture
def a() -> Iterator[TopicBroker]:
    with TopicBroker(topic_config("T", readQueueNums=4, writeQueueNums=4, order=True)) as running:
        yield running


@pytest.fixture
def b() -> Iterator[TopicBroker]:
    with TopicBroker(topic_config("T", perm=4), name="broker-b") as running:
        yield running


@pytest.fixture
def server(a: TopicBroker, b: TopicBroker) -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"broker-a": {0: a.addr}, "broker-b": {0: b.addr}}}) as running:
        yield running


def test_each_broker_keeps_what_was_not_named(
    run: Run, server: FakeNameServer, a: TopicBroker, b: TopicBroker
) -> None:
    result = run("updateTopic", "T", "-c", "C", "-p", "6", "-r", "8", "-n", server.addr)
    undo = f"nsadmin updateTopic T -r 4 -b {a.addr} && nsadmin updateTopic T -p 4 -b {b.addr}"
    assert (result.code, result.err) == (0, f"nsadmin: to undo it: {undo}\n")
    assert [re.split(" {2,}", line) for line in result.out.splitlines()[1:]] == [
        [a.addr, "master", "broker-a", "T", "readQueueNums 4 -> 8", "done", "-"],
        [b.addr, "master", "broker-b", "T", "perm r-- -> rw-", "done", "-"],
    ]
    assert a.configs["T"] == topic_config("T", readQueueNums=8, writeQueueNums=4, order=True)
    assert b.configs["T"] == topic_config("T")


def test_a_topic_that_exists_may_have_a_name_that_brokers_no_longer_create(run: Run) -> None:
    with TopicBroker(topic_config("test.test1")) as broker:
        assert run("updateTopic", "test.test1", "-b", broker.addr, "-r", "16").code == 0
        assert broker.configs["test.test1"]["readQueueNums"] == 16
        refused = run("updateTopic", "test.test2", "-b", broker.addr, "-r", "16")
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.startswith('nsadmin: invalid topic name "test.test2": use letters')


def test_all_flags_of_mqadmin(run: Run, a: TopicBroker) -> None:
    result = run(
        "updateTopic", "-b", a.addr, "-t", "New", "-r", "2", "-w", "2", "-p", "6", "-o", "false",
        "-u", "true", "-s", "true", "-a", "+message.type=FIFO", "--json",
    )  # fmt: skip
    assert (result.code, result.err) == (0, "")
    [row] = json.loads(result.out)
    assert row["changes"] == (
        "new: readQueueNums 2, writeQueueNums 2, perm rw-, topicSysFlag 3, attributes message.type=FIFO"
    )
    assert (row["before"], row["after"]["topicSysFlag"], row["result"]) == (None, 3, "done")
    assert a.configs["New"] == topic_config(
        "New", readQueueNums=2, writeQueueNums=2, topicSysFlag=3, attributes={"message.type": "FIFO"}
    )


@pytest.mark.parametrize(
    ("conf", "enabled", "count", "remark"),
    [
        (
            "broker-a:4;gone:1",
            "true",
            "8",
            " stays broker-a:4;gone:1, so ordered messages do not use all queues:",
        ),
        ("broker-a:4;gone:1", "true", "2", " stays broker-a:4;gone:1, so sends to missing queues fail:"),
        (
            "broker-a:4;gone:1",
            "false",
            "8",
            " stays broker-a:4;gone:1, and no client gets it, because orderMessageEnable is false: "
            "to correct it,",
        ),
        ("broker-a:8;gone:1", "true", "8", None),
        (None, "true", "8", None),
    ],
)
def test_an_order_configuration_that_stays_is_told(
    run: Run,
    server: FakeNameServer,
    a: TopicBroker,
    conf: str | None,
    enabled: str,
    count: str,
    remark: str | None,
) -> None:
    server.config["orderMessageEnable"] = enabled
    server.kv["ORDER_TOPIC_CONFIG"] = {"T": conf} if conf else {}
    result = run("updateTopic", "T", "-b", "broker-a", "-w", count, "-r", "8", "-n", server.addr, "--dry-run")
    put = f"nsadmin updateOrderConf T put 'broker-a:{count};gone:1'"
    told = f"nsadmin: the order configuration{remark} run {put}\n" if remark else ""
    assert (result.code, result.err.removeprefix(MOVED_KEYS)) == (0, told)


@pytest.mark.parametrize(
    ("config", "conf", "kind"),
    [
        ({"order": True}, {}, "ordered"),
        ({"attributes": {"message.type": "FIFO"}}, {}, "FIFO in C"),
        ({}, {"T": "broker-b:4"}, "ordered"),
    ],
)
def test_an_ordered_topic_does_not_keep_its_order_with_more_queues(
    run: Run, server: FakeNameServer, b: TopicBroker, config: dict[str, Any], conf: dict[str, str], kind: str
) -> None:
    remark = MOVED_KEYS.replace("ordered", kind)
    words = ("updateTopic", "T", "-b", "broker-b", "-n", server.addr)
    for flags in (("-w", "16", "--dry-run"), ("-w", "16")):
        b.configs["T"] = topic_config("T")
        assert remark not in run(*words, *flags).err
        b.configs["T"] = topic_config("T", **config)
        server.kv["ORDER_TOPIC_CONFIG"] = conf
        assert run(*words, *flags).err.count(remark) == 1
        assert remark not in run(*words, "-r", "9").err
        server.kv["ORDER_TOPIC_CONFIG"] = {}


def test_the_clusters_are_read_once_for_all_that_a_line_says_of_them(
    run: Run, server: FakeNameServer, a: TopicBroker, b: TopicBroker
) -> None:
    del b.configs["T"]
    server.routes = {"T": {"broker-a": 6}}
    counts = []
    for message_type in ("DELAY", "FIFO"):
        a.configs["T"] = topic_config("T", attributes={"message.type": message_type})
        asked_before = server.asked_codes().count(RequestCode.GET_BROKER_CLUSTER_INFO)
        run("updateTopic", "T", "-b", "broker-b", "-n", server.addr, "--dry-run")
        counts.append(server.asked_codes().count(RequestCode.GET_BROKER_CLUSTER_INFO) - asked_before)
    assert counts[0] == counts[1]


def test_another_broker_moves_the_keys_of_an_ordered_topic(
    run: Run, server: FakeNameServer, b: TopicBroker
) -> None:
    del b.configs["T"]
    assert run("updateTopic", "T", "-c", "C", "-n", server.addr, "--dry-run").err == MOVED_KEYS
    server.config["orderMessageEnable"] = "true"
    assert run("updateTopic", "New", "-c", "C", "-o", "true", "-n", server.addr, "--dry-run").err == ""


FIFO_UNIT = topic_config(
    "T", writeQueueNums=4, perm=2, order=True, topicSysFlag=1, attributes={"message.type": "FIFO"}
)


@pytest.mark.parametrize("where", [("-c", "C"), ("-b", "broker-b")])
def test_a_new_broker_of_a_topic_has_the_settings_of_the_others(
    run: Run, server: FakeNameServer, a: TopicBroker, b: TopicBroker, where: tuple[str, str]
) -> None:
    a.configs["T"], _ = dict(FIFO_UNIT), b.configs.pop("T")
    server.routes = {"T": {"broker-a": 2}}
    words = ("updateTopic", "T", *where, "-r", "16", "-w", "16", "-n", server.addr, "--yes")
    dry = run(*words, "--dry-run")
    assert (
        "new: readQueueNums 16, writeQueueNums 16, perm -w-, order true, topicSysFlag 1, "
        "attributes message.type=FIFO" in dry.out
    )
    assert (run(*words).code, "defaults" in dry.err) == (0, False)
    assert b.configs["T"] == {**FIFO_UNIT, "readQueueNums": 16, "writeQueueNums": 16}
    # What is named counts.
    del b.configs["T"]
    named = run(*words, "-p", "6", "-o", "false", "-a", "-message.type", "--dry-run", "--json")
    after = json.loads(named.out)[-1]["after"]
    assert (after["perm"], after["order"], after["topicSysFlag"], after["attributes"]) == (6, False, 1, {})


def test_a_new_broker_has_the_settings_of_its_own_cluster_and_defaults_if_they_differ(
    run: Run, server: FakeNameServer, a: TopicBroker, b: TopicBroker
) -> None:
    with (
        TopicBroker(name="broker-c") as c,
        TopicBroker(topic_config("T", attributes={"message.type": "DELAY"}), name="broker-d") as d,
    ):
        of_d = {"broker-c": {0: c.addr}, "broker-d": {0: d.addr}}
        server.clusters = {**server.clusters, "D": of_d}
        a.configs["T"], b.configs["T"] = dict(FIFO_UNIT), topic_config("T", topicSysFlag=1)
        server.routes = {"T": dict.fromkeys(("broker-a", "broker-b", "broker-d"), 6)}
        words = ("updateTopic", "T", "-b", "broker-c", "-n", server.addr, "--yes")
        assert run(*words).code == 0
        assert c.configs["T"] == topic_config("T", attributes={"message.type": "DELAY"})
        del c.configs["T"], d.configs["T"]
        differing = (
            "nsadmin: T gets defaults on broker-c, because broker-a, broker-b have different settings "
            "(perm: -p, order: -o, message.type: -a)\n"
        )
        dry = run(*words, "--dry-run")
        assert dry.err.startswith(differing)
        assert "perm rw-, topicSysFlag 1 " in dry.out
        named = run(*words, "-p", "6", "-o", "true", "-a", "+message.type=FIFO", "--dry-run")
        assert "defaults" not in named.err


def test_a_broker_whose_settings_are_unknown_is_told(
    run: Run, server: FakeNameServer, a: TopicBroker, b: TopicBroker
) -> None:
    del b.configs["T"]
    server.routes = {"T": {"broker-a": 6}}
    a.handlers[RequestCode.GET_TOPIC_CONFIG] = refuse_with(1, "no")
    dry = run("updateTopic", "T", "-b", "broker-b", "-n", server.addr, "--dry-run")
    assert "nsadmin: the settings of T on broker-a are unknown, so no other broker gets them: " in dry.err


def test_an_ordered_topic_gets_its_order_configuration(
    run: Run, server: FakeNameServer, a: TopicBroker
) -> None:
    server.kv["ORDER_TOPIC_CONFIG"] = {"T": "broker-b:1"}
    by_name = a.addr.replace("127.0.0.1", "localhost")
    words = ("updateTopic", "T", "-b", by_name, "-o", "true", "-w", "3", "-n", server.addr, "--json")
    planned = json.loads(run(*words, "--dry-run").out)
    assert [(row["role"], row["result"]) for row in planned] == [
        ("master", "dry-run"),
        ("namesrv", "dry-run"),
    ]
    assert server.kv["ORDER_TOPIC_CONFIG"] == {"T": "broker-b:1"}
    server.config["orderMessageEnable"] = "false"
    result = run(*words)
    assert (result.code, result.err) == (
        0,
        f"{MOVED_KEYS}nsadmin: clients get no order configuration from {server.addr}, because "
        "orderMessageEnable is false. Without it, messages stay in order only while all brokers of the topic "
        "run: to send it, run nsadmin updateNamesrvConfig orderMessageEnable true\n"
        "nsadmin: to undo it: nsadmin updateOrderConf T put -v broker-b:1 && "
        f"nsadmin updateTopic T -w 4 -b {by_name}\n",
    )
    assert [(row["role"], row["changes"], row["result"]) for row in json.loads(result.out)] == [
        ("master", "writeQueueNums 4 -> 3", "done"),
        ("namesrv", "orderConf broker-b:1 -> broker-b:1;broker-a:3", "done"),
    ]
    assert server.kv["ORDER_TOPIC_CONFIG"] == {"T": "broker-b:1;broker-a:3"}


def undoing(broker: TopicBroker, *words: str) -> str:
    return f"nsadmin: to undo it: nsadmin updateTopic T {' '.join(words)} -b {broker.addr}\n"


def test_a_change_that_makes_messages_unreadable_needs_a_yes_before_it_is_made(
    run: Run, a: TopicBroker
) -> None:
    words = ("updateTopic", "T", "-b", a.addr, "-r", "1")
    loss = (
        f"consumers will not be able to read the messages of T in queues 1 and up on {a.addr}: "
        "reduce the write queues first (-w 1)"
    )
    refused = run(*words)
    assert (refused.code, refused.out, refused.err) == (
        2,
        "",
        f"nsadmin: updateTopic: {loss}: to do it without a terminal, pass --yes\n",
    )
    assert 17 not in a.asked_codes()
    assert (run(*words, "--dry-run").code, 17 in a.asked_codes()) == (0, False)
    result = run(*words, "--yes")
    fact = f"consumers cannot read the messages of T in queues 1 and up on {a.addr} now"
    assert (result.code, result.err) == (0, f"nsadmin: {fact}\n{undoing(a, '-r', '4')}")
    assert run("updateTopic", "T", "-b", a.addr, "-p", "4").err == undoing(a, "-p", "6")


def test_what_is_lost_on_several_brokers_is_said_once(run: Run, a: TopicBroker, b: TopicBroker) -> None:
    b.configs["T"]["readQueueNums"] = 4
    brokers = f"{a.addr}, {b.addr}"
    words = ("updateTopic", "T", "-b", f"{a.addr},{b.addr}", "-r", "1")
    loss = f"consumers will not be able to read the messages of T in queues 1 and up on {brokers}: reduce"
    assert run(*words).err.count("consumers will not") == 1
    assert loss in run(*words).err
    assert loss in run(*words, "--dry-run").err
    undo = f"nsadmin: to undo it: nsadmin updateTopic T -r 4 -b {a.addr},{b.addr}\n"
    assert f"in queues 1 and up on {brokers} now\n{undo}" in run(*words, "--yes").err


def test_a_name_server_is_not_called_a_master(run: Run, server: FakeNameServer) -> None:
    [row] = json.loads(run("updateTopic", "T", "-b", server.addr, "-r", "2", "--json").out)
    assert (row["role"], row["result"]) == (None, "failed")


def test_read_queues_go_when_each_group_has_consumed_what_is_in_them(run: Run, a: TopicBroker) -> None:
    a.configs["T"]["writeQueueNums"] = 2
    a.offsets["T"] = {n: {"minOffset": 0, "maxOffset": 50} for n in range(4)}
    a.handlers[RequestCode.QUERY_TOPIC_CONSUME_BY_WHO] = lambda asked: answer_json(
        asked, {"groupList": ["G"]}
    )
    words = ("updateTopic", "T", "-b", a.addr, "-r", "2")
    a.handlers[RequestCode.GET_CONSUME_STATS] = a.answer_lags((50, 1), (50, 1), (50, 43), (50, 50))
    refused = run(*words)
    here = f"--filter 'brokerAddr~{a.addr}'"
    waiting = f"nsadmin consumerProgress -t T --filter 'queueId>=2' {here} --filter 'lag!=0'"
    assert refused.code == 2
    assert f"(G: 7 messages): wait until `{waiting}` shows no row: " in refused.err
    assert f"(G: 7 messages): wait until `{waiting}` shows no row\n" in run(*words, "--dry-run").err
    a.configs["T"]["writeQueueNums"] = 4
    closing = f"`nsadmin updateTopic T -w 2 -b {a.addr}`"
    assert f"(G: 7 messages): first stop writes to them: {closing}. Then wait until `{waiting}`" in (
        run(*words, "-w", "2", "--dry-run").err
    )
    a.configs["T"]["writeQueueNums"] = 2
    assert run(*words, "--yes").err == (
        f"nsadmin: groups can no longer read their messages in queues 2 and up on {a.addr} (G: 7 messages)\n"
        f"{undoing(a, '-r', '4')}"
    )
    a.configs["T"]["readQueueNums"] = 4
    a.handlers[RequestCode.GET_CONSUME_STATS] = a.answer_lags((50, 1), (50, 1), (50, 50), (50, 50))
    done = run(*words)
    assert (done.code, done.err) == (
        0,
        f"nsadmin: all groups of T have consumed queues 2 and up on {a.addr}\n{undoing(a, '-r', '4')}",
    )
    a.configs["T"]["readQueueNums"] = 4
    a.handlers[RequestCode.GET_CONSUME_STATS] = refuse_with(1, "broken")
    assert "(G: unknown lag)" in run(*words).err


@pytest.mark.parametrize("words", [("updateTopic", "T", "-p", "2"), ("updateTopicPerm", "T", "2"),
                                   ("updateTopic", "New", "-p", "2")])  # fmt: skip
def test_a_topic_that_consumers_may_not_read_needs_a_yes(
    run: Run, a: TopicBroker, words: tuple[str, ...]
) -> None:
    loss = f"consumers will not be able to read {words[1]} on {a.addr}"
    refused = run(*words, "-b", a.addr)
    assert (refused.code, refused.err) == (
        2,
        f"nsadmin: {words[0]}: {loss}: to do it without a terminal, pass --yes\n",
    )
    assert 17 not in a.asked_codes()
    allowed = run(*words, "-b", a.addr, "--yes")
    undo = "" if words[1] == "New" else undoing(a, "-p", "6")
    assert (allowed.code, allowed.err) == (
        0,
        f"nsadmin: consumers cannot read {words[1]} on {a.addr} now\n{undo}",
    )
    assert a.configs[words[1]]["perm"] == 2
    assert run(*words, "-b", a.addr).code == 0, "nothing changes"


@pytest.mark.parametrize(
    ("topic", "option", "lack"),
    [("New", "-w0", "write queues"), ("T", "-w0", "write queues"), ("New", "-p4", "write permission")],
)
def test_a_topic_that_takes_no_messages_is_noted(
    run: Run, a: TopicBroker, topic: str, option: str, lack: str
) -> None:
    for dry_words in (("--dry-run",), ()):
        result = run("updateTopic", topic, "-b", a.addr, option, *dry_words)
        assert result.code == 0
        moved = MOVED_KEYS if topic == "T" else ""
        undo = "" if dry_words or topic == "New" else undoing(a, "-w", "4")
        assert (
            result.err
            == f"{moved}nsadmin: without {lack}, producers cannot send to {topic} on broker-a\n{undo}"
        )
    assert run("updateTopic", topic, "-b", a.addr, option).err == ""


@pytest.mark.parametrize(
    ("words", "option"), [(("updateTopic", "-p", "7"), "-p"), (("updateTopicPerm", "-p", "0"), "-p")]
)
def test_only_the_permissions_of_the_help_text_are_accepted(
    run: Run, a: TopicBroker, words: tuple[str, ...], option: str
) -> None:
    result = run(words[0], "T", *words[1:], "-b", a.addr)
    assert (result.code, result.err) == (
        2,
        f'nsadmin: invalid permission "{words[2]}" for {option}: use 6 (read and write), 4 '
        "(read) or 2 (write)\n",
    )
    assert a.asked_codes() == []


def test_dry_and_unchanged(run: Run, server: FakeNameServer, a: TopicBroker, b: TopicBroker) -> None:
    words = ("updateTopic", "T", "-c", "C", "-p", "6", "-n", server.addr, "--json")
    rows = json.loads(run(*words, "--dry-run").out)
    assert [(row["changes"], row["result"]) for row in rows] == [
        (None, "unchanged"),
        ("perm r-- -> rw-", "dry-run"),
    ]
    assert {*a.asked_codes(), *b.asked_codes()} == {26, 351}


def test_the_question_says_what_changes_and_a_no_changes_nothing(
    run: Run, server: FakeNameServer, a: TopicBroker, b: TopicBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def decline(question: str) -> bool:
        asked.append(question)
        return len(asked) < 2

    monkeypatch.setattr("nsadmin.console.confirmation.can_ask_operator", lambda: True)
    monkeypatch.setattr("nsadmin.console.confirmation.ask_yes_no", decline)
    result = run("updateTopic", "T", "-c", "C", "-r", "5", "-n", server.addr)
    assert (result.code, result.out, result.err) == (1, "", "nsadmin: nothing was changed\n")
    assert asked == [
        f"Change the topic T (readQueueNums 4 -> 5) on {a.addr}?",
        f"consumers will not be able to read the messages of T in queues 5 and up on {b.addr}: "
        f"reduce the write queues first (-w 5);"
        f" Change the topic T (readQueueNums 8 -> 5) on {b.addr}?",
    ]
    assert 17 not in {*a.asked_codes(), *b.asked_codes()}


def test_one_broker_s_failure_is_its_own(
    run: Run, server: FakeNameServer, a: TopicBroker, dead_addr: str
) -> None:
    slave_addr = f"127.0.0.1:{closed_port()}"
    server.clusters = {"C": {**server.clusters["C"], "broker-c": {0: dead_addr}, "broker-d": {1: slave_addr}}}
    a.handlers[17] = refuse_with(29, "no")
    result = run("updateTopic", "T", "-c", "C", "-w", "5", "-n", server.addr, "--json", "--yes")
    assert result.code == 3
    assert [(row["brokerName"], row["result"]) for row in json.loads(result.out)] == [
        ("broker-a", "failed"),
        ("broker-b", "done"),
        ("broker-c", "failed"),
        ("broker-d", "not found"),
    ]


def test_a_slave_is_not_called_a_master(
    run: Run, server: FakeNameServer, a: TopicBroker, dead_addr: str
) -> None:
    server.clusters = {"C": {"broker-a": {0: a.addr, 1: dead_addr}}}
    result = run("updateTopic", "T", "-b", "broker-a:0,broker-a:1", "-p", "4", "-n", server.addr, "--json")
    assert [row["role"] for row in json.loads(result.out)] == ["master", "slave"]


@pytest.mark.parametrize("words", [("T", "4"), ("-t", "T", "-p", "4"), ("T", "--perm", "4")])
def test_a_permission_changes_alone(
    run: Run, server: FakeNameServer, a: TopicBroker, b: TopicBroker, words: tuple[str, ...]
) -> None:
    result = run("updateTopicPerm", *words, "-c", "C", "-n", server.addr, "--json")
    assert result.code == 0
    assert [(row["changes"], row["result"]) for row in json.loads(result.out)] == [
        ("perm rw- -> r--", "done"),
        (None, "unchanged"),
    ]
    assert a.configs["T"] == topic_config("T", readQueueNums=4, writeQueueNums=4, order=True, perm=4)


def test_a_pattern_of_clusters_creates_a_topic_only_if_no_cluster_has_it(
    run: Run, server: FakeNameServer, a: TopicBroker, b: TopicBroker
) -> None:
    server.clusters = {"C": {"broker-a": {0: a.addr}}, "D": {"broker-b": {0: b.addr}}}
    del b.configs["T"]
    words = ("updateTopic", "T", "-r", "16", "-n", server.addr, "--json", "-c")
    left_out = run(*words, "*")
    assert (left_out.code, left_out.err) == (
        0,
        "nsadmin: T is not created in D, which does not have it: pass -c D to create it there\n"
        + undoing(a, "-r", "4"),
    )
    assert [row["brokerName"] for row in json.loads(left_out.out)] == ["broker-a"]
    assert (a.configs["T"]["readQueueNums"], "T" in b.configs) == (16, False)
    assert run(*words, "*,D").err == MOVED_KEYS
    assert b.configs["T"]["readQueueNums"] == 16
    assert run("updateTopic", "New", "-n", server.addr, "-c", "*").err == ""
    assert "New" in a.configs
    assert "New" in b.configs


@pytest.mark.parametrize(("where", "says_it"), [(("-c", "C"), True), (("-b", "broker-a"), False)])
def test_the_last_broker_that_takes_messages_is_told(
    run: Run, server: FakeNameServer, b: TopicBroker, where: tuple[str, ...], says_it: bool
) -> None:
    b.configs["T"]["perm"] = 6
    server.routes = {"T": {"broker-a": 6, "broker-b": 6}}
    told = "nsadmin: producers will not be able to send to T: no other broker takes its messages\n"
    words = ("updateTopic", "T", "-p", "4", *where, "-n", server.addr, "--dry-run")
    assert (told in run(*words).err) == says_it
    server.routes["T"]["broker-b"] = 4
    assert told in run(*words).err
    assert told not in run("updateTopic", "T", "-p", "6", *where, "-n", server.addr).err


@pytest.mark.parametrize("words", [("updateTopicPerm", "T", "6"), ("updateTopic", "T", "-p", "6")])
def test_the_permission_in_other_clusters_is_told(
    run: Run, server: FakeNameServer, a: TopicBroker, b: TopicBroker, words: tuple[str, ...]
) -> None:
    server.clusters = {"C": {"broker-a": {0: a.addr}}, "D": {"broker-b": {0: b.addr}}}
    server.routes = {"T": {"broker-a": 6, "broker-b": 4}}
    where = ("-n", server.addr, "--dry-run")
    assert run(*words, "-c", "C", *where).err == (
        "nsadmin: T keeps r-- in D: pass '*' as the cluster for all clusters\n"
    )
    assert run(*words, "-c", "D", *where).err == ""
    both = run(*words, "-c", "*", *where, "--json")
    assert (both.err, [row["server"] for row in json.loads(both.out)]) == ("", [a.addr, b.addr])
    assert run(*words, "-b", a.addr, *where).err == ""


def test_a_broker_without_the_topic_fails_only_alone(
    run: Run, server: FakeNameServer, b: TopicBroker
) -> None:
    b.configs.clear()
    result = run("updateTopicPerm", "T", "4", "-c", "C", "-n", server.addr, "--json")
    assert (result.code, [row["result"] for row in json.loads(result.out)]) == (0, ["done", "not found"])
    assert run("updateTopicPerm", "T", "4", "-b", b.addr).code == 5
    assert "T" not in b.configs


@pytest.mark.parametrize(
    "words",
    [
        ("updateTopic", "T"),
        ("updateTopic", "T", "-b", "h:1", "-c", "C"),
        ("updateTopic", "T", "-b", "h:1", "-o", "yes"),
        ("updateTopic", "T", "-b", "h:1", "-p", "9"),
        ("updateTopic", "T", "-b", "h:1", "-r", "-1"),
        ("updateTopicPerm", "T", "rw", "-b", "h:1"),
        ("updateTopicPerm", "T", "6"),
    ],
)
def test_bad_lines(run: Run, words: tuple[str, ...]) -> None:
    result = run(*words)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)


def make_and_never_answer(broker: TopicBroker) -> None:
    """The broker makes a change, and waits for a name server before it answers."""
    put_topic = broker.handlers[RequestCode.UPDATE_AND_CREATE_TOPIC]
    broker.handlers[RequestCode.UPDATE_AND_CREATE_TOPIC] = lambda asked: put_topic(asked) and None


def test_a_frozen_name_server_is_named_although_the_broker_made_the_topic(
    run: Run, server: FakeNameServer, a: TopicBroker, b: TopicBroker
) -> None:
    with FakeNameServer() as frozen:
        frozen.handlers[RequestCode.GET_KV_CONFIG] = answer_nothing
        for broker in (a, b):
            make_and_never_answer(broker)
            broker.items["namesrvAddr"] = f"{server.addr};{frozen.addr}"
        result = run("updateTopic", "New", "-c", "C", "-n", server.addr, "--timeout", "0.3", "--json")
    assert result.code == 3
    first, second, third = json.loads(result.out)
    assert [(row["server"], row["result"], row["error"]) for row in (first, second)] == [
        (a.addr, "done", None),
        (b.addr, "done", None),
    ]
    assert (third["server"], third["role"], third["result"]) == (frozen.addr, "namesrv", "failed")
    assert third["error"] == (
        f"no answer within 0.3 s: {a.addr}, {b.addr} made the change but cannot register it here yet"
    )
    assert f"{a.addr} made the change, but did not answer in time" in result.err


def test_a_broker_that_only_answers_too_late_made_the_change(
    run: Run, server: FakeNameServer, a: TopicBroker
) -> None:
    make_and_never_answer(a)
    result = run("updateTopicPerm", "T", "4", "-b", a.addr, "-n", server.addr, "--timeout", "0.3", "--json")
    assert result.code == 0
    assert json.loads(result.out)[0]["result"] == "done"
    assert "made the change, but did not answer in time" in result.err


def test_a_broker_that_never_answers_and_changed_nothing_is_exit_4(
    run: Run, server: FakeNameServer, a: TopicBroker
) -> None:
    a.handlers[RequestCode.UPDATE_AND_CREATE_TOPIC] = answer_nothing
    result = run("updateTopicPerm", "T", "4", "-b", a.addr, "-n", server.addr, "--timeout", "0.3", "--json")
    assert (result.code, json.loads(result.out)[0]["error"]) == (
        4, "no answer within 0.3 s; the change is possibly done",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("attributes", "says"),
    [
        ("message.type=FIFO", 'invalid attribute "message.type=FIFO": write +message.type=FIFO'),
        ("+reserve.time=1,other", 'invalid attribute "other": write +other=VALUE or -other'),
        ("-other=1", 'invalid attribute "-other=1": write +other=1'),
        (
            "+message.type=FIFOO",
            'invalid value "FIFOO" of message.type: use UNSPECIFIED, NORMAL, FIFO, DELAY, '
            "TRANSACTION, PRIORITY, LITE, MIXED",
        ),
        ("+lite.topic.expiration=x", 'invalid value "x" of lite.topic.expiration: use -1 to 43200'),
    ],
)
def test_attributes_that_brokers_refuse_are_refused_before_any_request(
    run: Run, a: TopicBroker, attributes: str, says: str
) -> None:
    result = run("updateTopic", "-t", "T", "-b", a.addr, "-a", attributes, "--dry-run")
    assert (result.code, result.out, result.err) == (2, "", f"nsadmin: {says}\n")
    assert a.asked_codes() == []


def test_an_attribute_that_no_known_broker_has_is_named(run: Run, a: TopicBroker) -> None:
    result = run("updateTopic", "-t", "New", "-b", a.addr, "-a", "+no.such=1", "--dry-run")
    assert (
        result.err == 'nsadmin: brokers up to 5.5.1 know no attribute "no.such" of a topic, and refuse it\n'
    )
