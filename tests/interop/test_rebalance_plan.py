"""`rebalance plan` on released brokers: two with load, of 5.5.0 and 4.9.7, and an empty one of 5.5.0."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import NamedTuple

import pytest
import yaml

from tests.interop import command_line, jars, wire
from tests.interop.cluster import create_topic, send, wait_for_broker, wait_for_runtime_info, wait_for_topic
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import JavaBroker
from tests.interop.our_server import OurNameServer

SENT_PER_ROUND = {"busy": 12, "calm": 4, "quiet": 4}
"""Messages to each queue of a topic."""


class LoadedCluster(NamedTuple):
    """A name server of ours, two brokers with the same topics, and an empty one."""

    namesrv: OurNameServer
    brokers: tuple[JavaBroker, JavaBroker, JavaBroker]

    def plan(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.namesrv.address, "rebalance", "plan", *args)

    def send_round(self) -> None:
        for broker in self.brokers[:2]:
            for topic, count in SENT_PER_ROUND.items():
                for queue_id in range(4):
                    send(broker.port, topic, queue_id, count)

    def plan_under_load(self, *args: str) -> CommandResult:
        """A plan from a sample, while messages arrive."""
        is_planned = Event()
        with ThreadPoolExecutor() as pool:

            def send_until_planned() -> None:
                while not is_planned.is_set():
                    self.send_round()

            sending = pool.submit(send_until_planned)
            try:
                return self.plan(*args, "--sample", "3s")
            finally:
                is_planned.set()
                sending.result()


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedCluster]:
    home = tmp_path_factory.mktemp("rebalance-plan")
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        namesrv = ends.enter_context(OurNameServer(home / "namesrv"))
        brokers = (
            JavaBroker(home / "a", [namesrv.address]),
            JavaBroker(home / "b", [namesrv.address], "broker-b", version=jars.OLD),
            JavaBroker(home / "c", [namesrv.address], "broker-c"),
        )
        for part in pool.map(lambda part: part.__enter__(), brokers):
            ends.push(part)
        for broker in brokers:
            wait_for_broker([namesrv], broker.name)
            wait_for_runtime_info(broker.port)
        for topic in SENT_PER_ROUND:
            for broker in brokers[:2]:
                create_topic(broker.port, topic)
            wait_for_topic([namesrv], topic)
        loaded = LoadedCluster(namesrv, brokers)
        loaded.send_round()
        yield loaded


def commit_offset(broker: JavaBroker, group: str, topic: str, offset: int) -> None:
    """UPDATE_CONSUMER_OFFSET of queue 0, as a consumer sends it; the group must exist since 5.0."""
    assert wire.ask(broker.port, 200, None, json.dumps({"groupName": group}).encode()).code == 0
    ext = {"consumerGroup": group, "topic": topic, "queueId": "0", "commitOffset": str(offset)}
    assert wire.ask(broker.port, 15, ext).code == 0


def test_a_new_broker_gets_its_part_of_the_measured_load(cluster: LoadedCluster, tmp_path: Path) -> None:
    plan_path = tmp_path / "plan.yaml"
    result = cluster.plan_under_load("--add", "broker-c", "--out", str(plan_path))
    assert result.code == 0, result
    shares = {row["brokerName"]: row for row in result.rows}
    assert [shares[name]["writesBefore"] for name in ("broker-a", "broker-b", "broker-c")] == [
        50.0,
        50.0,
        0.0,
    ]
    assert all(abs(row["writesAfter"] - 33.3) < 3.5 for row in result.rows), result
    assert "measured by sample 3 s" in result.err
    plan = yaml.safe_load(plan_path.read_text())
    assert plan["add"] == ["broker-c"]
    assert "broker-c" in plan["topics"]["busy"]["after"]
    for move in plan["topics"].values():
        assert move["before"] == {name: {"read": 4, "write": 4} for name in ("broker-a", "broker-b")}
        assert len(move["after"]) >= 2


def test_a_removed_broker_loses_all_queues_and_the_consumers_know_their_lag(
    cluster: LoadedCluster, tmp_path: Path
) -> None:
    for broker in cluster.brokers[:2]:
        commit_offset(broker, "readers", "busy", 2)
    plan_path = tmp_path / "plan.yaml"
    result = cluster.plan("--remove", "broker-b", "--goal", "queues", "--out", str(plan_path))
    assert result.code == 0, result
    plan = yaml.safe_load(plan_path.read_text())
    assert set(plan["topics"]) == set(SENT_PER_ROUND)
    for move in plan["topics"].values():
        assert move["after"] == {name: {"read": 4, "write": 4} for name in ("broker-a", "broker-c")}
    assert plan["groupsToCreate"] == {"broker-c": ["readers"]}, result
    unread_counts = [move.get("messagesToConsume", 0) for _, move in sorted(plan["topics"].items())]
    assert unread_counts[0] >= SENT_PER_ROUND["busy"] - 2
    assert unread_counts[1:] == [0, 0]
    [removed_row] = [row for row in result.rows if row["role"] == "removed"]
    assert (removed_row["queuesBefore"], removed_row["queuesAfter"]) == (50.0, 0.0)


def test_wrong_input_is_refused_with_one_line(cluster: LoadedCluster) -> None:
    for args, code, message in (
        (("--add", "broker-x"), 5, 'no broker "broker-x"; did you mean "broker-a"'),
        (
            tuple(f"--remove=broker-{letter}" for letter in "abc"),
            1,
            "no broker would remain",
        ),
        (("--goal", "speed"), 2, 'invalid value "speed" for --goal: use one of load, queues, disk'),
        (("--queue-counts", "4,x"), 2, 'invalid value "4,x" for --queue-counts: use numbers such as 4,8,16'),
        (("--sample", "1m", "--journal", "/tmp"), 2, "--sample and --journal exclude each other"),
    ):
        result = cluster.plan(*args)
        assert (result.code, message in result.err) == (code, True), result
