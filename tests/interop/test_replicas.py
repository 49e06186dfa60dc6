"""Slaves beside their masters: a 5.5.0 slave whose files were changed, and a 4.9.7 slave that copies."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from namesrv_core.errors import NotSupported
from nsadmin import AdminClient
from nsadmin.operations import access_tables
from tests.interop import command_line, jars
from tests.interop.cluster import wait_for_runtime_info
from tests.interop.command_line import ENVIRONMENT, CommandResult
from tests.interop.java_parts import WITHOUT_TIMER, JavaBroker
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.support.examples import list_cases_elsewhere as elsewhere
from tests.support.examples import split_example as words
from tests.support.tmux import Tmux, needs_tmux

pytestmark = pytest.mark.interop


class Cluster(NamedTuple):
    """A master with its slave of each release; `with_stray` is a name server that knows one more slave."""

    server: OurNameServer
    with_stray: OurNameServer
    master: JavaBroker
    slave: JavaBroker
    old_master: JavaBroker
    old_slave: JavaBroker

    def run(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args)

    def run_with_stray(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.with_stray.address, *args)


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("replicas")
    with ExitStack() as parts:
        server = parts.enter_context(OurNameServer(home / "namesrv"))
        with_stray = parts.enter_context(OurNameServer(home / "with-stray"))
        addrs = [server.address, with_stray.address]
        # In its first check of transactions, 30 s after its start, a master creates a topic. Then its slave
        # copies all topics.
        config = {**WITHOUT_TIMER, "transactionCheckInterval": 3_600_000}
        master = JavaBroker(home / "master", addrs, config=config)
        slave = JavaBroker(home / "slave", addrs, broker_id=1, config=config)
        old_master = JavaBroker(home / "old-master", addrs, "broker-old", version=jars.OLD, config=config)
        old_slave = JavaBroker(
            home / "old-slave", addrs, "broker-old", broker_id=1, version=jars.OLD, config=config
        )
        wrong = {**config, "haMasterAddress": "127.0.0.1:1"}
        stray = JavaBroker(home / "stray", [with_stray.address], broker_id=2, config=wrong)
        for broker in (master, slave, old_master, old_slave, stray):
            parts.callback(kill_started, broker)
        cluster = Cluster(server, with_stray, master, slave, old_master, old_slave)
        start_all(master, old_master)
        wait_for("two masters", lambda: len(cluster.run("clusterList").rows) == 2)
        for topic in ("orders", "payments"):
            assert cluster.run("updateTopic", topic, "-c", "DefaultCluster").code == 0
        assert cluster.run("updateSubGroup", "warehouse", "-c", "DefaultCluster").code == 0
        master.kill()
        copy_tables(master, slave, lacking_topic="payments")
        start_all(master, old_slave)
        copy_mapping_version(master, slave)
        start_all(slave, stray)
        wait_for("two slaves", lambda: len(cluster.run("clusterList").rows) == 4)
        yield cluster


def kill_started(broker: JavaBroker) -> None:
    if hasattr(broker, "child"):
        broker.kill()


def start_all(*brokers: JavaBroker) -> None:
    with ThreadPoolExecutor(len(brokers)) as threads:
        list(threads.map(JavaBroker.start, brokers))


def copy_tables(master: JavaBroker, slave: JavaBroker, lacking_topic: str) -> None:
    """Give a stopped slave its master's files, as after many copies, but without one topic."""
    wait_for("the master's files", lambda: lacking_topic in topics_file(master).read_text())
    shutil.copytree(topics_file(master).parent, topics_file(slave).parent)
    table = json.loads(topics_file(slave).read_text())
    del table["topicConfigTable"][lacking_topic]
    topics_file(slave).write_text(json.dumps(table))
    (topics_file(slave).parent / "topics.json.bak").unlink(missing_ok=True)


