"""What compares name servers, on two of 5.5.0, one of 4.9.7 and ours, with brokers of both releases.

broker-b registers with a partial list: all but ours.
"""

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
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
)
from tests.interop.command_line import CommandResult
from tests.interop.defaults import GIVEN
from tests.interop.java_parts import WITHOUT_TIMER, JavaBroker, JavaNameServer
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for

ORDERS = "ORDER_TOPIC_CONFIG"
NOW = ("--settle", "0")
QUICK: dict[str, object] = {"registerNameServerPeriod": 10_000, "updateNameServerAddrPeriod": 1_000}


class Parts(NamedTuple):
    ours: OurNameServer
    java: list[JavaNameServer]
    a: JavaBroker
    b: JavaBroker
    old: JavaBroker

    @property
    def addrs(self) -> list[str]:
        return [self.ours.address, *(server.address for server in self.java)]

    def __call__(self, *args: str) -> CommandResult:
        return command_line.nsadmin(";".join(self.addrs), *args)


@pytest.fixture(scope="module")
def cluster_parts(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parts]:
    home = tmp_path_factory.mktemp("comparing")
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        ours = ends.enter_context(OurNameServer(home / "ours"))
        java = [
            JavaNameServer(home / f"java-{number}", version=version)
            for number, version in enumerate((jars.NEWEST, jars.NEWEST, jars.OLD))
        ]
        for server in pool.map(lambda server: server.__enter__(), java):
            ends.push(server)
        every = [ours.address, *(server.address for server in java)]
        a = JavaBroker(home / "a", every, config=WITHOUT_TIMER)
        b = JavaBroker(
            home / "b", every[1:], "broker-b", config={**WITHOUT_TIMER, **QUICK, "fileReservedTime": 48}
        )
        old = JavaBroker(home / "old", every, "broker-old", version=jars.OLD)
        for broker in pool.map(lambda broker: broker.__enter__(), (a, b, old)):
            ends.push(broker)
        for name in ("broker-a", "broker-old"):
            wait_for_broker([ours, *java], name)
        wait_for_broker(java, "broker-b")
        for broker in (a, b, old):
            wait_for_runtime_info(broker.port)
        for broker in (a, old):
            create_topic(broker.port, "Compared")
        wait_for_topic([ours, *java], "Compared")
        yield Parts(ours, java, a, b, old)


def rows(result: CommandResult, *names: str) -> set[tuple[Any, ...]]:
    return {tuple(row[name] for name in names) for row in result.rows}


def test_a_partial_list_is_found_and_the_advice_helps(cluster_parts: Parts) -> None:
    ours, *theirs = cluster_parts.addrs

    def is_told() -> CommandResult:
        result = cluster_parts("divergence", *NOW, "--section", "broker", "--section", "topic")
        return result if len(result.rows) == 1 else CommandResult(0, None, "")

    wait_for("one difference", lambda: is_told().rows)
    result = is_told()
    [row] = result.rows
    assert result.code == 1
    assert (row["what"], row["name"], row["causeKind"]) == ("broker", "broker-b:0", "partial-list")
    assert row["cause"].endswith(f"its namesrvAddr does not name {ours}")
    assert (row["values"][ours], row["values"][theirs[0]]["brokerAddr"]) == (None, cluster_parts.b.address)
    # Its topics go with it: the one that bears its name, and those of each broker.
    divergences = cluster_parts("divergence", *NOW, "--detail").rows
    assert {"broker-b", "TBW102"} <= {row["name"] for row in divergences if row["what"] == "topic"}
    assert f"-b {cluster_parts.b.address}" in row["advice"]
    every = ";".join([*theirs, ours])
    result = cluster_parts("updateBrokerConfig", "namesrvAddr", every, "-b", cluster_parts.b.address, "--yes")
    assert result.code == 0, result.err
    # The broker's own list names all of them now, and until it registers, nothing else is to blame.
    kinds: set[tuple[str, bool]] = set()

    def is_registered() -> bool:
        kinds.update(
            (row["causeKind"], "reads a new list within 2 minutes" in row["advice"])
            for row in cluster_parts("divergence", *NOW, "--section", "broker").rows
        )
        return "broker-b" in brokers(cluster_parts.ours)

    wait_for("broker-b at ours", is_registered)
    assert kinds <= {("new-list", True)}
    wait_for("agreement", lambda: cluster_parts("divergence", *NOW).code == 0)
    result = cluster_parts("divergence")
    assert (result.code, result.rows) == (0, [])
    assert "4 name servers agree: 3 brokers" in result.err


