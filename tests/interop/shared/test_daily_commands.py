"""Commands that move groups, send and hand over messages, on 5.5.0 and 4.9.7 brokers, beside mqadmin."""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.interop import wire
from tests.interop.cluster import plain, send
from tests.interop.daily import (
    Cluster,
    commit,
    committed,
    ends,
    lines,
    live_clients,
    make_topic,
)
from tests.interop.differential.loose_json import parse
from tests.interop.java_parts import JavaBroker, LiveClients
from tests.interop.processes import wait_for

ORDERS = "Orders"


@pytest.fixture(scope="module")
def clients(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveClients]:
    with live_clients(cluster, tmp_path_factory.mktemp("daily") / "clients", ORDERS) as running:
        yield running


def test_a_clone_is_previewed_done_and_what_mqadmin_does(cluster: Cluster) -> None:
    cluster.topic("Cloned")
    for broker in (cluster.new, cluster.old):
        for queue in range(4):
            send(broker.port, "Cloned", queue, 5)
        commit(broker, "Source", "Cloned", {0: 5, 1: 3, 2: 0})
        for group in ("Ours", "Theirs"):
            commit(broker, group, "Cloned", {1: 4})
    wait_for("the queues", lambda: ends(cluster, "Cloned") == [5] * 8)
    words = ("cloneGroupOffset", "Source", "Ours", "Cloned")
    planned = cluster(*words, "--dry-run")
    assert [(row["from"], row["to"], row["repeated"]) for row in planned.rows[:4]] == [
        (None, 5, None), (4, 3, 1), (None, 0, None), (None, None, None),
    ]  # fmt: skip
    assert committed(cluster.new, "Ours", "Cloned") == {"1": 4}
    result = cluster(*words, "--yes")
    assert (result.code, {row["error"] for row in result.rows}) == (0, {None})
    for broker in (cluster.new, cluster.old):
        assert committed(broker, "Ours", "Cloned") == {"0": 5, "1": 3, "2": 0}


def test_a_clone_is_what_mqadmins_is(cluster: Cluster) -> None:
    """But for the other topics of the group, which mqadmin takes as well."""
    make_topic(cluster.server, [cluster.new], "Elsewhere", 1)
    send(cluster.new.port, "Elsewhere", 0, 5)
    commit(cluster.new, "Source", "Elsewhere", {0: 5})
    make_topic(cluster.server, [cluster.new], "%RETRY%Source", 1)

    def cloned() -> bool:
        mqadmin_output = cluster.mqadmin("cloneGroupOffset", "-s", "Source", "-d", "Theirs", "-t", "Cloned")
        return "clone group offset success" in mqadmin_output

    # It gives up where a busy broker takes more than a moment.
    wait_for("mqadmin's clone", cloned)
    ours, theirs = (committed(cluster.new, group, "Cloned") for group in ("Ours", "Theirs"))
    assert ours == {queue: theirs[queue] for queue in ours} == {"0": 5, "1": 3, "2": 0}
    assert theirs.keys() - ours.keys() <= {"3"}
    assert committed(cluster.new, "Theirs", "Elsewhere") == {"0": 5}
    assert committed(cluster.new, "Ours", "Elsewhere") == {}


def test_a_clone_over_a_reset_that_no_client_has_heeded(cluster: Cluster) -> None:
    """Such a broker ignores offsets that are committed, and says yes all the same."""
    assert cluster("skipAccumulatedMessage", "Ours", "Cloned", "--yes").code == 0
    assert committed(cluster.new, "Ours", "Cloned") == dict.fromkeys("0123", 5)
    place = {"consumerGroup": "Ours", "topic": "Cloned", "queueId": "1", "commitOffset": "3"}
    ignored = wire.ask(cluster.new.port, 15, place)
    assert (ignored.code, ignored.remark) == (0, "Offset has been previously reset")
    result = cluster("cloneGroupOffset", "Source", "Ours", "Cloned", "--yes")
    assert (result.code, [row["result"] for row in result.rows][:4]) == (0, ["kept", "done", "done", "kept"])
    assert committed(cluster.new, "Ours", "Cloned") == {"0": 5, "1": 3, "2": 0, "3": 5}


