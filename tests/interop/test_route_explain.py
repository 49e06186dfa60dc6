"""Why clients find no route, on released servers: what is found is what a Java producer runs into.

A 5.5.0 and a 4.9.7 name server; a 5.5.0 master with its slave at both, a 4.9.7 master at the first alone.
"""

import json
import os
import shlex
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.interop import command_line, jars, wire
from tests.interop.cluster import (
    brokers,
    create_topic,
    wait_for_broker,
    wait_for_runtime_info,
    wait_for_topic,
    wait_on_each,
)
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import QUICK_START, WITHOUT_TIMER, JavaBroker, JavaNameServer, Running, jvm
from tests.interop.processes import Child, wait_for

NO_ROUTE = "failed No route info of this topic: "


class Senders(Running):
    """Java producers of 5.5.0, a new one for each message."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def start(self) -> None:
        begin = jvm(jars.NEWEST, "org.apache.rocketmq.client.Senders", self.home, QUICK_START)
        self.child = Child([*begin, *jars.program("Senders")], self.home / "stdout.log", talks=True)
        self.child.wait_for_line("ready", 60)

    def __call__(self, namesrv: str, topic: str) -> str:
        """What comes of a message to the topic, of a producer that asks these name servers."""
        before = self.child.output
        self.child.write(f"{namesrv} {topic}\n")
        wait_for(f"a send to {topic}", lambda: self.child.output.count("\n") > before.count("\n"))
        return self.child.output.removeprefix(before).strip()


class Cluster(NamedTuple):
    new: JavaNameServer
    old: JavaNameServer
    master: JavaBroker
    slave: JavaBroker
    old_master: JavaBroker
    send: Senders

    @property
    def both(self) -> str:
        return f"{self.new.address};{self.old.address}"


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("route-explain")
    ordered = {"orderMessageEnable": "true"}
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        servers = (
            JavaNameServer(home / "new", ordered),
            JavaNameServer(home / "old", ordered, version=jars.OLD),
        )
        addrs = [server.address for server in servers]
        closed = {**WITHOUT_TIMER, "autoCreateTopicEnable": "false"}
        parts = (
            *servers,
            JavaBroker(home / "master", addrs, config=closed),
            JavaBroker(home / "slave", addrs, broker_id=1, config=closed),
            JavaBroker(home / "old-master", addrs[:1], "broker-old", version=jars.OLD),
            Senders(home / "senders"),
        )
        for part in parts:
            ends.callback(end, part)
        list(pool.map(lambda part: part.start(), servers))
        list(pool.map(lambda part: part.start(), parts[2:]))
        explained_cluster = Cluster(*parts)
        for broker_id in (0, 1):
            wait_for_broker(servers, "broker-a", broker_id)
        wait_for_broker(servers[:1], "broker-old")
        for broker in (explained_cluster.master, explained_cluster.slave, explained_cluster.old_master):
            wait_for_runtime_info(broker.port)
        yield explained_cluster


def end(part: Running) -> None:
    if hasattr(part, "child"):
        part.kill()


def explain(namesrv: str, topic: str, *args: str) -> CommandResult:
    return command_line.nsadmin(namesrv, "routeExplain", topic, *args)


def causes(command_result: CommandResult, result: str = "cause") -> dict[str, list[str]]:
    """The causes that were found, with the name servers on which."""
    causes_by_step: dict[str, list[str]] = {}
    for row in command_result.rows:
        if row["result"] == result:
            causes_by_step.setdefault(row["step"], []).extend(row["namesrvAddrs"])
    return causes_by_step


def row(result: CommandResult, cause: str) -> dict[str, Any]:
    """The first that was found of a cause."""
    return next(row for row in result.rows if row["step"] == cause)


def on_broker_a(cluster: Cluster, topic: str) -> str:
    create_topic(cluster.master.port, topic)
    wait_for_topic([cluster.new, cluster.old], topic)
    return topic


def do_next(result: CommandResult, cause: str, namesrv: str) -> None:
    """What is told to type, on these name servers if it names none."""
    words = shlex.split(row(result, cause)["command"])[1:]
    at = words.index("-n") if "-n" in words else None
    if at is not None:
        namesrv = words[at + 1]
        del words[at : at + 2]
    did = command_line.nsadmin(namesrv, *words, "--yes")
    assert did.code == 0, (words, did)


def test_nothing_is_wrong_with_a_topic_that_works(cluster: Cluster) -> None:
    topic = on_broker_a(cluster, "Healthy")
    result = explain(cluster.both, topic)
    assert (result.code, {row["result"] for row in result.rows}) == (0, {"ok", "skipped"})
    assert cluster.send(cluster.both, topic) == "sent"


def test_a_topic_that_is_nowhere_and_that_nobody_creates(cluster: Cluster) -> None:
    result = explain(cluster.old.address, "Nowhere")
    assert (result.code, causes(result)) == (
        1,
        {"topicNotRegistered": [cluster.old.address], "autoCreateOff": []},
    )
    assert row(result, "autoCreateOff")["brokerName"] == "broker-a"
    assert cluster.send(cluster.old.address, "Nowhere") == f"{NO_ROUTE}Nowhere"
    # The other name server has a broker that creates topics by itself.
    beside = explain(cluster.new.address, "Nowhere")
    assert causes(beside).keys() == {"topicNotRegistered", "autoCreateOff"}
    do_next(result, "autoCreateOff", cluster.both)
    wait_for_topic([cluster.new, cluster.old], "Nowhere")
    assert explain(cluster.both, "Nowhere").code == 0
    assert cluster.send(cluster.old.address, "Nowhere") == "sent"


def test_a_broker_that_lists_one_of_two_name_servers(cluster: Cluster) -> None:
    create_topic(cluster.old_master.port, "Partial")
    wait_for_topic([cluster.new], "Partial")
    result = explain(cluster.both, "Partial")
    assert (result.code, causes(result)) == (1, {"partialNameServerList": [cluster.old.address]})
    assert row(result, "partialNameServerList")["brokerAddr"] == cluster.old_master.address
    assert cluster.send(cluster.new.address, "Partial") == "sent"
    assert cluster.send(cluster.old.address, "Partial") == f"{NO_ROUTE}Partial"
    # Who asks the wrong one alone, and names the broker.
    alone = explain(cluster.old.address, "Partial", "-b", cluster.old_master.address)
    assert causes(alone) == {"partialNameServerList": [cluster.old.address]}
    comma = explain(
        cluster.new.address, "Partial", "--client", f"{cluster.new.address},{cluster.old.address}"
    )
    assert causes(comma).keys() == {"clientList", "partialNameServerList"}


@pytest.mark.parametrize("release", ["new", "old"])
def test_a_broker_that_was_wiped_on_one_of_them(cluster: Cluster, release: str) -> None:
    topic = on_broker_a(cluster, f"Wiped-{release}")
    server: JavaNameServer = getattr(cluster, release)
    assert command_line.nsadmin(server.address, "wipeWritePerm", "broker-a", "--yes").code == 0
    result = explain(cluster.both, topic)
    assert (result.code, causes(result)) == (1, {"wiped": [server.address]})
    assert cluster.send(server.address, topic) == f"{NO_ROUTE}{topic}"
    do_next(result, "wiped", cluster.both)
    assert explain(cluster.both, topic).code == 0
    assert cluster.send(server.address, topic) == "sent"


def test_brokers_that_take_no_messages(cluster: Cluster) -> None:
    topic = on_broker_a(cluster, "Forbidden")
    create_topic(cluster.old_master.port, "OldForbidden")
    wait_for_topic([cluster.new], "OldForbidden")
    brokers = {topic: cluster.master, "OldForbidden": cluster.old_master}
    for broker in brokers.values():
        words = ("updateBrokerConfig", "brokerPermission", "4", "-b", broker.address, "--yes")
        assert command_line.nsadmin(cluster.both, *words).code == 0
    for name, broker in brokers.items():
        done = wait_for("the permission", partial(explain_unless_fine, cluster.new.address, name))
        assert causes(done) == {"brokerPermission": [cluster.new.address]}
        assert row(done, "brokerPermission")["brokerAddr"] == broker.address
        assert cluster.send(cluster.new.address, name) == f"{NO_ROUTE}{name}"
        do_next(done, "brokerPermission", cluster.both)
        wait_for("the permission", partial(is_fine, cluster.new.address, name))
        assert cluster.send(cluster.new.address, name) == "sent"


def explain_unless_fine(namesrv: str, topic: str) -> CommandResult | None:
    result = explain(namesrv, topic)
    return result if result.code == 1 else None


def is_fine(namesrv: str, topic: str) -> bool:
    return explain(namesrv, topic).code == 0


def test_a_topic_that_is_read_only(cluster: Cluster) -> None:
    create_topic(cluster.master.port, "ReadOnly", perm=4)
    wait_for_topic([cluster.new, cluster.old], "ReadOnly")
    done = explain(cluster.both, "ReadOnly")
    assert causes(done) == {"topicPermission": [cluster.new.address, cluster.old.address]}
    assert cluster.send(cluster.both, "ReadOnly") == f"{NO_ROUTE}ReadOnly"
    do_next(done, "topicPermission", cluster.both)
    assert explain(cluster.both, "ReadOnly").code == 0


def test_an_order_configuration_of_a_broker_that_is_gone(cluster: Cluster) -> None:
    topic = on_broker_a(cluster, "Ordered")
    put = ("updateOrderConf", topic, "put", "broker-gone:4", "--yes")
    assert command_line.nsadmin(cluster.both, *put).code == 0
    done = explain(cluster.both, topic)
    assert causes(done) == {"orderConf": [cluster.new.address, cluster.old.address]}
    assert "broker-gone" in cluster.send(cluster.both, topic)
    assert (
        command_line.nsadmin(cluster.both, "updateOrderConf", topic, "put", "broker-a:4", "--yes").code == 0
    )
    assert explain(cluster.both, topic).code == 0
    assert cluster.send(cluster.both, topic) == "sent"


def test_a_topic_that_a_name_server_was_told_to_forget(cluster: Cluster) -> None:
    """4.9.7 takes it again only when something of it changes, 5.5.0 with the next registration."""
    topic = on_broker_a(cluster, "Forgotten")
    assert wire.ask(cluster.old.port, 216, {"topic": topic}).code == 0
    done = explain(cluster.both, topic)
    assert causes(done) == {"topicOnBrokerOnly": [cluster.old.address]}
    assert cluster.send(cluster.old.address, topic) == f"{NO_ROUTE}{topic}"
    do_next(done, "topicOnBrokerOnly", cluster.both)
    wait_for_topic([cluster.old], topic)
    assert explain(cluster.both, topic).code == 0


def test_a_name_server_in_its_waiting_time(cluster: Cluster, tmp_path: Path) -> None:
    topic = on_broker_a(cluster, "Waited")
    with JavaNameServer(tmp_path, {"needWaitForService": "true", "waitSecondsForService": 600}) as waiting:
        done = explain(waiting.address, topic)
        assert causes(done).keys() == {"wrongNameServer", "nameServerNotReady"}
        assert row(done, "nameServerNotReady")["seen"] == (
            "SYSTEM_ERROR (1): name server not ready; it starts to return routes 600 s after its start"
        )
        assert cluster.send(waiting.address, topic).startswith("failed ")
        do_next(done, "nameServerNotReady", waiting.address)
        assert "nameServerNotReady" not in causes(explain(waiting.address, topic))


def test_a_registration_that_is_too_large(cluster: Cluster, tmp_path: Path) -> None:
    """A broker with 62,000 topics, whose connections name servers close."""
    topics = tmp_path / "large" / "store" / "config" / "topics.json"
    topics.parent.mkdir(parents=True)
    names = ["Large", *(f"{'t' * 110}-{number}" for number in range(62_000))]
    common = {"order": False, "perm": 6, "readQueueNums": 1, "topicFilterType": "SINGLE_TAG"}
    table = {
        name: {**common, "topicName": name, "topicSysFlag": 0, "writeQueueNums": 1, "attributes": {}}
        for name in names
    }
    version = {"counter": 1, "stateVersion": 0, "timestamp": 1}
    topics.write_text(json.dumps({"dataVersion": version, "topicConfigTable": table}))
    servers = [cluster.new.address, cluster.old.address]
    with JavaBroker(tmp_path / "large", servers, "broker-large", config=WITHOUT_TIMER) as large:
        wait_for_runtime_info(large.port)
        done = explain(cluster.both, "Large", "-b", large.address)
    assert causes(done) == {"registrationTooLarge": []}
    cause_row = row(done, "registrationTooLarge")
    assert (cause_row["brokerName"], cause_row["brokerAddr"]) == ("broker-large", large.address)
    assert "name servers accept 16777216 at most: they close the connection" in cause_row["seen"]


@contextmanager
def stopped(broker: JavaBroker) -> Iterator[None]:
    os.kill(broker.child.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(broker.child.pid, signal.SIGCONT)


def test_a_broker_that_hangs(cluster: Cluster) -> None:
    create_topic(cluster.old_master.port, "Hanging")
    wait_for_topic([cluster.new], "Hanging")
    with stopped(cluster.old_master):
        done = explain(cluster.new.address, "Hanging", "--timeout", "1")
    assert causes(done) == {"brokersGone": [cluster.new.address]}
    assert row(done, "brokersGone")["brokerAddr"] == cluster.old_master.address


def test_a_group_with_slaves_alone(cluster: Cluster) -> None:
    """The master does not come back."""
    topic = on_broker_a(cluster, "Headless")
    cluster.master.kill()

    def both_know() -> CommandResult | None:
        done = explain(cluster.both, topic)
        on = causes(done).get("masterMissing", [])
        return done if sorted(on) == sorted([cluster.new.address, cluster.old.address]) else None

    done = wait_for("the master's end on both", both_know)
    assert causes(done).keys() == {"masterMissing"}
    assert cluster.send(cluster.both, topic) == f"{NO_ROUTE}{topic}"


def test_a_killed_broker_is_named_by_every_command(cluster: Cluster, tmp_path: Path) -> None:
    """The last one: neither the master nor the slave comes back."""
    # A test before may have killed the master.
    cluster.master.kill()
    cluster.master.start()
    wait_for_broker([cluster.new], "broker-a")
    wait_for_runtime_info(cluster.master.port)
    topic = on_broker_a(cluster, "OfDeadBroker")
    own_state = {"NSADMIN_INVENTORY": "on", "NSADMIN_STATE": str(tmp_path)}
    ask = partial(command_line.nsadmin, cluster.new.address, env=own_state)
    assert ask("clusterList").code == 0
    ask("check", "writable")
    for part in (cluster.slave, cluster.master):
        part.kill()
    wait_on_each([cluster.new], "its end", lambda server: "broker-a" not in brokers(server))

    listed = ask("clusterList")
    missing = [(row["brokerName"], row["brokerId"]) for row in listed.rows if not row["reachable"]]
    assert (listed.code, missing) == (3, [("broker-a", 0), ("broker-a", 1)])
    checked = ask("check", "brokers")
    assert (checked.code, "broker-a:0, broker-a:1 left all" in checked.rows["summary"]) == (2, True)
    unwritable = ask("check", "writable")
    assert unwritable.code == 2
    assert f"no broker accepts messages for {topic}: broker-a: missing" in "\n".join(
        unwritable.rows["details"]
    )
    topic_check = ask("check", "topic", topic)
    assert (topic_check.code, topic_check.rows["summary"]) == (
        2,
        f"0 of 1 brokers of {topic} accept messages (looked at: route, write permission, master, disk)",
    )
    assert any(line.startswith("broker-a: missing: ") for line in topic_check.rows["details"])
    agreement_check = ask("check", "divergence", "--settle", "0")
    assert agreement_check.code == 2
    assert "no name server lists broker-a:0, broker-a:1" in agreement_check.rows["summary"]
    differing = ask("divergence", "--settle", "0")
    differences = [(row["name"], row["state"]) for row in differing.rows]
    assert (differing.code, differences) == (1, [("broker-a:0", "missing"), ("broker-a:1", "missing")])
    explained = ask("routeExplain", topic)
    assert (explained.code, causes(explained)) == (1, {"brokersGone": []})
    assert row(explained, "brokersGone")["brokerAddr"] == cluster.master.address
    progress = ask("consumerProgress")
    assert (progress.code, "broker-a is missing" in progress.err) == (3, True)

    # It was removed on purpose.
    assert ask("inventory", "forget", "broker-a").code == 0
    assert [ask(*words).code for words in (("clusterList",), ("check", "brokers"))] == [0, 0]
    # It is expected all the same.
    expecting = ("--expect", "broker-a")
    assert ask("clusterList", *expecting).code == 3
    assert ask("divergence", "--settle", "0", *expecting).code == 1
    assert ask("check", "writable", *expecting).code == 2
