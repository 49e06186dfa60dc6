"""`admin.proxies`: the proxies of RocketMQ 5, and the consumers behind those in cluster mode."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.brokers.clusters import ClusterAdmin
from nsadmin.client.connection.access_options import Tls
from nsadmin.client.connection.caller import Caller
from nsadmin.client.consumers import client_connections
from nsadmin.client.consumers.connected_clients import ConnectedClient, GroupConnections
from nsadmin.client.messages.queue_reader import QueueReader
from nsadmin.client.proxies import grpc_connections
from nsadmin.client.proxies.client_heartbeats import PROXY_GROUP, ClientHeartbeat, ProxyIdentity
from nsadmin.client.proxies.group_merge import add_listed_clients, add_synced_clients
from nsadmin.client.proxies.grpc_connections import GrpcConnections
from nsadmin.client.proxies.heartbeat_reader import HeartbeatReader, ProxyHeartbeats
from nsadmin.client.proxies.port_probe import PortAnswer, probe_ports
from nsadmin.client.results import ServerResult
from nsadmin.client.topic_routes import parse_route, route_header
from nsadmin.client.topics.topics import TopicAdmin

_MAX_GRPC_THREADS = 16


class ProxyStatus(NamedTuple):
    """The known facts about a proxy.

    Attributes:
        proxy_addr: The address for remoting clients, "host:port", or the address that was configured. Only
            the host if nothing but the connections of the proxy to brokers is known.
        grpc_addr: The address for gRPC clients; None if unknown, like everything below.
        mode: "cluster" or "local".
        version: The release, such as "V5_5_0".
        is_answering: Whether the proxy answers; None if its ports are unknown.
        consumer_count: The connected consumers, of a proxy in cluster mode.
        connection_addrs: The addresses of all connected gRPC clients; None also without `grpcio`.
        last_heartbeat_ms: When it passed on the last heartbeat of a consumer, in ms since 1970.
        sources: "heartbeats", "configured" and "brokers": where the proxy is known from.
        error: Why it does not answer.
    """

    proxy_addr: str
    grpc_addr: str | None = None
    mode: str | None = None
    version: str | None = None
    is_answering: bool | None = None
    consumer_count: int | None = None
    connection_addrs: tuple[str, ...] | None = None
    last_heartbeat_ms: int | None = None
    sources: tuple[str, ...] = ()
    error: RocketMQError | None = None


class ProxyList(NamedTuple):
    """The proxies of a cluster.

    Attributes:
        proxies: In the order of addresses.
        errors: Address or name of a broker to its error, if it cannot report proxies. Proxies that do not
            answer have their own.
        heartbeats: The heartbeats of the consumers behind proxies in cluster mode.
    """

    proxies: tuple[ProxyStatus, ...]
    errors: Mapping[str, RocketMQError]
    heartbeats: ProxyHeartbeats


class ProxyAdmin:
    """`admin.proxies`: proxies, and the consumers behind those in cluster mode."""

    def __init__(
        self, caller: Caller, clusters: ClusterAdmin, topics: TopicAdmin, queue_reader: QueueReader
    ) -> None:
        self._caller, self._clusters = caller, clusters
        self._heartbeat_reader = HeartbeatReader(caller, topics, queue_reader)

    def get_heartbeats(self, cluster_name: str | None = None) -> ProxyHeartbeats:
        """Return the last heartbeat of each consumer behind the proxies in cluster mode.

        Proxies write them to the topic DefaultHeartBeatSyncerTopic, which is read without a consumer group.
        No proxy is asked.

        Args:
            cluster_name: Only proxies of this cluster. Default: all.
        """
        return self._heartbeat_reader.read_heartbeats(cluster_name)

    def list_proxies(self, cluster_name: str | None = None) -> ProxyList:
        """Return the proxies that are known from heartbeats, from brokers, or from `access.proxies`.

        Asks each proxy for a route (GET_ROUTEINFO_BY_TOPIC, 105) on its remoting port, and for its
        connections (gRPC Channelz) if `grpcio` is installed. A proxy in local mode is found only if it is
        configured.

        Args:
            cluster_name: Only proxies in cluster mode of this cluster, and configured ones. Default: all.
        """
        heartbeats = self.get_heartbeats(cluster_name)
        members, errors = self._list_member_hosts(cluster_name)
        statuses = _collect_candidates(heartbeats, self._caller.proxies)
        probed_addrs = [status.proxy_addr for status in statuses]
        answers = probe_ports(self._caller, probed_addrs, self._list_probe_topics())
        statuses = _merge_aliases([_apply_answer(s, answers[s.proxy_addr]) for s in statuses], answers)
        statuses = self._add_grpc_connections(statuses)
        unknown_hosts = _find_unknown_hosts(members, statuses)
        statuses += [ProxyStatus(host, mode="cluster", sources=("brokers",)) for host in unknown_hosts]
        ordered_statuses = sorted(statuses, key=lambda status: status.proxy_addr)
        return ProxyList(tuple(ordered_statuses), {**heartbeats.errors, **errors}, heartbeats)

    def get_topic_routes(self, topic: str) -> list[ServerResult[tuple[str, ...]]]:
        """Return the brokers in the route that each proxy gives clients (GET_ROUTEINFO_BY_TOPIC, 105).

        Asks the proxies in cluster mode with consumers, and those in `access.proxies`.

        Args:
            topic: The topic.

        Returns:
            One ServerResult per proxy, in the order of addresses: the broker names. The error is
            TopicNotExist if the proxy has no route.
        """
        statuses = _collect_candidates(self.get_heartbeats(), self._caller.proxies)
        route_results = self._caller.read_each(
            sorted(status.proxy_addr for status in statuses),
            parse_route,
            RequestCode.GET_ROUTEINFO_BY_TOPIC,
            route_header(topic),
        )
        return [
            r.then(lambda topic_route: tuple(queue_route.broker_name for queue_route in topic_route.queues))
            for r in route_results
        ]

    def add_clients(
        self,
        connections_by_group: Mapping[str, GroupConnections],
        cluster_name: str | None = None,
        *,
        heartbeats: ProxyHeartbeats | None = None,
    ) -> dict[str, GroupConnections]:
        """Return the connections of groups together with the clients behind proxies.

        Reads the heartbeats of proxies, and asks the configured proxies (GET_CONSUMER_CONNECTION_LIST, 203).

        Args:
            connections_by_group: Group to the clients that brokers know.
            cluster_name: Only proxies of this cluster, and configured ones. Default: all.
            heartbeats: The heartbeats of these proxies. Default: they are read.
        """
        heartbeats = self.get_heartbeats(cluster_name) if heartbeats is None else heartbeats
        heartbeats_by_group: dict[str, list[ClientHeartbeat]] = {}
        for heartbeat in heartbeats.latest:
            heartbeats_by_group.setdefault(heartbeat.group, []).append(heartbeat)
        merged_connections = {
            group: add_synced_clients(connections, heartbeats_by_group.get(group, ()), heartbeats.errors)
            for group, connections in connections_by_group.items()
        }
        configured_addrs = self._caller.proxies
        if not configured_addrs:
            return merged_connections
        remoting_addrs = {h.proxy.grpc_addr: h.proxy.remoting_addr for h in heartbeats.latest}
        listed_connections = client_connections.read_consumers(
            self._caller, list(connections_by_group), [remoting_addrs.get(a, a) for a in configured_addrs]
        )
        return {
            group: add_listed_clients(
                group_connections,
                listed_connections[group],
                {heartbeat.client.client_id for heartbeat in heartbeats_by_group.get(group, ())},
            )
            for group, group_connections in merged_connections.items()
        }

    def _list_probe_topics(self) -> list[str]:
        """Return topics of which a proxy surely has a route: each broker has a topic with its own name."""
        broker_groups = self._clusters.get_info().broker_groups
        return [broker_group.broker_name for broker_group in broker_groups][:1]

    def _list_member_hosts(
        self, cluster_name: str | None
    ) -> tuple[list[tuple[str, ...]], dict[str, RocketMQError]]:
        """Return the hosts of the proxies that are connected to brokers, and the errors of brokers.

        Several proxies on a host have the same client id there, so the longest list of a broker counts.
        """
        broker_addrs = [
            broker_addr
            for broker_group in self._clusters.get_info().groups_in_cluster(cluster_name)
            for broker_addr in broker_group.broker_addrs.values()
        ]
        member_results = client_connections.read_members(self._caller, PROXY_GROUP, broker_addrs)
        member_lists = [member_result.result for member_result in member_results if member_result.result]
        longest_list: Sequence[ConnectedClient] = max(member_lists, key=len, default=())
        return [_hosts_of_member(member) for member in longest_list], {
            result.addr: result.error for result in member_results if result.error is not None
        }

    def answers_grpc(self, grpc_addr: str, timeout_seconds: float) -> bool | None:
        """Return whether a port answers gRPC in plain text; None without `grpcio`.

        Args:
            grpc_addr: The gRPC port of a proxy, "host:port".
            timeout_seconds: The time limit.
        """
        answer = self._read_grpc_connections(grpc_addr, timeout_seconds, None)
        return None if answer is None else answer.result is not None

    def _read_grpc_connections(
        self, grpc_addr: str, timeout_seconds: float, tls: Tls | None
    ) -> ServerResult[GrpcConnections] | None:
        """The connections of a proxy, or the error; None without `grpcio`."""

        def read() -> list[Any] | None:
            if not grpc_connections.is_grpc_installed():
                return None
            result = grpc_connections.read_connections(
                grpc_addr, timeout_seconds, tls, self._caller.find_addrs
            )
            return [*result.value()]

        probe_name = "gRPC connections" if tls is None else "gRPC connections through TLS"
        try:
            fields = self._caller.run_probe(probe_name, grpc_addr, read)
        except CallError as error:
            return ServerResult(grpc_addr, None, error)
        if fields is None:
            return None
        grpc_port, client_addrs = fields
        return ServerResult(grpc_addr, GrpcConnections(grpc_port, tuple(client_addrs)), None)

    def _add_grpc_connections(self, statuses: Sequence[ProxyStatus]) -> list[ProxyStatus]:
        asked_statuses = [s for s in statuses if s.is_answering or "configured" in s.sources]
        if not asked_statuses:
            return list(statuses)
        access = self._caller.access

        def read_connections(status: ProxyStatus) -> ServerResult[GrpcConnections] | None:
            asked_addr = status.grpc_addr or status.proxy_addr
            return self._read_grpc_connections(asked_addr, access.timeout, access.tls)

        with ThreadPoolExecutor(_MAX_GRPC_THREADS) as pool:
            results = list(pool.map(read_connections, asked_statuses))
        results_by_addr = {
            status.proxy_addr: r for status, r in zip(asked_statuses, results, strict=True) if r is not None
        }
        return [
            _apply_connections(status, results_by_addr[status.proxy_addr].result)
            if status.proxy_addr in results_by_addr
            else status
            for status in statuses
        ]


def _collect_candidates(heartbeats: ProxyHeartbeats, configured_addrs: Iterable[str]) -> list[ProxyStatus]:
    statuses = {
        identity.remoting_addr: _status_of_identity(identity, heartbeats)
        for identity in sorted({heartbeat.proxy for heartbeat in heartbeats.latest})
    }
    addrs_by_grpc_addr = {status.grpc_addr: status.proxy_addr for status in statuses.values()}
    for configured_addr in configured_addrs:
        proxy_addr = addrs_by_grpc_addr.get(configured_addr, configured_addr)
        status = statuses.get(proxy_addr, ProxyStatus(proxy_addr))
        statuses[proxy_addr] = status._replace(sources=(*status.sources, "configured"))
    return list(statuses.values())


def _status_of_identity(identity: ProxyIdentity, heartbeats: ProxyHeartbeats) -> ProxyStatus:
    own_heartbeats = [heartbeat for heartbeat in heartbeats.latest if heartbeat.proxy == identity]
    connected_ids = {heartbeat.client.client_id for heartbeat in own_heartbeats if heartbeat.is_connected}
    return ProxyStatus(
        identity.remoting_addr,
        identity.grpc_addr,
        "cluster",
        consumer_count=len(connected_ids),
        last_heartbeat_ms=max(heartbeat.client.last_heartbeat_ms or 0 for heartbeat in own_heartbeats),
        sources=("heartbeats",),
    )


def _apply_answer(status: ProxyStatus, answer: PortAnswer) -> ProxyStatus:
    return status._replace(
        grpc_addr=status.grpc_addr or answer.grpc_addr,
        mode=status.mode or answer.mode,
        version=answer.version,
        is_answering=answer.error is None,
        error=answer.error,
    )


def _merge_aliases(statuses: Sequence[ProxyStatus], answers: Mapping[str, PortAnswer]) -> list[ProxyStatus]:
    """Merge a proxy that is configured under another address than that of its heartbeats."""
    statuses_by_addr = {status.proxy_addr: status for status in statuses}
    for status in statuses:
        own_addr = answers[status.proxy_addr].own_addr
        if own_addr is not None and own_addr != status.proxy_addr and own_addr in statuses_by_addr:
            del statuses_by_addr[status.proxy_addr]
            own_status = statuses_by_addr[own_addr]
            own_sources = dict.fromkeys((*own_status.sources, *status.sources))
            statuses_by_addr[own_addr] = (
                own_status
                if own_status.is_answering
                else status._replace(
                    proxy_addr=own_addr,
                    consumer_count=own_status.consumer_count,
                    last_heartbeat_ms=own_status.last_heartbeat_ms,
                    grpc_addr=own_status.grpc_addr,
                )
            )._replace(sources=tuple(own_sources))
    return list(statuses_by_addr.values())


def _apply_connections(status: ProxyStatus, connections: GrpcConnections | None) -> ProxyStatus:
    if connections is None:
        return status
    host = status.proxy_addr.rpartition(":")[0]
    known_grpc_addr = None if connections.grpc_port is None else f"{host}:{connections.grpc_port}"
    return status._replace(
        grpc_addr=status.grpc_addr or known_grpc_addr,
        is_answering=True,
        connection_addrs=connections.client_addrs,
        error=None,
    )


def _hosts_of_member(member: ConnectedClient) -> tuple[str, ...]:
    """Return the host in the client id, and the one that the broker sees."""
    seen_host = (member.client_addr or "").rpartition(":")[0]
    return tuple(filter(None, (seen_host, member.client_id.partition("@")[0])))


def _find_unknown_hosts(members: Iterable[tuple[str, ...]], statuses: Iterable[ProxyStatus]) -> list[str]:
    """Return the host of each connected proxy that is not in the list."""
    known_hosts = [status.proxy_addr.rpartition(":")[0] for status in statuses if status.mode != "local"]
    unknown_hosts = []
    for hosts in members:
        known_host = next((host for host in hosts if host in known_hosts), None)
        if known_host is None:
            unknown_hosts.append(hosts[0])
        else:
            known_hosts.remove(known_host)
    return unknown_hosts
