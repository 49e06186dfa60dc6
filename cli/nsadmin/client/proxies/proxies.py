"""`admin.proxies`: the proxies of RocketMQ 5, and the consumers behind those in cluster mode."""

from collections.abc import Iterable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from namesrv_core.errors import ResponseCode, RocketMQError
from namesrv_core.protocol.codes import RequestCode, version_text
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.brokers.clusters import ClusterAdmin
from nsadmin.client.connection.access_options import Tls
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.consumers.connected_clients import (
    ConnectedClient,
    GroupConnections,
    TopicSubscription,
    merge_clients,
    read_consumers,
    read_members,
)
from nsadmin.client.messages.queue_reader import QueueReader
from nsadmin.client.proxies import grpc_connections
from nsadmin.client.proxies.client_heartbeats import (
    HEARTBEAT_TOPIC,
    PROXY_GROUP,
    ClientHeartbeat,
    ProxyIdentity,
)
from nsadmin.client.proxies.grpc_connections import GrpcConnections
from nsadmin.client.proxies.heartbeat_reader import HeartbeatReader, ProxyHeartbeats
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.topic_routes import parse_route, route_header
from nsadmin.client.topics.topics import TopicAdmin

_EVERY_CODE = range(1 << 31)
_MAX_GRPC_THREADS = 16


class PortAnswer(NamedTuple):
    """The answer of the remoting port of a proxy.

    Attributes:
        version: The release, such as "V5_5_0"; None after an error.
        mode: "cluster" or "local"; None if the proxy has no route of the topics, or denies it.
        own_addr: The address that a proxy in cluster mode gives remoting clients.
        grpc_addr: The address for gRPC clients; known for a proxy in local mode.
        error: Why it did not answer.
    """

    version: str | None
    mode: str | None
    own_addr: str | None
    grpc_addr: str | None
    error: RocketMQError | None


def probe_ports(caller: Caller, proxy_addrs: Iterable[str], topics: Iterable[str]) -> dict[str, PortAnswer]:
    """Ask each proxy for routes (GET_ROUTEINFO_BY_TOPIC, 105), all at once.

    In a route of a proxy, all brokers have the address of the proxy (ProxyTopicRouteData upstream). It is the
    address for remoting clients in cluster mode, and for gRPC clients in local mode. A response has the
    version of the proxy.
    """
    proxy_addrs = list(dict.fromkeys(proxy_addrs))
    asked_topics = [HEARTBEAT_TOPIC, *topics]
    answers = caller.send_requests(
        [
            (proxy_addr, make_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, route_header(topic)))
            for proxy_addr in proxy_addrs
            for topic in asked_topics
        ],
        accepted_codes=_EVERY_CODE,
    )
    count = len(asked_topics)
    return {
        proxy_addr: _read_answers(
            proxy_addr,
            [answer.result for answer in answers[index * count : (index + 1) * count]],
            next((answer.error for answer in answers[index * count : (index + 1) * count]), None),
        )
        for index, proxy_addr in enumerate(proxy_addrs)
    }


def _read_answers(
    proxy_addr: str, responses: Sequence[RemotingCommand | None], error: RocketMQError | None
) -> PortAnswer:
    known_responses = [response for response in responses if response is not None]
    if not known_responses:
        return PortAnswer(None, None, None, None, error)
    version = version_text(known_responses[0].version)
    if all(r.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED for r in known_responses):
        refusal = NotApplied("this is not a proxy: it returns no routes")
        return PortAnswer(version, None, None, None, refusal)
    for response in known_responses:
        route_addr = _find_route_addr(response)
        if route_addr is not None:
            is_cluster = route_addr.rpartition(":")[2] == proxy_addr.rpartition(":")[2]
            if is_cluster:
                return PortAnswer(version, "cluster", route_addr, None, None)
            return PortAnswer(version, "local", None, route_addr, None)
    return PortAnswer(version, None, None, None, None)


def _find_route_addr(response: RemotingCommand) -> str | None:
    """Return the only address in a route; None without a route or with several addresses."""
    if response.code != 0 or not response.body:
        return None
    try:
        queue_routes = parse_route(response).queues
    except (ValueError, TypeError, AttributeError, KeyError):
        return None
    addrs = {addr for queue_route in queue_routes for addr in queue_route.broker_addrs.values()}
    return addrs.pop() if len(addrs) == 1 else None


def add_synced_clients(
    group_connections: GroupConnections,
    group_heartbeats: Iterable[ClientHeartbeat],
    heartbeat_errors: Mapping[str, RocketMQError],
) -> GroupConnections:
    """Add the clients whose heartbeats proxies passed on."""
    connected_heartbeats = [heartbeat for heartbeat in group_heartbeats if heartbeat.is_connected]
    merged_connections = group_connections._replace(
        proxy_errors={**group_connections.proxy_errors, **heartbeat_errors}
    )
    if not connected_heartbeats:
        return merged_connections
    first_proxy = connected_heartbeats[0]
    subscriptions_by_topic = {item.topic: item for item in group_connections.subscriptions}
    disagreements = list(group_connections.disagreements)
    for heartbeat in connected_heartbeats:
        disagreements += _compare_subscriptions(heartbeat.client, subscriptions_by_topic)
    return merged_connections._replace(
        clients=merge_clients([*group_connections.clients, *(h.client for h in connected_heartbeats)]),
        consume_type=group_connections.consume_type or first_proxy.client.consume_type,
        message_model=group_connections.message_model or first_proxy.message_model,
        consume_from_where=group_connections.consume_from_where or first_proxy.consume_from_where,
        subscriptions=tuple(subscriptions_by_topic[topic] for topic in sorted(subscriptions_by_topic)),
        disagreements=tuple(disagreements),
    )


