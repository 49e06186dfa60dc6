"""Commands about consumers, producers and offsets, with living Java clients on a 5.5.0 and a 4.9.7 broker."""

import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import pytest

from namesrv_core.protocol.codes import VERSION_NAMES, version_text
from namesrv_core.storage.journal import reader
from tests.interop import command_line, jars, wire
from tests.interop.cluster import create_topic, send, wait_for_broker, wait_for_runtime_info, wait_for_topic
from tests.interop.command_line import CommandResult
from tests.interop.daily import commit
from tests.interop.java_parts import JavaBroker, LiveClients, MqAdmin
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.support import forked_commands

TOPIC, GROUP, PRODUCERS = "Orders", "Orders-consumer", "Orders-producer"


class Cluster(NamedTuple):
    server: OurNameServer
    new: JavaBroker
    old: JavaBroker
    clients: LiveClients
    admin: MqAdmin

    def __call__(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args)

    def diffs(self) -> list[int | None]:
        rows = self("consumerProgress", GROUP, "-t", TOPIC).rows
        return [row["lag"] for row in rows if row["topic"] == TOPIC]


def test_releases_have_the_names_that_java_gives_them() -> None:
    jars.require_java()
    version_class = "org.apache.rocketmq.common.MQVersion$Version"
    javap = ["javap", "-cp", jars.class_path(jars.NEWEST), version_class]
    class_text = subprocess.run(javap, check=True, capture_output=True, text=True, timeout=60).stdout
    names = re.findall(r"static final \S+ (\w+);", class_text)
    assert names == [*VERSION_NAMES, version_text(len(VERSION_NAMES))]


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("consumers")
    with (
        OurNameServer(home / "server") as server,
        JavaBroker(home / "new", [server.address]) as new,
        JavaBroker(home / "old", [server.address], "broker-old", version=jars.OLD) as old,
        MqAdmin(home / "mqadmin", [server.address]) as admin,
    ):
        for broker in (new, old):
            wait_for_broker([server], broker.name)
            wait_for_runtime_info(broker.port)
            create_topic(broker.port, TOPIC)
        wait_for_topic([server], TOPIC)
        with LiveClients(home / "clients", server.address, TOPIC) as clients:
            yield Cluster(server, new, old, clients, admin)


def test_a_group_that_consumes(cluster: Cluster) -> None:
    wait_for("both brokers to know the consumer", lambda: _is_everywhere(cluster))
    cluster.clients.order("send 40")
    cluster.clients.order("wait 40")
    wait_for("the offsets", lambda: cluster.diffs() == [0] * 8)
    result = cluster("consumerProgress", GROUP, "-s", "true")
    assert (result.code, result.err) == (0, "")
    ours = {
        (row["topic"], row["brokerName"], str(row["queueId"])): (row["brokerOffset"], row["consumerOffset"])
        for row in result.rows
    }
    assert sum(offset for offset, _ in ours.values()) == 40
    assert {row["clientId"].partition("@")[2] for row in result.rows} == {"live"}
    # mqadmin 5.5.0's own consumerProgress fails on any cluster that has a 4.9 broker.
    mqadmin_output = cluster.admin("brokerConsumeStats", "-b", cluster.new.address)
    theirs = {
        (words[0], words[2], words[3]): (int(words[4]), int(words[5]))
        for words in map(str.split, mqadmin_output.splitlines())
        if words[:2] == [TOPIC, GROUP]
    }
    new = {key: value for key, value in ours.items() if key[:2] == (TOPIC, "broker-a")}
    assert theirs == new, mqadmin_output
    [row] = [row for row in cluster("consumerProgress").rows if row["group"] == GROUP]
    assert (row["count"], row["version"], row["lag"]) == (1, "V5_5_0", 0)


def _is_everywhere(cluster: Cluster) -> bool:
    rows = cluster("consumerConnection", GROUP).rows or []
    return [len(row["brokerAddrs"]) for row in rows] == [2]


