"""A cluster as a file: exported, wiped, applied again, on released brokers of 5.5.0 and 4.9.7 together.

Its two name servers are ours and Java's.
"""

import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.interop import command_line, jars
from tests.interop.cluster import (
    NameServer,
    body,
    route,
    send,
    wait_for_broker,
    wait_for_runtime_info,
    wait_on_each,
)
from tests.interop.command_line import ENVIRONMENT, PATIENT, PROGRAM, CommandResult
from tests.interop.java_parts import JavaBroker, JavaNameServer, MqAdmin
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.support import forked_commands

CLUSTER = "DefaultCluster"
FILE = """\
cluster: DefaultCluster
topics:
  audit: {onlyOn: [broker-old], readQueueNums: 4, writeQueueNums: 4}
  orders:
    readQueueNums: 4
    writeQueueNums: 4
    attributes: {message.type: FIFO}
    perBroker:
      broker-old: {attributes: {}}
  payments: {perm: 4, topicSysFlag: 1}
  plain: {}
  tickets: {onlyOn: [broker-a], order: true, attributes: {message.type: DELAY}}
groups:
  auditors: {retryMaxTimes: 3, consumeFromMinEnable: true}
  modern:
    onlyOn: [broker-a]
    groupRetryPolicy: {type: EXPONENTIAL, exponentialRetryPolicy: {initial: 1000, max: 60000, multiplier: 3}}
    consumeTimeoutMinute: 30
    consumeMessageOrderly: true
    subscriptionDataSet: [{topic: orders, expressionType: TAG, expression: TagA || TagB, version: 7}]
    attributes: {priority.factor: "50"}
orderConf:
  orders: broker-a:4;broker-old:4
kv:
  DEPLOYMENT: {stage: canary, note: "a: b; ü"}
"""
NOTHING = "cluster: DefaultCluster\ntopics: {}\ngroups: {}\norderConf: {}\nkv: {DEPLOYMENT: {}}\n"


class Cluster(NamedTuple):
    """A broker of each release, both masters."""

    servers: list[NameServer]
    new: JavaBroker
    old: JavaBroker
    mqadmin: MqAdmin
    home: Path

    @property
    def namesrv(self) -> str:
        return ";".join(server.address for server in self.servers)

    def __call__(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.namesrv, *args)

    def file(self, text: str, name: str = "cluster.yaml") -> str:
        (self.home / name).write_text(text)
        return str(self.home / name)

    def apply(self, text: str, *more: str) -> CommandResult:
        return self("apply", self.file(text), "--yes", *more)

    def export(self) -> str:
        result = forked_commands.run(
            [*PATIENT, "export", CLUSTER, "--namespace", "DEPLOYMENT", "-n", self.namesrv],
            ENVIRONMENT,
            timeout=60,
        )
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout

    def wipe(self) -> CommandResult:
        return self.apply(NOTHING, "--prune", "--max-deletes", "2000")


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("plans")
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        ours = ends.enter_context(OurNameServer(home / "ours"))
        javas = ends.enter_context(JavaNameServer(home / "javas"))
        servers: list[NameServer] = [ours, javas]
        addrs = [server.address for server in servers]
        new = JavaBroker(home / "new", addrs)
        old = JavaBroker(home / "old", addrs, "broker-old", version=jars.OLD)
        mqadmin = MqAdmin(home / "mqadmin", addrs)
        for part in pool.map(lambda part: part.__enter__(), (new, old, mqadmin)):
            ends.push(part)
        for broker in (new, old):
            wait_for_broker(servers, broker.name)
            wait_for_runtime_info(broker.port)
        yield Cluster(servers, new, old, mqadmin, home)


@pytest.fixture
def empty_cluster(cluster: Cluster) -> Cluster:
    """The cluster without anything of a test before."""
    wiped = cluster.wipe()
    assert wiped.code == 0, wiped
    return cluster


def configs(broker: JavaBroker) -> dict[str, Any]:
    """What the broker itself has, past our client."""
    configs_by_topic: dict[str, Any] = body(broker, 21)["topicConfigTable"]  # type: ignore[arg-type]
    return configs_by_topic


def results(result: CommandResult) -> set[str]:
    return {row["result"] for row in result.rows}