def tracks(said: str) -> dict[str, str]:
    """Group to track type, as mqadmin prints it."""
    return dict(re.findall(r"MessageTrack \[consumerGroup=(.+?), trackType=(\w+),", said))


def test_who_has_consumed_a_message(cluster: Cluster, clients: LiveClients) -> None:
    for broker in (cluster.new, cluster.old):
        commit(broker, "Offline", ORDERS, {0: 1})
    make_topic(cluster.server, [cluster.new], "%RETRY%Offline", 1)
    clients.order("send 8")
    assert clients.order("wait 8") == 8
    wanted = {"Offline": "NOT_ONLINE", "Orders-consumer": "CONSUMED"}
    for broker in (cluster.new, cluster.old):
        words = ("queryMsgByOffset", ORDERS, broker.name, "0", "3")
        wait_for("the offsets", partial(is_told, cluster, words, wanted))
        [row] = cluster(*words).rows
        for command, msg_id in (("queryMsgById", row["offsetMsgId"]), ("queryMsgByUniqueKey", row["msgId"])):
            assert [
                consumption_row["tracks"] for consumption_row in cluster(command, ORDERS, msg_id).rows
            ] == [wanted]
            if broker is cluster.new:
                mqadmin_output = cluster.mqadmin(command, "-t", ORDERS, "-i", msg_id)
                assert tracks(mqadmin_output) == wanted, mqadmin_output


def is_told(cluster: Cluster, words: Sequence[str], wanted: dict[str, str]) -> bool:
    return [row["tracks"] for row in cluster(*words).rows or ()] == [wanted]


def test_a_message_is_handed_to_a_living_client(cluster: Cluster, clients: LiveClients) -> None:
    [client] = cluster("consumerConnection", "Orders-consumer").rows
    to = ("-g", "Orders-consumer", "-d", client["clientId"])
    consumed = 8
    for broker in (cluster.new, cluster.old):
        [row] = cluster("queryMsgByOffset", ORDERS, broker.name, "0", "0").rows
        for command, msg_id in (("queryMsgById", row["offsetMsgId"]), ("queryMsgByUniqueKey", row["msgId"])):
            result = cluster(command, ORDERS, msg_id, *to, "--yes")
            assert (result.code, result.err) == (0, "")
            assert [
                (delivery_row["consumeResult"], delivery_row["result"]) for delivery_row in result.rows
            ] == [("CR_SUCCESS", "done")]
            consumed += 1
            assert clients.order(f"wait {consumed}") == consumed
    mqadmin_output = cluster.mqadmin("queryMsgById", "-t", ORDERS, "-i", row["offsetMsgId"], *to)
    assert "consumeResult=CR_SUCCESS" in mqadmin_output
    assert clients.order(f"wait {consumed + 1}") == consumed + 1
    gone = cluster("queryMsgById", ORDERS, row["offsetMsgId"], *to[:3], "nobody", "--yes")
    assert (gone.code, f": use one of {client['clientId']}" in gone.err) == (5, True)
    assert cluster("queryMsgById", ORDERS, row["offsetMsgId"], "-g", "Offline", "-d", "x", "--yes").code == 5


