"""Our commands against Java's name server and ours; the same real broker registers with both."""

import json
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from nsadmin import AdminClient
from tests.interop.cluster import create_topic, wait_for_broker, wait_for_runtime_info, wait_for_topic
from tests.interop.command_line import CommandResult, nsadmin
from tests.interop.java_parts import JavaBroker, JavaNameServer
from tests.interop.our_server import OurNameServer

TOPIC = "OrderT"
# What moves between two looks at the same broker.
MOVING = {
    "inTps", "outTps", "hour", "commitLogDiskRatio", "pageCacheLockTimeMills",
    "sendThreadPoolQueueHeadWaitTimeMills", "pullThreadPoolQueueHeadWaitTimeMills",
    "ackThreadPoolQueueHeadWaitTimeMills", "timerReadBehind", "timerOffsetBehind",
}  # fmt: skip


class Cluster(NamedTuple):
    java: JavaNameServer
    ours: OurNameServer
    broker: JavaBroker

    @property
    def both(self) -> str:
        return f"{self.java.address};{self.ours.address}"


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("commands")
    with (
        JavaNameServer(home / "java") as java,
        OurNameServer(home / "ours") as ours,
        JavaBroker(home / "broker", [java.address, ours.address]) as broker,
    ):
        wait_for_broker([java, ours], "broker-a")
        wait_for_runtime_info(broker.port)
        create_topic(broker.port, TOPIC)
        wait_for_topic([java, ours], TOPIC)
        yield Cluster(java, ours, broker)


def same(cluster: Cluster, *args: str) -> CommandResult:
    """Run against each server alone: everything but the server's own address has to be equal."""
    java, ours = (
        masked(nsadmin(server.address, *args), server.address) for server in (cluster.java, cluster.ours)
    )
    assert ours == java
    return java


def masked(result: CommandResult, addr: str) -> CommandResult:
    rows = json.loads(json.dumps(result.rows).replace(addr, "SERVER"))
    for row in rows if isinstance(rows, list) else ():
        for name in MOVING & row.keys():
            assert row[name] is None or row[name] >= 0, row
            row[name] = "moving"
    return CommandResult(result.code, rows, result.err.replace(addr, "SERVER"))


def test_cluster_list(cluster: Cluster) -> None:
    [row] = same(cluster, "clusterList").rows
    assert (row["brokerName"], row["brokerAddr"], row["version"], row["reachable"]) == (
        "broker-a",
        cluster.broker.address,
        "V5_5_0",
        True,
    )
    [row] = same(cluster, "clusterList", "DefaultCluster", "-m").rows
    assert row["inTotalToday"] == 0
    assert same(cluster, "clusterList", "-c", "NoSuchCluster").code == 5


def test_broker_status(cluster: Cluster) -> None:
    for args in (("-b", cluster.broker.address), ("-c", "DefaultCluster")):
        result = nsadmin(cluster.both, "brokerStatus", *args)
        assert (result.code, result.err) == (0, "")
        table = {row["key"]: row["value"] for row in result.rows}
        assert table["brokerVersionDesc"] == "V5_5_0"
        assert len(table) > 50


def test_topic_lists(cluster: Cluster) -> None:
    assert {"topic": TOPIC} in same(cluster, "topicList").rows
    assert same(cluster, "topicList", "--no-system").rows == [{"topic": TOPIC}]
    assert {"topic": "TBW102"} in same(cluster, "topicList", "--cluster", "DefaultCluster").rows
    with_groups = same(cluster, "topicList", "-c").rows
    assert {"clusterName": "DefaultCluster", "topic": TOPIC, "groups": []} in with_groups


def test_the_route_of_every_topic(cluster: Cluster) -> None:
    with AdminClient(cluster.java.address) as java, AdminClient(cluster.ours.address) as ours:
        for topic in java.topics.list_names():
            assert ours.topics.get_route(topic) == java.topics.get_route(topic)
    [route] = same(cluster, "topicRoute", TOPIC).rows
    assert (route["perm"], route["readQueueNums"], route["writeQueueNums"]) == (6, 4, 4)
    assert same(cluster, "topicRoute", TOPIC, "--raw").rows["queueDatas"][0]["perm"] == 6
    assert same(cluster, "topicClusterList", TOPIC).rows == [{"clusterName": "DefaultCluster"}]


@pytest.mark.parametrize("command", ["topicRoute", "topicClusterList"])
def test_a_topic_that_nobody_has(cluster: Cluster, command: str) -> None:
    result = same(cluster, command, "NoSuchTopic")
    assert (result.code, result.rows) == (5, None)