def test_hashes_of_all_releases_are_equal(cluster_parts: Parts) -> None:
    wait_for("agreement", lambda: cluster_parts("divergence", *NOW, "--section", "topic").code == 0)
    hash_rows = cluster_parts("divergence", "--hashes").rows
    for section in ("brokerHash", "topicHash", "kvHash"):
        assert len({row[section] for row in hash_rows}) == 1, section
    assert [row["topics"] for row in hash_rows] == [hash_rows[0]["topics"]] * 4


@pytest.mark.parametrize("at", [0, 1, 3], ids=["ours", "5.5.0", "4.9.7"])
def test_wiped_on_one_only(cluster_parts: Parts, at: int) -> None:
    addr = cluster_parts.addrs[at]
    assert command_line.nsadmin(addr, "wipeWritePerm", "broker-a", "--yes").code == 0
    result = cluster_parts("divergence", *NOW, "--section", "topic")
    assert result.code == 1
    assert rows(result, "brokerName", "causeKind") == {("broker-a", "wiped")}
    assert all(row["cause"].endswith(f"was removed on {addr} only") for row in result.rows)
    assert max(row["count"] for row in result.rows) >= 8
    # What gives it back does not give back what was there.
    assert command_line.nsadmin(addr, "addWritePerm", "broker-a", "--yes").code == 0
    result = cluster_parts("divergence", *NOW, "--section", "topic")
    assert rows(result, "brokerName", "causeKind") == {("broker-a", "write-perm-added")}
    # The broker's own permissions are exact. A name server of 4.9.7 takes them from the broker only.
    how = "by a registration of the broker" if addr == cluster_parts.addrs[3] else "topic by topic"
    result = command_line.nsadmin(addr, "repair", "wipe", "broker-a", "--yes")
    assert (result.code, rows(result, "namesrvAddr", "result", "how")) == (0, {(addr, "done", how)}), (
        result.err
    )
    result = cluster_parts("divergence", *NOW, "--section", "topic")
    assert (result.code, result.rows) == (0, [])


def test_a_wipe_is_undone_by_a_broker_that_registers_all_of_its_topics(cluster_parts: Parts) -> None:
    addr = cluster_parts.addrs[1]
    assert command_line.nsadmin(addr, "wipeWritePerm", "broker-a", "--yes").code == 0
    name = {"topic": "Compared", "clusterName": "DefaultCluster"}
    assert wire.ask(cluster_parts.java[0].port, 216, name).code == 0
    for broker_name in ("broker-a", "broker-old"):
        result = cluster_parts("repair", "register", broker_name, "--yes")
        assert (result.code, rows(result, "result")) == (0, {("done",)}), result.err
    result = cluster_parts("divergence", *NOW, "--section", "topic")
    assert (result.code, result.rows) == (0, [])


def restore(parts: Parts) -> None:
    """A change of what the broker allows registers all its topics anew, with another version."""
    for permission in ("4", "6"):
        result = parts("updateBrokerConfig", "brokerPermission", permission, "-b", parts.a.address, "--yes")
        assert result.code == 0, result.err
    wait_for("agreement", lambda: parts("divergence", *NOW, "--section", "topic").code == 0)


def test_a_topic_deleted_on_one_only(cluster_parts: Parts) -> None:
    name = {"topic": "Compared", "clusterName": "DefaultCluster"}
    assert wire.ask(cluster_parts.java[0].port, 216, name).code == 0
    done = cluster_parts("divergence", *NOW, "--section", "topic")
    assert rows(done, "name", "brokerName", "causeKind") == {
        ("Compared", "broker-a", "not-registered"),
        ("Compared", "broker-old", "not-registered"),
    }
    restore(cluster_parts)
    for broker in (cluster_parts.a, cluster_parts.old):
        create_topic(broker.port, "Compared")
    wait_for("agreement", lambda: cluster_parts("divergence", *NOW, "--section", "topic").code == 0)


