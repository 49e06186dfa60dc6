"""Static topics on two 5.5.0 brokers, laid out and moved by mqadmin and by us."""

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from namesrv_core.protocol import fastjson
from tests.interop import command_line, wire
from tests.interop.cluster import plain, wait_for_broker, wait_for_runtime_info
from tests.interop.command_line import CommandResult
from tests.interop.daily import lines
from tests.interop.differential.loose_json import parse
from tests.interop.java_parts import JavaBroker, LiveClients, MqAdmin
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.support.examples import list_cases_elsewhere as elsewhere
from tests.support.examples import split_example as words

TOPIC = "Static"


class Cluster(NamedTuple):
    server: OurNameServer
    brokers: list[JavaBroker]
    mqadmin: MqAdmin

    def __call__(self, *args: str) -> CommandResult:
        state = str(self.brokers[0].home.parent / "state")
        return command_line.nsadmin(self.server.address, *args, env={"NSADMIN_STATE": state})


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("static")
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        server = ends.enter_context(OurNameServer(home / "server"))
        brokers = [JavaBroker(home / name, [server.address], name) for name in ("broker-a", "broker-b")]
        mqadmin = MqAdmin(home / "mqadmin", [server.address])
        for part in pool.map(lambda part: part.__enter__(), (*brokers, mqadmin)):
            ends.push(part)
        for broker in brokers:
            wait_for_broker([server], broker.name)
            wait_for_runtime_info(broker.port)
        yield Cluster(server, brokers, mqadmin)


def logical(cluster: Cluster, topic: str = TOPIC) -> dict[str, dict[str, int]]:
    rows = cluster("topicRoute", topic).rows or []
    return {row["brokerName"]: row["logicalQueues"] for row in rows if row["logicalQueues"]}


def agree(cluster: Cluster) -> list[list[str]] | None:
    """The logical queues as both tell them, once they tell the same."""
    rows = cluster("topicStatus", TOPIC).rows
    ours = sorted([str(row["queueId"]), str(row["minOffset"]), str(row["maxOffset"])] for row in rows)
    said = cluster.mqadmin("topicStatus", "-t", TOPIC)
    theirs = sorted(row[1:4] for row in lines(said, "#Broker Name") if row[0] == "__syslo__global__")
    return ours if ours == theirs else None


def test_logical_queues_are_those_of_mqadmin(cluster: Cluster) -> None:
    cluster.mqadmin("updateStaticTopic", "-t", TOPIC, "-qn", "3", "-b", "broker-a")
    wait_for("the mapping", lambda: logical(cluster) == {"broker-a": {"0": 0, "1": 1, "2": 2}})
    for queue in ("0", "2", "2"):
        result = cluster("sendMessage", TOPIC, f"in {queue}", "-b", "broker-a", "-i", queue)
        assert (result.code, result.rows[0]["queueId"]) == (0, int(queue))
    wanted = [["0", "0", "1"], ["1", "0", "0"], ["2", "0", "2"]]
    wait_for("the offsets", lambda: agree(cluster) == wanted)


def test_queues_that_have_moved_keep_their_numbers(cluster: Cluster) -> None:
    cluster.mqadmin("remappingStaticTopic", "-t", TOPIC, "-b", "broker-b")
    wait_for("the mapping", lambda: set(logical(cluster)) == {"broker-b"})
    assert set(logical(cluster)["broker-b"]) == {"0", "1", "2"}
    result = cluster("sendMessage", TOPIC, "moved", "-b", "broker-b", "-i", "2")
    assert result.code == 0, result
    # Upstream leaves a gap where a queue goes on elsewhere.
    assert result.rows[0]["queueOffset"] == 10_000
    wanted = [["0", "0", "10000"], ["1", "0", "10000"], ["2", "0", "10001"]]
    wait_for("the offsets", lambda: agree(cluster) == wanted)
    [row] = cluster("queryMsgByOffset", TOPIC, "broker-b", "2", "10000").rows
    assert (row["body"], row["queueId"], row["queueOffset"]) == ("moved", 2, 10_000)
    refused = cluster("skipAccumulatedMessage", "G", TOPIC, "--dry-run")
    assert (refused.code, "is a static topic" in refused.err) == (1, True)


