"""Completion in a real bash of what a released name server and released brokers know."""

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from tests.interop import jars, wire
from tests.interop.cluster import create_topic, wait_for_broker, wait_for_runtime_info, wait_for_topic
from tests.interop.java_parts import JavaBroker, JavaNameServer
from tests.support.shells import ROOT, ShellHome, ShellTerminal

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


class Cluster(NamedTuple):
    new: JavaBroker
    old: JavaBroker
    world: ShellHome


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("completion")
    with JavaNameServer(home / "namesrv") as server, ExitStack() as ends, ThreadPoolExecutor() as pool:
        new = JavaBroker(home / "new", [server.address])
        old = JavaBroker(home / "old", [server.address], "broker-old", "OldCluster", version=jars.OLD)
        for broker in pool.map(lambda broker: broker.__enter__(), (new, old)):
            ends.push(broker)
        for broker, topic, group in ((new, "orders", "billing"), (old, "users", "mailing")):
            wait_for_broker([server], broker.name)
            wait_for_runtime_info(broker.port)
            create_topic(broker.port, topic)
            config = json.dumps({"groupName": group, "consumeEnable": True}).encode()
            assert wire.ask(broker.port, 200, {}, config).code == 0
            wait_for_topic([server], topic)
        (home / "shell").mkdir()
        world = ShellHome(home / "shell", server.address)
        for command in (
            "topicRoute",
            "clusterList",
            "wipeWritePerm",
            "brokerStatus",
            "consumerProgress",
            "updateNamesrvConfig",
            "updateBrokerConfig",
        ):
            world.warm_cache(command)
        yield Cluster(new, old, world)


@pytest.fixture(scope="module")
def terminal(cluster: Cluster) -> Iterator[ShellTerminal]:
    setup = f"PS1='> '; bind 'set bell-style none'; source {ROOT / 'completions' / 'nsadmin.bash'}"
    terminal = ShellTerminal(["bash", "--norc", "--noprofile", "-i"], cluster.world.environ, setup)
    yield terminal
    terminal.close()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("topicRoute ord", ["topicRoute", "orders"]),
        ("deleteTopic -t users -c Old", ["deleteTopic", "-t", "users", "-c", "OldCluster"]),
        ("wipeWritePerm broker-o", ["wipeWritePerm", "broker-old"]),
        ("consumerProgress bil", ["consumerProgress", "billing"]),
        ("getConsumerConfig -g mai", ["getConsumerConfig", "-g", "mailing"]),
        ("updateNamesrvConfig orderMessageE", ["updateNamesrvConfig", "orderMessageEnable"]),
        ("updateBrokerConfig fileReservedT", ["updateBrokerConfig", "fileReservedTime"]),
    ],
)
def test_what_servers_know_is_completed(terminal: ShellTerminal, line: str, words: list[str]) -> None:
    assert terminal.complete_line(line) == words


def test_an_address_is_completed_behind_its_colon(terminal: ShellTerminal, cluster: Cluster) -> None:
    for broker in (cluster.new, cluster.old):
        assert terminal.complete_line(f"brokerStatus {broker.address[:-1]}") == [
            "brokerStatus",
            broker.address,
        ]


def test_settings_are_those_of_the_broker_on_the_line(terminal: ShellTerminal, cluster: Cluster) -> None:
    keys = {}
    for broker in (cluster.new, cluster.old):
        line = ("updateBrokerConfig", "-b", broker.address)
        cluster.world.warm_cache(*line)
        keys[broker] = terminal.complete_line(f"{' '.join(line)} timerWheelE")[3:]
    assert keys == {cluster.new: ["timerWheelEnable"], cluster.old: ["timerWheelE"]}