def kv(port: int, namespace: str) -> dict[str, str]:
    """The namespace past our client; {} where there is none."""
    answer = wire.ask(port, 219, {"namespace": namespace})
    return dict(json.loads(answer.body)["table"]) if answer.code == 0 else {}


def test_kv_goes_from_ours_to_theirs_and_back(cluster_parts: Parts, tmp_path: Path) -> None:
    ours, newest, _, old = cluster_parts.addrs
    values = {"orders": "broker-a:4;broker-b:4", "\u4e3b\u9898": "a=b;c \u00fc"}
    for key, value in values.items():
        assert command_line.nsadmin(ours, "updateKvConfig", "Shared", key, value, "--yes").code == 0
    result = cluster_parts("kvDiff", "-s", "Shared")
    assert (result.code, rows(result, "key")) == (1, {("orders",), ("\u4e3b\u9898",)})
    divergence = cluster_parts("divergence", *NOW, "-s", "Shared", "--section", "kv")
    assert rows(divergence, "causeKind", "count") == {("kv-written-to-some", 2)}
    assert cluster_parts("kvSync", "--from", ours, "-s", "Shared", "--yes").code == 0
    assert [kv(server.port, "Shared") for server in cluster_parts.java] == [values] * 3
    assert cluster_parts("kvDiff", "-s", "Shared").code == 0
    # And from one of theirs, which has one less and one other.
    for addr in (newest, old):
        assert command_line.nsadmin(addr, "deleteKvConfig", "Shared", "orders", "--yes").code == 0
    assert command_line.nsadmin(old, "updateKvConfig", "Shared", "more", "1", "--yes").code == 0
    result = cluster_parts("kvSync", "--from", old, "-s", "Shared", "--prune", "--yes")
    assert result.code == 0, result.err
    wanted = {"\u4e3b\u9898": values["\u4e3b\u9898"], "more": "1"}
    assert [kv(port, "Shared") for port in ports(cluster_parts)] == [wanted] * 4
    # What is exported is what they keep; and what they keep can be imported.
    file = tmp_path / "kv.json"
    assert cluster_parts("kvExport", str(file), "-s", "Shared").code == 0
    for server in cluster_parts.java:
        kept = json.loads((server.home / "kvConfig.json").read_text("utf-8"))["configTable"]
        assert kept["Shared"] == json.loads(file.read_text("utf-8"))["configTable"]["Shared"] == wanted
    assert command_line.nsadmin(ours, "deleteKvConfig", "Shared", "more", "--yes").code == 0
    result = cluster_parts("kvImport", str(cluster_parts.java[0].home / "kvConfig.json"), "--yes")
    assert (result.code, rows(result, "namesrvAddr", "key")) == (0, {(ours, "more")}), result.err
    assert [kv(port, "Shared") for port in ports(cluster_parts)] == [wanted] * 4


def ports(parts: Parts) -> list[int]:
    return [parts.ours.port, *(server.port for server in parts.java)]


def test_an_order_configuration_that_names_a_broker_that_is_gone(cluster_parts: Parts) -> None:
    assert cluster_parts("updateOrderConf", "Compared", "put", "broker-a:4;broker-old:4", "--yes").code == 0
    result = cluster_parts("orderConfCheck")
    assert (result.code, rows(result, "severity", "kind")) == (0, {("warning", "not-handed-out")})
    assert cluster_parts("updateNamesrvConfig", "orderMessageEnable", "true", "--yes").code == 0
    assert cluster_parts("orderConfCheck").rows == []
    assert cluster_parts("updateOrderConf", "Compared", "put", "broker-a:8;broker-x:4", "--yes").code == 0
    result = cluster_parts("orderConfCheck", "Compared")
    assert result.code == 1
    assert rows(result, "severity", "kind") == {
        ("error", "too-many-queues"), ("error", "broker-gone"), ("warning", "broker-unused"),
    }  # fmt: skip
    assert all(row["namesrvAddrs"] == cluster_parts.addrs for row in result.rows)
    assert cluster_parts("updateOrderConf", "Compared", "delete", "--yes").code == 0