def test_what_was_written_before_a_queue_moved(cluster: Cluster) -> None:
    """A broker has it from the one before; young ones have yet to learn where others are."""
    words = ("queryMsgByOffset", TOPIC, "broker-b", "2", "1")

    def is_found() -> bool:
        result = cluster(*words)
        assert result.code == 0 or "try again in 15 seconds" in result.err, result
        return result.code == 0

    wait_for("what broker-a has", is_found)
    [row] = cluster(*words).rows
    assert (row["body"], row["storeHost"]) == ("in 2", cluster.brokers[0].address)
    rows = cluster("printMsg", TOPIC).rows
    found = [(row["queueId"], row["queueOffset"], row["body"]) for row in rows]
    assert found == [(0, 0, "in 0"), (2, 0, "in 2"), (2, 1, "in 2"), (2, 10_000, "moved")]
    gone = cluster("queryMsgByOffset", TOPIC, "broker-a", "2", "1")
    assert (gone.code, "the queue is on another broker now" in gone.err) == (
        1,
        True,
    )


def test_queues_are_shared_and_consumed_by_their_numbers(cluster: Cluster, tmp_path: Path) -> None:
    rows = cluster("allocateMQ", TOPIC, "c1,c2").rows
    shares = json.loads(cluster.mqadmin("allocateMQ", "-t", TOPIC, "-i", "c1,c2"))["result"]
    theirs = [(queue["brokerName"], queue["queueId"]) for share in shares.values() for queue in share]
    assert sorted((row["brokerName"], row["queueId"]) for row in rows) == sorted(theirs)
    assert [(row["clientId"], row["queueId"]) for row in rows] == [("c1", 0), ("c1", 1), ("c2", 2)]
    group = f"{TOPIC}-consumer"
    with LiveClients(tmp_path / "clients", cluster.server.address, TOPIC):

        def consumed() -> list[list[object]]:
            rows = cluster("consumerStatus", group).rows or []
            return [[row["brokerName"], row["queueId"]] for row in rows if row["topic"] == TOPIC]

        wait_for("the queues", lambda: len(consumed()) == 3)
        assert consumed() == [["__syslo__global__", number] for number in range(3)]
        wait_for("a healthy group", lambda: cluster("consumerStatus", group).err == "")


def mapping(broker: JavaBroker, topic: str) -> dict[str, list[dict[str, int | str]]]:
    """The logical queues that a broker itself says that it has."""
    answer = wire.ask(broker.port, 351, {"topic": topic, "lo": "true"})
    detail = plain(parse(answer.body))["mappingDetail"]
    assert detail["bname"] == broker.name
    return dict(detail["hostedQueues"])


def places(mapping: dict[str, list[dict[str, int | str]]]) -> dict[str, list[tuple[object, ...]]]:
    """The parts of each queue, but for where they begin."""
    names = ("bname", "queueId", "gen")
    return {
        queue: [tuple(item[name] for name in names) for item in items] for queue, items in mapping.items()
    }


def test_ours_is_laid_out_and_moved_as_mqadmins(cluster: Cluster) -> None:
    """The same done to two topics, to one of them by mqadmin: brokers have the same of both.

    Where queues go on, mqadmin tells only the brokers that get them.
    """
    steps = (
        ("updateStaticTopic", "-qn", "3", "-b", "broker-a"),
        ("updateStaticTopic", "-qn", "4", "-b", "broker-b"),
        ("remappingStaticTopic", "-b", "broker-b"),
    )
    for command, *flags in steps:
        result = cluster(command, "-t", "Ours", *flags)
        assert result.code == 0, result
        assert {row["result"] for row in result.rows} == {"done"}
        cluster.mqadmin(command, "-t", "Theirs", *flags)
        for broker in cluster.brokers:
            ours, theirs = mapping(broker, "Ours"), mapping(broker, "Theirs")
            assert places(ours) == places(theirs), (command, broker.name)
            led = [queue for queue, items in theirs.items() if items[-1]["bname"] == broker.name]
            assert [ours[queue] for queue in led] == [theirs[queue] for queue in led]
    assert {items[-1]["logicOffset"] for items in mapping(cluster.brokers[1], "Ours").values()} == {0, 10_000}
    assert cluster("remappingStaticTopic", "Ours", "-b", "broker-b").err.endswith(
        "Ours already has this mapping\n"
    )


