"""Commands of topics and brokers on real ones: a 5.5.0 master with its slave, and a 4.9.7 master.

Where the real mqadmin answers the same question about the same cluster, the answers are compared.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.interop import command_line, jars, wire
from tests.interop.cluster import body, send, wait_for_broker, wait_for_runtime_info, wait_for_topic
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import QUICK_START, JavaBroker, MqAdmin, Running, jvm
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for

CLUSTER = "DefaultCluster"


class Cluster(NamedTuple):
    server: OurNameServer
    master: JavaBroker
    slave: JavaBroker
    old: JavaBroker
    mqadmin: MqAdmin


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("topics")
    with OurNameServer(home / "ours", {"orderMessageEnable": "true"}) as server, ExitStack() as ends:
        addrs = [server.address]
        parts = (
            JavaBroker(home / "master", addrs),
            JavaBroker(home / "slave", addrs, broker_id=1),
            JavaBroker(home / "old", addrs, "broker-old", version=jars.OLD),
            MqAdmin(home / "mqadmin", addrs),
        )
        with ThreadPoolExecutor() as pool:
            for part in parts:
                ends.callback(end, part)
            list(pool.map(lambda part: part.start(), parts))
        master, slave, old, mqadmin = parts
        for name, broker_id in (("broker-a", 0), ("broker-a", 1), ("broker-old", 0)):
            wait_for_broker([server], name, broker_id)
        for broker in (master, slave, old):
            wait_for_runtime_info(broker.port)
        yield Cluster(server, master, slave, old, mqadmin)


def end(part: Running) -> None:
    if hasattr(part, "child"):
        part.kill()


def nsadmin(cluster: Cluster, *args: str) -> CommandResult:
    return command_line.nsadmin(cluster.server.address, *args)


def config_of(broker: JavaBroker, topic: str) -> dict[str, Any]:
    """How a broker has a topic, past our client: 4.9 has its configs in its file only."""
    if broker.version == jars.OLD:
        table = json.loads(wire.ask(broker.port, 21).body)["topicConfigTable"]
        return dict(table[topic])
    return dict(json.loads(wire.ask(broker.port, 351, {"topic": topic}).body))


def consume(broker: JavaBroker, topic: str, group: str, count: int, queue_id: int = 0) -> None:
    """Make the group, let it read so many messages of a queue, and commit that."""
    config = json.dumps({"groupName": group, "consumeEnable": True}).encode()
    assert wire.ask(broker.port, 200, {}, config).code == 0
    place = {"consumerGroup": group, "topic": topic, "queueId": str(queue_id)}
    ext = {
        **place, "queueOffset": "0", "maxMsgNums": str(count), "sysFlag": "4", "commitOffset": "0",
        "suspendTimeoutMillis": "0", "subscription": "*", "subVersion": "0", "expressionType": "TAG",
    }  # fmt: skip
    # A broker finds messages a moment after it has stored them.
    wait_for("the messages", lambda: wire.ask(broker.port, 11, ext).code == 0)
    assert wire.ask(broker.port, 15, {**place, "commitOffset": str(count)}).code == 0


def table(said: str) -> list[list[str]]:
    """The rows below mqadmin's heading, by blanks."""
    return [line.split() for line in said.splitlines() if line.strip() and not line.startswith("#")]


def test_a_topic_is_created_and_then_changed_in_what_is_named_only(cluster: Cluster) -> None:
    result = nsadmin(cluster, "updateTopic", "Merged", "-c", CLUSTER, "-r", "6", "-w", "4")
    assert result.code == 0
    assert [(row["brokerName"], row["changes"], row["result"]) for row in result.rows] == [
        (name, "new: readQueueNums 6, writeQueueNums 4, perm rw-", "done")
        for name in ("broker-a", "broker-old")
    ]
    wait_for_topic([cluster.server], "Merged")
    result = nsadmin(
        cluster, "updateTopic", "-t", "Merged", "-b", cluster.master.address, "-w", "6", "-u", "true"
    )
    assert [(row["changes"], row["result"]) for row in result.rows] == [
        ("writeQueueNums 4 -> 6, topicSysFlag 0 -> 1", "done")
    ]
    planned = nsadmin(cluster, "updateTopic", "Merged", "-c", CLUSTER, "-p", "4", "--dry-run")
    assert {row["result"] for row in planned.rows} == {"dry-run"}
    result = nsadmin(cluster, "updateTopic", "Merged", "-c", CLUSTER, "-p", "4")
    assert {(row["changes"], row["result"]) for row in result.rows} == {("perm rw- -> r--", "done")}
    members = ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag", "order")
    setting_values = [
        [config_of(broker, "Merged")[name] for name in members] for broker in (cluster.master, cluster.old)
    ]
    assert setting_values == [[6, 6, 4, 1, False], [6, 4, 4, 0, False]]
    again = nsadmin(cluster, "updateTopic", "Merged", "-c", CLUSTER, "-p", "4")
    assert {row["result"] for row in again.rows} == {"unchanged"}
    queues = body(cluster.server, 105, {"topic": "Merged"})["queueDatas"]
    assert sorted((queue["brokerName"], queue["perm"], queue["writeQueueNums"]) for queue in queues) == [
        ("broker-a", 4, 6),
        ("broker-old", 4, 4),
    ]


