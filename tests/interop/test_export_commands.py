"""Exports and what belongs to them on a released 5.5.0 broker, beside mqadmin's answer at the same moment."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.interop import command_line, lite, wire
from tests.interop.cluster import wait_for_broker, wait_for_runtime_info, wait_for_topic
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import JavaBroker, MqAdmin
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for

CLUSTER = "DefaultCluster"
CONFIG = {**lite.CONFIG, "popConsumerKVServiceInit": "true", "popConsumerKVServiceEnable": "true"}


class Cluster(NamedTuple):
    server: OurNameServer
    broker: JavaBroker
    mqadmin: MqAdmin

    def __call__(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args)


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("exports")
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        server = ends.enter_context(OurNameServer(home / "server"))
        broker = JavaBroker(home / "broker", [server.address], config=CONFIG)
        mqadmin = MqAdmin(home / "mqadmin", [server.address])
        for part in pool.map(lambda part: part.__enter__(), (broker, mqadmin)):
            ends.push(part)
        wait_for_broker([server], broker.name, 0)
        wait_for_runtime_info(broker.port)
        there = Cluster(server, broker, mqadmin)
        where = ("-c", CLUSTER, "--yes")
        assert there("updateTopic", "orders", "-r", "4", "-w", "4", *where).code == 0
        assert there("updateSubGroup", "warehouse", *where).code == 0
        yield there


def exported(cluster: Cluster, command: str, file: str, tmp_path: Path, *more: str) -> tuple[Any, Any]:
    """What the two write: ours, and mqadmin's."""
    folder = tmp_path / "theirs"
    assert "success" in cluster.mqadmin(command, "-c", CLUSTER, "-f", str(folder), *more)
    result = cluster(command, CLUSTER, *more)
    assert result.code == 0
    return result.rows, json.loads((folder / file).read_text())


def test_settings_are_those_that_mqadmin_writes(cluster: Cluster, tmp_path: Path) -> None:
    ours, theirs = exported(cluster, "exportConfigs", "configs.json", tmp_path)
    assert ours == theirs
    assert ours["brokerConfigs"]["broker-a"]["brokerClusterName"] == CLUSTER


@pytest.mark.parametrize("more", [(), ("-s",)])
def test_topics_and_groups_are_those_that_mqadmin_writes(
    cluster: Cluster, tmp_path: Path, more: tuple[str, ...]
) -> None:
    ours, theirs = exported(cluster, "exportMetadata", "metadata.json", tmp_path, *more)
    for document in (ours, theirs):
        assert document.pop("exportTime") > 0
    assert ours == theirs
    assert ours["topicConfigTable"]["orders"]["readQueueNums"] == 4
    assert "warehouse" in ours["subscriptionGroupTable"]


def test_figures_are_those_that_mqadmin_writes_but_for_what_it_names_wrongly(
    cluster: Cluster, tmp_path: Path
) -> None:
    # A broker tells no rates in its first seconds, which are null here, and 0 there.
    wait_for(
        "rates",
        lambda: None not in cluster("exportMetrics", CLUSTER).rows["totalData"]["totalTps"].values(),
    )
    ours, theirs = exported(cluster, "exportMetrics", "metrics.json", tmp_path)
    [mine], [other] = (document["evaluateReport"].values() for document in (ours, theirs))
    threads = mine["runtimeEnv"].pop("clientCallbackExecutorThreads")
    assert (threads, mine["runtimeEnv"]) == (other["runtimeEnv"]["cpuNum"], {"totalMemKBytes": None})
    assert mine["runtimeVersion"] == other["runtimeVersion"]
    assert (mine["runtimeQuota"], ours["totalData"]) == (other["runtimeQuota"], theirs["totalData"])
    assert mine["runtimeQuota"]["topicSize"] >= 1
    assert mine["runtimeVersion"]["rocketmqVersion"] == "V5_5_0"


