"""Commands that move groups, send and hand over messages, on 5.5.0 and 4.9.7 brokers, beside mqadmin."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from tests.interop import command_line, jars, wire
from tests.interop.cluster import (
    create_topic,
    plain,
    send,
    wait_for_broker,
    wait_for_runtime_info,
    wait_for_topic,
)
from tests.interop.command_line import Done
from tests.interop.differential.loose_json import parse
from tests.interop.java_parts import JavaBroker, MqAdmin
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for


class Cluster(NamedTuple):
    server: OurNameServer
    new: JavaBroker
    old: JavaBroker
    mqadmin: MqAdmin

    def __call__(self, *args: str) -> Done:
        return command_line.nsadmin(self.server.address, *args)

    def topic(self, topic: str, queues: int = 4) -> None:
        for broker in (self.new, self.old):
            create_topic(broker.port, topic, queues)
        wait_for(topic, lambda: len(self("topicRoute", topic).rows or ()) == 2, 15)


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("daily")
    with OurNameServer(home / "server") as server, ExitStack() as ends, ThreadPoolExecutor() as pool:
        addrs = [server.address]
        new = JavaBroker(home / "new", addrs)
        old = JavaBroker(home / "old", addrs, "broker-old", version=jars.OLD)
        mqadmin = MqAdmin(home / "mqadmin", addrs)
        for part in pool.map(lambda part: part.__enter__(), (new, old, mqadmin)):
            ends.push(part)
        for broker in (new, old):
            wait_for_broker([server], broker.name)
            wait_for_runtime_info(broker.port)
        yield Cluster(server, new, old, mqadmin)


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
    """Where no old broker has the topic, mqadmin's succeeds; it takes the group's other topics as well."""
    for topic in ("Alone", "Elsewhere"):
        create_topic(cluster.new.port, topic)
        wait_for_topic([cluster.server], topic)
        send(cluster.new.port, topic, 0, 5)
        commit(cluster.new, "Only", topic, {0: 5, 1: 0})
    create_topic(cluster.new.port, "%RETRY%Only")
    wait_for_topic([cluster.server], "%RETRY%Only")
    for group in ("OursAlone", "TheirsAlone"):
        commit(cluster.new, group, "Alone", {1: 4})
    assert cluster("cloneGroupOffset", "Only", "OursAlone", "Alone", "--yes").code == 0
    said = cluster.mqadmin("cloneGroupOffset", "-s", "Only", "-d", "TheirsAlone", "-t", "Alone")
    assert "clone group offset success" in said
    ours, theirs = (committed(cluster.new, group, "Alone") for group in ("OursAlone", "TheirsAlone"))
    assert ours == {"0": 5, "1": 0}
    assert {queue: theirs[queue] for queue in ours} == ours
    assert committed(cluster.new, "TheirsAlone", "Elsewhere")["0"] == 5
    assert committed(cluster.new, "OursAlone", "Elsewhere") == {}


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
