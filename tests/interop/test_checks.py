"""Checks of a real cluster, two name servers and a broker of 5.5.0 and one of ours; faults made, and found.

The broker sends heartbeats every second and may be silent for ten: nobody has to wait for two minutes.
"""

import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from prometheus_client.parser import text_string_to_metric_families

from nsadmin import Access, AdminClient
from nsadmin.operations.checks import brokers as checking
from nsadmin.operations.checks import heartbeat, topic
from nsadmin.operations.checks.check import CheckScope
from nsadmin.operations.checks.findings import CheckState
from tests.interop import wire
from tests.interop.cluster import (
    SERVICE_NOT_AVAILABLE,
    NameServer,
    brokers,
    create_topic,
    register_now,
    send,
    send_code,
    wait_for_broker,
    wait_for_runtime_info,
    wait_for_topic,
)
from tests.interop.command_line import ENVIRONMENT, nsadmin
from tests.interop.java_parts import STOCK, JavaBroker, JavaNameServer
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.interop.small_disk import filled_disk, mounted_disk
from tests.support import forked_commands
from tests.support.checks import judge_now

TOPIC, GROUP = "Checked", "checked-group"
PATIENT: dict[str, object] = {
    "needWaitForService": "true", "waitSecondsForService": 0, "scanNotActiveBrokerInterval": 1_000,
}  # fmt: skip


