"""A static topic whose queues mqadmin moves from one 5.5.0 broker to another."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.interop import command_line
from tests.interop.cluster import wait_for_broker, wait_for_runtime_info
from tests.interop.command_line import Done
from tests.interop.daily import lines
from tests.interop.java_parts import JavaBroker, LiveClients, MqAdmin
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for

TOPIC = "Static"


class Cluster(NamedTuple):
    server: OurNameServer
    brokers: list[JavaBroker]
    mqadmin: MqAdmin

    def __call__(self, *args: str) -> Done:
        return command_line.nsadmin(self.server.address, *args)


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


def logical(cluster: Cluster) -> dict[str, dict[str, int]]:
    rows = cluster("topicRoute", TOPIC).rows or []
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
    wait_for("the mapping", lambda: logical(cluster) == {"broker-a": {"0": 0, "1": 1, "2": 2}}, 20)
    for queue in ("0", "2", "2"):
        done = cluster("sendMessage", TOPIC, f"in {queue}", "-b", "broker-a", "-i", queue)
        assert (done.code, done.rows[0]["queueId"]) == (0, int(queue))
    wanted = [["0", "0", "1"], ["1", "0", "0"], ["2", "0", "2"]]
    wait_for("the offsets", lambda: agree(cluster) == wanted, 15)


def test_queues_that_have_moved_keep_their_numbers(cluster: Cluster) -> None:
    cluster.mqadmin("remappingStaticTopic", "-t", TOPIC, "-b", "broker-b")
    wait_for("the mapping", lambda: set(logical(cluster)) == {"broker-b"}, 20)
    assert set(logical(cluster)["broker-b"]) == {"0", "1", "2"}
    done = cluster("sendMessage", TOPIC, "moved", "-b", "broker-b", "-i", "2")
    assert done.code == 0, done
    # Upstream leaves a gap where a queue goes on elsewhere.
    assert done.rows[0]["queueOffset"] == 10_000
    wanted = [["0", "0", "10000"], ["1", "0", "10000"], ["2", "0", "10001"]]
    wait_for("the offsets", lambda: agree(cluster) == wanted, 15)
    [row] = cluster("queryMsgByOffset", TOPIC, "broker-b", "2", "10000").rows
    assert (row["body"], row["queueId"], row["queueOffset"]) == ("moved", 2, 10_000)
    refused = cluster("skipAccumulatedMessage", "G", TOPIC, "--dry-run")
    assert (refused.code, "is a static topic" in refused.said) == (1, True)


def test_what_was_written_before_a_queue_moved(cluster: Cluster) -> None:
    """A broker has it from the one before; young ones have yet to learn where others are."""
    words = ("queryMsgByOffset", TOPIC, "broker-b", "2", "1")

    def is_found() -> bool:
        done = cluster(*words)
        assert done.code == 0 or "try again in 15 seconds" in done.said, done
        return done.code == 0

    wait_for("what broker-a has", is_found, 60)
    [row] = cluster(*words).rows
    assert (row["body"], row["storeHost"]) == ("in 2", cluster.brokers[0].address)
    rows = cluster("printMsg", TOPIC).rows
    found = [(row["queueId"], row["queueOffset"], row["body"]) for row in rows]
    assert found == [(0, 0, "in 0"), (2, 0, "in 2"), (2, 1, "in 2"), (2, 10_000, "moved")]
    gone = cluster("queryMsgByOffset", TOPIC, "broker-a", "2", "1")
    assert (gone.code, "topicRoute shows which broker has a queue" in gone.said) == (1, True)


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

        wait_for("the queues", lambda: len(consumed()) == 3, 40)
        assert consumed() == [["__syslo__global__", number] for number in range(3)]
        wait_for("a healthy group", lambda: cluster("consumerStatus", group).said == "", 20)
