"""A cluster in a network that only `ssh` and `kubectl` reach, and the daily commands that it is asked."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.connection.tunnels.tunnel_leases import use_tunnel
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget, SshTarget, TunnelTarget
from tests.interop import command_line, jars, wire
from tests.interop.bundled import run_lines
from tests.interop.cluster import create_topic, send, wait_for_runtime_info
from tests.interop.daily import commit
from tests.interop.java_parts import JavaBroker, JavaNameServer, LiveClients, Running
from tests.interop.pod_network import inside, pod_network
from tests.interop.processes import wait_for
from tests.support import forked_commands
from tests.support.kube_clusters import StubCluster, make_pod, make_service
from tests.support.ssh_hosts import SshHost

TOPIC, GROUP, KEY = "Orders", "readers", "order-7"
NAMES_IP, BROKER_IP, OLD_IP = "10.244.0.4", "10.244.0.5", "10.244.0.6"

_PREPARATION = (
    ("sendMessage", TOPIC, "text", "-k", KEY),
    ("updateKvConfig", "ways", "open", "yes"),
    ("updateOrderConf", TOPIC, "put", "broker-a:4"),
)


class Way(NamedTuple):
    """The variables, the options and the target of a tunnel."""

    variables: Mapping[str, str]
    options: tuple[str, ...]
    target: TunnelTarget

    @property
    def environment(self) -> dict[str, str]:
        return {**command_line.ENVIRONMENT, **self.variables, "NSADMIN_INVENTORY": "off"}

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "nsadmin", *words[:1], *self.options, *words[1:]]

    def run(self, *words: str, typed: str | None = None) -> subprocess.CompletedProcess[str]:
        line = [*words[:1], *self.options, *words[1:]]
        return forked_commands.run(line, self.environment, typed=typed, timeout=120)


class TunnelledCluster(NamedTuple):
    """`brokers` have the addresses of pods, and so has the name server. `network` is that of the pods."""

    network: int
    name_server: JavaNameServer
    brokers: Sequence[JavaBroker]
    clients: LiveClients | None
    ssh: SshHost
    kube: StubCluster

    @property
    def names_addr(self) -> str:
        return f"{NAMES_IP}:{self.name_server.port}"

    @property
    def ways(self) -> dict[str, Way]:
        return {
            "ssh": Way(self.ssh.variables, ("--ssh", "jump", "-n", self.names_addr), SshTarget("jump")),
            "kube": Way(self.kube.variables, ("--kube", "mq"), KubeTarget("mq")),
        }

    def run_directly(self, lines: Sequence[Sequence[str]]) -> list[tuple[int, Any]]:
        """Run lines in this process, inside the network."""
        with inside(self.network):
            return run_lines(lines, ("-n", self.names_addr), {})

    def run_through(self, way_name: str, lines: Sequence[Sequence[str]]) -> list[tuple[int, Any]]:
        """Run lines in this process, through one tunnel for all."""
        way = self.ways[way_name]
        # The pods of name servers would have other addresses than with -n.
        options = way.options if "-n" in way.options else (*way.options, "-n", self.names_addr)
        with use_tunnel(way.target):
            return run_lines(lines, options, way.variables)

    def list_programs(self, way_name: str) -> list[str]:
        """The running `ssh` clients or port-forwards, without the programs that end soon."""
        programs = []
        for process in self.tunnel_processes(way_name):
            with suppress(OSError):
                words = Path(f"/proc/{process}/cmdline").read_bytes().decode().split("\0")
                if ("-N" in words and "nsadmin-child" not in words) or "port-forward" in words:
                    programs.append(f"{process} {' '.join(words)}")
        return programs

    def interrupt(self, way_name: str) -> None:
        """Break each tunnel, as a restart of the SSH server or of the pods does."""
        if way_name == "ssh":
            for program in self.list_programs("ssh"):
                os.kill(int(program.split()[0]), signal.SIGKILL)
            return
        for item in self.kube.items:
            if item["kind"] == "Pod":
                item["metadata"]["uid"] += "-again"
        self.kube.save_objects()

    def tunnel_processes(self, way_name: str) -> list[int]:
        """The processes of the tunnels that run now: those of `ssh` and its server, or of kubectl."""
        return self.ssh.processes() if way_name == "ssh" else self.kube.processes


@contextmanager
def tunnelled_cluster(folder: Path, *, is_full: bool) -> Iterator[TunnelledCluster]:
    """5.5.0 with messages and a group; `is_full` adds a 4.9.7 broker, and living Java clients."""
    with pod_network([NAMES_IP, BROKER_IP, OLD_IP]) as network:
        with inside(network):
            name_server = JavaNameServer(folder / "names", {"bindAddress": "0.0.0.0"})
            name_server.start()
        names_addr = f"{NAMES_IP}:{name_server.port}"
        brokers = [JavaBroker(folder / "broker", [names_addr], config=_ips(BROKER_IP))]
        if is_full:
            brokers.append(
                JavaBroker(folder / "old", [names_addr], "broker-old", version=jars.OLD, config=_ips(OLD_IP))
            )
        clients = LiveClients(folder / "clients", names_addr, TOPIC) if is_full else None

        def start(part: Running) -> None:
            with inside(network):
                part.start()

        try:
            with ThreadPoolExecutor() as pool:
                list(pool.map(start, brokers))
            with inside(network):
                _fill(names_addr, brokers)
                if clients is not None:
                    clients.start()
                    clients.order("send 2")
                codes = [code for code, _ in run_lines(_PREPARATION, ("-n", names_addr, "--yes"), {})]
                assert codes == [0, 0, 0]
            (folder / "ssh").mkdir()
            kube = _make_kube(folder / "kube", network, name_server, brokers)
            yield TunnelledCluster(
                network, name_server, brokers, clients, SshHost(folder / "ssh", network=network), kube
            )
        finally:
            for part in (clients, *brokers, name_server):
                if part is not None and hasattr(part, "child"):
                    part.kill()


def _ips(ip: str) -> dict[str, object]:
    return {"brokerIP1": ip, "brokerIP2": ip}


def _fill(names_addr: str, brokers: Sequence[JavaBroker]) -> None:
    """Create the topic, with three messages in queue 1 of each broker, and a group that has read one."""
    for broker in brokers:
        wait_for_runtime_info(broker.port)
        create_topic(broker.port, TOPIC)
        send(broker.port, TOPIC, 1, 3)
        commit(broker, GROUP, TOPIC, {1: 1})
        create_topic(broker.port, f"%RETRY%{GROUP}", 1)
    with AdminClient(names_addr) as admin:

        def is_listed() -> bool:
            listed = admin.topics.list_names()
            return {TOPIC, f"%RETRY%{GROUP}"} <= set(listed) and len(
                admin.clusters.get_info().broker_groups
            ) == len(brokers)

        wait_for("the route", is_listed)
    for broker in brokers:
        wait_for("the messages", partial(_has_messages, broker))


def _has_messages(broker: JavaBroker) -> bool:
    answer = wire.ask(broker.port, 30, {"topic": TOPIC, "queueId": "1"})
    return (answer.ext or {})["offset"] == "3"


def _make_kube(
    folder: Path, network: int, name_server: JavaNameServer, brokers: Sequence[JavaBroker]
) -> StubCluster:
    folder.mkdir()
    kube = StubCluster(folder)
    kube.network = network
    names = {"component": "nameserver"}
    kube.items = [
        make_pod("names-0", NAMES_IP, [name_server.port], labels=names),
        make_service("names", names, [(9876, name_server.port)]),
    ]
    kube.servers = {f"names-0:{name_server.port}": f"{NAMES_IP}:{name_server.port}"}
    for number, (broker, ip) in enumerate(zip(brokers, (BROKER_IP, OLD_IP), strict=False)):
        kube.items.append(
            make_pod(f"broker-{number}", ip, [broker.port, broker.port + 1], labels={"component": "broker"})
        )
        for port in (broker.port, broker.port + 1):
            kube.servers[f"broker-{number}:{port}"] = f"{ip}:{port}"
    kube.save_objects()
    return kube


class KnownIds(NamedTuple):
    """The id and the unique key of a message, and the id of a living consumer; None if there is none."""

    message_id: str
    unique_key: str
    client_id: str | None


def list_daily_reads(ids: KnownIds) -> list[list[str]]:
    """The daily commands that read, with arguments that the cluster knows."""
    client_lines = f"""
        consumerConnection {TOPIC}-consumer
        consumerStatus {TOPIC}-consumer -i {ids.client_id}
        producerConnection {TOPIC}-producer {TOPIC}
        check lag -g {TOPIC}-consumer
    """
    lines = f"""
        topicRoute {TOPIC}
        topicClusterList {TOPIC}
        topicStatus {TOPIC}
        statsAll {TOPIC}
        updateOrderConf {TOPIC} get
        kvGet ways open
        brokerStatus -b broker-a --filter key=brokerVersionDesc
        getBrokerConfig -b broker-a
        haStatus -b broker-a
        brokerConsumeStats -b broker-a
        getConsumerConfig {GROUP}
        consumerProgress {GROUP}
        allocateMQ {TOPIC} -i a,b
        printMsg {TOPIC}
        printMsgByQueue {TOPIC} broker-a 1 -f true
        consumeMessage {TOPIC} -b broker-a -i 1 -c 3
        queryCq {TOPIC} 1 0 -b broker-a
        queryMsgByOffset {TOPIC} broker-a 1 0
        queryMsgById {TOPIC} {ids.message_id}
        queryMsgByUniqueKey {TOPIC} {ids.unique_key}
        queryMsgByKey {TOPIC} {KEY}
        route explain {TOPIC}
        resetOffsetByTime {GROUP} {TOPIC} -s 0 --dry-run
        consume {TOPIC} --limit 3
        getConsumeMode -b broker-a
        getColdDataFlowCtrInfo -b broker-a
        exportMetadata -b broker-a -s
        export -c DefaultCluster
        spread
        {client_lines if ids.client_id is not None else ""}
    """
    return [line.split() for line in lines.splitlines() if line.strip()]


def list_daily_changes(way_name: str, ids: KnownIds) -> list[str]:
    """The daily commands that change something, in an order in which each of them succeeds."""
    created_topic, group = f"Made-{way_name}", f"Group-{way_name}"
    hand_over = f"queryMsgByUniqueKey {TOPIC} {ids.unique_key} -g {TOPIC}-consumer -d {ids.client_id}"
    lines = f"""
        updateTopic {created_topic} -b broker-a -r 2 -w 2
        updateTopicPerm {created_topic} 6 -b broker-a
        updateOrderConf {created_topic} put -v broker-a:2
        updateSubGroup {group} -b broker-a
        sendMessage {TOPIC} text -k key-{way_name}
        sendMsgStatus broker-a -c 1
        clusterRT -a 2
        checkMsgSendRT {TOPIC} -a 2
        produce {TOPIC} text --count 2
        cloneGroupOffset {GROUP} {group} {TOPIC}
        skipAccumulatedMessage {group} {TOPIC}
        resetOffsetByTime {group} {TOPIC} -s 0
        setConsumeMode {TOPIC} {group} PULL -b broker-a
        {hand_over if ids.client_id is not None else ""}
        updateKvConfig ways {way_name} open
        deleteKvConfig ways {way_name}
        updateNamesrvConfig orderMessageEnable true
        updateBrokerConfig fileReservedTime 48 -b broker-a
        wipeWritePerm broker-a
        addWritePerm broker-a
        cleanExpiredCQ -b broker-a
        cleanUnusedTopic -b broker-a
        deleteExpiredCommitLog -b broker-a
        updateOrderConf {created_topic} delete
        deleteSubGroup {group} -b broker-a -r true
        deleteTopic {created_topic} -c DefaultCluster
    """
    return [line.strip() for line in lines.splitlines() if line.strip()]
