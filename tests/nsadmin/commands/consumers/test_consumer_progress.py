"""consumerProgress, consumerConnection and brokerConsumeStats."""

import json

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin.commands.columns.consumers import CLIENT_ID
from nsadmin.commands.consumers.consumer_progress import LAG_COLUMNS
from tests.nsadmin.conftest import Run
from tests.support.consumer_brokers import ConsumerBroker, format_queue_map
from tests.support.fake_servers import FakeNameServer, refuse_with


@pytest.mark.parametrize("words", [("G",), ("-g", "G"), ("--groupName", "G", "-t", "T", "-c", "C")])
def test_progress_of_a_group_queue_by_queue(
    ask: Run, consumer_broker: ConsumerBroker, words: tuple[str, ...]
) -> None:
    result = ask("consumerProgress", *words)
    assert result.code == 0
    assert [line.split() for line in result.out.splitlines()] == [
        [c.key for c in LAG_COLUMNS if not c.wide and c is not CLIENT_ID],
        ["T", "broker-a", "0", "100", "90", "10", "2", "1970-01-01T00:00:01.000Z", "-", "-"],
        ["T", "broker-a", "1", "50", "-", "-", "-", "-", "no", "consumer", "offset", "-"],
    ]
    assert result.err == (
        "nsadmin: consume TPS 1.50, lag 10 (no consumer offset on 1 of 2 queues), inflight 2\n"
    )


def test_progress_in_json_has_the_numbers_only(ask: Run, consumer_broker: ConsumerBroker) -> None:
    result = ask("consumerProgress", "G", "--json")
    assert (result.code, result.err) == (0, "")
    assert result.json[0] == {
        "group": "G",
        "topic": "T",
        "brokerName": "broker-a",
        "queueId": 0,
        "brokerOffset": 100,
        "consumerOffset": 90,
        "lag": 10,
        "inflight": 2,
        "lastTime": "1970-01-01T00:00:01.000Z",
        "clientId": None,
        "lagReason": None,
        "brokerAddr": consumer_broker.addr,
        "error": None,
    }


def test_a_dead_broker_is_a_row_and_the_others_are_told(
    ask: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: consumer_broker.addr}, "broker-b": {0: dead_addr}}}
    result = ask("consumerProgress", "G", "--json")
    assert (result.code, result.err) == (
        3,
        f"nsadmin: broker {dead_addr}: connection refused, no server listens on this port\n",
    )
    rows = result.json
    assert [(row["lag"], row["error"]) for row in rows] == [
        (10, None),
        (None, None),
        (None, "connection refused, no server listens on this port"),
    ]
    result = ask("consumerProgress", "--json")
    assert (result.code, [(row["lag"], row["lagReason"]) for row in result.json]) == (
        3,
        [(10, f"no consumer offset on 1 of 2 queues; unknown on {dead_addr}")],
    )


def test_filters_that_leave_no_row_are_named(ask: Run, consumer_broker: ConsumerBroker) -> None:
    lines = ask("consumerProgress", "G", "--filter", "lag<0").err.splitlines()
    assert lines[0] == "nsadmin: --filter 'lag<0' matches none of 2 rows"
    assert "consume TPS" in lines[1]
    hint = ask("consumerProgress", "G", "--filter", "topic=U*").err.splitlines()[0]
    assert hint.endswith("matches none of 2 rows: = compares exactly, so use --filter 'topic~^U'")


def test_whose_a_queue_is(ask: Run, consumer_broker: ConsumerBroker) -> None:
    consumer_broker.clients = {"G": ["c1"]}
    consumer_broker.running = {"c1": f'{{"mqTable":{format_queue_map("broker-a", {("T", 1): {}})}}}'}
    result = ask("consumerProgress", "G", "-s", "true", "--json")
    assert [row["clientId"] for row in result.json] == [None, "c1"]
    assert ask("consumerProgress", "G", "-s", "yes").code == 2


def test_the_queues_of_a_group_without_a_client_have_no_owner(
    ask: Run, consumer_broker: ConsumerBroker
) -> None:
    result = ask("consumerProgress", "G", "-s", "true", "--json")
    assert (result.code, [row["clientId"] for row in result.json]) == (0, [None, None])
    assert 'no client of group "G" is connected: start its application' in result.err


@pytest.mark.parametrize(
    "words", [("--output", "wide"), ("--columns", "queueId,clientId"), ("--filter", "clientId=c1")]
)
def test_the_clients_are_asked_if_the_output_needs_them(
    ask: Run, consumer_broker: ConsumerBroker, words: tuple[str, ...]
) -> None:
    consumer_broker.clients = {"G": ["c1"]}
    consumer_broker.running = {"c1": f'{{"mqTable":{format_queue_map("broker-a", {("T", 1): {}})}}}'}
    consumer_broker.topics = {"T": ["G"]}
    assert "c1" in ask("consumerProgress", "G", *words).out
    asked_codes = consumer_broker.asked_codes
    asked_count = asked_codes().count(RequestCode.GET_CONSUMER_RUNNING_INFO)
    ask("consumerProgress", "G", *words, "-s", "false")
    ask("consumerProgress", "G")
    assert asked_codes().count(RequestCode.GET_CONSUMER_RUNNING_INFO) == asked_count
    hint = "clientId is unknown here: nsadmin consumerProgress GROUP -t T -s true asks the clients of a group"
    assert hint in ask("consumerProgress", "-t", "T", *words).err
    assert hint not in ask("consumerProgress", "-t", "T").err