def test_messages_are_taken_while_queues_move_and_mqadmin_goes_on_with_ours(
    cluster: Cluster, tmp_path: Path
) -> None:
    state = {"NSADMIN_STATE": str(tmp_path)}
    addr = cluster.server.address
    words = ("updateStaticTopic", "Moved", "-qn", "2", "-c", "DefaultCluster")
    planned = command_line.nsadmin(addr, *words, "--dry-run", env=state)
    result = command_line.nsadmin(addr, *words, env=state)
    assert [(row["queueId"], row["after"]) for row in planned.rows] == [
        (row["queueId"], row["after"]) for row in result.rows
    ]
    first, second = (next(row["after"] for row in result.rows if row["queueId"] == queue) for queue in (0, 1))
    assert {first, second} == {"broker-a", "broker-b"}
    wait_for("the route", lambda: len(cluster("topicRoute", "Moved").rows or ()) == 2)
    assert cluster("sendMessage", "Moved", "before", "-b", first, "-i", "0").rows[0]["queueOffset"] == 0
    moved = command_line.nsadmin(addr, "remappingStaticTopic", "Moved", "-b", second, env=state)
    assert [(row["queueId"], row["before"], row["logicOffset"]) for row in moved.rows] == [(0, first, 10_000)]
    # What was kept may be carried out once more, and mqadmin sees a topic that is whole.
    file = max(tmp_path.glob("installations/*/static-topics/Moved/*.after"))
    again = command_line.nsadmin(addr, "remappingStaticTopic", "Moved", "-mf", str(file), env=state)
    assert (again.code, again.rows) == (0, [])

    def sent() -> bool:
        return cluster("sendMessage", "Moved", "after", "-b", second, "-i", "0").code == 0

    wait_for("a message", sent)
    assert "mapping data is written" in cluster.mqadmin("remappingStaticTopic", "-t", "Moved", "-b", first)
    hosted = mapping(next(broker for broker in cluster.brokers if broker.name == first), "Moved")
    assert [items[-1]["logicOffset"] for items in hosted.values()] == [20_000, 10_000]


def read_mapping_table(broker: JavaBroker) -> object:
    """The mappings of all topics as the broker stores them."""
    file = broker.home / "store" / "config" / "topicQueueMapping.json"
    return fastjson.decode_json(file.read_bytes())["topicQueueMappingInfoMap"]


def test_the_topics_come_back_from_a_backup_after_both_brokers_lost_their_tables(
    cluster: Cluster, tmp_path: Path
) -> None:
    """The topics were made by mqadmin and by us, and all of their queues have moved."""
    file = str(tmp_path / "static.nsbackup.zip")
    created = cluster("backup", "create", "DefaultCluster", "--file", file)
    assert (created.code, created.rows[0]["missing"]) == (0, 0), created.err
    mappings_before = [read_mapping_table(broker) for broker in cluster.brokers]
    for broker in cluster.brokers:
        broker.kill()
        shutil.rmtree(broker.home / "store" / "config")
    with ThreadPoolExecutor() as pool:
        list(pool.map(JavaBroker.start, cluster.brokers))
    for broker in cluster.brokers:
        wait_for_broker([cluster.server], broker.name)
        wait_for_runtime_info(broker.port)
    lost = cluster("backup", "diff", file, "--offsets")
    assert {row["name"] for row in lost.rows if row["section"] == "staticTopics"} == {
        TOPIC, "Ours", "Theirs", "Moved",
    }  # fmt: skip
    planned = cluster("backup", "restore", file, "--dry-run")
    assert planned.code == 0, (planned.rows, planned.err)
    restored = cluster("backup", "restore", file, "--yes")
    assert restored.code == 0, (restored.rows, restored.err)
    assert cluster("backup", "diff", file, "--offsets").rows == []
    assert [read_mapping_table(broker) for broker in cluster.brokers] == mappings_before
    again = cluster("backup", "restore", file, "--yes")
    assert (again.code, {row["result"] for row in again.rows} <= {"kept"}) == (0, True)


def test_a_mapping_that_was_changed_after_the_backup_stays(cluster: Cluster, tmp_path: Path) -> None:
    file = str(tmp_path / "static.nsbackup.zip")
    assert cluster("backup", "create", "DefaultCluster", "--file", file).code == 0
    assert cluster("remappingStaticTopic", "Theirs", "-b", "broker-a").code == 0
    restored = cluster("backup", "restore", file, "-t", "Theirs", "--yes")
    assert restored.code != 0
    assert all("is newer than the backup" in row["error"] for row in restored.rows)
    assert set(logical(cluster, "Theirs")) == {"broker-a"}


def test_the_examples_do_what_they_say(cluster: Cluster) -> None:
    stand_in = {"cluster-a": "DefaultCluster", "broker-a-0": "broker-b"}
    for case in elsewhere("updateStaticTopic", "remappingStaticTopic"):
        for example in case.examples:
            result = cluster(*(stand_in.get(word, word) for word in words(example)))
            assert (result.code, bool(result.rows)) == (example.exit_code, True), (
                example.command_line,
                result.err,
            )
