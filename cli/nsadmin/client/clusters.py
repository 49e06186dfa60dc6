"""`admin.clusters`: the brokers that name servers list, and the status of each broker."""

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
    """A master and its slaves.

    Attributes:
        cluster_name: The cluster.
        broker_name: The name that master and slaves share.
        broker_addrs: Broker id (0 is the master) to "host:port", in the order of ids.
    """

    cluster_name: str
    broker_name: str
    broker_addrs: dict[int, str]

    @property
    def master(self) -> str | None:
        """The address of the master; None if the group has no master now."""
        return self.broker_addrs.get(MASTER_ID)


class ClusterInfo(NamedTuple):
    """All clusters of a name server.

    Attributes:
        cluster_names: The names in order.
        broker_groups: One BrokerAddrGroup per cluster and broker name, in the order of names.
    """

    cluster_names: tuple[str, ...]
    groups: tuple[BrokerGroup, ...]

    def in_cluster(self, cluster_name: str | None) -> tuple[BrokerGroup, ...]:
        """Return the broker groups of one cluster, or of all clusters for None.

        Raises:
            NotFound: The name server does not know the cluster.
        """
        if cluster_name is None:
            return self.groups
        if cluster_name not in self.cluster_names:
            known = ", ".join(self.cluster_names) or "none"
            raise NotFound(f"no cluster {cluster_name!r}: the name server knows {known}")
        return tuple(group for group in self.groups if group.cluster_name == cluster_name)

    def clusters_of(self, broker_name: str) -> set[str]:
        """Return the names of the clusters that have a broker with this name."""
        return {group.cluster_name for group in self.groups if group.broker_name == broker_name}


class Heartbeat(NamedTuple):
    """The age of a broker's last heartbeat on a name server.

    Attributes:
        silent_ms: Milliseconds since the last heartbeat.
        timeout_ms: Milliseconds after which the name server drops the broker.
    """

    silent_millis: int
    timeout_millis: int

    @property
    def share(self) -> float:
        """The elapsed share of the timeout; at 1.0 the name server drops the broker."""
        return self.silent_millis / self.timeout_millis if self.timeout_millis > 0 else 1.0


class Heard(NamedTuple):
    """The clusters of one name server, with the age of the brokers' heartbeats.

    Attributes:
        info: The clusters.
        heartbeats: Broker address to HeartbeatAge; None if the name server does not report it, like Java's.
    """

    info: ClusterInfo
    heartbeats: Mapping[str, Heartbeat] | None


class BrokerStatus(NamedTuple):
    """The status of one broker process.

    A broker that answers with an error (4.9 does in its first seconds) is reachable, but not ready.

    Attributes:
        cluster_name: The cluster.
        broker_name: The broker group.
        broker_id: The id; 0 is the master.
        broker_addr: The address, "host:port".
        runtime_info: The runtime information; None after an error.
        error: The error; None after a success.
    """

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    runtime: RuntimeInfo | None
    error: RocketMQError | None

    @property
    def reachable(self) -> bool:
        """Whether the broker answered, with a result or with an error."""
        return not isinstance(self.error, CallError)


class Clusters:
    """`admin.clusters`: the brokers that name servers list, and the status of each broker."""

    def __init__(self, reader: Reader, brokers: Brokers) -> None:
        self._reader = reader
        self._brokers = brokers

    def info(self) -> ClusterInfo:
        """Return all clusters, as one name server lists them (GET_BROKER_CLUSTER_INFO, 106)."""
        return self._reader.read("the clusters", cluster_info, RequestCode.GET_BROKER_CLUSTER_INFO)

    def info_each(self) -> list[ServerResult[ClusterInfo]]:
        """Return all clusters, as every name server lists them (GET_BROKER_CLUSTER_INFO, 106).

        Returns:
            One ServerResult per name server.
        """
        return self._reader.each(cluster_info, RequestCode.GET_BROKER_CLUSTER_INFO)

    def heard_each(self) -> list[ServerResult[Heard]]:
        """Return all clusters and heartbeat ages from every name server (GET_BROKER_CLUSTER_INFO, 106).

        Only this project's name servers report heartbeat ages; Java's ignore the request field.

        Returns:
            One ServerResult per name server.
        """
        ext = headers.write(headers.GetClusterInfo(with_heartbeats=True))
        return self._reader.each(_heard, RequestCode.GET_BROKER_CLUSTER_INFO, ext)

    def masters(self, cluster_name: str | None = None) -> list[str]:
        """Return the addresses of all masters, for a change that must reach every broker.

        Reads one name server (GET_BROKER_CLUSTER_INFO, 106).

        Args:
            cluster_name: The cluster. Default: all clusters.

        Raises:
            NotFound: No such cluster, or it has no brokers.
            NotApplied: A broker has no master now, so a change would leave it out.
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
        """Return the status of every master and slave.

        Reads one name server (106), then all brokers at once (GET_BROKER_RUNTIME_INFO, 28).

        Args:
            cluster_name: The cluster. Default: all clusters.

        Raises:
            NotFound: The name server does not know the cluster.
        """
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
    """Parse a ClusterInfo body. A broker that is listed in a cluster but not registered has no addresses."""
    body = json_object(command)
    brokers = body.get("brokerAddrTable") or {}
    clusters = {name: texts(members) for name, members in (body.get("clusterAddrTable") or {}).items()}
    groups = (
        BrokerGroup(cluster, name, broker_addrs((brokers.get(name) or {}).get("brokerAddrs")))
        for cluster, members in clusters.items()
        for name in set(members)
    )
    return ClusterInfo(tuple(sorted(clusters)), tuple(sorted(groups, key=lambda group: group[:2])))
