"""Brokers added to a released 5.5.0 broker container and removed from it, by us and by mqadmin."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.interop import command_line, jars
from tests.interop.cluster import brokers, wait_for_broker, wait_for_runtime_info
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import IDLE_SERVER_CONFIG, QUICK_START, MqAdmin, Running, java, write_properties
from tests.interop.our_server import OurNameServer
from tests.interop.processes import free_port, start_child, wait_for
from tests.support.examples import list_cases_elsewhere, split_example

NAME = "broker-a-0"


class Container(Running):
    """A process that brokers are added to; `broker_file` is that of a broker which is not started yet."""

    def __init__(self, home: Path, namesrv: str) -> None:
        self.home, self._namesrv = home, namesrv
        self.port, self.broker_port = free_port((0,)), free_port((-2, 0, 1))
        self.broker_file = write_properties(
            home / "broker.properties",
            {
                "brokerClusterName": "cluster-a",
                "brokerName": NAME,
                "brokerId": 0,
                "brokerIP1": "127.0.0.1",
                "brokerIP2": "127.0.0.1",
                "listenPort": self.broker_port,
                "haListenPort": self.broker_port + 1,
                "namesrvAddr": namesrv,
                "storePathRootDir": home / "store",
                "storePathCommitLog": home / "store" / "commitlog",
                "mappedFileSizeCommitLog": 16 * 1024 * 1024,
                "mappedFileSizeConsumeQueue": 60_000,
                "mappedFileSizeTimerLog": 1024 * 1024,
                **IDLE_SERVER_CONFIG,
            },
        )

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        config = {"listenPort": self.port, "namesrvAddr": self._namesrv}
        file = write_properties(self.home / "container.properties", config)
        flags = [*QUICK_START, "-Xms128m", "-Xmx384m", "-XX:MaxDirectMemorySize=256m"]
        main = "org.apache.rocketmq.broker.BrokerContainerStartup"
        command = java(jars.NEWEST, main, self.home, flags, ["-c", str(file)])
        # Its logs are those of a broker, its classes in a jar of their own.
        at = command.index("-cp") + 1
        command[at] = f"{command[at]}{os.pathsep}{jars.container(jars.NEWEST)}"
        command[command.index(main)] = "org.apache.rocketmq.container.BrokerContainerStartup"
        self.child = start_child(command, self.home / "stdout.log", "broker container boot success", 90)


class Place(NamedTuple):
    server: OurNameServer
    container: Container
    mqadmin: MqAdmin

    def __call__(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args)

    def is_there(self) -> bool:
        return NAME in brokers(self.server)


@pytest.fixture(scope="module")
def place(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    home = tmp_path_factory.mktemp("container")
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        server = ends.enter_context(OurNameServer(home / "server"))
        container = Container(home / "container", server.address)
        mqadmin = MqAdmin(home / "mqadmin", [server.address])
        for part in pool.map(lambda part: part.__enter__(), (container, mqadmin)):
            ends.push(part)
        yield Place(server, container, mqadmin)


def test_a_broker_is_added_by_us_and_removed_by_mqadmin(place: Place) -> None:
    file, addr = str(place.container.broker_file), place.container.address
    result = place("addBroker", addr, file)
    assert (result.code, [row["result"] for row in result.rows]) == (0, ["done"])
    wait_for_broker([place.server], NAME)
    wait_for_runtime_info(place.container.broker_port)
    # It is a broker as others are.
    assert place("brokerStatus", f"127.0.0.1:{place.container.broker_port}").code == 0
    assert "success" in place.mqadmin("removeBroker", "-c", addr, "-b", f"cluster-a:{NAME}:0")
    wait_for("its end", lambda: not place.is_there())


def test_a_broker_is_added_by_mqadmin_and_removed_by_us(place: Place) -> None:
    file, addr = str(place.container.broker_file), place.container.address
    assert "success" in place.mqadmin("addBroker", "-c", addr, "-b", file)
    wait_for_broker([place.server], NAME)
    result = place("removeBroker", addr, f"cluster-a:{NAME}:0", "--yes")
    assert (result.code, [row["result"] for row in result.rows]) == (0, ["done"])
    wait_for("its end", lambda: not place.is_there())


def test_what_the_container_refuses_is_a_line(place: Place) -> None:
    addr = place.container.address
    nothing = place("addBroker", addr, "/nonexistent")
    assert (nothing.code, nothing.rows[0]["error"]) == (1, "SYSTEM_ERROR (1): addBroker properties empty")
    assert "addBroker properties empty" in place.mqadmin("addBroker", "-c", addr, "-b", "/nonexistent")
    gone = place("removeBroker", addr, "cluster-a:nobody:0", "--yes")
    assert (gone.code, gone.rows[0]["error"]) == (5, "the container does not run this broker")
    assert "CODE: 211" in place.mqadmin("removeBroker", "-c", addr, "-b", "cluster-a:nobody:0")


def test_the_examples_do_what_they_say(place: Place) -> None:
    stand_in = {
        "127.0.0.1:10811": place.container.address,
        "/etc/rocketmq/broker-b.conf": str(place.container.broker_file),
    }
    for case in list_cases_elsewhere("addBroker", "removeBroker"):
        for example in case.examples:
            result = place(*(stand_in.get(word, word) for word in split_example(example)))
            assert result.code == example.exit_code, (example.command_line, result.err)
