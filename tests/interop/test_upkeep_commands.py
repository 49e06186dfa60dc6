"""Lists from files, consume modes, raw queues and upkeep on a 5.5.0 master with its slave, beside mqadmin."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.interop import command_line, wire
from tests.interop.cluster import wait_for_broker, wait_for_runtime_info, wait_for_topic
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import JavaBroker, MqAdmin
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.support.examples import list_cases_elsewhere
from tests.support.examples import split_example as words_of

CLUSTER = "DefaultCluster"


class Cluster(NamedTuple):
    server: OurNameServer
    master: JavaBroker
    slave: JavaBroker
    mqadmin: MqAdmin

    def __call__(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args)


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("upkeep")
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        server = ends.enter_context(OurNameServer(home / "server"))
        timers = {"timerRocksDBEnable": "true"}
        master = JavaBroker(home / "master", [server.address], config=timers)
        slave = JavaBroker(home / "slave", [server.address], broker_id=1)
        mqadmin = MqAdmin(home / "mqadmin", [server.address])
        for part in pool.map(lambda part: part.__enter__(), (master, slave, mqadmin)):
            ends.push(part)
        for broker in (master, slave):
            wait_for_broker([server], broker.name, broker.broker_id)
            wait_for_runtime_info(broker.port)
        yield Cluster(server, master, slave, mqadmin)


def topic_of(broker: JavaBroker, topic: str) -> dict[str, Any] | None:
    answer = wire.ask(broker.port, 351, {"topic": topic})
    return dict(json.loads(answer.body)) if answer.code == 0 else None


def group_of(broker: JavaBroker, group: str) -> dict[str, Any] | None:
    group_config = json.loads(wire.ask(broker.port, 201).body)["subscriptionGroupTable"].get(group)
    return None if group_config is None else dict(group_config)


def test_a_list_of_topics_where_mqadmin_stops_at_the_first_that_is_there(
    cluster: Cluster, tmp_path: Path
) -> None:
    there = {"topicName": "There", "readQueueNums": 3, "writeQueueNums": 3}
    file = tmp_path / "topics.json"
    file.write_text(json.dumps([there]))
    where = ("-b", cluster.master.address)
    assert "success" in cluster.mqadmin("updateTopicList", *where, "-f", str(file))
    fresh = {"topicName": "Fresh", "readQueueNums": 2, "attributes": {"+message.type": "FIFO"}}
    file.write_text(json.dumps([there, fresh]))
    assert "success" in cluster.mqadmin("updateTopicList", *where, "-f", str(file))
    assert topic_of(cluster.master, "Fresh") is None
    refused = cluster("updateTopicList", *where, "-f", str(file))
    assert refused.code == 2
    assert "consumers will not be able to read the messages of Fresh in queues 2 and up" in refused.err
    result = cluster("updateTopicList", *where, "-f", str(file), "--yes")
    assert [(row["name"], row["action"], row["result"]) for row in result.rows] == [
        ("Fresh", "create", "done"),
        ("There", None, "unchanged"),
    ]
    topic_config = topic_of(cluster.master, "Fresh")
    assert topic_config is not None
    assert (topic_config["readQueueNums"], topic_config["writeQueueNums"], topic_config["attributes"]) == (
        2,
        16,
        {"message.type": "FIFO"},
    )
    assert cluster("updateTopicList", "-f", str(file), "-b", cluster.slave.address).code == 1


def test_a_list_means_the_same_as_to_mqadmin(cluster: Cluster, tmp_path: Path) -> None:
    """The same file under two names: what comes of it is the same."""
    settings = {"writeQueueNums": 5, "perm": 4, "order": False, "topicSysFlag": 0}
    for name in ("Ours", "Theirs"):
        (tmp_path / name).write_text(json.dumps([{"topicName": name, **settings}]))
    cluster.mqadmin("updateTopicList", "-c", CLUSTER, "-f", str(tmp_path / "Theirs"))
    assert cluster("updateTopicList", "-c", CLUSTER, "-f", str(tmp_path / "Ours")).code == 0
    ours, theirs = topic_of(cluster.master, "Ours"), topic_of(cluster.master, "Theirs")
    assert ours is not None
    assert ours == {**(theirs or {}), "topicName": "Ours"}
    assert (ours["readQueueNums"], ours["writeQueueNums"], ours["perm"]) == (16, 5, 4)


def test_a_list_of_groups(cluster: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "groups.json"
    file.write_text(json.dumps([{"groupName": "Theirs", "retryMaxTimes": 3}]))
    cluster.mqadmin("updateSubGroupList", "-c", CLUSTER, "-f", str(file))
    changed = [{"groupName": "Theirs", "consumeEnable": False}, {"groupName": "Ours", "retryMaxTimes": 3}]
    file.write_text(json.dumps(changed))
    result = cluster("updateSubGroupList", "-c", CLUSTER, "-f", str(file))
    assert [(row["name"], row["action"], row["result"]) for row in result.rows] == [
        ("Theirs", "update", "done"),
        ("Ours", "create", "done"),
    ]
    theirs, ours = group_of(cluster.master, "Theirs"), group_of(cluster.master, "Ours")
    assert theirs is not None
    assert ours is not None
    # mqadmin would have given back what is not named its default.
    assert (theirs["retryMaxTimes"], theirs["consumeEnable"], ours["retryMaxTimes"]) == (3, False, 3)
    again = cluster("updateSubGroupList", "-c", CLUSTER, "-f", str(file))
    assert {row["result"] for row in again.rows} == {"unchanged"}


def test_a_consume_mode_is_read_back_whoever_set_it(cluster: Cluster) -> None:
    where = ("-b", cluster.master.address)
    cluster("updateTopic", "Popped", *where, "-r", "2", "-w", "2")
    cluster("updateSubGroup", "poppers", *where)
    flags = ("-t", "Popped", "-g", "poppers")
    assert "success" in cluster.mqadmin("setConsumeMode", *flags, "-m", "POP", "-q", "2", *where)
    mode_rows = [row for row in cluster("getConsumeMode", *where, *flags).rows if row["topic"]]
    assert [(row["mode"], row["popShareQueueNum"]) for row in mode_rows] == [("POP", 2)]
    result = cluster("setConsumeMode", *flags, "-m", "PULL", "-c", CLUSTER)
    assert [(row["changes"], row["result"]) for row in result.rows] == [
        ("mode POP -> PULL, popShareQueueNum 2 -> 0", "done")
    ]
    body = json.loads(wire.ask(cluster.master.port, 402).body)["messageRequestModeMap"]["Popped"]["poppers"]
    assert (body["mode"], body["popShareQueueNum"]) == ("PULL", 0)
    # mqadmin has the broker make a group of that name.
    unknown = cluster("setConsumeMode", "-t", "Popped", "-g", "nobody", "-m", "POP", *where)
    assert (unknown.code, group_of(cluster.master, "nobody")) == (5, None)
    assert cluster("setConsumeMode", *flags, "-m", "POP", "-b", cluster.slave.address).code == 1


def test_raw_entries_and_messages_are_those_of_mqadmin(cluster: Cluster) -> None:
    cluster("updateTopic", "Raw", "-b", cluster.master.address, "-r", "1", "-w", "1")
    wait_for_topic([cluster.server], "Raw")
    assert cluster("checkMsgSendRT", "Raw", "-a", "3", "-s", "10").code == 0
    assert "true" in cluster.mqadmin("checkMsgSendRT", "-t", "Raw", "-a", "2", "-s", "10")

    def written() -> bool:
        rows = cluster("topicStatus", "Raw").rows
        return [row["maxOffset"] for row in rows] == [5]

    wait_for("the queue", written)
    rows = cluster("queryCq", "-t", "Raw", "-q", "0", "-i", "1", "-c", "3").rows
    mqadmin_output = cluster.mqadmin("queryCq", "-t", "Raw", "-q", "0", "-i", "1", "-c", "3")
    theirs = re.findall(r"physicOffset=(\d+), physicSize=(\d+), tagsCode=(-?\d+)", mqadmin_output)
    assert [
        tuple(str(row[key]) for key in ("physicalOffset", "storeSize", "tagsCode")) for row in rows
    ] == theirs
    assert [row["queueOffset"] for row in rows] == [1, 2, 3]
    assert {row["brokerAddr"] for row in rows} == {cluster.master.address}
    nothing = cluster("queryCq", "Raw", "0", "99")
    held = "queue 0 of Raw has no entry at offset 99: the queue has offsets 0 to 4"
    assert (nothing.code, held in nothing.err) == (5, True)

    where = ("-t", "Raw", "-b", "broker-a", "-i", "0")
    ours = cluster("consumeMessage", *where, "-o", "2", "-g", "readers").rows
    mqadmin_output = cluster.mqadmin("consumeMessage", *where, "-o", "2", "-c", "9")
    assert [row["msgId"] for row in ours] == re.findall(r"MSGID: (\w+)", mqadmin_output)
    assert len(ours) == 3
    # Nobody joined it, and the broker did not make it.
    assert group_of(cluster.master, "readers") is None


def test_cold_data_thresholds_are_those_that_mqadmin_shows(cluster: Cluster) -> None:
    flags = ("-g", "cold", "-c", CLUSTER)
    result = cluster("updateColdDataFlowCtrGroupConfig", *flags, "-v", "5000")
    assert [(row["brokerName"], row["changes"]) for row in result.rows] == [("broker-a", "new: 5000")]
    mqadmin_output = cluster.mqadmin("getColdDataFlowCtrInfo", "-b", cluster.master.address)
    theirs = json.loads(mqadmin_output[mqadmin_output.index("{") :])
    assert theirs["configTable"] == {"cold": 5000}
    rows = cluster("getColdDataFlowCtrInfo", "-c", CLUSTER).rows
    assert [(row["brokerId"], row["group"], row["threshold"]) for row in rows] == [
        (0, None, theirs["globalColdReadThreshold"]),
        (0, "cold", 5000),
        (1, None, theirs["globalColdReadThreshold"]),
    ]
    # To mqadmin this is a success.
    assert "success" in cluster.mqadmin("updateColdDataFlowCtrGroupConfig", *flags, "-v", "soon")
    assert cluster("updateColdDataFlowCtrGroupConfig", *flags, "-v", "soon").code == 2
    gone = cluster("removeColdDataFlowCtrGroupConfig", *flags)
    assert (gone.code, gone.rows[0]["changes"]) == (0, "removed: 5000")
    assert cluster("removeColdDataFlowCtrGroupConfig", *flags).code == 5


def test_orders_are_taken_and_shown_before_and_after(cluster: Cluster) -> None:
    result = cluster("setCommitLogReadAheadMode", "-m", "1", "-c", CLUSTER)
    assert {row["changes"] for row in result.rows} == {"dataReadAheadEnable true -> false"}
    assert len(result.rows) == 2
    assert "mode: 0" in cluster.mqadmin("setCommitLogReadAheadMode", "-m", "0", "-b", cluster.master.address)
    planned = cluster("setCommitLogReadAheadMode", "1", "-c", CLUSTER, "--dry-run")
    assert [row["changes"] for row in planned.rows] == ["dataReadAheadEnable true -> false", None]

    for broker, code in ((cluster.slave, 0), (cluster.master, 1)):
        words = ("resetMasterFlushOffset", "-b", broker.address, "-o", "5")
        assert "success" in cluster.mqadmin(*words)
        assert cluster(*words, "--yes").code == code
    [row] = cluster("haStatus", cluster.slave.address).rows
    assert row["masterFlushOffset"] == 5

    expired = cluster("deleteExpiredCommitLog", "-c", CLUSTER, "--yes")
    assert [row["result"] for row in expired.rows] == ["done", "done"]
    assert "success" in cluster.mqadmin("deleteExpiredCommitLog", "-c", CLUSTER)
    assert cluster("topicStatus", "Raw").rows[0]["minOffset"] == 0


def test_timed_messages_go_from_one_engine_to_the_other(cluster: Cluster) -> None:
    """The master was started with timerRocksDBEnable."""
    words = ("switchTimerEngine", "-b", cluster.master.address, "-e")
    assert "success" in cluster.mqadmin(*words, "F")
    result = cluster(*words, "R")
    [row] = result.rows
    assert (row["result"], row["after"]) == (
        "done",
        {"timerRocksDBEnable": "true", "timerRocksDBStopScan": "false", "timerStopEnqueue": "true"},
    )
    planned = cluster(*words, "F", "--dry-run").rows[0]["after"]
    assert cluster(*words, "F").rows[0]["after"] == planned
    # A broker that was not started with it says so, to us and to mqadmin.
    refused = cluster("switchTimerEngine", "-b", cluster.slave.address, "-e", "R")
    assert (refused.code, "timerRocksDBEnable must be configured true" in refused.rows[0]["error"]) == (
        1,
        True,
    )


def test_the_check_of_queues_says_where_there_is_nothing_to_compare(cluster: Cluster) -> None:
    words = ("checkRocksdbCqWriteProgress", "-c", CLUSTER)
    mqadmin_output = cluster.mqadmin(*words, "-n", cluster.server.address)
    assert "check doing" in mqadmin_output
    refused = cluster(*words)
    assert (refused.code, "no second consume queue to compare" in refused.rows[0]["error"]) == (1, True)
    item = ("rocksdbCQDoubleWriteEnable", "true", "-b", cluster.master.address)
    assert cluster("updateBrokerConfig", *item).code == 0
    result = cluster(*words, "-cf", "0", "-t", "Raw")
    assert [(row["checkStatus"], row["result"]) for row in result.rows] == [(2, "started")]
    assert cluster("checkRocksdbCqWriteProgress", "nowhere").code == 5


def test_a_compaction_log_is_read_beside_the_broker_that_writes_it(cluster: Cluster, tmp_path: Path) -> None:
    topic = ("updateTopic", "prices", "-b", cluster.master.address, "-r", "1", "-w", "1")
    assert cluster(*topic, "-a", "+cleanup.policy=COMPACTION").code == 0
    wait_for_topic([cluster.server], "prices")
    for number in range(3):
        assert cluster("sendMessage", "prices", f"{number} percent", "-k", f"key{number}").code == 0
    [case] = list_cases_elsewhere("dumpCompactionLog")
    file = cluster.master.home / words_of(case.examples[0])[-1]

    def written() -> bool:
        return file.exists() and len(cluster("dumpCompactionLog", str(file)).rows or ()) == 3

    wait_for("the messages", written)
    result = cluster("dumpCompactionLog", "-f", str(file))
    assert (result.code, [row["body"] for row in result.rows]) == (0, [f"{n} percent" for n in range(3)])
    # mqadmin opens the file for writing: it gets a copy.
    copy = tmp_path / file.name
    copy.write_bytes(file.read_bytes())
    mqadmin_output = cluster.mqadmin("dumpCompactionLog", "-f", str(copy))
    assert re.findall(r"UNIQ_KEY=(\w+)", mqadmin_output) == [row["msgId"] for row in result.rows]