def test_a_move_back_that_living_clients_carry_out_holds(cluster: Cluster) -> None:
    """They consume the messages again at once, and commit the offset that they had before."""
    words = ("resetOffsetByTime", GROUP, TOPIC, "-b", cluster.new.address, "-q", "0", "-o", "0", "--yes")
    result = cluster(*words)
    assert (result.code, [(row["to"], row["result"]) for row in result.rows]) == (0, [(0, "done")]), result
    assert cluster.clients.order("wait 45") >= 45
    wait_for("the offsets", lambda: cluster.diffs() == [0] * 8)


def test_connections_and_status(cluster: Cluster) -> None:
    result = cluster("consumerConnection", GROUP)
    assert (result.code, result.err) == (0, "")
    [row] = result.rows
    assert set(row["brokerAddrs"]) == {cluster.new.address, cluster.old.address}
    assert row["subscriptions"] == {f"%RETRY%{GROUP}": "*", TOPIC: "TagA || TagB"}
    assert (row["consumeType"], row["messageModel"]) == ("CONSUME_PASSIVELY", "CLUSTERING")
    mqadmin_output = cluster.admin("consumerConnection", "-g", GROUP)
    assert row["clientId"] in mqadmin_output
    assert "TagA || TagB" in mqadmin_output
    one_broker = ("consumerConnection", "-g", GROUP, "-b", cluster.new.address)
    ours, theirs = command_line.mqadmin_text(cluster.server.address, *one_broker), cluster.admin(*one_broker)
    # mqadmin prints subscriptions in the order of a Java map.
    assert sorted(ours.split("\n")) == sorted(theirs.removesuffix("\n").split("\n"))
    # A client looks for queues that are new to it every 20 seconds.
    wait_for("a healthy group", lambda: cluster("consumerStatus", GROUP).err == "", interval=1)
    status = cluster("consumerStatus", GROUP)
    assert (status.code, status.err) == (0, "")
    assert sum(row["topic"] == TOPIC for row in status.rows) == 8
    assert cluster("consumerConnection", "NoSuchGroup").code == 5


def test_producers(cluster: Cluster) -> None:
    [row] = cluster("producerConnection", PRODUCERS, TOPIC).rows
    assert set(row["brokerAddrs"]) == {cluster.new.address, cluster.old.address}
    words = ("producerConnection", "-g", PRODUCERS, "-t", TOPIC)
    ours, theirs = command_line.mqadmin_text(cluster.server.address, *words), cluster.admin(*words)
    # The client has a connection to each broker, and mqadmin asks one of them.
    port = re.compile(r":\d+ *")
    assert port.sub(":", ours) == port.sub(":", theirs.removesuffix("\n"))
    for broker in (cluster.new, cluster.old):
        rows = cluster("producer", "-b", broker.address, "--no-internal").rows
        assert [(item["producerGroup"], item["clientId"]) for item in rows] == [(PRODUCERS, row["clientId"])]