def copy_mapping_version(master: JavaBroker, slave: JavaBroker) -> None:
    """Give a stopped slave the version of its master's mapping of static topics, as after the first copy.

    A slave with another version copies all topics within 70 s (5.5.0, SlaveSynchronize).
    """
    with AdminClient(["127.0.0.1:9"]) as admin:
        [table] = admin.replication.tables.get_topics([master.address])
    assert table.result is not None
    version = table.result.mapping_version
    assert version is not None
    file = topics_file(slave).parent / "topicQueueMapping.json"
    data_version = {
        "stateVersion": version.state_version,
        "timestamp": version.timestamp_ms,
        "counter": version.counter,
    }
    file.write_text(json.dumps({"dataVersion": data_version, "topicQueueMappingInfoMap": {}}))


def topics_file(broker: JavaBroker) -> Path:
    return broker.home / "store" / "config" / "topics.json"


def test_a_topic_that_was_removed_from_a_stopped_slave_is_drift(cluster: Cluster) -> None:
    wait_for_runtime_info(cluster.slave.port)
    compared = cluster.run("replicaDiff", "-b", "broker-a")
    assert len(compared.rows) == 1, compared
    [row] = compared.rows
    assert (compared.code, row["kind"], row["name"], row["state"]) == (1, "topic", "payments", "drift")
    assert row["reason"] == "both tables have the same version, so the slave does not copy it"
    assert (row["brokerId"], row["brokerAddr"], row["slave"]) == (1, cluster.slave.address, None)
    assert row["master"]["writeQueueNums"] == 8
    # For a few seconds after its start, the slave has no replication connection: that is lag.
    assert "1 slave: 1 topic will stay different" in compared.err
    checked = cluster.run("check", "replicas", "--clusterName", "DefaultCluster")
    assert checked.code == 2


@needs_tmux
def test_the_tui_shows_the_drift_of_the_slave_and_its_differences(cluster: Cluster, tmp_path: Path) -> None:
    servers = ("-n", cluster.server.address, "--timeout", "20")
    command = [sys.executable, "-m", "nsadmin", "tui", *servers, "--interval", "1"]
    with Tmux(tmp_path, command, size=(250, 30)) as screen:
        screen.until("replicas", "payments")
        screen.keys("1")
        brokers = screen.until("METADATA", "drift")
        rows = [line for line in brokers.splitlines() if "broker-a" in line or "broker-old" in line]
        assert ["drift" in row for row in rows if "slave" in row and "broker-a" in row] == [True], brokers
        assert not any("drift" in row for row in rows if "master" in row), brokers
        screen.text("/slave")
        screen.keys("Enter")
        screen.until("2 of 4 rows")
        screen.keys("Enter")
        screen.until("summary", "broker-a")
        for tab_text in ("figures", "SETTING", "TOPIC", "PRODUCER", "DIFFERENCE"):
            screen.keys("Tab")
            screen.until(tab_text)
        tab = screen.until("1 drift", "payments")
        rows = [line for line in tab.splitlines() if "payments" in line]
        assert any("topic" in row and "drift" in row for row in rows), tab


def test_masters_without_authentication_are_not_asked_for_users(cluster: Cluster) -> None:
    """A 5.5.0 broker would write a stack trace to its log at each request."""
    with AdminClient(["127.0.0.1:9"]) as admin:
        for list_each in (access_tables.list_users, access_tables.list_acl_entries):
            [result, old_result] = list_each(admin, [cluster.master.address, cluster.old_master.address])
            assert "MetadataProvider is not set" in str(result.error)
            assert isinstance(old_result.error, NotSupported)


def test_the_examples_do_what_they_say(cluster: Cluster) -> None:
    [case] = elsewhere("replicaDiff")
    for example in case.examples:
        line = [word.replace("cluster-a", "DefaultCluster") for word in words(example)]
        command = [sys.executable, "-m", "nsadmin", "-n", cluster.server.address, "--timeout", "20", *line]
        result = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=60)
        # The slave lacks a topic here, so the exit code is that of drift.
        assert (result.returncode, "payments" in result.stdout) == (1, True), (
            example.command_line,
            result.stderr,
        )