def test_a_permission_leaves_the_queues_of_each_broker(cluster: Cluster) -> None:
    for broker, queues in ((cluster.master, "2"), (cluster.old, "5")):
        nsadmin(cluster, "updateTopic", "Perm", "-b", broker.address, "-r", queues, "-w", queues)
    result = nsadmin(cluster, "updateTopicPerm", "Perm", "4", "-c", CLUSTER)
    assert (result.code, [row["changes"] for row in result.rows]) == (0, ["perm rw- -> r--"] * 2)
    for broker, kept in ((cluster.master, 2), (cluster.old, 5)):
        config = config_of(broker, "Perm")
        assert (config["perm"], config["readQueueNums"], config["writeQueueNums"]) == (4, kept, kept)
    assert nsadmin(cluster, "updateTopicPerm", "NoSuch", "4", "-c", CLUSTER).code == 5
    refused = nsadmin(cluster, "updateTopicPerm", "Perm", "2", "-c", CLUSTER)
    loss = f"consumers will not be able to read Perm on {cluster.master.address}"
    assert (refused.code, loss in refused.err, config_of(cluster.master, "Perm")["perm"]) == (2, True, 4)
    assert nsadmin(cluster, "updateTopicPerm", "Perm", "2", "-c", CLUSTER, "--yes").code == 0
    assert config_of(cluster.master, "Perm")["perm"] == 2


def test_attributes_are_added_and_taken_where_a_broker_knows_them(cluster: Cluster) -> None:
    words = ("updateTopic", "Typed", "-b", cluster.master.address)
    assert nsadmin(cluster, *words, "-a", "+message.type=FIFO").rows[0]["after"]["attributes"] == {
        "message.type": "FIFO"
    }
    assert nsadmin(cluster, *words, "-r", "9").rows[0]["result"] == "done"
    assert config_of(cluster.master, "Typed")["attributes"] == {"message.type": "FIFO"}
    refused = nsadmin(cluster, *words, "-a", "+no.such=1")
    assert (refused.code, "unsupported key: no.such" in refused.rows[0]["error"]) == (1, True)
    old = nsadmin(cluster, "updateTopic", "Typed", "-b", cluster.old.address, "-a", "+message.type=FIFO")
    assert (old.code, old.rows[0]["error"]) == (1, "topics of brokers before 5.0 have no attributes")
    assert nsadmin(cluster, *words, "-a", "-no.such,+message.type=NORMAL").rows[0]["result"] == "done"
    fixed = nsadmin(cluster, *words, "-a", "+queue.type=BatchCQ", "--dry-run")
    assert fixed.rows[0]["error"] == 'a broker sets "queue.type" only when it creates the topic'


def test_a_slave_is_never_changed(cluster: Cluster) -> None:
    result = nsadmin(cluster, "updateTopic", "OnSlave", "-b", cluster.slave.address)
    assert (result.code, "this is a slave" in result.rows[0]["error"]) == (1, True)
    assert wire.ask(cluster.slave.port, 351, {"topic": "OnSlave"}).code == 17