def test_a_message_is_sent_again(cluster: Cluster, clients: LiveClients) -> None:
    consumed = clients.order("wait 0")
    for broker in (cluster.new, cluster.old):
        [row] = cluster("queryMsgByOffset", ORDERS, broker.name, "0", "0").rows
        result = cluster("queryMsgById", ORDERS, row["offsetMsgId"], "-s", "true", "--yes")
        assert (result.code, result.err) == (0, "")
        [sent] = result.rows
        assert (sent["msgId"], sent["brokerName"], sent["queueOffset"]) == (row["msgId"], broker.name, 4)
        consumed += 1
        assert clients.order(f"wait {consumed}") == consumed
        [again] = cluster("queryMsgByOffset", ORDERS, broker.name, "0", "4").rows
        assert content(again) == content(row)
        if broker is cluster.new:
            mqadmin_output = cluster.mqadmin(
                "queryMsgById", "-t", ORDERS, "-i", row["offsetMsgId"], "-s", "true"
            )
            assert f"msgId={row['msgId']}" in mqadmin_output
            assert "brokerName=broker-a, queueId=0], queueOffset=5" in mqadmin_output
            consumed += 1
            assert clients.order(f"wait {consumed}") == consumed
            [theirs] = cluster("queryMsgByOffset", ORDERS, broker.name, "0", "5").rows
            assert content(theirs) == content(again)


def content(row: dict[str, Any]) -> list[object]:
    """What a message keeps when it is sent again."""
    names = ("msgId", "body", "tags", "keys", "properties", "flag", "sysFlag", "reconsumeTimes", "storeSize")
    return [row[name] for name in names]


def test_test_messages_are_where_mqadmin_writes_its_own(cluster: Cluster) -> None:
    for broker in (cluster.new, cluster.old):
        [before] = ends(cluster, broker.name)
        result = cluster("sendMsgStatus", broker.name, "-s", "1000", "-c", "3")
        assert (result.code, result.err) == (0, "")
        assert [row["queueOffset"] for row in result.rows] == [before, before + 1, before + 2]
        assert all(row["rt"] > 0 for row in result.rows)
        [row] = cluster("queryMsgById", broker.name, result.rows[2]["offsetMsgId"]).rows
        assert (row["body"], row["tags"], row["brokerName"]) == ("x" * 1000, "PROBE", broker.name)
    [before] = ends(cluster, "broker-a")
    mqadmin_output = cluster.mqadmin("sendMsgStatus", "-b", "broker-a", "-s", "1000", "-c", "3")
    sent = re.findall(r"sendStatus=SEND_OK.*?topic=broker-a, brokerName=broker-a, queueId=0", mqadmin_output)
    assert len(sent) == 3, mqadmin_output
    # One more than it was told, not counted: it opens the connection.
    wait_for("mqadmin's messages", lambda: ends(cluster, "broker-a") == [before + 4])


def test_every_master_is_timed(cluster: Cluster) -> None:
    """mqadmin's own never ends."""
    before = [ends(cluster, name) for name in ("broker-a", "broker-old")]
    result = cluster("clusterRT", "-a", "4", "-m", "here")
    assert (result.code, result.err) == (0, "")
    assert [
        (row["clusterName"], row["brokerName"], row["successCount"], row["failCount"]) for row in result.rows
    ] == [("DefaultCluster", name, 4, 0) for name in ("broker-a", "broker-old")]
    assert all(0 < row["rt"] <= row["maxRt"] for row in result.rows)
    wait_for(
        "the messages",
        lambda: (
            [ends(cluster, name)[0] for name in ("broker-a", "broker-old")]
            == [queue[0] + 4 for queue in before]
        ),
    )


def subscribe(broker: JavaBroker, group: str) -> None:
    """Have the broker keep a subscription with the group's settings, as neither we nor mqadmin can."""
    table = plain(parse(wire.ask(broker.port, 201).body))["subscriptionGroupTable"]
    kept = {"topic": ORDERS, "expressionType": "TAG", "expression": "TagA", "version": 3}
    config = {**table[group], "subscriptionDataSet": [kept]}
    # What is given here as it is shown would not be taken.
    del config["attributes"]
    assert wire.ask(broker.port, 200, {}, json.dumps(config).encode()).code == 0