def test_a_drain_and_a_restart_refuse_a_master_whose_slave_lacks_a_topic(cluster: Cluster) -> None:
    drained = cluster.run("drain", "broker-a", "--dry-run")
    assert drained.code == 1
    assert f"slave 1 at {cluster.slave.address} lacks 1 item of its master (topic payments)" in drained.err
    forced = cluster.run("drain", "broker-a", "--dry-run", "--force")
    assert forced.code == 0


def test_a_slave_of_4_9_7_copies_a_new_topic_and_a_blocked_one_drifts(cluster: Cluster) -> None:
    wait_for("an equal slave", lambda: cluster.run("replicaDiff", "-b", "broker-old").rows == [])
    # The slave copies every 10 s, perhaps just between two of these commands.
    for topic_name in ("invoices", "refunds", "returns"):
        assert cluster.run("updateTopic", topic_name, "-b", cluster.old_master.address).code == 0
        compared = cluster.run("replicaDiff", "-b", "broker-old", "--lag")
        # As if the slave had had two chances to copy it.
        impatient = cluster.run("replicaDiff", "-b", "broker-old", "--sync-interval", "0")
        if impatient.rows:
            break
    assert (compared.code, [(row["name"], row["state"]) for row in compared.rows]) == (
        0,
        [(topic_name, "lag")],
    )
    assert (impatient.code, [row["state"] for row in impatient.rows]) == (1, ["drift"])
    settled = cluster.run("replicaDiff", "-b", "broker-old", "--settle", "30")
    assert (settled.code, settled.rows) == (0, [])
    assert "the next copy may remove 1 difference: waiting to compare again" in settled.err


def test_a_slave_that_does_not_answer_is_named(cluster: Cluster) -> None:
    os.kill(cluster.old_slave.child.pid, signal.SIGSTOP)
    try:
        compared = cluster.run("replicaDiff", "--timeout", "4")
    finally:
        os.kill(cluster.old_slave.child.pid, signal.SIGCONT)
    assert "broker-old:1 at" in compared.err
    assert [row["name"] for row in compared.rows] == ["payments"]
    assert cluster.run("replicaDiff", "-b", "nobody").code == 5


def test_without_its_master_a_slave_refuses_consumers(cluster: Cluster) -> None:
    """Of both releases: slaveReadEnable is false by default."""
    foreseen = cluster.run("whatIf", "--down", "broker-a:0,broker-old:0", "--detail")
    [orders] = [row for row in foreseen.rows if (row["what"], row["name"]) == ("topic", "orders")]
    assert (foreseen.code, orders["readQueues"], orders["readQueuesLeft"]) == (1, 16, 0)


def test_a_slave_with_a_wrong_ha_address_copies_nothing(cluster: Cluster) -> None:
    # For its first minute, a slave may still be about to connect.
    wait_for("the verdict", lambda: _list_stopped(cluster) == [2], interval=2)
    checked = cluster.run_with_stray("check", "replicas")
    assert (checked.code, "1 of 3 slaves copies no messages" in checked.rows["summary"]) == (2, True)


def _list_stopped(cluster: Cluster) -> list[int]:
    rows = cluster.run_with_stray("replicaDiff", "-b", "broker-a").rows
    return [row["brokerId"] for row in rows if row["kind"] == "commitLog"]


def test_consumers_cannot_read_from_a_slave_whose_master_was_killed(cluster: Cluster) -> None:
    """The last one: the master does not come back."""
    cluster.master.kill()
    evidence = "can neither read nor write, because slaveReadEnable=false"
    explained = wait_for("the master's end", lambda: _explain_masterless(cluster))
    assert evidence in explained["seen"], explained
    foreseen = cluster.run("whatIf", "--down", "broker-old:0", "--detail")
    [orders] = [row for row in foreseen.rows if (row["what"], row["name"]) == ("topic", "orders")]
    assert (foreseen.code, orders["readQueues"], orders["readQueuesLeft"]) == (1, 8, 0)


def _explain_masterless(cluster: Cluster) -> dict[str, Any] | None:
    rows = cluster.run("routeExplain", "orders").rows
    return next(
        (row for row in rows if row["step"] == "masterMissing" and row["brokerName"] == "broker-a"), None
    )