def test_an_order_configuration_is_what_mqadmin_and_clients_get(cluster: Cluster) -> None:
    words = ("updateTopic", "Ordered", "-b", cluster.master.address, "-r", "4", "-w", "4", "-o", "true")
    result = nsadmin(cluster, *words)
    assert (result.code, result.rows[1]["changes"]) == (0, "new: orderConf broker-a:4")
    mqadmin_output = cluster.mqadmin("updateOrderConf", "-t", "Ordered", "-m", "get")
    assert "orderConf=[broker-a:4]" in mqadmin_output
    wait_for_topic([cluster.server], "Ordered")
    put = nsadmin(cluster, "updateOrderConf", "Ordered", "put", "broker-a:3;broker-old:2")
    assert put.code == 0
    assert put.err.splitlines() == [
        "nsadmin: Ordered: clients use 3 of the 4 queues of broker-a",
        "nsadmin: Ordered: broker-old does not have the topic, but clients send to it",
        f"nsadmin: to undo it: nsadmin updateOrderConf Ordered put -v broker-a:4 -n {cluster.server.address}",
    ]
    assert body(cluster.server, 105, {"topic": "Ordered"})["orderTopicConf"] == "broker-a:3;broker-old:2"
    [row] = nsadmin(cluster, "updateOrderConf", "-t", "Ordered", "-m", "get").rows
    assert row["orderConf"] == "broker-a:3;broker-old:2"
    grown = nsadmin(cluster, "updateTopic", "Ordered", "-b", "broker-a", "-r", "8", "-w", "8", "--dry-run")
    assert "stays broker-a:3;broker-old:2, so ordered messages do not use all queues: run" in grown.err
    assert "updateOrderConf Ordered put 'broker-a:8;broker-old:2'" in grown.err
    read = ("updateOrderConf", "-t", "Ordered", "-m", "get")
    assert "orderConf=[broker-a:3;broker-old:2]" in cluster.mqadmin(*read)
    assert nsadmin(cluster, "updateOrderConf", "Ordered", "delete", "--yes").code == 0
    assert "CODE: 22  DESC: No config item" in cluster.mqadmin(*read)
    assert nsadmin(cluster, "updateOrderConf", "Ordered", "get").code == 5


def test_topic_status_tells_what_mqadmin_tells(cluster: Cluster) -> None:
    nsadmin(cluster, "updateTopic", "Written", "-b", cluster.master.address, "-r", "3", "-w", "3")
    wait_for_topic([cluster.server], "Written")
    send(cluster.master.port, "Written", 0, 5)
    send(cluster.master.port, "Written", 2, 1)

    def written() -> Any:
        rows = nsadmin(cluster, "topicStatus", "Written").rows
        return rows if [row["maxOffset"] for row in rows] == [5, 0, 1] else None

    wait_for("the queues", written)
    result = nsadmin(cluster, "topicStatus", "Written")
    assert (result.code, result.err) == (0, "nsadmin: Written has 6 messages\n")
    theirs = sorted(
        row for row in table(cluster.mqadmin("topicStatus", "-t", "Written")) if row[0] == "broker-a"
    )
    ours = [
        [row["brokerName"], str(row["queueId"]), str(row["minOffset"]), str(row["maxOffset"])]
        + ([] if row["lastUpdated"] is None else local(row["lastUpdated"]).split())
        for row in result.rows
    ]
    assert ours == theirs


def local(text: str) -> str:
    """A time as mqadmin prints it on this machine."""
    return f"{datetime.fromisoformat(text).astimezone():%Y-%m-%d %H:%M:%S,%f}"[:-3]


def test_topic_status_of_both_releases_where_mqadmin_gives_up(cluster: Cluster) -> None:
    for broker in (cluster.master, cluster.old):
        nsadmin(cluster, "updateTopic", "Mixed", "-b", broker.address, "-r", "1", "-w", "1")
        send(broker.port, "Mixed", 0, 2)

    def both() -> bool:
        result = nsadmin(cluster, "topicStatus", "Mixed")
        max_offsets = [(row["brokerName"], row["maxOffset"]) for row in result.rows or ()]
        return max_offsets == [("broker-a", 2), ("broker-old", 2)]

    wait_for("both brokers' queues", both)
    assert "request type 351 not supported" in cluster.mqadmin("topicStatus", "-t", "Mixed")
    assert nsadmin(cluster, "topicStatus", "NoSuch").code == 5


def test_settings_are_those_that_mqadmin_shows(cluster: Cluster) -> None:
    for broker in (cluster.master, cluster.old):
        mqadmin_output = cluster.mqadmin("getBrokerConfig", "-b", broker.address)
        theirs = dict(
            re.split(r"\s+=\s*", line, maxsplit=1)
            for line in mqadmin_output.splitlines()
            if re.search(r"\s=\s*", line)
        )
        result = nsadmin(cluster, "getBrokerConfig", broker.address)
        ours = {row["key"]: row["value"] for row in result.rows}
        assert len(ours) > 150
        differing = {key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)}
        assert differing == set()
    rows = nsadmin(cluster, "getBrokerConfig", "-c", CLUSTER, "--filter", "key=brokerRole").rows
    assert sorted((row["brokerName"], row["brokerId"], row["value"]) for row in rows) == [
        ("broker-a", 0, "ASYNC_MASTER"),
        ("broker-a", 1, "SLAVE"),
        ("broker-old", 0, "ASYNC_MASTER"),
    ]
    for process in ("broker-a:1", "broker-a/1"):
        [role] = nsadmin(cluster, "getBrokerConfig", process, "--filter", "key=brokerRole").rows
        assert (role["brokerId"], role["value"]) == (1, "SLAVE")