class Parts(NamedTuple):
    ours: OurNameServer
    java: list[JavaNameServer]
    broker: JavaBroker
    journal: Path

    @property
    def addrs(self) -> list[str]:
        return [*(server.address for server in self.java), self.ours.address]

    def run(
        self, *words: str, of: str | None = None, env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        environment = {**ENVIRONMENT, "NSADMIN_STATE": str(self.journal / "no drains"), **(env or {})}
        return forked_commands.run([*words, "-n", of or ";".join(self.addrs)], environment, timeout=90)

    def check(
        self, *words: str, of: str | None = None, env: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Exit code and what was found."""
        result = self.run("check", *words, "--json", of=of, env=env)
        return result.returncode, json.loads(result.stdout)


@pytest.fixture(scope="module")
def cluster_parts(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parts]:
    home = tmp_path_factory.mktemp("checks")
    journal = home / "journal"
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        ours = ends.enter_context(
            OurNameServer(home / "ours", {"journalDir": journal, "tls.server.mode": "disabled", **PATIENT})
        )
        java = [JavaNameServer(home / name, PATIENT, jvm_flags=STOCK) for name in ("first", "second")]
        for server in pool.map(lambda server: server.__enter__(), java):
            ends.push(server)
        every = [ours.address, *(server.address for server in java)]
        broker = JavaBroker(
            home / "a",
            every,
            config={
                "enableSlaveActingMaster": "true",
                "brokerNotActiveTimeoutMillis": 10_000,
                # The shortest period. A name server that has lost the broker waits for it.
                "registerNameServerPeriod": 10_000,
                # How often it looks at its disk.
                "cleanResourceInterval": 1_000,
                "bindAddress": "127.0.0.1",
            },
            jvm_flags=STOCK,
        )
        ends.enter_context(mounted_disk(broker.home / "store", 128))
        ends.enter_context(broker)
        wait_for_broker([ours, *java], "broker-a")
        wait_for_runtime_info(broker.port)
        create_topic(broker.port, TOPIC)
        wait_for_topic([ours, *java], TOPIC)
        yield Parts(ours, java, broker, journal)
        java[1].kill()


def states(found: Any) -> dict[str, str]:
    return {check["check"]: check["state"] for check in found["checks"]}


def values(found: Any) -> dict[str, Any]:
    return {value["name"]: value["value"] for value in found["values"] if value["of"] is None}


def test_all_is_well(cluster_parts: Parts) -> None:
    wait_for("agreement", lambda: cluster_parts.check("divergence", "--settle", "0")[0] == 0)
    code, report = cluster_parts.check("all", "-t", TOPIC, "--wait-until-ok", "60s")
    assert code == 0, report
    run = (
        "namesrv brokers divergence writable lag heartbeat registrationSize disk dlq sends timer "
        "clocks transactions certificates journal topic"
    )
    assert states(report) == dict.fromkeys(run.split(), "OK")
    not_checked = ["replicas", "proxies", "drain", "reports", "clients", "backup", "security"]
    assert [part["check"] for part in report["notChecked"]] == not_checked
    assert report["summary"] == f"16 checks. Not checked: {', '.join(not_checked)}"


def test_the_textfile_is_what_prometheus_reads(cluster_parts: Parts, tmp_path: Path) -> None:
    file = tmp_path / "nsadmin.prom"
    shape = ("--format", "prometheus", "--out", str(file))
    result = cluster_parts.run("check", "all", "--wait-until-ok", "60s", *shape)
    assert (result.returncode, result.stdout) == (0, "")
    families = {family.name: family for family in text_string_to_metric_families(file.read_text())}
    assert {sample.value for sample in families["nsadmin_check_state"].samples} == {0}
    assert len(families["nsadmin_check_namesrv_latency_seconds"].samples) == 3
    assert families["nsadmin_check_registration_size_size_bytes"].samples[0].value > 1000


def test_messages_that_wait_for_nobody(cluster_parts: Parts) -> None:
    created = nsadmin(
        cluster_parts.addrs[0], "updateSubGroup", "-b", cluster_parts.broker.address, "-g", GROUP, "--yes"
    )
    assert created.code == 0, created.err
    send(cluster_parts.broker.port, TOPIC, 0, 10)
    ext = {"consumerGroup": GROUP, "topic": TOPIC, "queueId": "0", "commitOffset": "3"}
    assert wire.ask(cluster_parts.broker.port, 15, ext).code == 0
    code, report = cluster_parts.check("lag", GROUP)
    assert (code, values(report)["lag"]) == (1, 7)
    assert report["details"][0] == "no client of the group is connected"
    _, report = cluster_parts.check("all", "--settle", "0")
    assert states(report)["lag"] == "WARNING"
    [lag] = [check for check in report["checks"] if check["check"] == "lag"]
    assert lag["details"] == [f"{GROUP} has a lag of 7 messages; no client of the group is connected"]
    assert cluster_parts.check("lag", GROUP, "--critical", "6")[0] == 2
    assert wire.ask(cluster_parts.broker.port, 15, {**ext, "commitOffset": "10"}).code == 0
    wait_for("no lag", lambda: cluster_parts.check("lag", GROUP)[0] == 0)
    assert cluster_parts.check("lag", "no-such-group")[0] == 3


def test_the_certificate_that_java_makes_for_itself(cluster_parts: Parts) -> None:
    code, report = cluster_parts.check("certificates")
    assert code == 0, report
    assert values(report)["first"] > 300
    assert len([value for value in report["values"] if value["name"] == "days"]) == 3
    assert report["details"][-1] == f"1 server without TLS: {cluster_parts.ours.address}"
    assert cluster_parts.check("certificates", "--warning", "9999999:")[0] == 1


def test_a_name_server_that_is_gone_and_one_that_is_not_ready(cluster_parts: Parts) -> None:
    second = cluster_parts.java[1]
    second.kill()
    code, report = cluster_parts.check("namesrv")
    assert (code, report["summary"]) == (1, "2 of 3 name servers answer")
    assert cluster_parts.check("namesrv", of=second.address)[0] == 2
    assert cluster_parts.check("namesrv", "--critical", "3:")[0] == 2
    assert cluster_parts.check("brokers")[0] == 1
    cluster_parts.java[1] = JavaNameServer(
        second.home, {**PATIENT, "waitSecondsForService": 9999}, port=second.port
    )
    cluster_parts.java[1].start()
    code, report = cluster_parts.check("namesrv", of=second.address)
    assert code == 2, report
    assert report["details"][0].endswith("it is starting and does not return routes yet")
    assert cluster_parts.run("updateNamesrvConfig", "waitSecondsForService", "0", "--yes").returncode == 0
    assert cluster_parts.check("namesrv", "--wait-until-ok", "60s")[0] == 0
    # Until it has heard of the broker, its clients find nothing.
    register_now(cluster_parts.broker.port)
    assert cluster_parts.check("brokers", "--wait-until-ok", "60s")[0] == 0
    assert cluster_parts.check("topic", TOPIC, "--wait-until-ok", "60s")[0] == 0


def test_a_broker_that_has_stopped_to_breathe(cluster_parts: Parts) -> None:
    first = cluster_parts.java[0]
    code, report = cluster_parts.check("heartbeat", of=cluster_parts.ours.address)
    assert code in (0, 1)
    assert values(report)["longest"] < 100
    assert cluster_parts.check("heartbeat", of=first.address)[1]["summary"] == (
        "the ages of heartbeats are unknown; 1 of 1 listed brokers answer"
    )
    seen_states: dict[str, set[CheckState]] = {
        "ours": set(),
        "theirs": set(),
        "brokers": set(),
        "topic": set(),
    }
    os.kill(cluster_parts.broker.child.pid, signal.SIGSTOP)
    try:
        # In this process: it takes ten seconds until nobody lists the broker any more.
        access = Access(timeout=0.2)
        with (
            AdminClient(cluster_parts.ours.address, access=access) as ours,
            AdminClient(first.address, access=access) as java,
        ):
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and brokers(cluster_parts.ours) and brokers(first):
                seen_states["ours"].add(judge_now(heartbeat.CHECK, ours).state)
                seen_states["theirs"].add(judge_now(heartbeat.CHECK, java).state)
                seen_states["brokers"].add(judge_now(checking.CHECK, java).state)
                seen_states["topic"].add(judge_now(topic.CHECK, java, CheckScope(topic=TOPIC)).state)
    finally:
        os.kill(cluster_parts.broker.child.pid, signal.SIGCONT)
    assert {CheckState.WARNING, CheckState.CRITICAL} <= seen_states["ours"], seen_states
    assert CheckState.WARNING in seen_states["theirs"]
    assert CheckState.CRITICAL in seen_states["brokers"]
    assert CheckState.CRITICAL in seen_states["topic"]
    assert cluster_parts.check("brokers", "--expect", "1", "--wait-until-ok", "60s")[0] == 0
    assert cluster_parts.check("topic", TOPIC, "--wait-until-ok", "60s")[0] == 0


def test_writes_that_were_wiped_on_one_name_server(cluster_parts: Parts) -> None:
    first, _ = cluster_parts.java
    wait_for("agreement", lambda: cluster_parts.check("divergence", "--settle", "0")[0] == 0)
    assert wire.ask(first.port, 205, {"brokerName": "broker-a"}).code == 0
    code, report = cluster_parts.check("topic", TOPIC)
    assert (code, report["details"]) == (2, [f"name server {first.address}: broker-a: no write permission"])
    code, report = cluster_parts.check("writable")
    assert (code, values(report)["unwritable"] >= 1) == (2, True)
    code, report = cluster_parts.check("divergence", "--settle", "0")
    assert (code, values(report)["routes"] >= 1) == (2, True)
    assert f"r-- on {first.address}" in report["details"][0]
    # The topic that is configured anew is registered anew.
    create_topic(cluster_parts.broker.port, TOPIC, queues=5)
    wait_for("the topic", lambda: cluster_parts.check("topic", TOPIC)[0] == 0)


def test_a_drained_broker_that_takes_messages_again(cluster_parts: Parts, tmp_path: Path) -> None:
    quick = ("--settle", "100ms", "--interval", "100ms", "--intervals", "1", "--force", "--yes")
    state = {"NSADMIN_STATE": str(tmp_path)}
    result = cluster_parts.run("drain", "broker-a", *quick, env=state)
    assert result.returncode == 0, result.stderr
    code, report = cluster_parts.check("drain", env=state)
    assert (code, values(report)["drains"]) == (0, 1), report
    assert cluster_parts.check("writable")[0] == 2
    create_topic(cluster_parts.broker.port, TOPIC, queues=6)
    wait_for("the open topic", lambda: cluster_parts.check("drain", env=state)[0] == 2)
    assert cluster_parts.check("drain", env=state)[1]["summary"].endswith(
        "; the write permission is back on broker-a"
    )
    assert cluster_parts.run("undrain", "broker-a", "--yes", env=state).returncode == 0
    assert (
        cluster_parts.check("drain", env=state)[1]["summary"]
        == "you drain no broker here; drains from other machines and by other users are not known"
    )
    assert cluster_parts.check("topic", TOPIC)[0] == 0


def test_a_topic_that_the_broker_has_as_read_only_is_so_on_purpose(cluster_parts: Parts) -> None:
    create_topic(cluster_parts.broker.port, "Archive", perm=4)
    wait_for_topic([cluster_parts.ours, *cluster_parts.java], "Archive")
    _, report = cluster_parts.check("writable")
    assert not [line for line in report["details"] if "Archive" in line]
    assert cluster_parts.check("topic", "Archive")[0] == 2


def test_a_disk_on_which_no_message_fits(cluster_parts: Parts) -> None:
    store, broker = cluster_parts.broker.home / "store", cluster_parts.broker
    if not os.path.ismount(store):
        pytest.skip("only root may mount a small disk")
    with filled_disk(store, 0.94):
        # The broker looks at its disk 60 s after its start for the first time.
        wait_for("a refusal", lambda: send_code(broker.port, TOPIC) == SERVICE_NOT_AVAILABLE)
        for check, about in (("brokers", ()), ("topic", (TOPIC,)), ("writable", ()), ("disk", ())):
            code, report = cluster_parts.check(check, *about)
            assert code == 2, report
            assert "refuses messages: commitLogDiskRatio is 9" in report["details"][0]
            assert "above diskSpaceWarningLevelRatio 90 %" in report["details"][0]
        all_states = states(cluster_parts.check("all", "--settle", "0")[1])
        assert (all_states["brokers"], all_states["disk"]) == ("CRITICAL", "CRITICAL")
        listed = cluster_parts.run("clusterList", "--json")
        assert "refuses messages" in json.loads(listed.stdout)[0]["error"]
        explained = cluster_parts.run("routeExplain", TOPIC, "--json")
        causes = [row["step"] for row in json.loads(explained.stdout) if row["result"] == "cause"]
        assert (explained.returncode, causes) == (1, ["diskFull"])
        assert find_broker_cause(cluster_parts) == ("diskFull", None)
    wait_for("room for messages", lambda: send_code(broker.port, TOPIC) == 0)
    assert cluster_parts.check("brokers")[0] == 0


def find_broker_cause(cluster_parts: Parts) -> tuple[str, str | None]:
    """The first cause of broker explain, and the command that it advises."""
    explained = cluster_parts.run("broker", "explain", "broker-a", "--filter", "result=cause", "--json")
    assert explained.returncode == 1, explained.stderr
    first = json.loads(explained.stdout)[0]
    return first["step"], first["command"]


def test_a_low_limit_of_a_disk_is_raised(cluster_parts: Parts) -> None:
    store, broker = cluster_parts.broker.home / "store", cluster_parts.broker
    if not os.path.ismount(store):
        pytest.skip("only root may mount a small disk")
    lower = ("updateBrokerConfig", "diskSpaceWarningLevelRatio", "70", "-b", broker.address, "--yes")
    with filled_disk(store, 0.8):
        assert cluster_parts.run(*lower).returncode == 0
        wait_for("a refusal", lambda: send_code(broker.port, TOPIC) == SERVICE_NOT_AVAILABLE)
        cause, command = find_broker_cause(cluster_parts)
        advised = f"nsadmin updateBrokerConfig diskSpaceWarningLevelRatio 90 -b {broker.address}"
        assert cause == "diskFull"
        assert command is not None
        assert command.startswith(advised)
        assert cluster_parts.run(*shlex.split(command)[1:], "--yes").returncode == 0
        wait_for("room for messages", lambda: send_code(broker.port, TOPIC) == 0)


@pytest.mark.parametrize(("key", "value"), [("brokerIP1", "127.0.0.2"), ("listenPort", "1")])
def test_an_address_where_nobody_listens(cluster_parts: Parts, tmp_path: Path, key: str, value: str) -> None:
    inventory = {"NSADMIN_INVENTORY": "on", "NSADMIN_STATE": str(tmp_path)}
    words = ("updateBrokerConfig", key, "-b", cluster_parts.broker.address, "--yes")
    assert cluster_parts.check("brokers", env=inventory)[0] == 0
    parts = {"brokerIP1": "127.0.0.1", "listenPort": str(cluster_parts.broker.port)}
    try:
        changed = cluster_parts.run(words[0], words[1], value, *words[2:])
        assert (changed.returncode, "at once" in changed.stderr) == (0, True)
        register_now(cluster_parts.broker.port)
        refused = {"broker-a": {"0": ":".join({**parts, key: value}.values())}}
        servers: list[NameServer] = [cluster_parts.ours, *cluster_parts.java]
        wait_for("the new address", lambda: all(brokers(server) == refused for server in servers))
        cause = (
            "the broker registers under an address where nobody listens: correct its brokerIP1 or "
            f"listenPort; it was at {cluster_parts.broker.address} before"
        )
        code, report = cluster_parts.check("brokers", env=inventory)
        assert (code, report["details"][0].endswith(cause)) == (2, True), report
        assert cause in cluster_parts.run("routeExplain", TOPIC, "--json", env=inventory).stdout
    finally:
        assert cluster_parts.run(words[0], words[1], parts[key], *words[2:]).returncode == 0
        register_now(cluster_parts.broker.port)
    assert cluster_parts.check("brokers", "--wait-until-ok", "40s")[0] == 0


def test_a_running_broker_with_the_role_of_a_slave_refuses_sends(cluster_parts: Parts) -> None:
    words = ("updateBrokerConfig", "brokerRole", "-b", cluster_parts.broker.address, "--yes")
    assert send_code(cluster_parts.broker.port, TOPIC) == 0
    try:
        assert cluster_parts.run(words[0], words[1], "SLAVE", *words[2:]).returncode == 0
        assert send_code(cluster_parts.broker.port, TOPIC) != 0
    finally:
        assert cluster_parts.run(words[0], words[1], "ASYNC_MASTER", *words[2:]).returncode == 0
    assert send_code(cluster_parts.broker.port, TOPIC) == 0


def test_a_live_broker_that_is_renamed(cluster_parts: Parts) -> None:
    address = cluster_parts.broker.address
    renamed = cluster_parts.run("updateBrokerConfig", "brokerName", "broker-z", "-b", address, "--yes")
    assert renamed.returncode == 0, renamed.stderr
    register_now(cluster_parts.broker.port)
    wait_for_broker([cluster_parts.ours, *cluster_parts.java], "broker-z")
    code, report = cluster_parts.check("brokers")
    assert (code, report["summary"]) == (
        1,
        "1 of 1 registered brokers answer, 1 of them under several names",
    )
    one_process = f"broker-a and broker-z are one process, at {address}"
    assert report["details"][0].startswith(f"{one_process}, whose own name is broker-z: ")
    outage = cluster_parts.run("whatIf", "--down", "broker-a")
    assert (outage.returncode, f"{one_process}: all of them go down" in outage.stderr) == (1, True)
    drained = cluster_parts.run("drain", "broker-a", "--dry-run")
    assert drained.returncode == 1
    assert "broker-a and broker-z are one process" in drained.stdout + drained.stderr
    exported = cluster_parts.run("exportMetrics", "DefaultCluster")
    # Under one of the names: name servers forget the former one after 120 s.
    assert len(json.loads(exported.stdout)["evaluateReport"]) == 1


def test_a_journal_that_is_written_and_one_that_has_ended(cluster_parts: Parts) -> None:
    folder = ("journal", "--journal", str(cluster_parts.journal), "--verify")
    assert cluster_parts.check("journal")[1]["summary"] == "1 of 1 name servers can write their journal"
    code, report = cluster_parts.check(*folder)
    assert (code, report["summary"]) == (0, "1 of 1 journals can be read and are undamaged")
    cluster_parts.ours.stop()
    time.sleep(0.5)
    code, report = cluster_parts.check(*folder, "--critical", "0.2")
    assert code == 2
    assert ": the name server stopped at 20" in report["details"][1]