def test_paused_groups_are_named(ask: Run, consumer_broker: ConsumerBroker) -> None:
    assert "paused" not in ask("consumerProgress").err
    consumer_broker.configs["Held"] = {"consumeEnable": False}
    assert ask("consumerProgress").err == (
        "nsadmin: paused (consumeEnable=false): Held: see nsadmin group explain Held\n"
    )
    consumer_broker.offsets["Held", "T", 0] = 1
    assert "paused (consumeEnable=false): Held" in ask("consumerProgress", "Held").err
    assert "paused" not in ask("consumerProgress", "G").err


def test_progress_of_all_groups(ask: Run, consumer_broker: ConsumerBroker) -> None:
    consumer_broker.configs.update({"Idle": {}, "TOOLS_CONSUMER": {}})
    consumer_broker.clients = {"Idle": ["c1"]}
    result = ask("consumerProgress", "--json")
    assert (result.code, result.err) == (0, "")
    g, idle = result.json
    assert g == {
        "group": "G",
        "count": 0,
        "version": None,
        "consumeType": None,
        "messageModel": None,
        "tps": 1.5,
        "lag": 10,
        "inflight": 2,
        "waitingSince": "1970-01-01T00:00:01.000Z",
        "lagReason": "no consumer offset on 1 of 2 queues",
        "error": None,
    }
    assert (idle["lag"], idle["lagReason"]) == (None, "no consumer offset")
    assert (idle["count"], idle["version"], idle["messageModel"]) == (1, "V5_5_0", "CLUSTERING")
    assert len(ask("consumerProgress", "--system", "--json").json) == 3


def test_a_group_that_could_not_be_told_of_says_so(ask: Run, consumer_broker: ConsumerBroker) -> None:
    consumer_broker.handlers[208] = refuse_with(1, "no")
    result = ask("consumerProgress", "--json")
    assert (result.code, result.err) == (3, "nsadmin: 1 of 1 group is incomplete: see the column error\n")
    assert result.json[0]["lag"] is None


def test_progress_of_all_groups_of_a_topic(
    ask: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker, dead_addr: str
) -> None:
    consumer_broker.configs["H"] = {}
    consumer_broker.offsets["H", "T", 1] = 50
    consumer_broker.topics = {"T": ["H", "G"]}
    result = ask("consumerProgress", "-t", "T", "--json")
    assert (result.code, result.err) == (0, "")
    rows = [(row["group"], row["queueId"], row["lag"]) for row in result.json]
    assert rows == [("G", 0, 10), ("G", 1, None), ("H", 0, None), ("H", 1, 0)]
    assert ask("consumerProgress", "-t", "T").out.startswith("group ")
    assert len(ask("consumerProgress", "-t", "T,T", "--json").json) == len(rows)
    # A dead broker is one row, not one for each group.
    first_server.clusters = {"C": {"broker-a": {0: consumer_broker.addr}, "broker-b": {0: dead_addr}}}
    result = ask("consumerProgress", "-t", "T", "--json")
    assert (result.code, [row["error"] is None for row in result.json]) == (3, [False, *[True] * 4])


@pytest.mark.parametrize("words", [("G",), ("-t", "T"), ("G", "-t", "T")])
def test_the_sum_of_a_topic_says_what_it_lacks(
    ask: Run,
    first_server: FakeNameServer,
    consumer_broker: ConsumerBroker,
    dead_addr: str,
    words: tuple[str, ...],
) -> None:
    consumer_broker.topics = {"T": ["G"]}
    first_server.clusters = {"C": {"broker-a": {0: consumer_broker.addr}, "broker-b": {0: dead_addr}}}
    result = ask("consumerProgress", *words, "--sum", "--json")
    assert (result.code, result.json) == (
        3,
        [
            {
                "group": "G",
                "topic": "T",
                "lag": 10,
                "inflight": 2,
                "waitingSince": "1970-01-01T00:00:01.000Z",
                "lagReason": f"no consumer offset on 1 of 2 queues; unknown on {dead_addr}",
            }
        ],
    )


@pytest.mark.parametrize(("words", "noun"), [(("G",), "topic"), (("-t", "T"), "group")])
def test_many_queues_point_to_their_sum(
    ask: Run, consumer_broker: ConsumerBroker, words: tuple[str, ...], noun: str
) -> None:
    consumer_broker.topics = {"T": ["G"]}
    consumer_broker.ends = {("T", number): (0, 100) for number in range(100)}
    consumer_broker.offsets = {("G", "T", number): 90 for number in range(100)}
    command = f"nsadmin consumerProgress {' '.join(words)} --sum"
    hint = ask("consumerProgress", *words).err
    assert f"one row for each {noun}: {command}" in hint
    assert ("nsadmin consumerProgress G -s true" in hint) == (noun == "topic")
    result = ask("consumerProgress", *words, "--sum")
    assert (result.out.splitlines()[1].split()[:3], "--sum" in result.err) == (["G", "T", "1000"], False)