def structures(row: dict[str, Any]) -> dict[str, str]:
    """Those settings of a group that have parts, as mqadmin prints them."""
    waits = java_text(row["groupRetryPolicy"]["exponentialRetryPolicy"], "initial", "max", "multiplier")
    kept = java_text(row["subscriptionDataSet"][0], "topic", "expressionType", "expression", "version")
    return {
        "groupRetryPolicy": f"GroupRetryPolicy{{type={row['groupRetryPolicy']['type']}, "
        f"exponentialRetryPolicy=ExponentialRetryPolicy{waits}, customizedRetryPolicy=null}}",
        "subscriptionDataSet": f"[SimpleSubscriptionData{kept}]",
        "attributes": java_text(row["attributes"], "priority.factor"),
    }


def java_text(parts: dict[str, Any], *names: str) -> str:
    assert parts.keys() == set(names)
    return "{" + ", ".join(f"{name}={parts[name]}" for name in names) + "}"


def test_settings_of_a_group_are_those_of_mqadmin(cluster: Cluster) -> None:
    """Made by us and by mqadmin with the same flags, and shown by both."""
    waits = {"initial": 2000, "max": 60_000, "multiplier": 3}
    policy = json.dumps({"type": "EXPONENTIAL", "exponentialRetryPolicy": waits})
    structured = ("-p", policy, "--attributes", "+priority.factor=7")
    flags = ("-b", cluster.new.address, "-r", "7", "-q", "2", "-s", "false", *structured)
    assert cluster("updateSubGroup", "OursMade", *flags).code == 0
    assert "success" in cluster.mqadmin("updateSubGroup", "-g", "TheirsMade", *flags)
    for group in ("OursMade", "TheirsMade"):
        subscribe(cluster.new, group)
    settings_shown = {}
    for group in ("OursMade", "TheirsMade"):
        mqadmin_output = cluster.mqadmin("getConsumerConfig", "-g", group)
        theirs = dict(re.findall(r"^(\w+) +=  (.*)$", mqadmin_output, re.M))
        [row] = [row for row in cluster("getConsumerConfig", group).rows if row["brokerName"] == "broker-a"]
        for name, text in structures(row).items():
            assert theirs[name] == text
        for name in theirs.keys() & row.keys() - structures(row).keys():
            assert theirs[name] == str(row[name]).replace("True", "true").replace("False", "false"), name
        assert len(theirs) == 15
        settings_shown[group] = {name: value for name, value in row.items() if name != "group"}
    assert settings_shown["OursMade"] == settings_shown["TheirsMade"]


def test_a_group_that_a_broker_makes_anew_is_told(cluster: Cluster) -> None:
    """As 5.5.0 does where offsets are to stay; mqadmin says success."""
    place = ("-b", cluster.new.address)
    for group in ("OursMade", "TheirsMade"):
        assert cluster("updateSubGroup", group, *place).code == 0
    result = cluster("deleteSubGroup", "OursMade", *place, "--yes")
    assert (result.code, "created the group again" in result.rows[0]["error"]) == (1, True)
    assert "success" in cluster.mqadmin("deleteSubGroup", "-g", "TheirsMade", *place)
    groups = plain(parse(wire.ask(cluster.new.port, 201).body))["subscriptionGroupTable"]
    assert groups.keys() >= {"OursMade", "TheirsMade"}
    assert cluster("deleteSubGroup", "OursMade", *place, "-r", "true", "--yes").code == 0
    assert "success" in cluster.mqadmin("deleteSubGroup", "-g", "TheirsMade", *place, "-r", "true")
    groups = plain(parse(wire.ask(cluster.new.port, 201).body))["subscriptionGroupTable"]
    assert groups.keys().isdisjoint({"OursMade", "TheirsMade"})