def test_a_setting_is_changed_and_read_back(cluster: Cluster) -> None:
    result = nsadmin(cluster, "updateBrokerConfig", "fileReservedTime", "48", "-c", CLUSTER, "--yes")
    assert (result.code, [(row["before"], row["after"], row["result"]) for row in result.rows]) == (
        0,
        [("72", "48", "done")] * 2,
    )
    everywhere = nsadmin(
        cluster, "updateBrokerConfig", "fileReservedTime", "48", "-c", CLUSTER, "-a", "true", "--yes"
    )
    assert [row["result"] for row in everywhere.rows] == ["unchanged", "done", "unchanged"]
    assert re.search(
        r"fileReservedTime\s+= *48", cluster.mqadmin("getBrokerConfig", "-b", cluster.slave.address)
    )
    for broker in (cluster.master, cluster.old):
        where = ("-b", broker.address)
        assert nsadmin(cluster, "updateBrokerConfig", "noSuchItem", "1", *where).code == 5
        for key, value, now, text in (
            (
                "fileReservedTime",
                "soon",
                "48",
                'invalid value "soon" of fileReservedTime: use a whole number',
            ),
            ("traceOn", "maybe", "true", 'invalid value "maybe" of traceOn: use true or false'),
        ):
            for dry_run in ((), ("--dry-run",)):
                refused = nsadmin(cluster, "updateBrokerConfig", key, value, *where, *dry_run)
                assert (refused.code, refused.rows[0]["error"]) == (1, f'{text} (now "{now}")')
        vast = nsadmin(cluster, "updateBrokerConfig", "fileReservedTime", "99999999999", *where)
        assert vast.rows[0]["error"] == 'the broker kept "48": it does not accept "99999999999"'
    locked = nsadmin(cluster, "updateBrokerConfig", "rocketmqHome", "/x", "-b", cluster.master.address)
    assert (locked.code, locked.rows[0]["error"][:18]) == (1, "NO_PERMISSION (16)")


def test_both_sides_of_replication(cluster: Cluster) -> None:
    def in_step() -> Any:
        rows = nsadmin(cluster, "haStatus", "-c", CLUSTER).rows
        return (
            rows
            if rows[0]["diff"] == 0 == rows[0]["slaveAckOffset"] - rows[1]["commitLogMaxOffset"]
            else None
        )

    # The slave learns where the master is with a registration, which may be the next one, 30 s later.
    wait_for("the slave", in_step)
    result = nsadmin(cluster, "haStatus", "-c", CLUSTER)
    master, slave, old = result.rows
    mqadmin_output = cluster.mqadmin("haStatus", "-b", cluster.master.address)
    assert re.search(rf"MasterCommitLogMaxOffset\s+{master['commitLogMaxOffset']}\b", mqadmin_output)
    [theirs] = table(mqadmin_output)
    assert theirs[:3] == [master["slaveAddr"], str(master["slaveAckOffset"]), str(master["diff"])]
    assert (master["role"], master["inSync"], theirs[4]) == ("master", True, "OK")
    assert (slave["role"], slave["brokerId"], slave["masterAddr"]) == (
        "slave",
        1,
        f"127.0.0.1:{cluster.master.port + 1}",
    )
    assert f"127.0.0.1:{cluster.master.port + 1}" in cluster.mqadmin("haStatus", "-b", cluster.slave.address)
    assert (result.code, "907 not supported" in old["error"]) == (3, True)


def test_stats_are_those_of_mqadmin(cluster: Cluster) -> None:
    nsadmin(cluster, "updateTopic", "Busy", "-b", cluster.master.address, "-r", "1", "-w", "1")
    wait_for_topic([cluster.server], "Busy")
    send(cluster.master.port, "Busy", 0, 7)
    consume(cluster.master, "Busy", "G", 3)

    def counted() -> Any:
        [row] = nsadmin(cluster, "statsAll", "Busy").rows
        return row if row["inMsg24Hour"] == 7 and row["outMsg24Hour"] == 3 else None

    # Brokers take a sample every ten seconds.
    wait_for("the samples", counted)
    [row] = nsadmin(cluster, "statsAll", "-t", "Busy").rows
    [theirs] = table(cluster.mqadmin("statsAll", "-t", "Busy"))
    assert [row["topic"], row["group"], row["lag"]] == ["Busy", "G", 4]
    assert [theirs[0], theirs[1], theirs[2]] == ["Busy", "G", "4"]
    assert theirs[5:] == [str(row["inMsg24Hour"]), str(row["outMsg24Hour"])]
    assert row["inTps"] > row["outTps"] > 0
    assert nsadmin(cluster, "topicStatus", "Busy").rows[0]["topicPutTps"] > 0
    active = nsadmin(cluster, "statsAll", "-a")
    assert {"Busy"} <= {row["topic"] for row in active.rows}
    assert "SELF_TEST_TOPIC" not in {row["topic"] for row in active.rows}
    own = {row["topic"] for row in nsadmin(cluster, "statsAll", "--no-system").rows}
    assert "Busy" in own
    assert not {"SELF_TEST_TOPIC", "TBW102", "RMQ_SYS_TRANS_HALF_TOPIC"} & own