def test_pop_records_are_moved_where_mqadmins_dry_run_moves_them_and_its_order_does_not(
    cluster: Cluster,
) -> None:
    where = ("-b", cluster.broker.address)
    assert "dryRun=true" in cluster.mqadmin("exportPopRecord", *where, "-d", "false")
    assert "dryRun=false" in cluster.mqadmin("exportPopRecord", *where, "-d", "true")
    [planned] = cluster("exportPopRecord", *where, "--dry-run").rows
    assert (planned["result"], planned["changes"][:21]) == ("dry-run", "moves all pop records")
    assert cluster("exportPopRecord", *where, "-d", "true", "--yes").code == 2
    [done] = cluster("exportPopRecord", "-c", CLUSTER, "--yes").rows
    assert (done["brokerName"], done["result"], done["error"]) == ("broker-a", "done", None)


@pytest.fixture(scope="module")
def reader(cluster: Cluster) -> Iterator[Cluster]:
    """Two lite topics with messages, of which a group has consumed one, and its client."""
    port = cluster.broker.port
    lite.create(port, "chats", "readers")
    for name in ("room-1", "room-1", "room-1", "room-2"):
        lite.send(port, "chats", name)
    wait_for_topic([cluster.server], "chats")
    lite.commit(port, "chats", "room-1", "readers", 1)
    with lite.client(port, "chats", "readers", "client-1", ["room-1", "room-2"]):
        wait_for("messages in both", lambda: lite_count(cluster) == 2)
        yield cluster


def lite_count(cluster: Cluster) -> int:
    return int(cluster("getParentTopicInfo", "chats").rows[0]["liteTopicCount"])


def words(said: str, at: int) -> list[str]:
    """The words of a line of mqadmin's table."""
    return [line for line in said.splitlines() if line.strip()][at].split()


def test_brokers_and_parent_topics_of_lite_topics_as_mqadmin_shows_them(reader: Cluster) -> None:
    [row] = reader("getBrokerLiteInfo", "-c", CLUSTER).rows
    assert (row["topicMeta"], row["groupMeta"]) == ({"chats": 60}, {"chats": ["readers"]})
    mqadmin_words = words(reader.mqadmin("getBrokerLiteInfo", "-b", reader.broker.address), 1)
    names = ("brokerAddr", "storeType", "maxLmqNum", "currentLmqNum", "liteSubscriptionCount")
    assert mqadmin_words[:5] == [str(row[name]) for name in names]
    [row] = reader("getParentTopicInfo", "chats").rows
    assert words(reader.mqadmin("getParentTopicInfo", "-p", "chats"), 2) == [
        "broker-a", "60", "2", "2", "[readers]",
    ]  # fmt: skip
    assert [row[name] for name in ("ttl", "liteTopicCount", "lmqNum", "groups")] == [60, 2, 2, ["readers"]]
    refused = reader("getParentTopicInfo", "orders")
    assert (refused.code, "type not match" in refused.rows[0]["error"]) == (1, True)


def test_a_lite_topic_and_its_client_as_mqadmin_shows_them(reader: Cluster) -> None:
    [row] = reader("getLiteTopicInfo", "chats", "room-1").rows
    mqadmin_words = words(reader.mqadmin("getLiteTopicInfo", "-p", "chats", "-l", "room-1"), 2)
    assert [*mqadmin_words[1:3], mqadmin_words[-1]] == ["0", "3", "1"]
    assert (row["minOffset"], row["maxOffset"], row["subscribers"]) == (0, 3, ["readers@client-1"])
    assert words(reader.mqadmin("getLiteTopicInfo", "-p", "chats", "-l", "none"), 2)[1:3] == ["0", "0"]
    assert reader("getLiteTopicInfo", "chats", "none").code == 5
    client = ("-p", "chats", "-g", "readers", "-c", "client-1")
    [row] = reader("getLiteClientInfo", *client).rows
    assert words(reader.mqadmin("getLiteClientInfo", *client), 2)[:2] == ["broker-a", "2"]
    assert (row["liteTopicCount"], row["liteTopics"]) == (2, ["room-1", "room-2"])
    assert reader("getLiteClientInfo", "chats", "readers", "nobody").code == 5


