"""nsadmin on a 5.5.0 cluster in a network that only `ssh` and `kubectl` reach."""

import json
import os
import re
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import anyio
import pytest
from mcp import Client, StdioServerParameters

from nsadmin import Access, AdminClient
from tests.interop.bundled import is_equal_where_steady, list_plain_lines
from tests.interop.processes import Child, free_port, wait_for
from tests.interop.tunnelled import (
    BROKER_IP,
    GROUP,
    OLD_IP,
    TOPIC,
    KnownIds,
    TunnelledCluster,
    list_daily_changes,
    list_daily_reads,
    tunnelled_cluster,
)
from tests.support.tmux import Tmux, needs_tmux

IS_FULL = os.environ.get("NSADMIN_TUNNELS") == "full"
NOT_COMPARED = {
    "kube": "it asks kubectl",
    "bundle": "it writes a file",
    "messages": "it writes a file",
}
"""The first words of reading commands that print something else on each way, and why."""
BOTH_WAYS = pytest.mark.parametrize("way_name", ["ssh", "kube"])
ONLY_FULL = pytest.mark.skipif(not IS_FULL, reason="takes long: make tunnels")
ONE_WAY = pytest.mark.parametrize("way_name", ["kube", pytest.param("ssh", marks=ONLY_FULL)])
"""Through kubectl, whose programs are one for each server; with `make tunnels` through ssh, too."""


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TunnelledCluster]:
    folder = tmp_path_factory.mktemp("tunnels")
    with tunnelled_cluster(folder, is_full=IS_FULL) as running:
        yield running


@pytest.fixture(autouse=True)
def _registered(cluster: TunnelledCluster) -> None:
    """On a busy machine, a name server can lose a broker until its next registration."""
    names = {broker.name for broker in cluster.brokers}

    def are_listed() -> bool:
        [(_, rows)] = cluster.run_directly([["clusterList"]])
        return names == {row["brokerName"] for row in rows or () if row["reachable"]}

    wait_for("the brokers", are_listed, interval=0.5)


def read_documents(text: str) -> list[Any]:
    decoder, documents = json.JSONDecoder(), []
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        documents.append(document)
        text = text[end:]
    return documents


def find_ids(cluster: TunnelledCluster) -> KnownIds:
    def first_row(line: str) -> dict[str, Any]:
        row: dict[str, Any] = wait_for(
            line, lambda: next(iter(cluster.run_directly([line.split()])[0][1] or ()), None), interval=0.5
        )
        return row

    message = first_row(f"printMsg {TOPIC} --filter msgId~.")
    client = first_row(f"consumerConnection {TOPIC}-consumer") if cluster.clients is not None else {}
    return KnownIds(message["offsetMsgId"], message["msgId"], client.get("clientId"))


@BOTH_WAYS
def test_each_reading_command_prints_what_it_prints_inside_the_network(
    cluster: TunnelledCluster, way_name: str
) -> None:
    daily_lines = list_daily_reads(find_ids(cluster))
    lines = [*list_plain_lines(), *daily_lines]
    lines = [line for line in lines if line[0] not in NOT_COMPARED]
    codes = dict[str, int]()
    # On a busy machine, a broker can be too slow for one of three runs.
    for _ in range(3):
        direct = cluster.run_directly(lines)
        tunnelled = cluster.run_through(way_name, lines)
        again = cluster.run_directly(lines)
        codes |= {" ".join(line): code for line, (code, _) in zip(lines, direct, strict=True)}
        different = [
            (line, through, expected)
            for line, through, expected, later in zip(lines, tunnelled, direct, again, strict=True)
            if not is_equal_where_steady(through, expected, later)
        ]
        lines = [line for line, *_ in different]
        if not lines:
            break
    assert different == []
    daily_codes = {line: code for line in map(" ".join, daily_lines) if (code := codes[line]) != 0}
    assert daily_codes == {}


@BOTH_WAYS
def test_daily_changes_succeed(cluster: TunnelledCluster, way_name: str) -> None:
    lines = list_daily_changes(way_name, find_ids(cluster))
    result = cluster.ways[way_name].run("batch", "-", "--yes", "--json", typed="\n".join(lines))
    assert result.returncode == 0, result.stderr
    assert len(read_documents(result.stdout)) == len(lines)
    if way_name == "kube":
        # One kubectl for each server serves the whole batch.
        forwards = Counter(call.split()[-2] for call in cluster.kube.calls if "port-forward" in call)
        assert forwards.keys() >= {"pod/names-0", "pod/broker-0"}