def test_offsets_are_moved_while_nobody_consumes_and_moved_back(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(command_line.ENVIRONMENT, "NSADMIN_AUDIT", str(tmp_path / "audit.jsonl"))
    cluster.clients.order("leave")
    wait_for("nobody", lambda: cluster("consumerConnection", GROUP).code == 1)
    cluster.clients.order("send 40")
    wait_for("a lag", lambda: cluster.diffs() == [5] * 8)
    for broker in (cluster.new, cluster.old):
        rows = cluster("brokerConsumeStats", broker.address, "-l", "5").rows
        behind = [(row["topic"], row["group"], row["lag"]) for row in rows]
        assert behind == [(TOPIC, GROUP, 5)] * 4
    planned = cluster("skipAccumulatedMessage", GROUP, TOPIC, "--dry-run")
    assert [(row["from"], row["to"], row["skipped"]) for row in planned.rows] == [(5, 10, 5)] * 8
    assert cluster.diffs() == [5] * 8
    result = cluster("skipAccumulatedMessage", GROUP, TOPIC, "--yes")
    assert result.code == 0
    assert [row["result"] for row in result.rows] == ["done"] * 8
    assert cluster.diffs() == [0] * 8
    reset_queue = [
        "resetOffsetByTime",
        GROUP,
        TOPIC,
        "-b",
        cluster.new.address,
        "-q",
        "2",
        "-o",
        "0",
        "--yes",
    ]
    [row] = cluster(*reset_queue).rows
    assert (row["queueId"], row["to"], row["repeated"], row["result"]) == (2, 0, 10, "done")
    listed = forked_commands.run(["audit", "list", "--json"], command_line.ENVIRONMENT)
    undo = json.loads(listed.stdout)[-1]["undo"]
    [row] = cluster(*shlex.split(undo)[1:], "--yes").rows
    assert (row["queueId"], row["from"], row["to"], row["result"]) == (2, 0, 10, "done")
    assert cluster.diffs() == [0] * 8
    # An undo is a move, too.
    [row] = cluster("resetOffsetByTime", GROUP, TOPIC, "--undo", "--yes").rows
    assert (row["queueId"], row["from"], row["to"], row["result"]) == (2, 10, 0, "done")


def test_a_move_over_which_a_busy_client_commits_is_failed(cluster: Cluster) -> None:
    """The client reads, by which the broker takes its reset for heeded, and goes on where it was."""
    topic = "Busy-orders"
    create_topic(cluster.new.port, topic)
    wait_for_topic([cluster.server], topic)
    send(cluster.new.port, topic, 0, 10)
    commit(cluster.new, "Busy", topic, {0: 3})
    # Else the broker would send requests of its own to this client.
    quiet = ("-a", "false", "-b", cluster.new.address, "--yes")
    assert cluster("updateSubGroup", "Busy", *quiet).code == 0
    place = {"consumerGroup": "Busy", "topic": topic, "queueId": "0"}
    pull = {
        **place, "queueOffset": "3", "maxMsgNums": "1", "sysFlag": "4", "commitOffset": "0",
        "suspendTimeoutMillis": "0", "subscription": "*", "subVersion": "1", "expressionType": "TAG",
    }  # fmt: skip
    client = wire.Connection(cluster.new.port)
    # Each commit differs from the one before: nsadmin may read the offset between the reset and a commit.
    own_offsets = itertools.cycle("456789")
    words = ("resetOffsetByTime", "Busy", topic, "-b", cluster.new.address, "-q", "0", "-s", "-1", "--yes")
    with closing(client), ThreadPoolExecutor(1) as pool:
        assert client.call(34, {}, json.dumps(heartbeat("Busy", topic)).encode()).code == 0
        for commits_its_own, code, result in ((True, 1, "failed"), (False, 0, "done")):
            moving = pool.submit(lambda: cluster(*words))
            while not moving.done():
                client.call(11, pull)
                if commits_its_own:
                    client.call(15, {**place, "commitOffset": next(own_offsets)})
                time.sleep(0.2)
            command_result = moving.result()
            assert (command_result.code, command_result.rows[0]["to"], command_result.rows[0]["result"]) == (
                code,
                10,
                result,
            ), command_result
            error = command_result.rows[0]["error"] or ""
            is_overwritten = re.search("overwritten: a client committed [4-9] after the change", error)
            assert (is_overwritten is not None) == commits_its_own, error


def subscription(topic: str, tag: str) -> dict[str, Any]:
    return {
        "topic": topic, "subString": tag, "subVersion": 1, "expressionType": "TAG", "classFilterMode": False,
        "codeSet": [], "tagsSet": [],
    }  # fmt: skip


def heartbeat(
    group: str, topic: str, message_model: str = "CLUSTERING", tag: str = "*", client_id: str = ""
) -> dict[str, Any]:
    """What a consumer of a topic tells a broker about itself."""
    consumer = {
        "groupName": group, "consumeType": "CONSUME_PASSIVELY", "messageModel": message_model,
        "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET", "subscriptionDataSet": [subscription(topic, tag)],
        "unitMode": False,
    }  # fmt: skip
    return {"clientID": client_id or f"{group}@wire", "consumerDataSet": [consumer], "producerDataSet": []}


def test_an_unknown_lag_is_not_zero(cluster: Cluster) -> None:
    quiet = ("-a", "false", "-b", cluster.new.address, "--yes")
    for group in ("Never", "Beyond", "Popper", "Radio"):
        assert cluster("updateSubGroup", group, *quiet).code == 0
    commit(cluster.new, "Beyond", TOPIC, {0: 647_260_493})
    commit(cluster.new, "Popper", TOPIC, {0: 647_260_493})
    mode = {"topic": TOPIC, "consumerGroup": "Popper", "mode": "POP", "popShareQueueNum": 0}
    assert wire.ask(cluster.new.port, 401, None, json.dumps(mode).encode()).code == 0
    commit(cluster.new, "Radio", TOPIC, {0: 1})
    client = wire.Connection(cluster.new.port)
    with closing(client):
        body = json.dumps(heartbeat("Radio", TOPIC, "BROADCASTING")).encode()
        assert client.call(34, {}, body).code == 0
        progress = {row["group"]: row for row in cluster("consumerProgress").rows}
        beyond_rows = cluster("consumerProgress", "Beyond").rows
        summaries = {
            group: cluster("check", "lag", group) for group in ("Never", "Beyond", "Popper", "Radio")
        }
    for group, code, reason in (
        ("Never", 3, "no consumer offset"),
        ("Beyond", 3, "the consumer offset is beyond the end of the queue"),
        ("Popper", 3, "POP: lag is not known from offsets"),
        ("Radio", 0, "broadcasts"),
    ):
        assert (progress[group]["lag"], reason in progress[group]["lagReason"]) == (None, True)
        assert summaries[group].code == code, summaries[group]
        said = "no offset of the group" if group == "Never" else reason
        assert said in summaries[group].rows["summary"]
    [beyond] = [row for row in beyond_rows if row["queueId"] == 0]
    assert (beyond["consumerOffset"], beyond["lag"]) == (647_260_493, None)


def test_a_collector_writes_down_what_brokers_tell(cluster: Cluster, tmp_path: Path) -> None:
    rows = cluster("consumerProgress", GROUP, "-t", TOPIC).rows
    wanted = {
        name: (
            4,
            sum(row["brokerOffset"] for row in rows if row["brokerName"] == name),
            sum(row["consumerOffset"] for row in rows if row["brokerName"] == name),
            sum(row["lag"] for row in rows if row["brokerName"] == name),
        )
        for name in ("broker-a", "broker-old")
    }
    # A real lag: one queue was moved back.
    assert [lag for *_, lag in wanted.values()] == [10, 0]
    result = cluster("collect", str(tmp_path), "--once", "--runtime", "--lag")
    assert (result.code, result.rows[1]["brokers"], result.rows[1]["error"]) == (0, 2, None)
    records = list(reader.read_records(tmp_path / "brokers"))
    lags = {
        record.event_fields["brokerName"]: (
            item["queueCount"], item["brokerOffset"], item["consumerOffset"], item["lag"]
        )
        for record in records
        if record.event_type == "ConsumerLag" and record.event_fields["consumerGroup"] == GROUP
        for item in record.event_fields["lags"]
        if item["topic"] == TOPIC
    }  # fmt: skip
    assert lags == wanted
    runtime_fields = [record.event_fields for record in records if record.event_type == "BrokerRuntime"]
    assert {
        (
            item["brokerName"],
            item["brokerVersion"],
            item["putTotal"] >= 40,
            0 < item["commitLogDiskRatio"] < 1,
        )
        for item in runtime_fields
    } == {("broker-a", "V5_5_0", True, True), ("broker-old", "V4_9_7", True, True)}
    # 4.9 says neither whether it is active nor, by that name, what it hands out.
    assert {item["brokerName"]: item.get("brokerActive") for item in runtime_fields} == {
        "broker-a": True,
        "broker-old": None,
    }
    assert all(item["getTotal"] > 0 for item in runtime_fields)


def test_a_broker_that_stands_still_is_a_record_too(cluster: Cluster, tmp_path: Path) -> None:
    os.kill(cluster.old.child.pid, signal.SIGSTOP)
    try:
        result = cluster("--timeout", "5", "collect", str(tmp_path), "--once", "--runtime", "--lag")
    finally:
        os.kill(cluster.old.child.pid, signal.SIGCONT)
    assert (result.code, result.rows[1]["error"]) == (3, "1 of 2 brokers did not answer")
    records = list(reader.read_records(tmp_path / "brokers"))
    failed = [record.event_fields for record in records if record.event_type == "BrokerPollFailed"]
    assert [(item["brokerName"], item["question"], item["error"]) for item in failed] == [
        ("broker-old", question, "no answer within 5 s") for question in ("runtime", "groups")
    ]
    assert {item.event_fields["brokerName"] for item in records if item.event_type == "ConsumerLag"} == {
        "broker-a"
    }


def test_a_group_is_made_changed_and_deleted(cluster: Cluster) -> None:
    created = cluster("updateSubGroup", "Copy", "-c", "DefaultCluster", "-r", "5")
    assert [(row["result"], row["error"]) for row in created.rows] == [("done", None)] * 2
    changed = cluster("updateSubGroup", "Copy", "-c", "DefaultCluster", "-d", "true")
    assert [row["changes"] for row in changed.rows] == ["consumeBroadcastEnable false -> true"] * 2
    config = cluster("getConsumerConfig", "Copy").rows
    assert [(row["retryMaxTimes"], row["consumeBroadcastEnable"]) for row in config] == [(5, True)] * 2
    mqadmin_output = cluster.admin("getConsumerConfig", "-g", "Copy")
    assert mqadmin_output.count("retryMaxTimes") == 2
    assert cluster("deleteSubGroup", "Copy", "-c", "DefaultCluster").code == 2
    gone = cluster("deleteSubGroup", "Copy", "-c", "DefaultCluster", "-r", "true", "--yes")
    assert [row["result"] for row in gone.rows] == ["done"] * 2
    assert cluster("getConsumerConfig", "Copy").code == 5


@contextmanager
def join_group(
    broker: JavaBroker, group: str, client_id: str, tag: str, version: int = 513
) -> Iterator[None]:
    """A member of a group, which tells its own subscription when the broker asks for it (307)."""
    client = wire.Connection(broker.port)
    joined = Event()
    running = {
        "properties": {},
        "subscriptionSet": [subscription(TOPIC, tag)],
        "mqTable": {},
        "statusTable": {},
    }

    def answer_broker() -> None:
        while asked := client.receive(60):
            if asked.flag & 1:
                joined.set()
            elif asked.code == 307:
                header = wire.json_header(0, None, asked.opaque, flag=1)
                client.send(wire.frame(header, json.dumps(running).encode()))

    with ThreadPoolExecutor(1) as pool:
        answering = pool.submit(answer_broker)
        body = json.dumps(heartbeat(group, TOPIC, tag=tag, client_id=client_id)).encode()
        client.send(wire.frame(wire.json_header(34, {}, 1, version=version), body))
        try:
            assert joined.wait(10)
            yield
        finally:
            client.finish_writing()
            answering.result(60)
            client.close()


def test_members_with_different_tags_are_shown_with_their_own(cluster: Cluster) -> None:
    with (
        join_group(cluster.new, "Split", "one@wire", "TagA"),
        join_group(cluster.new, "Split", "two@wire", "TagB"),
    ):
        result = cluster("consumerConnection", "Split")
    assert {row["clientId"]: row["subscriptions"] for row in result.rows} == {
        "one@wire": {TOPIC: "TagA"}, "two@wire": {TOPIC: "TagB"},
    }, result  # fmt: skip
    assert "subscribe differently" in result.err


@pytest.mark.parametrize(("version", "name"), [(63, "V3_1_8"), (35, "V3_0_10")])
def test_clients_of_3x_are_older(cluster: Cluster, version: int, name: str) -> None:
    assert version_text(version) == name
    with join_group(cluster.new, "Ancient", "old@wire", "*", version):
        checked = cluster("check", "clients", "--min-version", "4.9.7")
    assert checked.code == 1, checked
    assert checked.rows["summary"].startswith("1 of ")
    assert cluster("check", "clients", "--min-version", "4.9.7").code == 0