def test_how_far_a_group_is_behind_as_mqadmin_shows_it(reader: Cluster) -> None:
    where = ("-p", "chats", "-g", "readers")
    whole, furthest = reader("getLiteGroupInfo", *where).rows
    mqadmin_output = reader.mqadmin("getLiteGroupInfo", *where)
    assert "Total Lag Count: 2" in mqadmin_output
    assert (whole["liteTopic"], whole["lag"]) == (None, 2)
    assert (furthest["liteTopic"], furthest["lag"]) == ("room-1", 2)
    [group_row] = reader("getLiteGroupInfo", *where, "-l", "room-1").rows
    mqadmin_words = words(reader.mqadmin("getLiteGroupInfo", *where, "-l", "room-1"), 2)
    assert mqadmin_words[1:4] == [str(group_row[name]) for name in ("brokerOffset", "consumerOffset", "lag")]
    assert mqadmin_words[1:4] == ["3", "1", "2"]
    [never] = reader("getLiteGroupInfo", *where, "-l", "room-2").rows
    assert (never["lag"], never["error"]) == (None, None)
    assert reader("getLiteGroupInfo", *where, "-l", "none").code == 5


def test_an_order_to_look_anew_never_makes_a_group_as_mqadmins_does(reader: Cluster) -> None:
    [done] = reader("triggerLiteDispatch", "chats", "readers", "--yes").rows
    assert (done["brokerName"], done["result"]) == ("broker-a", "done")
    assert "dispatched" in reader.mqadmin("triggerLiteDispatch", "-p", "chats", "-g", "readers")
    assert reader("triggerLiteDispatch", "chats", "ours", "--yes").code == 5
    assert reader("getLiteGroupInfo", "chats", "ours").code == 5
    assert "error" in reader.mqadmin("triggerLiteDispatch", "-p", "chats", "-g", "theirs")
    groups = reader("exportMetadata", CLUSTER, "-g").rows["subscriptionGroupTable"]
    assert ("ours" in groups, "theirs" in groups) == (False, True)


@pytest.fixture(scope="module")
def busy_cluster(cluster: Cluster) -> Cluster:
    """A group that has consumed a part of a topic, and has a retry topic, by which mqadmin finds groups."""
    port, where = cluster.broker.port, ("-c", CLUSTER, "--yes")
    assert cluster("updateTopic", "%RETRY%warehouse", "-r", "1", "-w", "1", *where).code == 0
    for _ in range(3):
        assert cluster("sendMessage", "orders", "a test", "-b", "broker-a", "-i", "0", "--yes").code == 0
    header = {"consumerGroup": "warehouse", "topic": "orders", "queueId": "0", "commitOffset": "1"}
    assert wire.ask(port, 15, header).code == 0
    wait_for_topic([cluster.server], "%RETRY%warehouse")
    return cluster