def test_a_group_is_moved_to_where_mqadmin_moves_one(cluster: Cluster, clients: LiveClients) -> None:
    middle = cluster("queryMsgByOffset", ORDERS, "broker-a", "0", "2").rows[0]["storeTime"]
    millis = str(round(datetime.fromisoformat(middle).timestamp() * 1000))
    for number, (command, words) in enumerate(
        (
            ("resetOffsetByTime", ("-s", millis)),
            ("resetOffsetByTime", ("-s", "1000")),
            ("skipAccumulatedMessage", ()),
        )
    ):
        ours, theirs = f"OursMoved{number}", f"TheirsMoved{number}"
        for group in (ours, theirs):
            commit(cluster.new, group, ORDERS, {0: 1})
            make_topic(cluster.server, [cluster.new], f"%RETRY%{group}", 1)
        mqadmin_output = cluster.mqadmin(command, "-g", theirs, "-t", ORDERS, *words)
        rows = [
            row
            for row in cluster(command, ours, ORDERS, *words, "-y").rows
            if row["brokerName"] == "broker-a"
        ]
        assert lines(mqadmin_output, "#brokerName") == [["broker-a", "0", str(rows[0]["to"])]]
        assert committed(cluster.new, ours, ORDERS) == committed(cluster.new, theirs, ORDERS)


def test_topics_are_made_as_mqadmin_makes_them(cluster: Cluster) -> None:
    flags = ("-b", cluster.new.address, "-r", "3", "-w", "2", "-p", "6", "-a", "+message.type=FIFO")
    assert cluster("updateTopic", "OursTopic", *flags).code == 0
    assert "success" in cluster.mqadmin("updateTopic", "-t", "TheirsTopic", *flags)
    wait_for("the topic", lambda: cluster("topicRoute", "TheirsTopic").code == 0)
    for perm in (6, 4):
        ours, theirs = (
            json.loads(wire.ask(cluster.new.port, 351, {"topic": topic}).body)
            for topic in ("OursTopic", "TheirsTopic")
        )
        assert ours | {"topicName": ""} == theirs | {"topicName": ""}
        assert ours["perm"] == perm
        cluster("updateTopicPerm", "OursTopic", "4", "-b", cluster.new.address)
        cluster.mqadmin("updateTopicPerm", "-t", "TheirsTopic", "-p", "4", "-b", cluster.new.address)
    wait_for("the route", lambda: cluster("topicRoute", "TheirsTopic").rows[0]["perm"] == 4)
    mqadmin_output = cluster.mqadmin("topicRoute", "-t", "TheirsTopic", "-l")
    [row] = cluster("topicRoute", "TheirsTopic").rows
    assert lines(mqadmin_output.replace("---", "\n\n"), "#ClusterName")[0] == [
        row["clusterName"], row["brokerName"], f"{{0={cluster.new.address}}}", "3", "2", "4",
    ]  # fmt: skip
    known = {row["topic"] for row in cluster("topicList").rows}
    assert set(cluster.mqadmin("topicList").split()) <= known
    assert cluster.mqadmin("topicClusterList", "-t", "TheirsTopic").split() == ["DefaultCluster"]
    assert [row["clusterName"] for row in cluster("topicClusterList", "TheirsTopic").rows] == [
        "DefaultCluster"
    ]


@pytest.mark.parametrize("command", ["cleanExpiredCQ", "cleanUnusedTopic"])
def test_upkeep_is_taken_as_mqadmins_is(cluster: Cluster, command: str) -> None:
    [row] = cluster(command, cluster.new.address, "--yes").rows
    assert (row["result"], cluster.mqadmin(command, "-b", cluster.new.address).strip()) == ("done", "success")


