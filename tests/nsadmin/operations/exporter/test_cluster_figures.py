"""Figures of a whole cluster: differences and drains."""

from pathlib import Path

import pytest

from nsadmin import AdminClient
from nsadmin.client.consumers.connected_clients import ConnectedClient
from nsadmin.client.proxies.client_heartbeats import ClientHeartbeat, ProxyIdentity
from nsadmin.client.proxies.heartbeat_reader import ProxyHeartbeats
from nsadmin.client.proxies.proxies import ProxyList, ProxyStatus
from nsadmin.operations.drain.state import DrainState, QueueSnapshot, open_drain
from nsadmin.operations.exporter.cluster_figures import (
    ClusterFigures,
    build_proxy_table,
    collect_proxy_clients,
)
from nsadmin.operations.exporter.derived_figures import ClientKey
from nsadmin.operations.exporter.figures import FigureRow
from tests.support.fake_servers import FakeNameServer


def rows(figures: ClusterFigures, *clusters: str) -> dict[str, list[FigureRow]]:
    return {reading.source: list(reading.tables[0].rows) for reading in figures.read_all(clusters)}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    drains = (("C", "a", "127.0.0.1:1"), ("Other", "b", "127.0.0.1:1"), ("C", "c", "127.0.0.1:2"))
    for cluster, broker, addr in drains:
        store = open_drain(tmp_path, cluster, broker)
        store.save(DrainState(cluster, broker, (addr,), 1_700_000_000_500, 0), QueueSnapshot())
    return tmp_path


def test_open_drains_of_the_brokers_of_this_cluster(state: Path) -> None:
    with AdminClient("127.0.0.1:1") as admin:
        drain_rows = rows(ClusterFigures(admin, state_home=state), "C")
    assert drain_rows["drains"] == [(("C", "a", "snapshot"), (1_700_000_000.5,))]


def test_damaged_drains_are_counted(state: Path) -> None:
    def count_damaged() -> list[FigureRow]:
        with AdminClient("127.0.0.1:1") as admin:
            [reading] = [
                r for r in ClusterFigures(admin, state_home=state).read_all("C") if r.source == "drains"
            ]
        return list(reading.tables[1].rows)

    assert count_damaged() == [((), (0.0,))]
    next(state.rglob("state.json")).write_text("{}")
    assert count_damaged() == [((), (1.0,))]


def test_differences_between_two_name_servers(tmp_path: Path) -> None:
    brokers = {"C": {"a": {0: "127.0.0.1:1"}}}
    with FakeNameServer(brokers) as first, FakeNameServer(brokers) as second:
        first.routes = {"T": {"a": 6}}
        second.routes = {"T": {"a": 6}}
        with AdminClient(f"{first.addr};{second.addr}", timeout=5) as admin:
            figures = ClusterFigures(admin, state_home=tmp_path)
            assert dict(rows(figures)["divergence"]) == {("drift",): (0.0,), ("new",): (0.0,)}
            second.routes = {"T": {"a": 4}}
            assert dict(rows(figures)["divergence"]) == {("drift",): (0.0,), ("new",): (1.0,)}
            second.close()
            assert "divergence" not in rows(figures)


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
