"""`admin.clients`: every connected client of a cluster, from brokers and proxies."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client.brokers.clusters import ClusterAdmin
from nsadmin.client.consumers.connected_clients import GroupConnections, ProducerClient
from nsadmin.client.consumers.consumer_progress import ConsumerAdmin
from nsadmin.client.consumers.groups import is_system_group
from nsadmin.client.consumers.producers import ProducerAdmin
from nsadmin.client.proxies.client_heartbeats import GRPC
from nsadmin.client.proxies.heartbeat_reader import ProxyHeartbeats
from nsadmin.client.proxies.proxies import ProxyAdmin, ProxyList, ProxyStatus

INNER_PRODUCER_GROUP = "CLIENT_INNER_PRODUCER"
"""The producer group that every Java client has, also a consumer."""


class ClusterClient(NamedTuple):
    """A connected client.

    Attributes:
        client_id: The client id; None for a gRPC connection of which only the address is known.
        client_addr: The address of the client; None if not reported, like the next three.
        language: The language, such as "JAVA".
        version: The release, such as "V5_5_0" of a remoting client or "5.2.0" of a gRPC client.
        protocol: "remoting" or "gRPC".
        consumer_groups: The groups in which it consumes, in order; None if unknown.
        producer_groups: The groups in which it produces, in order, without CLIENT_INNER_PRODUCER. None if
            unknown: no server reports the gRPC producers behind proxies in cluster mode.
        proxy_addrs: The proxies that it is connected to.
        broker_addrs: The brokers that it is connected to.
        last_heartbeat_ms: The last known heartbeat in ms since 1970.
    """

    client_id: str | None
    client_addr: str | None
    language: str | None
    version: str | None
    protocol: str | None
    consumer_groups: tuple[str, ...] | None = ()
    producer_groups: tuple[str, ...] | None = ()
    proxy_addrs: tuple[str, ...] = ()
    broker_addrs: tuple[str, ...] = ()
    last_heartbeat_ms: int | None = None


class ClientList(NamedTuple):
    """The connected clients.

    Attributes:
        clients: In the order of client ids, those without an id at the end.
        proxies: The proxies.
        errors: Address or name of a server that did not report its clients, to error.
    """

    clients: tuple[ClusterClient, ...]
    proxies: ProxyList
    errors: Mapping[str, RocketMQError]


class ClientAdmin:
    """`admin.clients`: every connected client of a cluster."""

    def __init__(
        self, clusters: ClusterAdmin, consumers: ConsumerAdmin, producers: ProducerAdmin, proxies: ProxyAdmin
    ) -> None:
        self._clusters, self._consumers, self._producers = clusters, consumers, producers
        self._proxies = proxies

    def list_clients(
        self,
        cluster_name: str | None = None,
        *,
        broker_addrs: Collection[str] | None = None,
        include_system: bool = False,
    ) -> ClientList:
        """Return every connected client once.

        Sends GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201), GET_CONSUMER_CONNECTION_LIST (203) for each group, and
        GET_ALL_PRODUCER_INFO (328) to each broker, and asks proxies like `admin.proxies.list_proxies`.

        Args:
            cluster_name: Only clients of this cluster. Default: all.
            broker_addrs: Only clients that are connected to these brokers. No proxy is asked.
            include_system: Include the clients that only have system groups, such as proxies.
        """
        if broker_addrs is None:
            broker_addrs = [
                broker_addr
                for broker_group in self._clusters.get_info().processes_in_cluster(cluster_name)
                for broker_addr in broker_group.broker_addrs.values()
            ]
            proxy_list = self._proxies.list_proxies(cluster_name)
        else:
            proxy_list = ProxyList((), {}, ProxyHeartbeats())
        broker_connections, table_errors = self._consumers.list_online_groups(broker_addrs)
        groups = {heartbeat.group for heartbeat in proxy_list.heartbeats.of_connected_clients}
        connections_by_group = self._proxies.add_clients(
            {**dict.fromkeys(groups, _NO_CONNECTIONS), **broker_connections}, heartbeats=proxy_list.heartbeats
        )
        producer_results = self._producers.list_producers(broker_addrs)
        clients_by_id: dict[str, ClusterClient] = {}
        _collect_consumers(clients_by_id, connections_by_group)
        _collect_producers(clients_by_id, [p for result in producer_results for p in result.result or ()])
        errors = {
            **{addr: error for addr, error in table_errors.items() if error is not None},
            **{result.addr: result.error for result in producer_results if result.error is not None},
            **_connection_errors(connections_by_group.values()),
            **proxy_list.errors,
        }
        clients = [client for _, client in sorted(clients_by_id.items())]
        clients = [_add_local_proxy(client, proxy_list.proxies) for client in clients]
        nameless_clients = _list_nameless(clients, proxy_list.proxies)
        shown_clients = [client for client in clients if include_system or not _is_system_client(client)]
        return ClientList((*shown_clients, *nameless_clients), proxy_list, errors)


_NO_CONNECTIONS = GroupConnections((), None, None, None, (), (), {})


def _collect_consumers(
    clients_by_id: dict[str, ClusterClient], connections_by_group: Mapping[str, GroupConnections]
) -> None:
    for group, group_connections in sorted(connections_by_group.items()):
        for group_client in group_connections.clients:
            client = ClusterClient(
                group_client.client_id,
                group_client.client_addr,
                group_client.language,
                group_client.version,
                group_client.protocol,
                (group,),
                proxy_addrs=group_client.proxy_addrs,
                broker_addrs=group_client.broker_addrs,
                last_heartbeat_ms=group_client.last_heartbeat_ms,
            )
            _add_client(clients_by_id, group_client.client_id, client)


def _collect_producers(clients_by_id: dict[str, ClusterClient], producers: Iterable[ProducerClient]) -> None:
    for producer in producers:
        groups = () if producer.producer_group == INNER_PRODUCER_GROUP else (producer.producer_group,)
        client = ClusterClient(
            producer.client_id,
            producer.client_addr,
            producer.language,
            producer.version,
            producer.protocol,
            producer_groups=groups,
            broker_addrs=(producer.broker_addr,),
            last_heartbeat_ms=producer.last_heartbeat_ms,
        )
        _add_client(clients_by_id, producer.client_id, client)


def _add_client(clients_by_id: dict[str, ClusterClient], client_id: str, client: ClusterClient) -> None:
    known_client = clients_by_id.get(client_id)
    if known_client is None:
        clients_by_id[client_id] = client
        return
    heartbeats = [known_client.last_heartbeat_ms, client.last_heartbeat_ms]
    clients_by_id[client_id] = ClusterClient(
        client_id,
        known_client.client_addr or client.client_addr,
        known_client.language or client.language,
        known_client.version or client.version,
        known_client.protocol or client.protocol,
        _merge_names(known_client.consumer_groups, client.consumer_groups),
        _merge_names(known_client.producer_groups, client.producer_groups),
        _merge_names(known_client.proxy_addrs, client.proxy_addrs),
        _merge_names(known_client.broker_addrs, client.broker_addrs),
        max((time_ms for time_ms in heartbeats if time_ms is not None), default=None),
    )


def _merge_names(known_names: tuple[str, ...] | None, more_names: tuple[str, ...] | None) -> tuple[str, ...]:
    return tuple(sorted({*(known_names or ()), *(more_names or ())}))


def _connection_errors(connections: Iterable[GroupConnections]) -> dict[str, RocketMQError]:
    return {
        a: e for c in connections for a, e in (*c.errors.items(), *c.proxy_errors.items()) if e is not None
    }


def _add_local_proxy(client: ClusterClient, proxies: Iterable[ProxyStatus]) -> ClusterClient:
    """Add the proxy in local mode that has a connection from the address of a client."""
    if client.protocol != GRPC:
        return client
    local_addrs = tuple(
        proxy.proxy_addr
        for proxy in proxies
        if proxy.mode == "local" and client.client_addr in (proxy.connection_addrs or ())
    )
    return client._replace(proxy_addrs=_merge_names(client.proxy_addrs, local_addrs))


def _list_nameless(clients: Iterable[ClusterClient], proxies: Iterable[ProxyStatus]) -> list[ClusterClient]:
    """Return the gRPC connections that belong to none of the clients."""
    known_addrs = {client.client_addr for client in clients}
    return [
        ClusterClient(None, addr, None, None, GRPC, None, None, (proxy.proxy_addr,))
        for proxy in proxies
        for addr in proxy.connection_addrs or ()
        if addr not in known_addrs
    ]


def _is_system_client(client: ClusterClient) -> bool:
    """Return whether a client has no groups but those of RocketMQ itself."""
    return not client.producer_groups and all(map(is_system_group, client.consumer_groups or ()))