LINES = [
    ("clusterList",),
    ("clusterList", "-m"),
    ("topicList",),
    ("topicList", "-c"),
    ("topicRoute", "-t", "orders"),
    ("topicRoute", "-t", "orders", "-l"),
    ("topicStatus", "-t", "orders"),
    ("consumerProgress", "-g", "warehouse"),
    ("consumerProgress", "-g", "warehouse", "-t", "orders"),
    ("brokerStatus", "-c", CLUSTER),
    ("statsAll", "-t", "orders"),
    ("statsAll",),
    ("getNamesrvConfig",),
    ("wipeWritePerm", "-b", "broker-a"),
    ("updateKvConfig", "-s", "DEPLOYMENT", "-k", "stage", "-v", "canary"),
    ("deleteKvConfig", "-s", "DEPLOYMENT", "-k", "stage"),
    ("addWritePerm", "-b", "broker-a"),
    ("topicClusterList", "-t", "orders"),
    ("getBrokerConfig", "-c", CLUSTER),
    ("updateBrokerConfig", "-c", CLUSTER, "-k", "fileReservedTime", "-v", "70"),
    ("updateTopic", "-c", CLUSTER, "-t", "scripted", "-r", "3", "-w", "3"),
    ("updateTopicPerm", "-c", CLUSTER, "-t", "scripted", "-p", "4"),
    ("deleteTopic", "-c", CLUSTER, "-t", "scripted"),
]
CHANGES = (
    "wipeWritePerm", "addWritePerm", "updateKvConfig", "deleteKvConfig", "updateBrokerConfig", "updateTopic",
    "updateTopicPerm", "deleteTopic",
)  # fmt: skip
UNORDERED = ("topicList", "statsAll", "getNamesrvConfig", "getBrokerConfig")
"""What mqadmin prints in the order of a Java map."""
LIVELY = re.compile(
    r"\b\d+\.\d\d\d*\b"
    # How many seconds behind its clock the timer reads, and how many messages.
    r"|\b\d+-\d+(?=\(\d)"
    r"|^(.*runtime|.*Time|.*Offset|.*Tps|dispatch\w*|.*Latency\w*|.*timer\w+|.*Mills|.*Flush) .*",
    re.M,
)
"""What moves between two looks at a broker: hours, rates, times."""


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_output_mqadmin_is_what_mqadmin_prints(busy_cluster: Cluster, line: tuple[str, ...]) -> None:
    prepare(busy_cluster, line)
    ours = text_of(busy_cluster, *line, *(("--yes",) if line[0] in CHANGES else ()))
    prepare(busy_cluster, line)
    # Its own line end comes after the last one; getNamesrvConfig goes by -n alone.
    named = ("-n", busy_cluster.server.address) if line[0] == "getNamesrvConfig" else ()
    theirs = busy_cluster.mqadmin(*line, *named)
    assert steady(ours, line) == steady(theirs.removesuffix("\n"), line)


def prepare(cluster: Cluster, line: tuple[str, ...]) -> None:
    """Undo what the other program did, so that both do the same."""
    if line[0] == "deleteKvConfig":
        assert cluster("updateKvConfig", "DEPLOYMENT", "stage", "canary", "--yes").code == 0
    if line[0] in ("updateTopicPerm", "deleteTopic"):
        where = ("-c", CLUSTER, "--yes")
        assert cluster("updateTopic", "scripted", "-r", "3", "-w", "3", "-p", "6", *where).code == 0


def text_of(cluster: Cluster, *line: str) -> str:
    return command_line.mqadmin_text(cluster.server.address, *line)


def steady(text: str, line: tuple[str, ...]) -> list[str]:
    """The lines without what moves, and sorted where mqadmin has no order."""
    lines = LIVELY.sub("#", text).split("\n")
    return sorted(lines) if line[0] in UNORDERED else lines


def test_output_mqadmin_has_every_group_that_mqadmin_finds(busy_cluster: Cluster) -> None:
    theirs = busy_cluster.mqadmin("consumerProgress").strip("\n").split("\n")
    ours = text_of(busy_cluster, "consumerProgress").rstrip("\n").split("\n")
    assert ours[0] == theirs[0]
    assert [line for line in theirs if line.startswith("warehouse ")] == [
        line for line in ours if line.startswith("warehouse ")
    ]
    assert "warehouse" in {line.split()[0] for line in theirs}


def test_monitoring_finds_who_is_behind_and_joins_no_group(busy_cluster: Cluster) -> None:
    before = busy_cluster("exportMetadata", CLUSTER, "-g").rows["subscriptionGroupTable"]
    result = busy_cluster("startMonitoring", "--once")
    [warehouse_check] = [check for check in result.rows["checks"] if check["about"] == "warehouse"]
    assert (result.code, warehouse_check["state"], warehouse_check["summary"]) == (
        1,
        "WARNING",
        "warehouse has a lag of 2 messages",
    )
    assert warehouse_check["details"] == ["no client of the group is connected"]
    assert busy_cluster("startMonitoring", "--once", "--critical", "1").code == 2
    assert busy_cluster("exportMetadata", CLUSTER, "-g").rows["subscriptionGroupTable"] == before