def test_a_group_that_pops(cluster: Cluster, tmp_path: Path) -> None:
    """Its clients share the queues of the broker; mqadmin shows them in a table of their own."""
    make_topic(cluster.server, [cluster.new], "Popped", 2)
    group = "Popped-consumer"
    commit(cluster.new, group, "Popped", {})
    mqadmin_output = cluster.mqadmin(
        "setConsumeMode", "-b", cluster.new.address, "-t", "Popped", "-g", group, "-m", "POP"
    )
    assert "success" in mqadmin_output
    with LiveClients(tmp_path / "clients", cluster.server.address, "Popped", pop=True) as clients:
        clients.order("send 4")
        wait_for("the consumer", lambda: clients.order("wait 4") == 4)

        def popped() -> list[Any]:
            rows = cluster("consumerStatus", group).rows or []
            return [row for row in rows if row["topic"] == "Popped"]

        [row] = wait_for("the client", popped)
        queue_row = [row[name] for name in ("brokerName", "queueId", "waitAckCount", "dropped")]
        assert queue_row == ["broker-a", None, 0, False]
        assert row["lastPopTime"].endswith("Z")
        wait_for("no problems", lambda: cluster("consumerStatus", group).err == "")
        mqadmin_output = cluster.mqadmin("consumerStatus", "-g", group, "-i", row["clientId"])
        detail = mqadmin_output.partition("#Consumer Pop Detail#")[2].partition("#Consumer RT")[0]
        [theirs] = lines(detail, "#Topic")
        assert theirs[:5] == ["Popped", "broker-a", "-1", "PopProcessQueueInfo", "[waitAckCount:0,"]
        wait_for("the offsets", lambda: progress(cluster, group) == [["0", "0"]] * 2)
        rows = cluster("consumerProgress", group, "-t", "Popped", "-s", "true").rows
        assert {row["clientId"] for row in rows if row["topic"] == "Popped"} == {row["clientId"]}


def progress(cluster: Cluster, group: str) -> list[list[str]]:
    """How far a group is behind in each queue, and inflight, where we and mqadmin tell the same."""
    rows = [row for row in cluster("consumerProgress", group).rows or () if row["topic"] == "Popped"]
    mqadmin_output = cluster.mqadmin("consumerProgress", "-g", group)
    theirs = [row for row in lines(mqadmin_output, "#Topic") if row[0] == "Popped"]
    ours = [
        [str(row[name]) for name in ("brokerOffset", "consumerOffset", "lag", "inflight")] for row in rows
    ]
    return [row[2:] for row in ours] if ours == [row[3:7] for row in theirs] else []


def test_names_are_lists_and_patterns(cluster: Cluster, clients: LiveClients) -> None:
    for topic in ("Listed-1", "Listed-2"):
        cluster.topic(topic, 1)
    queues = cluster("topicStatus", f"{ORDERS},Listed-*").rows
    assert {row["topic"] for row in queues} == {ORDERS, "Listed-1", "Listed-2"}
    assert {row["group"] for row in cluster("consumerConnection", f"{ORDERS}-*").rows} == {
        f"{ORDERS}-consumer"
    }
    for broker_names in ("broker-a,broker-old", "broker-*"):
        settings = cluster("getBrokerConfig", "-b", broker_names, "--filter", "key=brokerName").rows
        assert sorted(row["value"] for row in settings) == ["broker-a", "broker-old"]
    figures = cluster("brokerStatus", "broker-*", "--filter", "key=bootTimestamp").rows
    assert {row["brokerName"] for row in figures} == {"broker-a", "broker-old"}
    nothing = cluster("topicStatus", "nothing-*")
    assert (nothing.code, nothing.rows) == (5, None)


def test_who_sends_to_a_topic(cluster: Cluster, clients: LiveClients) -> None:
    clients.order("send 1")
    [row] = cluster("producer", "--topic", ORDERS).rows
    assert (row["host"], row["producerGroups"]) == ("127.0.0.1", [f"{ORDERS}-producer"])
    assert row["messageCount"] >= 1


def test_the_traffic_of_one_broker(cluster: Cluster, clients: LiveClients) -> None:
    rows = cluster("statsAll", "-b", "broker-old").rows
    assert ORDERS in {row["topic"] for row in rows}