def test_what_cannot_be_asked(ask: Run, consumer_broker: ConsumerBroker) -> None:
    assert ask("consumerProgress", "X").code == 5
    assert ask("consumerProgress", "G", "-c", "D").code == 5
    assert ask("consumerProgress", "-t", "NoSuchTopic").code == 5
    assert "--sum needs GROUP or -t TOPIC" in ask("consumerProgress", "--sum").err
    result = ask("consumerProgress", "-t", "T", "-s", "true")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert ask("consumerConnection").code == 2
    assert ask("brokerConsumeStats", consumer_broker.addr, "-t", "0").code == 2


@pytest.mark.parametrize("flag", [None, "-g", "--consumerGroup"])
def test_connections_of_a_group(ask: Run, consumer_broker: ConsumerBroker, flag: str | None) -> None:
    consumer_broker.clients = {"G": ["c1"]}
    consumer_broker.running = {"c1": format_subscriptions(T="*")}
    result = ask("consumerConnection", *([flag] if flag else []), "G", "--json")
    assert (result.code, result.err) == (0, "")
    assert result.json == [
        {
            "group": "G",
            "clientId": "c1",
            "clientAddr": "10.0.0.1:5",
            "language": "JAVA",
            "version": "V5_5_0",
            "protocol": "remoting",
            "consumeType": "CONSUME_PASSIVELY",
            "messageModel": "CLUSTERING",
            "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
            "subscriptions": {"T": "*"},
            "brokerAddrs": [consumer_broker.addr],
            "proxyAddrs": [],
            "lastHeartbeat": None,
        }
    ]


def format_subscriptions(**expressions: str) -> str:
    """What a client with these subscriptions reports about itself."""
    subscription_set = [
        {"topic": topic, "expressionType": "TAG", "subString": text} for topic, text in expressions.items()
    ]
    return json.dumps({"subscriptionSet": subscription_set})


def test_each_client_has_its_own_subscriptions_not_those_of_the_broker(
    ask: Run, consumer_broker: ConsumerBroker
) -> None:
    consumer_broker.clients = {"G": ["c1", "c2", "c3"]}
    consumer_broker.running = {"c1": format_subscriptions(T="*"), "c2": format_subscriptions(T="TagA")}
    result = ask("consumerConnection", "G", "--json")
    assert [row["subscriptions"] for row in result.json] == [{"T": "*"}, {"T": "TagA"}, None]
    assert result.code == 0
    differing, unknown = result.err.splitlines()
    assert differing == "nsadmin: c2 and c1 subscribe differently: T=TagA and T=*"
    assert unknown.startswith("nsadmin: the subscriptions of c3 are unknown: ")
    assert unknown.endswith("; the brokers have T=* for the group")


def test_a_group_of_which_nobody_is_connected(ask: Run, consumer_broker: ConsumerBroker) -> None:
    result = ask("consumerConnection", "G", "-b", consumer_broker.addr)
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        f'nsadmin: CONSUMER_NOT_ONLINE (206): no client of group "G" is connected to {consumer_broker.addr}: '
        "start its application; `nsadmin group explain G` shows what waits for it\n"
    )
    assert ask("consumerConnection", "X").code == 5


def test_brokers_with_different_subscriptions(
    ask: Run, first_server: FakeNameServer, consumer_broker: ConsumerBroker
) -> None:
    consumer_broker.clients = {"G": ["c1"]}
    with ConsumerBroker() as other:
        other.clients, other.expressions = {"G": ["c1"]}, {"T": "TagA"}
        consumer_broker.running = other.running = {"c1": format_subscriptions(T="TagA")}
        first_server.clusters = {"C": {"a": {0: consumer_broker.addr}, "b": {0: other.addr}}}
        result = ask("consumerConnection", "G")
        assert (result.code, result.err) == (0, f"nsadmin: {other.addr} has TagA for T, others *\n")


def test_all_groups_of_one_broker_need_no_name_server(run: Run, consumer_broker: ConsumerBroker) -> None:
    result = run("brokerConsumeStats", "-b", consumer_broker.addr, "--json")
    assert (result.code, result.err) == (
        0,
        "nsadmin: 10 messages behind in total; the lag of 1 queue is unknown\n",
    )
    assert [(row["queueId"], row["lag"], row["lagReason"]) for row in result.json] == [
        (0, 10, None),
        (1, None, "no consumer offset"),
    ]
    assert consumer_broker.asked[0].ext == {"isOrder": "false"}
    result = run("brokerConsumeStats", consumer_broker.addr, "-l", "1", "-o", "true", "-t", "9", "--json")
    assert [row["queueId"] for row in result.json] == [0]
    assert run("brokerConsumeStats", consumer_broker.addr, "-l", "11", "--json").out == "[]\n"
