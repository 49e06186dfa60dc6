"""Three released controllers and a group under them, beside mqadmin that asks the same."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.interop import command_line, jars
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import QUICK_START, JavaBroker, MqAdmin, Running, java, write_properties
from tests.interop.our_server import OurNameServer
from tests.interop.processes import free_port, start_child, wait_for
from tests.support.examples import ON_CONTROLLERS, split_example

SMALL = (*QUICK_START, "-Xss256k")


class Controller(Running):
    """One of the controllers at these ports of loopback."""

    def __init__(self, home: Path, ports: list[int], number: int) -> None:
        self.home, self._ports, self._number = home, ports, number
        self.address = f"127.0.0.1:{ports[number]}"

    def start(self) -> None:
        file = self.home / "controller.properties"
        config = {
            "controllerDLegerGroup": "group1",
            "controllerDLegerPeers": ";".join(
                f"n{at}-127.0.0.1:{port}" for at, port in enumerate(self._ports)
            ),
            "controllerDLegerSelfId": f"n{self._number}",
            "controllerStorePath": self.home / "store",
            "configStorePath": file,
            "mappedFileSize": 4 * 1024 * 1024,
        }
        main = "org.apache.rocketmq.controller.ControllerStartup"
        flags = [*SMALL, "-Xms32m", "-Xmx128m"]
        args = ["-c", str(write_properties(file, config))]
        command = java(jars.NEWEST, main, self.home, flags, args)
        self.child = start_child(command, self.home / "stdout.log", "boot success", 90)


class Group(NamedTuple):
    """The controllers, and two brokers of one name."""

    server: OurNameServer
    controllers: list[Controller]
    brokers: list[JavaBroker]
    mqadmin: MqAdmin

    def __call__(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args)

    @property
    def addrs(self) -> str:
        return ";".join(controller.address for controller in self.controllers)

    def replicas(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self("getSyncStateSet", "-a", self.addrs, "-b", "broker-a").rows or []
        return rows

    def both_in_sync(self) -> bool:
        return [row["inSync"] and row["alive"] for row in self.replicas()] == [True, True]


@pytest.fixture(scope="module")
def group(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Group]:
    home = tmp_path_factory.mktemp("controllers")
    ports = [free_port() for _ in range(3)]
    controllers = [Controller(home / f"n{at}", ports, at) for at in range(3)]
    addrs = ";".join(controller.address for controller in controllers)
    with OurNameServer(home / "ours") as ours, ExitStack() as ends, ThreadPoolExecutor() as pool:
        brokers = [
            JavaBroker(
                home / f"broker-{at}",
                [ours.address],
                "broker-a",
                config={
                    "enableControllerMode": "true",
                    "controllerAddr": addrs,
                    "brokerId": -1,
                    "storePathEpochFile": home / f"broker-{at}" / "epoch",
                },
                jvm_flags=SMALL,
            )
            for at in range(2)
        ]
        mqadmin = MqAdmin(home / "mqadmin", [ours.address])
        for part in pool.map(lambda part: part.__enter__(), (*controllers, mqadmin)):
            ends.push(part)
        for part in pool.map(lambda part: part.__enter__(), brokers):
            ends.push(part)
        there = Group(ours, controllers, brokers, mqadmin)
        wait_for("two replicas in sync", there.both_in_sync)
        wait_for("both brokers", lambda: len(there("getBrokerEpoch", "-b", "broker-a").rows or ()) >= 2)
        yield there


def test_each_controller_says_who_leads(group: Group) -> None:
    rows = group("getControllerMetaData", "-a", group.addrs).rows
    [leader] = [row["controllerAddr"] for row in rows if row["isLeader"]]
    assert {row["leaderAddr"] for row in rows} == {leader}
    for row in rows:
        theirs = group.mqadmin("getControllerMetaData", "-a", row["controllerAddr"])
        assert f"#ControllerLeaderAddress\t{leader}" in theirs
        assert re.findall(r"#Peer:\t(\S+)", theirs) == [
            f"{name}:{addr}" for name, addr in row["peers"].items()
        ]


def test_replicas_are_found_whichever_controller_is_named(group: Group) -> None:
    theirs = group.mqadmin("getSyncStateSet", "-a", group.controllers[0].address, "-b", "broker-a")
    for controllers in (*(item.address for item in group.controllers), f"127.0.0.1:1;{group.addrs}"):
        rows = group("getSyncStateSet", "-a", controllers, "-c", "DefaultCluster").rows
        assert len(rows) == 2
        for row in rows:
            assert f"brokerId={row['brokerId']}, brokerAddress='{row['brokerAddr']}', alive=true" in theirs
        [master] = [row for row in rows if row["isMaster"]]
        assert f"#MasterBrokerId\t{master['brokerId']}" in theirs
    assert group("getSyncStateSet", "-a", group.addrs, "-b", "nope").code == 5


def test_epochs_of_brokers(group: Group) -> None:
    rows = group("getBrokerEpoch", "-c", "DefaultCluster").rows
    theirs = group.mqadmin("getBrokerEpoch", "-b", "broker-a")
    assert {row["brokerAddr"] for row in rows} == {broker.address for broker in group.brokers}
    for row in rows:
        assert f"#brokerAddr\t{row['brokerAddr']}" in theirs
        assert f"epoch={row['epoch']}, startOffset={row['startOffset']}" in theirs


def test_settings_of_every_controller(group: Group) -> None:
    key = "scanNotActiveBrokerInterval"
    change = ("updateControllerConfig", key, "6000", "-a", group.addrs)
    planned, result = group(*change, "--dry-run"), group(*change, "--yes")
    assert [row["changes"] for row in planned.rows] == ["5000 -> 6000"] * 3
    assert [row["result"] for row in result.rows] == ["done"] * 3
    for row in group("getControllerConfig", "-a", group.addrs, "--filter", f"key={key}").rows:
        theirs = group.mqadmin("getControllerConfig", "-a", row["controllerAddr"])
        assert re.search(rf"{key} *= *6000", theirs)
    assert "success" in group.mqadmin("updateControllerConfig", "-a", group.addrs, "-k", "noSuch", "-v", "1")
    assert group("updateControllerConfig", "noSuch", "1", "-a", group.addrs, "--yes").code == 5


def test_the_examples_about_controllers_do_what_they_say(group: Group) -> None:
    slave = next(str(row["brokerId"]) for row in group.replicas() if not row["isMaster"])
    for case in ON_CONTROLLERS:
        for example in case.examples:
            stand_in = {"1": slave} if case.entry.name == "electMaster" else {}
            result = group(*(stand_in.get(word, word) for word in split_example(example)))
            assert (result.code, bool(result.rows)) == (example.exit_code, True), example.command_line


def test_a_slave_that_lacks_a_topic_is_named_and_not_elected(group: Group) -> None:
    [slave] = [row for row in group.replicas() if not row["isMaster"]]
    [master] = [row for row in group.replicas() if row["isMaster"]]
    elect = ("electMaster", "broker-a", str(slave["brokerId"]), "-a", group.addrs, "-c", "DefaultCluster")
    numbers = count()

    def is_refused() -> bool:
        # The slave copies tables once a minute, at a time that the test does not know.
        topic = f"payments-{next(numbers)}"
        assert group("updateTopic", topic, "-b", master["brokerAddr"], "--yes").code == 0
        refused = group(*elect, "--dry-run")
        return refused.code == 1 and f"replica {slave['brokerId']} of broker-a lacks topic" in refused.err

    wait_for("a refusal", is_refused, interval=1)


def test_a_slave_becomes_the_master_and_a_dead_replica_is_forgotten(group: Group) -> None:
    [slave] = [row for row in group.replicas() if not row["isMaster"]]
    place = ("broker-a", str(slave["brokerId"]), "-a", group.addrs, "-c", "DefaultCluster")
    # The slave may lack a topic.
    elect = ("electMaster", *place, "--force")
    planned, result = group(*elect, "--dry-run"), group(*elect, "--yes")
    assert (result.code, result.rows[0]["result"]) == (0, "done")
    assert result.rows[0]["changes"] == planned.rows[0]["changes"]
    theirs = group.mqadmin("getSyncStateSet", "-a", group.controllers[0].address, "-b", "broker-a")
    assert f"#MasterAddr\t{slave['brokerAddr']}" in theirs
    assert group(*elect, "--yes").rows[0]["result"] == "unchanged"

    [old] = [row for row in group.replicas() if not row["isMaster"]]
    clean = (
        "cleanBrokerMetadata",
        "broker-a",
        "-a",
        group.addrs,
        "-c",
        "DefaultCluster",
        "-b",
        str(old["brokerId"]),
    )
    lives = group(*clean, "--yes")
    assert (lives.code, f"replica {old['brokerId']} of broker-a is alive" in lives.err) == (2, True)
    next(broker for broker in group.brokers if broker.address == old["brokerAddr"]).kill()
    wait_for("its end", lambda: not all(row["alive"] for row in group.replicas()))
    gone = group(*clean, "--yes")
    assert (gone.code, gone.rows[0]["changes"]) == (0, f"replicas 1, 2 -> {slave['brokerId']}")
    assert [row["brokerId"] for row in group.replicas()] == [slave["brokerId"]]
