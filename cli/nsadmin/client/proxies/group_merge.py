"""Merges the clients behind proxies into the clients of a group that brokers know. Pure."""

from collections.abc import Iterable, Mapping, Set

from namesrv_core.errors import RocketMQError
from nsadmin.client.consumers.connected_clients import (
    ConnectedClient,
    GroupConnections,
    TopicSubscription,
    merge_clients,
)
from nsadmin.client.proxies.client_heartbeats import ClientHeartbeat


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