def test_read_queues_go_when_each_group_has_consumed_them(cluster: Cluster) -> None:
    for broker in (cluster.master, cluster.old):
        words = ("updateTopic", "Shrunk", "-b", broker.address)
        nsadmin(cluster, *words, "-r", "2", "-w", "2")
        wait_for_topic([cluster.server], "Shrunk")
        send(broker.port, "Shrunk", 1, 5)
        consume(broker, "Shrunk", "G", 2, queue_id=1)
        assert "reduce the write queues first (-w 1)" in nsadmin(cluster, *words, "-r", "1").err
        assert nsadmin(cluster, *words, "-w", "1").code == 0
        assert "(G: 3 messages): wait until" in nsadmin(cluster, *words, "-r", "1", "--dry-run").err
        consume(broker, "Shrunk", "G", 5, queue_id=1)
        done = nsadmin(cluster, *words, "-r", "1")
        said = f"nsadmin: all groups of Shrunk have consumed queues 1 and up on {broker.address}\n"
        assert (done.code, done.err.startswith(said)) == (0, True)


def test_the_times_of_a_group_without_an_offset_are_unknown(cluster: Cluster) -> None:
    for broker in (cluster.master, cluster.old):
        nsadmin(cluster, "updateTopic", "Timed", "-b", broker.address, "-r", "1", "-w", "1")
        nsadmin(cluster, "updateSubGroup", "Timeless", "-b", broker.address, "--yes")
    wait_for_topic([cluster.server], "Timed")
    for broker in (cluster.master, cluster.old):
        send(broker.port, "Timed", 0, 3)
    consume(cluster.master, "Timed", "Timeless", 1, queue_id=0)
    words = ("topicStatus", "Timed", "--times", "-g")
    timed = nsadmin(cluster, *words, "Timeless")
    assert timed.code == 0, timed.err
    assert ": lag unknown on 1 queue (no consumer offset)\n" in timed.err
    assert sorted(row["lastConsumed"] is None for row in timed.rows) == [False, True]
    assert nsadmin(cluster, *words, "nobody").code == 5


def test_queues_are_shared_as_javas_clients_share_them(cluster: Cluster, tmp_path: Path) -> None:
    for broker in (cluster.master, cluster.old):
        nsadmin(cluster, "updateTopic", "Shared", "-b", broker.address, "-r", "5", "-w", "5")
    wait_for_topic([cluster.server], "Shared")
    clients = "c@3,b@2,a@1"
    rows = nsadmin(cluster, "allocateMQ", "-t", "Shared", "-i", clients).rows
    begin = jvm(jars.NEWEST, "org.apache.rocketmq.client.Allocation", tmp_path, QUICK_START)
    shares = subprocess.run(
        [*begin, *jars.program("Allocation"), "Shared", "5", clients, "broker-old", "broker-a"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    theirs = [line.split()[1:] for line in shares.stdout.splitlines() if line.startswith("share ")]
    assert [[row["clientId"], row["brokerName"], str(row["queueId"])] for row in rows] == theirs
    assert len(theirs) == 10


def test_upkeep_is_taken_by_every_broker_and_leaves_what_is_used(cluster: Cluster) -> None:
    for command in ("cleanExpiredCQ", "cleanUnusedTopic"):
        result = nsadmin(cluster, command, "-c", CLUSTER, "--yes")
        assert (result.code, [row["result"] for row in result.rows]) == (0, ["done"] * 3)
    assert [row["maxOffset"] for row in nsadmin(cluster, "topicStatus", "Mixed").rows] == [2, 2]
    assert nsadmin(cluster, "cleanUnusedTopic", "-c", CLUSTER).code == 2
    assert nsadmin(cluster, "cleanUnusedTopic", "-c", "NoSuch", "--yes").code == 5
