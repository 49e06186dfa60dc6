"""Figures of proxies, and the consumers behind proxies in cluster mode. Pure."""

from collections.abc import Callable, Mapping

from nsadmin.client.proxies.proxies import ProxyList
from nsadmin.operations.exporter.derived_figures import ClientFacts, ClientKey
from nsadmin.operations.exporter.figures import FigureTable, MetricTable, clean_label

PROXY_METRICS = MetricTable(
    "proxies",
    "proxies",
    ("cluster", "proxy", "mode"),
    ("proxy_up", "bool", "1 if the proxy answers, else 0."),
    ("proxy_consumers", "clients", "Consumers that are connected to a proxy in cluster mode."),
    ("proxy_grpc_connections", "connections", "Connected gRPC clients; needs nsadmin[proxy]."),
    (
        "proxy_last_heartbeat_time_seconds",
        "seconds since 1970",
        "When the proxy passed on the last heartbeat of a consumer.",
    ),
)


def build_proxy_table(proxies_by_cluster: Mapping[str, ProxyList]) -> FigureTable:
    """Build the figures of each proxy. A proxy that was configured belongs to the first cluster."""
    rows_by_addr = {
        status.proxy_addr: (
            (clean_label(cluster_name), clean_label(status.proxy_addr), status.mode or "unknown"),
            (
                None if status.is_answering is None else float(status.is_answering),
                None if status.consumer_count is None else float(status.consumer_count),
                None if status.connection_addrs is None else float(len(status.connection_addrs)),
                None if status.last_heartbeat_ms is None else status.last_heartbeat_ms / 1000,
            ),
        )
        for cluster_name, proxy_list in reversed([*proxies_by_cluster.items()])
        for status in proxy_list.proxies
    }
    return PROXY_METRICS.with_rows([rows_by_addr[addr] for addr in sorted(rows_by_addr)])


def collect_proxy_clients(
    proxies_by_cluster: Mapping[str, ProxyList], accepts_group: Callable[[str], bool]
) -> dict[str, ClientFacts]:
    """Collect the consumers behind the proxies of each cluster, by group."""
    facts_by_cluster = {}
    for cluster_name, proxy_list in proxies_by_cluster.items():
        clients_by_group: dict[str, set[ClientKey]] = {}
        for heartbeat in proxy_list.heartbeats.of_connected_clients:
            if accepts_group(heartbeat.group):
                client = heartbeat.client
                clients_by_group.setdefault(heartbeat.group, set()).add(
                    ClientKey(client.client_id, client.language or "unknown", client.version or "unknown")
                )
        facts_by_cluster[clean_label(cluster_name)] = ClientFacts(
            {group: frozenset(clients) for group, clients in clients_by_group.items()}, {}
        )
    return facts_by_cluster
