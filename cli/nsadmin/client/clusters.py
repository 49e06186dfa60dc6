"""Clusters: which brokers a name server knows, and how each of them is doing."""

import json
from collections.abc import Mapping
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import MASTER_ID, RequestCode
from namesrv_core.protocol.command import Command
from namesrv_core.transport.calls import CallError
from nsadmin.client.bodies import broker_addrs, json_object, texts
from nsadmin.client.brokers import Brokers, RuntimeInfo
from nsadmin.client.results import NotApplied, NotFound, ServerResult
from nsadmin.client.retry import Reader


class BrokerGroup(NamedTuple):
    """A master and its slaves: broker id (0 is the master) to "host:port", in the order of ids."""

    cluster_name: str
    broker_name: str
    broker_addrs: dict[int, str]

    @property
    def master(self) -> str | None:
        """The master's address; None where there is none now."""
        return self.broker_addrs.get(MASTER_ID)


class ClusterInfo(NamedTuple):
    """Every broker group of every cluster, in the order of names."""

    cluster_names: tuple[str, ...]
    groups: tuple[BrokerGroup, ...]

    def in_cluster(self, cluster_name: str | None) -> tuple[BrokerGroup, ...]:
        """The groups of one cluster, or of all for None; NotFound for a cluster that is not there."""
        if cluster_name is None:
            return self.groups
        if cluster_name not in self.cluster_names:
            known = ", ".join(self.cluster_names) or "none"
            raise NotFound(f"no cluster {cluster_name!r}: the name server knows {known}")
        return tuple(group for group in self.groups if group.cluster_name == cluster_name)

    def clusters_of(self, broker_name: str) -> set[str]:
        """The names of the clusters that have a broker of that name."""
        return {group.cluster_name for group in self.groups if group.broker_name == broker_name}


class Heartbeat(NamedTuple):
    """For how long a name server has not heard of a broker, and how long it waits for it; in ms."""

    silent_millis: int
    timeout_millis: int

    @property
    def share(self) -> float:
        """The part of its time that the broker has let pass; at 1 it is gone."""
        return self.silent_millis / self.timeout_millis if self.timeout_millis > 0 else 1.0


class Heard(NamedTuple):
    """What one name server lists; `heartbeats` are by address, None where it does not tell, as Java's."""

    info: ClusterInfo
    heartbeats: Mapping[str, Heartbeat] | None


class BrokerStatus(NamedTuple):
    """One broker process: `runtime` is None where it did not answer, and `error` says why.

    A broker that answers with an error instead (4.9 does in its first seconds) is reachable, not ready.
    """

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    runtime: RuntimeInfo | None
    error: RocketMQError | None

    @property
    def reachable(self) -> bool:
        """Whether it answered, be it with an error."""
        return not isinstance(self.error, CallError)


class Clusters:
    """`admin.clusters`."""

    def __init__(self, reader: Reader, brokers: Brokers) -> None:
        self._reader = reader
        self._brokers = brokers

    def info(self) -> ClusterInfo:
        """All clusters as the name server lists them (GET_BROKER_CLUSTER_INFO)."""
        return self._reader.read("the clusters", cluster_info, RequestCode.GET_BROKER_CLUSTER_INFO)

    def info_each(self) -> list[ServerResult[ClusterInfo]]:
        """All clusters as each name server lists them, whatever the others say."""
        return self._reader.each(cluster_info, RequestCode.GET_BROKER_CLUSTER_INFO)

    def heard_each(self) -> list[ServerResult[Heard]]:
        """All clusters as each name server lists them, and when it heard of whom if it tells."""
        ext = headers.write(headers.GetClusterInfo(with_heartbeats=True))
        return self._reader.each(_heard, RequestCode.GET_BROKER_CLUSTER_INFO, ext)

    def masters(self, cluster_name: str | None = None) -> list[str]:
        """The address of each broker's master, of one cluster or of all, as what changes brokers wants it.

        NotFound for a cluster that is not there or has no brokers, NotApplied if a broker has no master now:
        whoever changes all of them should not leave one out without knowing.
        """
        found = []
        for group in self.info().in_cluster(cluster_name):
            if group.master is None:
                raise NotApplied(f"{group.broker_name} has no master now")
            found.append(group.master)
        if not found:
            raise NotFound(f"no broker is registered in the cluster {cluster_name!r}")
        return found

    def status(self, cluster_name: str | None = None) -> list[BrokerStatus]:
        """Every broker of one cluster or of all, each asked for its runtime info at the same time."""
        members = [
            (group, broker_id, addr)
            for group in self.info().in_cluster(cluster_name)
            for broker_id, addr in group.broker_addrs.items()
        ]
        infos = self._brokers.runtime_infos([addr for _, _, addr in members])
        return [
            BrokerStatus(group.cluster_name, group.broker_name, broker_id, addr, info.result, info.error)
            for (group, broker_id, addr), info in zip(members, infos, strict=True)
        ]


def _heard(command: Command) -> Heard:
    text = (command.ext or {}).get("heartbeats")
    if text is None:
        return Heard(cluster_info(command), None)
    told = {addr: Heartbeat(*map(int, pair)) for addr, pair in json.loads(text).items()}
    return Heard(cluster_info(command), told)


def cluster_info(command: Command) -> ClusterInfo:
    """ClusterInfo: a broker name that its cluster lists but nobody registered has no addresses."""
    body = json_object(command)
    brokers = body.get("brokerAddrTable") or {}
    clusters = {name: texts(members) for name, members in (body.get("clusterAddrTable") or {}).items()}
    groups = (
        BrokerGroup(cluster, name, broker_addrs((brokers.get(name) or {}).get("brokerAddrs")))
        for cluster, members in clusters.items()
        for name in set(members)
    )
    return ClusterInfo(tuple(sorted(clusters)), tuple(sorted(groups, key=lambda group: group[:2])))
