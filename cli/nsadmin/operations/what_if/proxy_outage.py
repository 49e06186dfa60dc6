"""Predicts which consumer groups and clients lose their connection without some proxies."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, NotFound
from nsadmin.client.proxies.cluster_clients import ClientList, ClusterClient
from nsadmin.client.proxies.proxies import ProxyStatus
from nsadmin.operations.what_if.name_server_outage import SameServerTest


class GroupConnectionLoss(NamedTuple):
    """A group that loses clients: how many are connected, and how many remain."""

    group: str
    client_count: int
    remaining_count: int


class ProxyOutage(NamedTuple):
    """The predicted losses, groups without remaining clients first.

    `lost_clients` are connected through these proxies only. `local_addrs` are those of the proxies that run
    in local mode, whose brokers would stop as well. `errors` are those of servers that did not answer.
    """

    group_losses: Sequence[GroupConnectionLoss]
    lost_clients: Sequence[ClusterClient]
    local_addrs: Sequence[str]
    errors: Mapping[str, RocketMQError]


def foresee_proxy_outage(
    admin: AdminClient, down_addrs: Sequence[str], is_same_server: SameServerTest
) -> ProxyOutage:
    """Predict the losses without these proxies, each given by its remoting or gRPC address.

    Raises:
        NotFound: No proxy has one of the addresses.
    """
    clients = admin.clients.list_clients()
    down_proxies = [_find_proxy(addr, clients.proxies.proxies, is_same_server) for addr in down_addrs]
    return find_connection_losses(clients, down_proxies)


def _find_proxy(
    down_addr: str, proxies: Sequence[ProxyStatus], is_same_server: SameServerTest
) -> ProxyStatus:
    for proxy in proxies:
        known_addrs = filter(None, (proxy.proxy_addr, proxy.grpc_addr))
        if any(is_same_server(down_addr, addr) for addr in known_addrs):
            return proxy
    found = "nsadmin found " + (", ".join(proxy.proxy_addr for proxy in proxies) or "none")
    raise NotFound(f'no proxy "{down_addr}": {found}; name others with --proxies')


def find_connection_losses(clients: ClientList, down_proxies: Sequence[ProxyStatus]) -> ProxyOutage:
    """Find the clients that are connected through these proxies only. Pure."""
    down_addrs = {proxy.proxy_addr for proxy in down_proxies}
    local_addrs = {proxy.proxy_addr for proxy in down_proxies if proxy.mode == "local"}
    lost_clients = [client for client in clients.clients if _is_lost(client, down_addrs, local_addrs)]
    counts_by_group: dict[str, list[int]] = {}
    for client in clients.clients:
        for group in client.consumer_groups or ():
            counts = counts_by_group.setdefault(group, [0, 0])
            counts[0] += 1
            counts[1] += not _is_lost(client, down_addrs, local_addrs)
    group_losses = [
        GroupConnectionLoss(group, count, remaining_count)
        for group, (count, remaining_count) in sorted(counts_by_group.items())
        if remaining_count < count
    ]
    errors = {
        **clients.errors,
        **{
            proxy.proxy_addr: proxy.error
            for proxy in clients.proxies.proxies
            if proxy.error is not None and proxy.proxy_addr not in down_addrs
        },
    }
    return ProxyOutage(
        sorted(group_losses, key=lambda loss: (loss.remaining_count > 0, loss.group)),
        lost_clients,
        sorted(local_addrs),
        errors,
    )


def _is_lost(client: ClusterClient, down_addrs: set[str], local_addrs: set[str]) -> bool:
    """Return whether no connection remains. That to the broker of a proxy in local mode is the same one."""
    proxy_addrs = set(client.proxy_addrs)
    if not proxy_addrs or not proxy_addrs <= down_addrs:
        return False
    return not client.broker_addrs or bool(proxy_addrs & local_addrs)
