"""Daily commands on a 5.5.0 cluster in a network that only `ssh` and `kubectl` reach."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import pytest

from nsadmin.client import AdminClient
from tests.interop import command_line, wire
from tests.interop.cluster import create_topic, send, wait_for_runtime_info
from tests.interop.java_parts import JavaBroker, JavaNameServer
from tests.interop.pod_network import inside, pod_network
from tests.interop.processes import Child, free_port, wait_for
from tests.support.kube_clusters import StubCluster, pod, service
from tests.support.ssh_hosts import SshHost

NAMES_IP, BROKER_IP = "10.244.0.4", "10.244.0.5"
READS = (
    "clusterList --columns brokerName,brokerAddr,version,reachable",
    "topicRoute Orders",
    "topicStatus Orders",
    "brokerStatus -b broker-a --filter key=brokerVersionDesc",
    "getBrokerConfig -b broker-a --filter key=brokerIP1",
    "printMsg Orders --columns msgId,queueId,queueOffset,body",
    "consumerProgress",
)


class Cluster(NamedTuple):
    network: int
    name_server: JavaNameServer
    broker: JavaBroker
    ssh: SshHost
    kube: StubCluster

    @property
    def ways(self) -> dict[str, tuple[dict[str, str], tuple[str, ...]]]:
        """The variables and the options of each tunnel."""
        names_addr = f"{NAMES_IP}:{self.name_server.port}"
        return {
            "ssh": (self.ssh.variables, ("--ssh", "jump", "-n", names_addr)),
            "kube": (self.kube.variables, ("--kube", "mq")),
        }

    def run(self, way: str, *words: str, typed: str | None = None) -> subprocess.CompletedProcess[str]:
        variables, options = self.ways[way]
        command = [sys.executable, "-m", "nsadmin", *words[:1], *options, *words[1:]]
        environment = {**command_line.ENVIRONMENT, **variables, "NSADMIN_INVENTORY": "off"}
        return subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=60, input=typed
        )


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A name server and a broker with the address of a pod, and two ways to them."""
    folder = tmp_path_factory.mktemp("tunnels")
    with pod_network([NAMES_IP, BROKER_IP]) as network:
        with inside(network):
            name_server = JavaNameServer(folder / "names", {"bindAddress": "0.0.0.0"})
            name_server.start()
            names_addr = f"{NAMES_IP}:{name_server.port}"
            ips = {"brokerIP1": BROKER_IP, "brokerIP2": BROKER_IP}
            broker = JavaBroker(folder / "broker", [names_addr], config=ips)
            broker.start()
        try:
            with inside(network), AdminClient(names_addr) as admin:
                wait_for_runtime_info(broker.port)
                create_topic(broker.port, "Orders")
                send(broker.port, "Orders", 1, 3)
                wait_for("the route", lambda: "Orders" in admin.topics.list_names(), 30)
                queue = {"topic": "Orders", "queueId": "1"}
                wait_for(
                    "the messages", lambda: (wire.ask(broker.port, 30, queue).ext or {})["offset"] == "3", 30
                )
            (folder / "ssh").mkdir()
            (folder / "kube").mkdir()
            kube = StubCluster(folder / "kube")
            kube.network = network
            kube.items = [
                pod("names-0", NAMES_IP, [name_server.port], labels={"component": "nameserver"}),
                pod("broker-0", BROKER_IP, [broker.port], labels={"component": "broker"}),
                service("names", {"component": "nameserver"}, [(9876, name_server.port)]),
            ]
            kube.servers = {
                f"names-0:{name_server.port}": names_addr,
                f"broker-0:{broker.port}": f"{BROKER_IP}:{broker.port}",
            }
            kube.save()
            yield Cluster(network, name_server, broker, SshHost(folder / "ssh", network=network), kube)
        finally:
            broker.kill()
            name_server.kill()


def documents(text: str) -> list[Any]:
    decoder, found = json.JSONDecoder(), []
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        found.append(document)
        text = text[end:]
    return found


def test_each_read_is_the_same_through_each_way(cluster: Cluster) -> None:
    lines = "\n".join(READS)
    printed = {way: cluster.run(way, "batch", "-", "--json", typed=lines) for way in cluster.ways}
    assert [(done.returncode, done.stderr) for done in printed.values()] == [(0, "")] * 2
    through_ssh, through_kube = (documents(done.stdout) for done in printed.values())
    assert through_ssh == through_kube
    assert len(through_ssh) == len(READS)
    assert through_ssh[0] == [
        {
            "brokerName": "broker-a",
            "brokerAddr": f"{BROKER_IP}:{cluster.broker.port}",
            "version": "V5_5_0",
            "reachable": True,
        }
    ]
    assert [message["body"] for message in through_ssh[5]] == ["hello"] * 3
    # One ssh, and one kubectl for each server, serve the whole batch.
    assert sum("port-forward" in call for call in cluster.kube.calls) == 2


@pytest.mark.parametrize("way", ["ssh", "kube"])
def test_changes_and_messages_go_through_each_way(cluster: Cluster, way: str) -> None:
    lines = [
        f"updateTopic Made-{way} -b broker-a -r 2 -w 2",
        f"sendMessage Made-{way} -p text",
        f"updateKvConfig ways {way} open",
        f"updateSubGroup Group-{way} -b broker-a",
        "wipeWritePerm broker-a",
        "addWritePerm broker-a",
    ]
    done = cluster.run(way, "batch", "-", "--yes", "--json", typed="\n".join(lines))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    listed = cluster.run(way, "kvGet", "ways", way, "--json")
    assert '"open"' in listed.stdout, listed


def test_an_exporter_finds_a_pod_again_and_leaves_no_process(cluster: Cluster, tmp_path: Path) -> None:
    port = free_port()
    variables, options = cluster.ways["kube"]
    command = [sys.executable, "-m", "nsadmin", "exporter", *options, "--http", str(port)]
    exporter = Child(
        [*command, "--interval", "1s"],
        tmp_path / "exporter.log",
        {**command_line.ENVIRONMENT, **variables, "NSADMIN_INVENTORY": "off"},
    )

    def reports(value: int) -> bool:
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as page:
            lines = page.read().decode().splitlines()
        return any(
            line.startswith("nsadmin_broker_up{") and float(line.split()[-1]) == value for line in lines
        )

    try:
        wait_for("the broker", lambda: reports(1), 8)
        running = cluster.kube.processes
        cluster.kube.items[1]["metadata"]["uid"] = "broker-0-2"
        cluster.kube.save()
        wait_for("the end of its forward", lambda: set(running) - set(cluster.kube.processes), 10)
        wait_for("a new forward", lambda: set(cluster.kube.processes) - set(running), 30)
        wait_for("the broker again", lambda: reports(1), 30)
    finally:
        exporter.kill()
    wait_for("the end of kubectl", lambda: not cluster.kube.processes, 10)


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_ssh_is_left_when_a_command_is_killed(
    cluster: Cluster, tmp_path: Path, signal_number: signal.Signals
) -> None:
    variables, options = cluster.ways["ssh"]
    command = [sys.executable, "-m", "nsadmin", "clusterList", *options, "--watch", "0.2"]
    environment = {**command_line.ENVIRONMENT, **variables, "NSADMIN_INVENTORY": "off"}
    watch = Child(command, tmp_path / "watch.log", environment)
    watch.wait_for_line("broker-a", 30)
    assert cluster.ssh.processes()
    watch._process.send_signal(signal_number)
    watch.wait(10)
    watch._ended()
    wait_for("the end of ssh", lambda: not cluster.ssh.processes(), 10)