def _compare_subscriptions(
    client: ConnectedClient, subscriptions_by_topic: dict[str, TopicSubscription]
) -> list[str]:
    """Add the subscriptions of a client to those of its group; return a line per difference."""
    disagreements = []
    for subscription in client.subscriptions or ():
        first_subscription = subscriptions_by_topic.setdefault(subscription.topic, subscription)
        if first_subscription != subscription:
            disagreements.append(
                f"{client.client_id} has {subscription} for {subscription.topic}, others {first_subscription}"
            )
    return disagreements


def add_listed_clients(
    group_connections: GroupConnections, listed_connections: GroupConnections, synced_ids: Set[str]
) -> GroupConnections:
    """Add the clients that configured proxies list.

    Proxies in cluster mode list a client for two minutes after its last heartbeat, so the heartbeats decide
    about the clients in them.
    """
    known_ids = {client.client_id for client in group_connections.clients}
    listed_clients = [
        _move_to_proxies(client, client.client_id in known_ids)
        for client in listed_connections.clients
        if client.client_id not in synced_ids
    ]
    has_new_clients = any(client.client_id not in known_ids for client in listed_clients)
    proxy_errors = {addr: error for addr, error in listed_connections.errors.items() if error is not None}
    merged_connections = group_connections._replace(
        clients=merge_clients([*group_connections.clients, *listed_clients]),
        proxy_errors={**group_connections.proxy_errors, **proxy_errors},
    )
    if not has_new_clients or group_connections.consume_type is not None:
        return merged_connections
    return merged_connections._replace(
        consume_type=listed_connections.consume_type,
        message_model=listed_connections.message_model,
        consume_from_where=listed_connections.consume_from_where,
        subscriptions=listed_connections.subscriptions,
    )


def _move_to_proxies(client: ConnectedClient, is_known: bool) -> ConnectedClient:
    """Return a listed client with its proxies.

    A remoting client that a broker knows may be connected to the broker itself. A client that several
    proxies list is connected to an unknown one of them.
    """
    is_certain = client.protocol == "gRPC" if is_known else len(client.broker_addrs) == 1
    return client._replace(broker_addrs=(), proxy_addrs=client.broker_addrs if is_certain else ())


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

    def get_topic_routes(
        self, topic: str, proxy_addrs: Iterable[str] | None = None
    ) -> list[ServerResult[tuple[str, ...]]]:
        """Return the brokers in the route that each proxy gives clients (GET_ROUTEINFO_BY_TOPIC, 105).

        Args:
            topic: The topic.
            proxy_addrs: The proxies to ask. Default: those in cluster mode with consumers, and those in
                `access.proxies`.

        Returns:
            One ServerResult per proxy, in the order of addresses: the broker names. The error is
            TopicNotExist if the proxy has no route.
        """
        if proxy_addrs is None:
            statuses = _collect_candidates(self.get_heartbeats(), self._caller.proxies)
            proxy_addrs = [status.proxy_addr for status in statuses]
        route_results = self._caller.read_each(
            sorted(proxy_addrs),
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
        listed_connections = read_consumers(
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

    def _list_member_hosts(self, name: str | None) -> tuple[list[tuple[str, ...]], dict[str, RocketMQError]]:
        """Return the hosts of the proxies that are connected to brokers, and the errors of brokers.

        Several proxies on a host have the same client id there, so the longest list of a broker counts.
        """
        broker_addrs = [
            a for g in self._clusters.get_info().groups_in_cluster(name) for a in g.broker_addrs.values()
        ]
        member_results = read_members(self._caller, PROXY_GROUP, broker_addrs)
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
        self, addr: str, timeout_seconds: float, tls: Tls | None
    ) -> ServerResult[GrpcConnections] | None:
        """The connections of a proxy, or the error; None without `grpcio`."""

        def read() -> list[Any] | None:
            if not grpc_connections.is_grpc_installed():
                return None
            result = grpc_connections.read_connections(addr, timeout_seconds, tls, self._caller.find_addrs)
            return [*result.value()]

        probe_name = "gRPC connections" if tls is None else "gRPC connections through TLS"
        try:
            fields = self._caller.run_probe(probe_name, addr, read)
        except CallError as error:
            return ServerResult(addr, None, error)
        if fields is None:
            return None
        grpc_port, client_addrs = fields
        return ServerResult(addr, GrpcConnections(grpc_port, tuple(client_addrs)), None)

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