def test_what_was_exported_wiped_and_applied_is_what_it_was(empty_cluster: Cluster) -> None:
    cluster = empty_cluster
    assert cluster("plan", cluster.file(NOTHING), "--prune").rows == []
    applied = cluster.apply(FILE)
    assert (applied.code, results(applied)) == (0, {"done"}), [
        (row["name"], row["servers"], row["error"]) for row in applied.rows if row["error"]
    ]
    exported = cluster.export()
    # Nothing goes without saying that the file had not said, and the other way round.
    assert sections(exported) == sections(FILE)
    both = wait_for_routes(cluster, "orders", ["broker-a", "broker-old"])
    assert {queue["brokerName"]: queue["writeQueueNums"] for queue in both} == {
        "broker-a": 4,
        "broker-old": 4,
    }
    topics = set(cluster.mqadmin("topicList").split())
    assert {"audit", "orders", "payments", "plain", "tickets"} <= topics
    assert "message.type=FIFO" in cluster.mqadmin("topicRoute", "-t", "orders") or configs(cluster.new)[
        "orders"
    ]["attributes"] == {"message.type": "FIFO"}
    theirs = cluster.mqadmin("getConsumerConfig", "-g", "modern")
    assert '"initial":1000' in theirs.replace(" ", "") or "initial=1000" in theirs
    assert "broker-a:4;broker-old:4" in cluster.mqadmin("updateOrderConf", "-m", "get", "-t", "orders")

    wiped = cluster.wipe()
    assert (wiped.code, results(wiped)) == (0, {"done"}), wiped
    gone = set(cluster.mqadmin("topicList").split())
    assert not gone & {"audit", "orders", "payments", "plain", "tickets"}
    assert sections(cluster.export()) == sections(NOTHING)

    again = cluster.apply(exported)
    assert (again.code, results(again)) == (0, {"done"}), again
    assert cluster.export() == exported
    assert cluster.apply(exported, "--prune").rows == []


def sections(text: str) -> Any:
    return {"version": 1, **yaml.safe_load(text)}


def wait_for_routes(cluster: Cluster, topic: str, brokers: list[str]) -> Any:
    """The queues of a topic once both name servers know them of all these brokers."""

    def names(server: NameServer) -> bool:
        current_route = route(server, topic) or {"queueDatas": []}
        return sorted(queue["brokerName"] for queue in current_route["queueDatas"]) == brokers

    wait_on_each(cluster.servers, topic, names)
    return (route(cluster.servers[1], topic) or {})["queueDatas"]


@pytest.mark.parametrize("others", ["", "  one: {}\n  two: {}\n"])
def test_attributes_are_changed_and_taken_away(empty_cluster: Cluster, others: str) -> None:
    """In a list, and by itself. 4.9 does not tell what is in queues beyond the write queues."""
    cluster = empty_cluster

    def wanted(name: str) -> str:
        return f"cluster: {CLUSTER}\ntopics:\n  typed: {{onlyOn: [broker-a], attributes: {{{name}}}}}\n"

    for name, had in (
        ("message.type: FIFO, queue.type: BatchCQ", {"message.type": "FIFO", "queue.type": "BatchCQ"}),
        ("message.type: DELAY, queue.type: BatchCQ", {"message.type": "DELAY", "queue.type": "BatchCQ"}),
        ("queue.type: BatchCQ", {"queue.type": "BatchCQ"}),
    ):
        result = cluster.apply(
            wanted(name) + others.replace("{}", f"{{readQueueNums: {8 + len(name)}}}"), "--allow-stranded"
        )
        assert (result.code, results(result)) == (0, {"done"}), result
        assert configs(cluster.new)["typed"]["attributes"] == had
    # This one is for ever.
    fixed = cluster.apply(wanted("queue.type: SimpleCQ") + others, "--allow-stranded")
    assert [row["error"] for row in fixed.rows if row["name"] == "typed"] != [None]


def test_a_cluster_that_has_moved_is_refused(empty_cluster: Cluster) -> None:
    cluster = empty_cluster
    assert cluster.apply(FILE).code == 0
    file = cluster.file(FILE.replace("perm: 4", "perm: 6").replace("  plain: {}\n", ""))
    plan = str(cluster.home / "tonight.plan")
    saved = cluster("plan", file, "--prune", "--out", plan)
    assert {(row["name"], row["action"]) for row in saved.rows} == {
        ("payments", "update"),
        ("plain", "delete"),
    }
    mqadmin_output = cluster.mqadmin(
        "updateTopic", "-b", cluster.new.address, "-t", "plain", "-r", "3", "-w", "3"
    )
    assert "success" in mqadmin_output
    before = configs(cluster.new)
    refused = cluster("apply", plan, "--yes")
    assert (refused.code, refused.rows) == (1, None)
    assert "topic plain on broker-a has changed since the plan was made" in refused.err
    assert configs(cluster.new) == before
    cluster.mqadmin("updateTopic", "-b", cluster.new.address, "-t", "plain", "-r", "8", "-w", "8")
    result = cluster("apply", plan, "--yes")
    assert (result.code, results(result)) == (0, {"done"}), result
    for broker in (cluster.new, cluster.old):
        assert "plain" not in configs(broker)
        assert configs(broker)["payments"]["perm"] == 6
    assert cluster("apply", plan, "--yes").rows == []


