"""Commands that move groups, send and hand over messages, on 5.5.0 and 4.9.7 brokers, beside mqadmin."""

import json
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import pytest

from tests.interop import command_line, jars, wire
from tests.interop.cluster import (
    create_topic,
    plain,
    route,
    send,
    wait_for_broker,
    wait_for_runtime_info,
)
from tests.interop.command_line import Done
from tests.interop.differential.loose_json import parse
from tests.interop.java_parts import JavaBroker, LiveClients, MqAdmin
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for

ORDERS = "Orders"


class Cluster(NamedTuple):
    """mqadmin sees the new broker alone, by a name server of its own: beside an old one much of it fails."""

    server: OurNameServer
    new: JavaBroker
    old: JavaBroker
    mqadmin: MqAdmin
    clients: LiveClients

    def __call__(self, *args: str) -> Done:
        return command_line.nsadmin(self.server.address, *args)

    def topic(self, topic: str, queues: int = 4) -> None:
        make_topic(self.server, (self.new, self.old), topic, queues)


def make_topic(server: OurNameServer, brokers: Sequence[JavaBroker], topic: str, queues: int) -> None:
    """On each broker, and known to be there."""
    for broker in brokers:
        create_topic(broker.port, topic, queues)
    names = {broker.name for broker in brokers}
    wait_for(topic, lambda: {item["brokerName"] for item in queues_of(server, topic)} == names, 15)


def queues_of(server: OurNameServer, topic: str) -> list[dict[str, Any]]:
    return list((route(server, topic) or {"queueDatas": []})["queueDatas"])


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("daily")
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        server = ends.enter_context(OurNameServer(home / "server"))
        new_only = ends.enter_context(OurNameServer(home / "new-only"))
        new = JavaBroker(home / "new", [server.address, new_only.address])
        old = JavaBroker(home / "old", [server.address], "broker-old", version=jars.OLD)
        mqadmin = MqAdmin(home / "mqadmin", [new_only.address])
        for part in pool.map(lambda part: part.__enter__(), (new, old, mqadmin)):
            ends.push(part)
        for broker in (new, old):
            wait_for_broker([server], broker.name)
            wait_for_runtime_info(broker.port)
        make_topic(server, (new, old), ORDERS, 1)
        clients = ends.enter_context(LiveClients(home / "clients", server.address, ORDERS))
        yield Cluster(server, new, old, mqadmin, clients)


def commit(broker: JavaBroker, group: str, topic: str, offsets: dict[int, int]) -> None:
    config = json.dumps({"groupName": group, "consumeEnable": True}).encode()
    assert wire.ask(broker.port, 200, {}, config).code == 0
    for queue, offset in offsets.items():
        place = {"consumerGroup": group, "topic": topic, "queueId": str(queue)}
        assert wire.ask(broker.port, 15, {**place, "commitOffset": str(offset)}).code == 0


def committed(broker: JavaBroker, group: str, topic: str) -> dict[str, int]:
    """What the broker has in its own table of offsets, past our client."""
    table = plain(parse(wire.ask(broker.port, 43).body))["offsetTable"]
    return dict(table.get(f"{topic}@{group}", {}))


def test_a_clone_is_previewed_done_and_what_mqadmin_does(cluster: Cluster) -> None:
    cluster.topic("Cloned")
    for broker in (cluster.new, cluster.old):
        for queue in range(4):
            send(broker.port, "Cloned", queue, 5)
        commit(broker, "Source", "Cloned", {0: 5, 1: 3, 2: 0})
        for group in ("Ours", "Theirs"):
            commit(broker, group, "Cloned", {1: 4})
    wait_for("the queues", lambda: ends(cluster, "Cloned") == [5] * 8, 15)
    words = ("cloneGroupOffset", "Source", "Ours", "Cloned")
    planned = cluster(*words, "--dry-run")
    assert [(row["from"], row["to"], row["repeated"]) for row in planned.rows[:4]] == [
        (None, 5, None), (4, 3, 1), (None, 0, None), (None, None, None),
    ]  # fmt: skip
    assert committed(cluster.new, "Ours", "Cloned") == {"1": 4}
    done = cluster(*words, "--yes")
    assert (done.code, {row["error"] for row in done.rows}) == (0, {None})
    for broker in (cluster.new, cluster.old):
        assert committed(broker, "Ours", "Cloned") == {"0": 5, "1": 3, "2": 0}


