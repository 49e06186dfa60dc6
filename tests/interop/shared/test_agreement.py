"""What our commands and mqadmin tell of one 5.5.0 broker and its clients at the same moment."""

import re
from collections.abc import Iterator
from datetime import datetime

import pytest

from tests.interop.daily import Cluster, lines, live_clients
from tests.interop.processes import wait_for

TOPIC, GROUP, PRODUCERS = "Agreed", "Agreed-consumer", "Agreed-producer"


@pytest.fixture(scope="module", autouse=True)
def clients(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with live_clients(cluster, tmp_path_factory.mktemp("agreement") / "clients", TOPIC) as clients:
        clients.order("send 8")
        wait_for("the consumer's work", lambda: clients.order("wait 8") == 8)
        yield


def local(text: str, pattern: str) -> str:
    """A time of ours as mqadmin prints it on this machine."""
    return datetime.fromisoformat(text).astimezone().strftime(pattern)


def test_brokers_are_those_of_mqadmin(cluster: Cluster) -> None:
    [row] = [row for row in cluster("clusterList").rows if row["brokerName"] == "broker-a"]
    [theirs] = lines(cluster.mqadmin("clusterList"), "#Cluster Name")
    assert [
        row["clusterName"],
        row["brokerName"],
        str(row["brokerId"]),
        row["brokerAddr"],
        row["version"],
    ] == (theirs[:5])
    assert [float(theirs[-2]), theirs[-1]] == [row["commitLogDiskRatio"], "true"]
    mqadmin_output = cluster.mqadmin("brokerStatus", "-b", cluster.new.address)
    figures = {
        key.strip(): value.strip() for key, value in re.findall(r"^(\S+?)\s*: (.*)$", mqadmin_output, re.M)
    }
    rows = cluster("brokerStatus", cluster.new.address).rows
    assert {row["key"] for row in rows} == figures.keys()
    still = (
        "bootTimestamp",
        "brokerVersionDesc",
        "commitLogMaxOffset",
        "msgPutTotalTodayNow",
        "commitLogDirCapacity",
    )
    ours = {row["key"]: row["value"] for row in rows}
    assert {key: ours[key] for key in still} == {key: figures[key] for key in still}


def test_the_progress_of_a_group_is_that_of_mqadmin(cluster: Cluster) -> None:
    def same() -> bool:
        rows = cluster("consumerProgress", GROUP, "-s", "true").rows
        mqadmin_output = cluster.mqadmin("consumerProgress", "-g", GROUP, "-s", "true")
        ours = [
            [
                row["topic"], row["brokerName"], *(str(row[name]) for name in NUMBERS[:3]),
                row["clientId"].partition("@")[0], *(str(row[name]) for name in NUMBERS[3:]),
                *(local(row["lastTime"], "%Y-%m-%d %H:%M:%S").split() if row["lastTime"] else ["N/A"]),
            ]
            for row in rows
            if row["brokerName"] == "broker-a" and row["topic"] == TOPIC
        ]  # fmt: skip
        return len(ours) == 1 and ours == [row for row in lines(mqadmin_output, "#Topic") if row[0] == TOPIC]

    wait_for("the same progress", same)
    of_group = [GROUP, "1", "V5_5_0", "PUSH", "CLUSTERING", "0", "0"]

    def sums() -> bool:
        [row] = [row for row in cluster("consumerProgress").rows if row["group"] == GROUP]
        assert [row["group"], str(row["count"]), row["version"], row["messageModel"]] == (
            [*of_group[:3], of_group[4]]
        )
        return row["lag"] == 0 and of_group in lines(cluster.mqadmin("consumerProgress"), "#Group")

    wait_for("the same sums", sums)
    stats = next(
        row
        for row in cluster("brokerConsumeStats", cluster.new.address).rows
        if [row["topic"], row["group"]] == [TOPIC, GROUP]
    )
    theirs = lines(cluster.mqadmin("brokerConsumeStats", "-b", cluster.new.address), "#Topic")
    [their_row] = [row for row in theirs if row[:2] == [TOPIC, GROUP]]
    names = ("brokerName", "queueId", "brokerOffset", "consumerOffset", "lag")
    assert their_row[2:7] == [str(stats[name]) for name in names]


NUMBERS = ("queueId", "brokerOffset", "consumerOffset", "lag", "inflight")


def test_clients_are_those_of_mqadmin(cluster: Cluster) -> None:
    [row] = cluster("consumerConnection", GROUP).rows
    mqadmin_output = cluster.mqadmin("consumerConnection", "-g", GROUP)
    [client] = lines(mqadmin_output, "#ClientId")
    assert [client[0], *client[2:]] == [row["clientId"], row["language"], row["version"]]
    assert {line[0]: " ".join(line[1:]) for line in lines(mqadmin_output, "#Topic")} == row["subscriptions"]
    for name in ("consumeType", "messageModel", "consumeFromWhere"):
        assert f"{name[0].upper()}{name[1:]}: {row[name]}" in mqadmin_output
    [row] = cluster("producerConnection", PRODUCERS, TOPIC).rows
    mqadmin_output = cluster.mqadmin("producerConnection", "-g", PRODUCERS, "-t", TOPIC)
    [client] = re.findall(r"^0001  (\S+) +\S+ +(\S+) +(\S+)", mqadmin_output, re.M)
    assert list(client) == [row["clientId"], row["language"], row["version"]]
    mqadmin_output = cluster.mqadmin("producer", "-b", cluster.new.address)
    theirs = re.findall(
        r"producer group \((.+?)\) .*clientId=(.+?),remoteIP=/(.+?), language=(\w+)", mqadmin_output
    )
    rows = cluster("producer", cluster.new.address).rows
    names = ("producerGroup", "clientId", "clientAddr", "language")
    assert {tuple(row[name] for name in names) for row in rows} >= set(theirs) != set()


def test_what_a_client_tells_is_what_mqadmin_prints(cluster: Cluster) -> None:
    rows = cluster("consumerStatus", GROUP).rows
    client = rows[0]["clientId"]
    mqadmin_output = cluster.mqadmin("consumerStatus", "-g", GROUP, "-i", client)
    theirs = dict(
        re.findall(r"^(\w+) +: (.*)$", mqadmin_output.partition("#Consumer Subscription#")[0], re.M)
    )
    assert {key: value.strip() for key, value in theirs.items()} == {
        key: value.strip() for key, value in rows[0]["properties"].items()
    }
    subscribed = re.findall(r"^\d+ Topic: (\S+) .*SubExpression: (.*)$", mqadmin_output, re.M)
    assert {topic: text.strip() for topic, text in subscribed} == rows[0]["subscriptions"]
    queues = [
        line.split()
        for line in mqadmin_output.partition("#Consumer Offset#")[2].partition("#Consumer MQ")[0].splitlines()
    ]
    mine = [
        [row["topic"], row["brokerName"], str(row["queueId"]), str(row["consumerOffset"])] for row in rows
    ]
    assert [line for line in queues if line[:1] == [TOPIC]] == [line for line in mine if line[0] == TOPIC]


def test_a_message_is_what_mqadmin_prints(cluster: Cluster) -> None:
    [row] = cluster("queryMsgByOffset", TOPIC, "broker-a", "0", "1").rows
    labels = {
        "OffsetID": row["offsetMsgId"],
        "Topic": TOPIC,
        "Tags": f"[{row['tags']}]",
        "Queue ID": str(row["queueId"]),
        "Queue Offset": str(row["queueOffset"]),
        "CommitLog Offset": str(row["physicalOffset"]),
        "Reconsume Times": str(row["reconsumeTimes"]),
        "Born Timestamp": local(row["bornTime"], "%Y-%m-%d %H:%M:%S,%f")[:-3],
        "Store Timestamp": local(row["storeTime"], "%Y-%m-%d %H:%M:%S,%f")[:-3],
        "Born Host": row["bornHost"],
        "Store Host": row["storeHost"],
        "System Flag": str(row["sysFlag"]),
    }
    for words in (
        ("queryMsgById", "-t", TOPIC, "-i", row["offsetMsgId"]),
        ("queryMsgByUniqueKey", "-t", TOPIC, "-i", row["msgId"]),
        ("queryMsgByOffset", "-t", TOPIC, "-b", "broker-a", "-i", "0", "-o", "1"),
    ):
        mqadmin_output = cluster.mqadmin(*words)
        mqadmin_fields = dict(re.findall(r"^([A-Z][\w ]+?): +(.*)$", mqadmin_output, re.M))
        assert "Properties" in mqadmin_fields, mqadmin_output
        assert {name: mqadmin_fields.get(name, labels[name]) for name in labels} == labels, words
        properties = dict(item.split("=", 1) for item in mqadmin_fields["Properties"].strip("{}").split(", "))
        # What a Java client notes on what it was handed.
        assert {key: properties[key] for key in properties.keys() - {"MIN_OFFSET", "MAX_OFFSET"}} == row[
            "properties"
        ]
