"""`admin.clusters`: the brokers that name servers list, and the status of each broker."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import MASTER_BROKER_ID, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.brokers.brokers import BrokerAdmin, RuntimeInfo
from nsadmin.client.connection.json_object import JsonObject, to_integer, to_list
from nsadmin.client.connection.name_server_reader import NameServerReader
from nsadmin.client.connection.response_bodies import parse_broker_addrs, parse_json_object
from nsadmin.client.results import NotApplied, NotFound, ServerResult


class BrokerAddrGroup(NamedTuple):
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
    def master_addr(self) -> str | None:
        """The address of the master; None if the group has no master now."""
        return self.broker_addrs.get(MASTER_BROKER_ID)


class ClusterInfo(NamedTuple):
    """All clusters of a name server.

    Attributes:
        cluster_names: The names in order.
        broker_groups: One BrokerAddrGroup per cluster and broker name, in the order of names.
    """

    cluster_names: tuple[str, ...]
    broker_groups: tuple[BrokerAddrGroup, ...]

    def groups_in_cluster(self, cluster_name: str | None) -> tuple[BrokerAddrGroup, ...]:
        """Return the broker groups of one cluster, or of all clusters for None.

        Args:
            cluster_name: The cluster; None for all.

        Returns:
            The groups in the order of names.

        Raises:
            NotFound: The name server does not know the cluster.
        """
        if cluster_name is None:
            return self.broker_groups
        if cluster_name not in self.cluster_names:
            known_clusters = ", ".join(self.cluster_names) or "no cluster"
            raise NotFound(f'no cluster "{cluster_name}": name servers list {known_clusters}')
        return tuple(group for group in self.broker_groups if group.cluster_name == cluster_name)

    def processes_in_cluster(self, cluster_name: str | None) -> tuple[BrokerAddrGroup, ...]:
        """Return the groups of `groups_in_cluster` with each process once, for sums and changes.

        A broker that was renamed has its former name as well, with the same address. The first name counts,
        and a master before a slave.

        Args:
            cluster_name: The cluster; None for all.

        Raises:
            NotFound: The name server does not know the cluster.
        """
        broker_groups = self.groups_in_cluster(cluster_name)
        places = [
            (broker_id, group_index, broker_addr)
            for group_index, broker_group in enumerate(broker_groups)
            for broker_id, broker_addr in broker_group.broker_addrs.items()
        ]
        first_places = {place[2]: place[:2] for place in sorted(places, reverse=True)}
        distinct_groups = []
        for group_index, broker_group in enumerate(broker_groups):
            own_addrs = {
                broker_id: broker_addr
                for broker_id, broker_addr in broker_group.broker_addrs.items()
                if first_places[broker_addr] == (broker_id, group_index)
            }
            if own_addrs or not broker_group.broker_addrs:
                distinct_groups.append(broker_group._replace(broker_addrs=own_addrs))
        return tuple(distinct_groups)

    def clusters_of_broker(self, broker_name: str) -> set[str]:
        """Return the names of the clusters that have a broker with this name.

        Args:
            broker_name: The broker name.

        Returns:
            The names; an empty set for an unknown broker.
        """
        return {group.cluster_name for group in self.broker_groups if group.broker_name == broker_name}


class HeartbeatAge(NamedTuple):
    """The age of a broker's last heartbeat on a name server.

    Attributes:
        silent_ms: Milliseconds since the last heartbeat.
        timeout_ms: Milliseconds after which the name server drops the broker.
    """

    silent_ms: int
    timeout_ms: int

    @property
    def elapsed_share(self) -> float:
        """The elapsed share of the timeout; at 1.0 the name server drops the broker."""
        return self.silent_ms / self.timeout_ms if self.timeout_ms > 0 else 1.0


class HeartbeatListing(NamedTuple):
    """The clusters of one name server, with the age of the brokers' heartbeats.

    Attributes:
        info: The clusters.
        heartbeats: Broker address to HeartbeatAge; None if the name server does not report it, like Java's.
    """

    info: ClusterInfo
    heartbeats: Mapping[str, HeartbeatAge] | None


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
    runtime_info: RuntimeInfo | None
    error: RocketMQError | None

    @property
    def is_reachable(self) -> bool:
        """Whether the broker answered, with a result or with an error."""
        return not isinstance(self.error, CallError)


def find_shared_addrs(broker_groups: Iterable[BrokerAddrGroup]) -> dict[str, list[str]]:
    """Return the addresses that several broker names have, with these names in order.

    A name server keeps the former name of a broker that was renamed, so both lead to one process.
    """
    names_by_addr: dict[str, set[str]] = {}
    for broker_group in broker_groups:
        for broker_addr in broker_group.broker_addrs.values():
            names_by_addr.setdefault(broker_addr, set()).add(broker_group.broker_name)
    return {addr: sorted(names) for addr, names in sorted(names_by_addr.items()) if len(names) > 1}


def describe_shared_addr(broker_addr: str, broker_names: Sequence[str]) -> str:
    """Describe an address of several names, in words."""
    return f"{' and '.join(broker_names)} are one process, at {broker_addr}"


def refuse_shared_addrs(shared_addrs: Mapping[str, Sequence[str]]) -> None:
    """Refuse a change of several brokers, of which some are one process."""
    for broker_addr, broker_names in shared_addrs.items():
        raise NotApplied(
            f"{describe_shared_addr(broker_addr, broker_names)}: restart the name servers one by one to "
            "remove former names, then run the command again"
        )


class ClusterAdmin:
    """`admin.clusters`: the brokers that name servers list, and the status of each broker."""

    def __init__(self, reader: NameServerReader, brokers: BrokerAdmin) -> None:
        self._reader, self._brokers = reader, brokers
        self._latest_infos: list[ClusterInfo] = []

    def get_info(self) -> ClusterInfo:
        """Return all clusters, as one name server lists them (GET_BROKER_CLUSTER_INFO, 106)."""
        self._latest_infos = []
        return self._reader.read_first(
            "the clusters", self._parse_and_keep, RequestCode.GET_BROKER_CLUSTER_INFO
        )

    def _parse_and_keep(self, response: RemotingCommand) -> ClusterInfo:
        cluster_info = parse_cluster_info(response)
        self._latest_infos.append(cluster_info)
        return cluster_info

    def list_latest_groups(self) -> list[BrokerAddrGroup]:
        """Return the broker groups of all answers to the latest `get_info`; one group per answer."""
        return [group for cluster_info in self._latest_infos for group in cluster_info.broker_groups]

    def get_info_each(self) -> list[ServerResult[ClusterInfo]]:
        """Return all clusters, as every name server lists them (GET_BROKER_CLUSTER_INFO, 106).

        Returns:
            One ServerResult per name server.
        """
        return self._reader.read_each(parse_cluster_info, RequestCode.GET_BROKER_CLUSTER_INFO)

    def get_heartbeats_each(self) -> list[ServerResult[HeartbeatListing]]:
        """Return all clusters and heartbeat ages from every name server (GET_BROKER_CLUSTER_INFO, 106).

        Only this project's name servers report heartbeat ages; Java's ignore the request field.

        Returns:
            One ServerResult per name server.
        """
        ext_fields = headers.GetClusterInfo(with_heartbeats=True)
        return self._reader.read_each(_parse_heartbeats, RequestCode.GET_BROKER_CLUSTER_INFO, ext_fields)

    def list_masters(self, cluster_name: str | None = None) -> list[str]:
        """Return the addresses of all masters, for a change that must reach every broker.

        Reads one name server (GET_BROKER_CLUSTER_INFO, 106).

        Args:
            cluster_name: The cluster. Default: None for all clusters.

        Returns:
            The addresses, in the order of cluster and broker names.

        Raises:
            NotFound: No such cluster, or it has no brokers.
            NotApplied: A broker has no master now, so a change would leave it out.
            NoneReachable: No name server answered.
        """
        master_addrs = []
        for broker_group in self.get_info().processes_in_cluster(cluster_name):
            if broker_group.master_addr is None:
                raise NotApplied(f"{broker_group.broker_name} has no master now")
            master_addrs.append(broker_group.master_addr)
        if not master_addrs:
            raise NotFound(f'no broker is registered in the cluster "{cluster_name}"')
        return master_addrs

    def list_broker_status(self, cluster_name: str | None = None) -> list[BrokerStatus]:
        """Return the status of every master and slave.

        Reads one name server (106), then all brokers at once (GET_BROKER_RUNTIME_INFO, 28).

        Args:
            cluster_name: The cluster. Default: None for all clusters.

        Returns:
            One BrokerStatus per process, in the order of cluster names, broker names and ids.

        Raises:
            NotFound: The name server does not know the cluster.
            NoneReachable: No name server answered.
        """
        group_members = [
            (broker_group, broker_id, broker_addr)
            for broker_group in self.get_info().groups_in_cluster(cluster_name)
            for broker_id, broker_addr in broker_group.broker_addrs.items()
        ]
        runtime_results = self._brokers.get_runtime_info([broker_addr for _, _, broker_addr in group_members])
        return [
            BrokerStatus(group.cluster_name, group.broker_name, broker_id, broker_addr, r.result, r.error)
            for (group, broker_id, broker_addr), r in zip(group_members, runtime_results, strict=True)
        ]


def _parse_heartbeats(response: RemotingCommand) -> HeartbeatListing:
    heartbeats_text = (response.ext or {}).get("heartbeats")
    if heartbeats_text is None:
        return HeartbeatListing(parse_cluster_info(response), None)
    heartbeats = JsonObject(json.loads(heartbeats_text), "heartbeats")
    heartbeats_by_addr = {
        addr: HeartbeatAge(*(to_integer(item, addr) for item in to_list(age_and_timeout, addr)))
        for addr, age_and_timeout in heartbeats.members.items()
    }
    return HeartbeatListing(parse_cluster_info(response), heartbeats_by_addr)


def parse_cluster_info(response: RemotingCommand) -> ClusterInfo:
    """Parse a ClusterInfo body. A broker that is listed in a cluster but not registered has no addresses."""
    json_body = parse_json_object(response)
    broker_table = json_body.child("brokerAddrTable")
    cluster_table = json_body.child("clusterAddrTable")
    brokers_by_cluster = {name: cluster_table.texts(name) for name in cluster_table.members}
    broker_groups = (
        BrokerAddrGroup(cluster_name, n, parse_broker_addrs(broker_table.child(n).child("brokerAddrs")))
        for cluster_name, broker_names in brokers_by_cluster.items()
        for n in set(broker_names)
    )
    return ClusterInfo(tuple(sorted(brokers_by_cluster)), tuple(sorted(broker_groups, key=lambda g: g[:2])))