@ONLY_FULL
@BOTH_WAYS
def test_a_broker_of_the_old_release(cluster: TunnelledCluster, way_name: str) -> None:
    lines = [
        "clusterList --columns brokerName,brokerAddr,version,reachable --filter brokerName=broker-old",
        f"updateTopic Aged-{way_name} -b broker-old",
        "brokerStatus -b broker-old --filter key=brokerVersionDesc --columns value",
        f"topicStatus {TOPIC} --filter brokerName=broker-old",
        f"consumerProgress {GROUP} --filter brokerName=broker-old",
        f"queryMsgByOffset {TOPIC} broker-old 1 0 --columns body",
        "wipeWritePerm broker-old",
        "addWritePerm broker-old",
    ]
    result = cluster.ways[way_name].run("batch", "-", "--yes", "--quiet", "--json", typed="\n".join(lines))
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    listed, _, status, *_, message, _, _ = read_documents(result.stdout)
    addr = f"{OLD_IP}:{cluster.brokers[1].port}"
    assert listed == [
        {"brokerName": "broker-old", "brokerAddr": addr, "version": "V4_9_7", "reachable": True}
    ]
    assert (status, message) == ([{"value": "V4_9_7"}], [{"body": "hello"}])


@BOTH_WAYS
def test_the_library(
    cluster: TunnelledCluster, way_name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    way = cluster.ways[way_name]
    for name, value in {**way.variables, "NSADMIN_CONFIG": str(tmp_path / "config.yaml")}.items():
        monkeypatch.setenv(name, value)
    with AdminClient(cluster.names_addr, access=Access(tunnel=way.target)) as admin:
        assert [result.error for result in admin.kv.put_value("library", way_name, "open")] == [None]
        assert admin.kv.get_value("library", way_name) == "open"
        broker_addrs = {
            group.broker_name: group.broker_addrs for group in admin.clusters.get_info().broker_groups
        }
        assert broker_addrs["broker-a"][0].startswith(f"{BROKER_IP}:")
        [runtime] = admin.brokers.get_runtime_info([broker_addrs["broker-a"][0]])
        assert runtime.error is None


@ONE_WAY
def test_the_calls_of_an_mcp_session_share_one_tunnel(cluster: TunnelledCluster, way_name: str) -> None:
    way = cluster.ways[way_name]
    command = way.command("mcp")
    program = StdioServerParameters(command=command[0], args=command[1:], env=way.environment)
    earlier_calls = len(cluster.kube.calls)
    programs_by_call = []

    async def call_tools() -> list[Any]:
        results = []
        async with Client(program, read_timeout_seconds=120) as client:
            for tool, arguments in (
                ("topicList", {}),
                ("topicStatus", {"topic": TOPIC}),
                ("brokerStatus", {"broker": "broker-a"}),
            ):
                results.append((await client.call_tool(tool, arguments)).structured_content)
                programs_by_call.append(cluster.list_programs(way_name))
        return results

    results = anyio.run(call_tools)
    assert [result["exitCode"] for result in results] == [0, 0, 0]
    # The programs of the first call serve the others, too.
    first, second, third = map(set, programs_by_call)
    assert first
    assert first <= second <= third
    if way_name == "kube":
        words = [call.split()[2] for call in cluster.kube.calls[earlier_calls:]]
        assert Counter(words) == {"get": 1, "port-forward": 1 + len(cluster.brokers)}
    wait_for("the end of its programs", lambda: not cluster.tunnel_processes(way_name))


class LongRunning:
    """A TUI, an exporter, a collector and a drain that hold one tunnel each."""

    def __init__(self, cluster: TunnelledCluster, way_name: str, folder: Path) -> None:
        self._way, self._folder = cluster.ways[way_name], folder
        self._port = free_port()
        # Tmux replaces the variables of nsadmin.
        variables = [f"{name}={value}" for name, value in self._way.variables.items()]
        self.tui = Tmux(folder, ["env", *variables, *self._way.command("tui", "--interval", "1")])
        self.children: dict[str, Child] = {}

    def start(self) -> None:
        """Start the others, and wait until each has read the cluster."""
        self._start("exporter", "--http", str(self._port), "--interval", "1s")
        self._start("collect", str(self._folder / "journals"), "--interval", "1s")
        quick = ("--settle", "1s", "--interval", "1s", "--intervals", "1")
        self._start("drain", "broker-a", "--force", "--yes", "--hold", "--json", *quick)
        self.children["drain"].wait_for_line('"safe"', 60)
        wait_for("the metrics", self.exports_the_broker, interval=0.5)
        wait_for("the journal", lambda: TOPIC in self.journal, interval=0.5)

    def _start(self, *words: str) -> None:
        environment = {
            **self._way.environment, "NSADMIN_STATE": str(self._folder / "state"), "PYTHONUNBUFFERED": "1",
        }  # fmt: skip
        self.children[words[0]] = Child(
            self._way.command(*words), self._folder / f"{words[0]}.log", environment
        )

    def exports_the_broker(self) -> bool:
        with urlopen(f"http://127.0.0.1:{self._port}/metrics", timeout=5) as page:
            metrics = page.read().decode()
        return re.search(r"^nsadmin_broker_up{.*} 1(\.0)?$", metrics, re.MULTILINE) is not None

    @property
    def journal(self) -> str:
        return "".join(file.read_text() for file in (self._folder / "journals").rglob("*.jsonl"))

    def count_good_readings(self) -> int:
        """How often the drain has read the broker and the name server."""
        return self.children["drain"].output.count('"puts": 0, ')

    def kill(self) -> None:
        for child in self.children.values():
            child.kill()
        tui_process = self.tui.run_tmux("display-message", "-p", "#{pane_pid}").strip()
        if tui_process:
            os.kill(int(tui_process), signal.SIGKILL)
        self.tui.end()


@needs_tmux
@ONE_WAY
def test_long_running_commands_find_servers_again_and_leave_no_process(
    cluster: TunnelledCluster, way_name: str, tmp_path: Path
) -> None:
    spare_topics = [f"Spare-{way_name}-{number}" for number in range(2)]
    created = cluster.run_directly(
        [["updateTopic", topic, "-b", "broker-a", "--yes"] for topic in spare_topics]
    )
    assert [code for code, _ in created] == [0, 0]
    running = LongRunning(cluster, way_name, tmp_path)
    try:
        delete_marked_topics(cluster, way_name, running.tui)
        running.tui.keys("1")
        running.tui.until("broker-a", "● up")
        running.start()
        programs = cluster.list_programs(way_name)
        cluster.interrupt(way_name)
        wait_for("their ends", lambda: not set(cluster.list_programs(way_name)) & set(programs))
        wait_for("new ones", lambda: len(cluster.list_programs(way_name)) == len(programs))
        readings = running.count_good_readings()
        [(code, _)] = cluster.run_directly([["updateTopic", f"Later-{way_name}", "-b", "broker-a", "--yes"]])
        assert code == 0
        wait_for("the new topic", lambda: f"Later-{way_name}" in running.journal, interval=0.5)
        wait_for("more readings", lambda: running.count_good_readings() > readings, interval=0.5)
        wait_for("the metrics", running.exports_the_broker, interval=0.5)
        running.tui.keys("2")
        running.tui.text(f"/Later-{way_name}")
        running.tui.keys("Enter")
        running.tui.until("1 of")
    finally:
        running.kill()
    wait_for("the end of its programs", lambda: not cluster.tunnel_processes(way_name))
    assert cluster.run_directly([["addWritePerm", "broker-a", "--yes"]])[0][0] == 0


def delete_marked_topics(cluster: TunnelledCluster, way_name: str, tui: Tmux) -> None:
    """Two topics, with previews and changes in processes of their own: these share the tunnel of the TUI."""
    tui.until("2 Topics", " up")
    tui.keys("2")
    tui.text(f"/Spare-{way_name}")
    tui.keys("Enter")
    tui.until("2 of", f"Spare-{way_name}-1")
    programs = cluster.list_programs(way_name)
    calls = len(cluster.kube.calls)
    tui.keys("M", "x")
    tui.until("cluster", "2 marked rows")
    tui.keys("Enter")
    tui.until('Type "delete topic 2"')
    tui.text("delete topic 2")
    tui.keys("Enter")
    tui.until("Esc closes", "2 done")
    assert cluster.list_programs(way_name) == programs
    assert [call for call in cluster.kube.calls[calls:] if "port-forward" in call] == []
    tui.keys("Escape")
    tui.until("0 of", without="Esc closes")


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_no_ssh_is_left_when_a_command_is_ended(
    cluster: TunnelledCluster, tmp_path: Path, signal_number: signal.Signals
) -> None:
    way = cluster.ways["ssh"]
    watch = Child(way.command("clusterList", "--watch", "0.2"), tmp_path / "watch.log", way.environment)
    watch.wait_for_line("broker-a", 60)
    assert cluster.ssh.processes()
    watch._process.send_signal(signal_number)
    watch.wait(20)
    watch._ended()
    wait_for("the end of ssh", lambda: not cluster.ssh.processes())
