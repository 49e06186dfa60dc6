"""Builds the rows of whatIf --down-proxy. Pure."""

from nsadmin.client.proxies.cluster_clients import ClusterClient
from nsadmin.client.results import error_text
from nsadmin.console.output import ResultRow
from nsadmin.operations.what_if.proxy_outage import GroupConnectionLoss, ProxyOutage

CONNECTION_COLUMNS = ("what", "name", "count", "finding", "clients", "clientsLeft", "proxyAddrs")
NO_CLIENT_REMAINS = "no client remains"


def build_connection_rows(outage: ProxyOutage, show_each: bool) -> list[ResultRow]:
    """Return a row for each group, and one for all gRPC connections without a known client.

    With `show_each`, there is a row for each client and connection instead.
    """
    group_rows = [_group_row(group_loss) for group_loss in outage.group_losses]
    if show_each:
        return [*group_rows, *map(_client_row, outage.lost_clients)]
    nameless_clients = [client for client in outage.lost_clients if client.client_id is None]
    if not nameless_clients:
        return group_rows
    proxy_addrs = sorted({addr for client in nameless_clients for addr in client.proxy_addrs})
    nameless_row: ResultRow = {
        "what": "connections",
        "name": f"{nameless_clients[0].client_addr or '?'}, ...",
        "count": len(nameless_clients),
        "finding": "their clients are unknown, producers for example",
        "proxyAddrs": proxy_addrs,
    }
    return [*group_rows, nameless_row]


def _group_row(group_loss: GroupConnectionLoss) -> ResultRow:
    return {
        "what": "group",
        "name": group_loss.group,
        "count": group_loss.client_count - group_loss.remaining_count,
        "finding": "fewer clients remain" if group_loss.remaining_count else NO_CLIENT_REMAINS,
        "clients": group_loss.client_count,
        "clientsLeft": group_loss.remaining_count,
    }


def _client_row(client: ClusterClient) -> ResultRow:
    return {
        "what": "client" if client.client_id else "connection",
        "name": client.client_id or client.client_addr,
        "count": 1,
        "finding": "loses its connection",
        "proxyAddrs": list(client.proxy_addrs),
    }


def describe_proxy_outage(outage: ProxyOutage) -> list[str]:
    """Return the sums, the proxies in local mode, and the servers that did not answer."""
    stopped_count = sum(group_loss.remaining_count == 0 for group_loss in outage.group_losses)
    return [
        f"{len(outage.lost_clients)} clients lose their connection; "
        f"{stopped_count} of {len(outage.group_losses)} groups keep no client",
        *(
            f"proxy {proxy_addr} contains a broker, which stops as well: see nsadmin whatIf --down BROKER"
            for proxy_addr in outage.local_addrs
        ),
        *(f"unknown state of {addr}: {error_text(error)}" for addr, error in outage.errors.items()),
    ]
