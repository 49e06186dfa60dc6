"""Figures of proxies, and the consumers behind them."""

from nsadmin.client.consumers.connected_clients import ConnectedClient
from nsadmin.client.proxies.client_heartbeats import ClientHeartbeat, ProxyIdentity
from nsadmin.client.proxies.heartbeat_reader import ProxyHeartbeats
from nsadmin.client.proxies.proxies import ProxyList, ProxyStatus
from nsadmin.operations.exporter.derived_figures import ClientKey
from nsadmin.operations.exporter.proxy_figures import build_proxy_table, collect_proxy_clients


def heartbeat(group: str, client_id: str, *, is_leaving: bool = False) -> ClientHeartbeat:
    client = ConnectedClient(client_id, None, "GO", None, ())
    return ClientHeartbeat(
        ProxyIdentity("p", 8080, 8081), group, client, None, None, is_leaving, sent_ms=0, age_ms=1000
    )


def test_each_proxy_once_and_only_what_is_known_of_it() -> None:
    known = ProxyStatus("p:8080", None, "cluster", "V5_5_0", True, 3, ("x:1", "x:2"), 1_700_000_000_500)
    unknown = ProxyStatus("q:8080")
    lists = {name: ProxyList((known, unknown), {}, ProxyHeartbeats()) for name in ("A", "B")}
    assert build_proxy_table(lists).rows == [
        (("A", "p:8080", "cluster"), (1.0, 3.0, 2.0, 1_700_000_000.5)),
        (("A", "q:8080", "unknown"), (None, None, None, None)),
    ]


def test_connected_consumers_of_accepted_groups() -> None:
    heartbeats = (heartbeat("G", "1"), heartbeat("G", "2", is_leaving=True), heartbeat("test", "3"))
    lists = {"C": ProxyList((), {}, ProxyHeartbeats(heartbeats))}
    client_counts = collect_proxy_clients(lists, lambda group: group != "test")
    assert client_counts["C"].consumers == {"G": frozenset({ClientKey("1", "GO", "unknown")})}