def test_a_clone_is_what_mqadmins_is(cluster: Cluster) -> None:
    """But for the other topics of the group, which mqadmin takes as well."""
    make_topic(cluster.server, [cluster.new], "Elsewhere", 1)
    send(cluster.new.port, "Elsewhere", 0, 5)
    commit(cluster.new, "Source", "Elsewhere", {0: 5})
    make_topic(cluster.server, [cluster.new], "%RETRY%Source", 1)
    said = cluster.mqadmin("cloneGroupOffset", "-s", "Source", "-d", "Theirs", "-t", "Cloned")
    assert "clone group offset success" in said
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
    done = cluster("cloneGroupOffset", "Source", "Ours", "Cloned", "--yes")
    assert (done.code, [row["result"] for row in done.rows][:4]) == (0, ["kept", "done", "done", "kept"])
    assert committed(cluster.new, "Ours", "Cloned") == {"0": 5, "1": 3, "2": 0, "3": 5}


def ends(cluster: Cluster, topic: str) -> list[int]:
    return [row["maxOffset"] for row in cluster("topicStatus", topic).rows]


def tracks(said: str) -> dict[str, str]:
    """Group to track type, as mqadmin prints it."""
    return dict(re.findall(r"MessageTrack \[consumerGroup=(.+?), trackType=(\w+),", said))


def test_who_has_consumed_a_message(cluster: Cluster) -> None:
    wait_for("the consumer", lambda: is_everywhere(cluster), 40, 0.5)
    for broker in (cluster.new, cluster.old):
        commit(broker, "Offline", ORDERS, {0: 1})
    make_topic(cluster.server, [cluster.new], "%RETRY%Offline", 1)
    cluster.clients.order("send 8")
    assert cluster.clients.order("wait 8") == 8
    wanted = {"Offline": "NOT_ONLINE", "Orders-consumer": "CONSUMED"}
    for broker in (cluster.new, cluster.old):
        words = ("queryMsgByOffset", ORDERS, broker.name, "0", "3")
        wait_for("the offsets", partial(is_told, cluster, words, wanted), 20)
        [row] = cluster(*words).rows
        for command, msg_id in (("queryMsgById", row["offsetMsgId"]), ("queryMsgByUniqueKey", row["msgId"])):
            assert [found["tracks"] for found in cluster(command, ORDERS, msg_id).rows] == [wanted]
            if broker is cluster.new:
                assert tracks(cluster.mqadmin(command, "-t", ORDERS, "-i", msg_id)) == wanted


def is_told(cluster: Cluster, words: Sequence[str], wanted: dict[str, str]) -> bool:
    return [row["tracks"] for row in cluster(*words).rows or ()] == [wanted]