def test_killed_in_the_middle_and_started_again_ends_in_the_same_state(empty_cluster: Cluster) -> None:
    cluster = empty_cluster
    many = "".join(f"  many-{number:04}: {{readQueueNums: 2, writeQueueNums: 2}}\n" for number in range(600))
    file = cluster.file(f"cluster: {CLUSTER}\ntopics:\n{many}")
    command = [*PROGRAM, "apply", file, "--yes", "-n", cluster.namesrv]
    running = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    wait_for("the first of them", lambda: number_of(cluster.old) > 20, interval=0.01)
    os.kill(running.pid, signal.SIGKILL)
    assert running.wait(10) == -signal.SIGKILL
    assert number_of(cluster.old) < 600
    again = cluster("apply", file, "--yes")
    assert (again.code, results(again)) == (0, {"done"}), again.err
    assert 0 < sum("broker-old" in row["servers"] for row in again.rows) < 600
    assert [number_of(cluster.old), number_of(cluster.new)] == [600, 600]
    assert cluster("plan", file, "--prune").rows == []


def number_of(broker: JavaBroker) -> int:
    return sum(name.startswith("many-") for name in configs(broker))


def test_messages_in_queues_that_go_are_counted(empty_cluster: Cluster) -> None:
    cluster = empty_cluster
    assert cluster.apply(f"cluster: {CLUSTER}\ntopics: {{counted: {{}}}}\n").code == 0
    send(cluster.new.port, "counted", 1, 4)
    send(cluster.new.port, "counted", 6, 2)
    send(cluster.old.port, "counted", 7, 3)
    file = cluster.file(f"cluster: {CLUSTER}\ntopics: {{counted: {{readQueueNums: 6, writeQueueNums: 6}}}}\n")

    def counted() -> int:
        [row] = cluster("plan", file).rows
        return int(row["messages"])

    # Queues are built a moment after messages are stored.
    wait_for("the messages", lambda: counted() == 5, interval=0.2)
    planned = cluster("plan", file)
    assert "counted on broker-a: 2 unconsumed messages in queues 6 to 7 become unreadable" in planned.err
    assert "counted on broker-old: 3 unconsumed messages in queues 6 to 7 become unreadable" in planned.err
    refused = cluster.apply((cluster.home / "cluster.yaml").read_text())
    assert refused.code == 1
    assert "--allow-stranded" in refused.err
    assert configs(cluster.old)["counted"]["readQueueNums"] == 8
    assert cluster.apply((cluster.home / "cluster.yaml").read_text(), "--allow-stranded").code == 0
    assert configs(cluster.old)["counted"]["readQueueNums"] == 6


def test_a_topic_that_leaves_one_broker_is_not_routed_to_it(empty_cluster: Cluster) -> None:
    cluster = empty_cluster
    both = f"cluster: {CLUSTER}\ntopics: {{moves: {{}}}}\n"
    assert cluster.apply(both).code == 0
    wait_for_routes(cluster, "moves", ["broker-a", "broker-old"])
    moved = cluster.apply(both.replace("{}", "{onlyOn: [broker-a]}"), "--prune")
    assert (moved.code, results(moved)) == (0, {"done"}), moved
    assert "moves" in configs(cluster.new)
    assert "moves" not in configs(cluster.old)
    for server in cluster.servers:
        queues = (route(server, "moves") or {})["queueDatas"]
        assert {queue["brokerName"]: queue["perm"] for queue in queues} == {"broker-a": 6, "broker-old": 0}
    assert cluster("plan", str(cluster.home / "cluster.yaml"), "--prune").rows == []
    assert cluster.apply(both).code == 0
    wait_for("the way back", lambda: is_open(cluster, "moves"))


def is_open(cluster: Cluster, topic: str) -> bool:
    routes = [(route(server, topic) or {"queueDatas": []})["queueDatas"] for server in cluster.servers]
    return all([queue["perm"] for queue in queues] == [6, 6] for queues in routes)
