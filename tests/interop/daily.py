"""The cluster that tests share: a 5.5.0 and a 4.9.7 master, and mqadmin beside us."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.interop import command_line, jars, wire
from tests.interop.cluster import (
    NameServer,
    create_topic,
    plain,
    route,
    wait_for_broker,
    wait_for_runtime_info,
)
from tests.interop.command_line import CommandResult
from tests.interop.differential.loose_json import parse
from tests.interop.java_parts import JavaBroker, JavaNameServer, LiveClients, MqAdmin
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for


class Cluster(NamedTuple):
    """A 5.5.0 master broker-a and a 4.9.7 master broker-old of DefaultCluster.

    Both are registered with our name server and with Java's. Calling the cluster runs a command of ours on
    `server`; `_replace(server=cluster.java)` has commands ask Java's. mqadmin sees the new broker alone, by a
    name server of its own: beside an old one much of it fails.
    """

    server: NameServer
    java: JavaNameServer
    new: JavaBroker
    old: JavaBroker
    mqadmin: MqAdmin

    def __call__(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args)

    def topic(self, topic: str, queues: int = 4) -> None:
        make_topic(self.server, (self.new, self.old), topic, queues)


def make_topic(server: NameServer, brokers: Sequence[JavaBroker], topic: str, queues: int) -> None:
    """On each broker, and known to be there."""
    for broker in brokers:
        create_topic(broker.port, topic, queues)
    names = {broker.name for broker in brokers}
    wait_for(topic, lambda: {item["brokerName"] for item in queues_of(server, topic)} == names)


def queues_of(server: NameServer, topic: str) -> list[dict[str, Any]]:
    return list((route(server, topic) or {"queueDatas": []})["queueDatas"])


@contextmanager
def start_cluster(home: Path) -> Iterator[Cluster]:
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        server = ends.enter_context(OurNameServer(home / "server"))
        new_only = ends.enter_context(OurNameServer(home / "new-only"))
        java = ends.enter_context(JavaNameServer(home / "java"))
        new = JavaBroker(home / "new", [server.address, java.address, new_only.address])
        old = JavaBroker(home / "old", [server.address, java.address], "broker-old", version=jars.OLD)
        mqadmin = MqAdmin(home / "mqadmin", [new_only.address])
        for part in pool.map(lambda part: part.__enter__(), (new, old, mqadmin)):
            ends.push(part)
        for broker in (new, old):
            wait_for_broker([server, java], broker.name)
            wait_for_runtime_info(broker.port)
        yield Cluster(server, java, new, old, mqadmin)


@contextmanager
def live_clients(cluster: Cluster, home: Path, topic: str) -> Iterator[LiveClients]:
    """A consumer and a producer of a new topic with one queue on each broker; both brokers know them."""
    cluster.topic(topic, 1)
    with LiveClients(home, cluster.server.address, topic) as clients:
        wait_for("the consumer", lambda: is_everywhere(cluster, topic), interval=0.5)
        yield clients


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


def ends(cluster: Cluster, topic: str) -> list[int]:
    return [row["maxOffset"] for row in cluster("topicStatus", topic).rows]


def is_everywhere(cluster: Cluster, topic: str) -> bool:
    rows = cluster("consumerConnection", f"{topic}-consumer").rows or []
    return [len(row["brokerAddrs"]) for row in rows] == [2]


def lines(said: str, begin: str) -> list[list[str]]:
    """The rows of a table that mqadmin printed, as words, up to the next empty line."""
    lines_with_names = said.splitlines()
    [at] = [number for number, line in enumerate(lines_with_names) if line.startswith(begin)]
    below = lines_with_names[at + 1 :]
    return [line.split() for line in below[: below.index("")]]