def test_a_message_is_handed_to_a_living_client(cluster: Cluster) -> None:
    [client] = cluster("consumerConnection", "Orders-consumer").rows
    to = ("-g", "Orders-consumer", "-d", client["clientId"])
    consumed = 8
    for broker in (cluster.new, cluster.old):
        [row] = cluster("queryMsgByOffset", ORDERS, broker.name, "0", "0").rows
        for command, msg_id in (("queryMsgById", row["offsetMsgId"]), ("queryMsgByUniqueKey", row["msgId"])):
            done = cluster(command, ORDERS, msg_id, *to, "--yes")
            assert (done.code, done.said) == (0, "")
            assert [(one["consumeResult"], one["result"]) for one in done.rows] == [("CR_SUCCESS", "done")]
            consumed += 1
            assert cluster.clients.order(f"wait {consumed}") == consumed
    said = cluster.mqadmin("queryMsgById", "-t", ORDERS, "-i", row["offsetMsgId"], *to)
    assert "consumeResult=CR_SUCCESS" in said
    assert cluster.clients.order(f"wait {consumed + 1}") == consumed + 1
    gone = cluster("queryMsgById", ORDERS, row["offsetMsgId"], *to[:3], "nobody", "--yes")
    assert (gone.code, f"there are {client['clientId']}" in gone.said) == (5, True)
    assert cluster("queryMsgById", ORDERS, row["offsetMsgId"], "-g", "Offline", "-d", "x", "--yes").code == 5


def test_a_message_is_sent_again(cluster: Cluster) -> None:
    consumed = cluster.clients.order("wait 0")
    for broker in (cluster.new, cluster.old):
        [row] = cluster("queryMsgByOffset", ORDERS, broker.name, "0", "0").rows
        done = cluster("queryMsgById", ORDERS, row["offsetMsgId"], "-s", "true", "--yes")
        assert (done.code, done.said) == (0, "")
        [sent] = done.rows
        assert (sent["msgId"], sent["brokerName"], sent["queueOffset"]) == (row["msgId"], broker.name, 4)
        consumed += 1
        assert cluster.clients.order(f"wait {consumed}") == consumed
        [again] = cluster("queryMsgByOffset", ORDERS, broker.name, "0", "4").rows
        same = ("msgId", "body", "tags", "keys")
        assert [again[name] for name in same] == [row[name] for name in same]


def is_everywhere(cluster: Cluster) -> bool:
    rows = cluster("consumerConnection", "Orders-consumer").rows or []
    return [len(row["brokerAddrs"]) for row in rows] == [2]


def test_test_messages_are_where_mqadmin_writes_its_own(cluster: Cluster) -> None:
    for broker in (cluster.new, cluster.old):
        [before] = ends(cluster, broker.name)
        done = cluster("sendMsgStatus", broker.name, "-s", "1000", "-c", "3")
        assert (done.code, done.said) == (0, "")
        assert [row["queueOffset"] for row in done.rows] == [before, before + 1, before + 2]
        assert all(row["rt"] > 0 for row in done.rows)
        [row] = cluster("queryMsgById", broker.name, done.rows[2]["offsetMsgId"]).rows
        assert (row["body"], row["tags"], row["brokerName"]) == ("x" * 1000, "PROBE", broker.name)
    [before] = ends(cluster, "broker-a")
    said = cluster.mqadmin("sendMsgStatus", "-b", "broker-a", "-s", "1000", "-c", "3")
    sent = re.findall(r"sendStatus=SEND_OK.*?topic=broker-a, brokerName=broker-a, queueId=0", said)
    assert len(sent) == 3, said
    # One more than it was told, not counted: it opens the connection.
    wait_for("mqadmin's messages", lambda: ends(cluster, "broker-a") == [before + 4], 15)


def test_every_master_is_timed(cluster: Cluster) -> None:
    """mqadmin's own never ends."""
    before = [ends(cluster, name) for name in ("broker-a", "broker-old")]
    done = cluster("clusterRT", "-a", "4", "-m", "here")
    assert (done.code, done.said) == (0, "")
    assert [
        (row["clusterName"], row["brokerName"], row["successCount"], row["failCount"]) for row in done.rows
    ] == [("DefaultCluster", name, 4, 0) for name in ("broker-a", "broker-old")]
    assert all(0 < row["rt"] <= row["maxRt"] for row in done.rows)
    wait_for(
        "the messages",
        lambda: (
            [ends(cluster, name)[0] for name in ("broker-a", "broker-old")]
            == [queue[0] + 4 for queue in before]
        ),
        15,
    )