def test_settings_that_differ_and_defaults_of_both_releases(cluster_parts: Parts) -> None:
    result = cluster_parts("configDiff", "--brokers")
    assert result.code == 1
    by_key = {row["key"]: row for row in result.rows}
    assert by_key["fileReservedTime"]["values"] == {
        "broker-a:0": "72", "broker-b:0": "48", "broker-old:0": "72",
    }  # fmt: skip
    assert by_key["fileReservedTime"]["default"] == "72"
    assert by_key["transactionCheckInterval"]["default"] == "60000 (4.9.7), 30000 (5.5.0)"
    # What is not the default is what this test has set, on servers of both releases.
    result = cluster_parts("configDiff", "--default", "--brokers")
    set_here = {name: set(broker._config) - GIVEN for name, broker in named(cluster_parts).items()}
    keys_by_server = {name: {row["key"] for row in result.rows if name in row["values"]} for name in set_here}
    assert {name: keys - set_here[name] for name, keys in keys_by_server.items()} == {
        name: set() for name in set_here
    }
    assert {"fileReservedTime", "mappedFileSizeCommitLog", *QUICK} <= keys_by_server["broker-b:0"]
    assert keys_by_server["broker-old:0"] == {"mappedFileSizeCommitLog", "mappedFileSizeConsumeQueue"}
    result = cluster_parts("configDiff", "--default", "--namesrvs")
    assert {row["key"] for row in result.rows} <= {"orderMessageEnable"}


def named(parts: Parts) -> dict[str, JavaBroker]:
    return {f"{broker.name}:0": broker for broker in (parts.a, parts.b, parts.old)}


def test_a_frozen_name_server_is_named_when_a_broker_made_a_topic(cluster_parts: Parts) -> None:
    """The broker answers after all name servers did, which is later than our time limit."""
    frozen = cluster_parts.java[1]
    os.kill(frozen.child.pid, signal.SIGSTOP)
    try:
        words = ("updateTopic", "Frozen", "-b", cluster_parts.a.address, "--yes", "--timeout", "3")
        result = command_line.nsadmin(cluster_parts.addrs[1], *words)
    finally:
        os.kill(frozen.child.pid, signal.SIGCONT)
    assert result.code == 3, result.err
    assert rows(result, "server", "role", "result") == {
        (cluster_parts.a.address, "master", "done"), (frozen.address, "namesrv", "failed"),
    }  # fmt: skip
    wait_for("agreement", lambda: cluster_parts("divergence", *NOW, "--section", "topic").code == 0)


def test_a_frozen_name_server_is_named_when_a_broker_changed_its_permission(cluster_parts: Parts) -> None:
    """5.5.0 registers after each update of brokerPermission, before it answers."""
    frozen = cluster_parts.java[1]
    words = ("updateBrokerConfig", "-b", cluster_parts.a.address, "--yes", "brokerPermission")
    os.kill(frozen.child.pid, signal.SIGSTOP)
    try:
        result = command_line.nsadmin(cluster_parts.addrs[1], *words, "4", "--timeout", "3")
    finally:
        os.kill(frozen.child.pid, signal.SIGCONT)
    assert result.code == 3, result.err
    assert [(row["result"], row["after"]) for row in result.rows] == [("done", "4")]
    assert f"name server {frozen.address}: no answer within" in result.err
    assert f"{cluster_parts.a.address} made the change but cannot register it here yet" in result.err
    wait_for("the old value", lambda: command_line.nsadmin(cluster_parts.addrs[1], *words, "6").code == 0)
    wait_for("agreement", lambda: cluster_parts("divergence", *NOW, "--section", "topic").code == 0)


def test_a_broker_that_dies_and_a_name_server_that_dies(cluster_parts: Parts) -> None:
    cluster_parts.java[1].kill()
    result = cluster_parts("divergence", *NOW)
    assert result.code == 3
    assert "incomplete: 3 of 4 name servers answered, and agree" in result.err
    assert f"name server {cluster_parts.addrs[2]}: connection refused" in result.err
    result = command_line.nsadmin(f"{cluster_parts.addrs[1]};{cluster_parts.addrs[2]}", "divergence", *NOW)
    assert (result.code, result.rows) == (3, [])
    assert "unknown: 1 of 2 name servers answered" in result.err