def test_write_permission_goes_and_comes_back(cluster: Cluster) -> None:
    assert same(cluster, "wipeWritePerm", "broker-a", "--dry-run").rows[0]["result"] == "dry-run"
    [wiped] = same(cluster, "wipeWritePerm", "broker-a").rows
    assert wiped["result"] == "done"
    assert wiped["topicCount"] > 10
    assert same(cluster, "topicRoute", TOPIC).rows[0]["perm"] == 4
    assert same(cluster, "addWritePerm", "-b", "broker-a").rows[0]["topicCount"] == wiped["topicCount"]
    assert same(cluster, "topicRoute", TOPIC).rows[0]["perm"] == 6
    assert same(cluster, "wipeWritePerm", "broker-x").code == 5


def test_kv_config(cluster: Cluster) -> None:
    assert same(cluster, "updateKvConfig", "ORDER_TOPIC_CONFIG", TOPIC, "broker-a:4;ü").code == 0
    assert same(cluster, "kvGet", "ORDER_TOPIC_CONFIG", TOPIC).rows[0]["value"] == "broker-a:4;ü"
    assert same(cluster, "kvList", "ORDER_TOPIC_CONFIG").rows[0]["key"] == TOPIC
    assert same(cluster, "deleteKvConfig", "ORDER_TOPIC_CONFIG", TOPIC).code == 2
    assert same(cluster, "deleteKvConfig", "ORDER_TOPIC_CONFIG", TOPIC, "--yes").rows[0]["result"] == "done"
    assert same(cluster, "deleteKvConfig", "ORDER_TOPIC_CONFIG", TOPIC, "--yes").code == 5
    assert same(cluster, "kvGet", "ORDER_TOPIC_CONFIG", TOPIC).code == 5
    assert same(cluster, "kvList", "ORDER_TOPIC_CONFIG").rows[0]["result"] == "empty"
    assert same(cluster, "kvList", "NO_SUCH_NAMESPACE").code == 5


def test_settings(cluster: Cluster) -> None:
    java, ours = (
        {row["key"] for row in nsadmin(server.address, "getNamesrvConfig").rows}
        for server in (cluster.java, cluster.ours)
    )
    # Ours runs without a ROCKETMQ_HOME, and what is null is left out.
    assert java - ours == {"rocketmqHome"}
    assert ours <= java
    assert same(cluster, "updateNamesrvConfig", "waitSecondsForService", "44").rows[0]["after"] == "44"
    assert same(cluster, "updateNamesrvConfig", "waitSecondsForService", "soon").code == 1
    assert same(cluster, "updateNamesrvConfig", "noSuchItem", "1").code == 5
    for server in (cluster.java, cluster.ours):
        assert nsadmin(server.address, "updateNamesrvConfig", "kvConfigPath", "/tmp/x").code == 1


def test_a_topic_is_deleted_on_the_broker_and_on_both_servers(cluster: Cluster) -> None:
    create_topic(cluster.broker.port, "ShortLived")
    wait_for_topic([cluster.java, cluster.ours], "ShortLived")
    assert nsadmin(cluster.both, "deleteTopic", "ShortLived", "DefaultCluster").code == 2
    planned = nsadmin(cluster.both, "deleteTopic", "ShortLived", "DefaultCluster", "--dry-run")
    assert [row["result"] for row in planned.rows] == ["dry-run"] * 3
    result = nsadmin(cluster.both, "deleteTopic", "ShortLived", "-c", "DefaultCluster", "--yes")
    assert (result.code, result.err) == (0, "nsadmin: ShortLived has 0 messages; consumer groups: none\n")
    assert [(row["server"], row["role"], row["result"]) for row in result.rows] == [
        (cluster.broker.address, "master", "done"),
        (cluster.java.address, "namesrv", "done"),
        (cluster.ours.address, "namesrv", "done"),
    ]
    assert same(cluster, "topicRoute", "ShortLived").code == 5
    assert same(cluster, "deleteTopic", "ShortLived", "DefaultCluster", "--yes").code == 5
    assert same(cluster, "deleteTopic", TOPIC, "NoSuchCluster", "--yes").code == 5


def test_a_system_topic_is_refused_by_the_broker_and_stays(cluster: Cluster) -> None:
    # Each by itself: what is there before may differ while the broker's next registration is on its way.
    for server in (cluster.java, cluster.ours):
        result = nsadmin(server.address, "deleteTopic", "TBW102", "DefaultCluster", "--yes")
        assert result.code == 1
        assert [row["result"] for row in result.rows] == ["failed", "skipped"]
        assert nsadmin(server.address, "topicRoute", "TBW102").code == 0


def test_one_dead_name_server_beside_either(cluster: Cluster) -> None:
    result = nsadmin(f"127.0.0.1:1;{cluster.both}", "topicRoute", TOPIC)
    assert result.code == 3
    assert result.rows[0]["topic"] == TOPIC
    assert (
        result.err == "nsadmin: name server 127.0.0.1:1: connection refused, no server listens on this port\n"
    )


def test_both_servers_tell_the_same(cluster: Cluster) -> None:
    for command in (["clusterList"], ["topicList"], ["topicRoute", TOPIC]):
        result = nsadmin(cluster.both, *command)
        assert (result.code, result.err) == (0, "")
