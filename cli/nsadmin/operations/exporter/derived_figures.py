"""Figures that need the answers of several brokers: slave distance, and clients without duplicates. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from sys import intern
from typing import NamedTuple

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client.consumers.connected_clients import ConnectedClient, ProducerClient
from nsadmin.operations.exporter.figures import (
    BROKER_LABELS,
    FigureRow,
    FigureTable,
    MetricTable,
    Reading,
    clean_label,
)

SLAVE_DISTANCE_METRICS = MetricTable(
    "brokers",
    "runtime",
    BROKER_LABELS,
    ("broker_slave_distance_bytes", "bytes", "End of the master's commit log minus the end of this slave's."),
)
GROUP_CLIENT_METRICS = MetricTable(
    "groups",
    "clients",
    ("cluster", "group"),
    ("group_clients", "clients", "Consumers that are connected to any broker or proxy."),
)
PRODUCER_CLIENT_METRICS = MetricTable(
    "clients",
    "clients",
    ("cluster", "group"),
    ("producer_clients", "clients", "Producers that are connected to any broker."),
)
CLIENT_METRICS = MetricTable(
    "clients",
    "clients",
    ("cluster", "kind", "language", "version"),
    ("clients", "clients", "Connected consumers and producers, by language and release."),
)


class ClientKey(NamedTuple):
    """One connected client."""

    client_id: str
    language: str
    version: str


class ClientFacts(NamedTuple):
    """The clients of each group on one broker. A known group without clients has an empty set."""

    consumers: Mapping[str, frozenset[ClientKey]]
    producers: Mapping[str, frozenset[ClientKey]]
    broadcasting_groups: Set[str] = frozenset()


def make_client_key(client: ConnectedClient | ProducerClient) -> ClientKey:
    return ClientKey(intern(client.client_id), client.language or "unknown", client.version or "unknown")


def group_clients(
    groups_and_clients: Iterable[tuple[str, ConnectedClient | ProducerClient]],
) -> dict[str, frozenset[ClientKey]]:
    clients_by_group: dict[str, set[ClientKey]] = {}
    for group, client in groups_and_clients:
        clients_by_group.setdefault(group, set()).add(make_client_key(client))
    return {group: frozenset(clients) for group, clients in clients_by_group.items()}


def derive_tables(readings: Iterable[Reading]) -> list[FigureTable]:
    """Derive the figures from the readings of one cluster or of several."""
    runtime_readings = []
    facts: list[tuple[str, ClientFacts]] = []
    for reading in readings:
        if reading.source == "runtime":
            runtime_readings.append(reading)
        elif reading.source == "clients":
            facts.append((reading.server.cluster_name, reading.facts))
        elif reading.source == "proxies":
            facts += reading.facts.items()
    return [_derive_slave_distances(runtime_readings), *_derive_client_counts(facts)]


def _derive_slave_distances(runtime_readings: Iterable[Reading]) -> FigureTable:
    """The facts of a runtime reading are the end of the commit log in bytes, or None."""
    offsets_by_name: dict[tuple[str, str], dict[int, int]] = {}
    for reading in runtime_readings:
        cluster_name, broker_name, broker_id = reading.server.broker_labels
        if reading.facts is not None:
            offsets_by_name.setdefault((cluster_name, broker_name), {})[int(broker_id)] = reading.facts
    distance_rows: list[FigureRow] = [
        ((*name, str(broker_id)), (float(max(offsets[MASTER_BROKER_ID] - offset, 0)),))
        for name, offsets in offsets_by_name.items()
        if MASTER_BROKER_ID in offsets
        for broker_id, offset in offsets.items()
        if broker_id != MASTER_BROKER_ID
    ]
    return SLAVE_DISTANCE_METRICS.with_rows(distance_rows)


def _derive_client_counts(facts_of_clusters: Iterable[tuple[str, ClientFacts]]) -> list[FigureTable]:
    clients_by_kind: dict[str, dict[tuple[str, str], set[ClientKey]]] = {"consumer": {}, "producer": {}}
    for cluster_name, facts in facts_of_clusters:
        for kind, clients_by_group in (("consumer", facts.consumers), ("producer", facts.producers)):
            for group, clients in clients_by_group.items():
                clients_by_kind[kind].setdefault((cluster_name, group), set()).update(clients)
    release_counts: Counter[tuple[str, str, str, str]] = Counter()
    for kind, clients_by_group_key in clients_by_kind.items():
        # A process can be a client of several groups with the same id.
        clients_by_cluster: dict[str, set[ClientKey]] = {}
        for (cluster_name, _), group_clients in clients_by_group_key.items():
            clients_by_cluster.setdefault(cluster_name, set()).update(group_clients)
        for cluster_name, cluster_clients in clients_by_cluster.items():
            for client in cluster_clients:
                release_counts[cluster_name, kind, client.language, client.version] += 1
    return [
        GROUP_CLIENT_METRICS.with_rows(_count_by_group(clients_by_kind["consumer"])),
        PRODUCER_CLIENT_METRICS.with_rows(_count_by_group(clients_by_kind["producer"])),
        CLIENT_METRICS.with_rows(
            [(labels, (float(count),)) for labels, count in sorted(release_counts.items())]
        ),
    ]


def _count_by_group(clients_by_group_key: Mapping[tuple[str, str], set[ClientKey]]) -> list[FigureRow]:
    return [
        ((name, clean_label(group)), (float(len(clients)),))
        for (name, group), clients in clients_by_group_key.items()
    ]
