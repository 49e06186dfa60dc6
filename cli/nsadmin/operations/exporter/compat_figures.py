"""Figures of one broker under the names of rocketmq-exporter. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol.resource_names import DLQ_PREFIX, GROUP_TOPIC_PREFIXES, RETRY_PREFIX
from nsadmin.client.brokers.broker_numbers import parse_broker_number
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.consumers.consume_stats import ConsumeStats
from nsadmin.operations.broker_disks import parse_disk_capacity, parse_size
from nsadmin.operations.exporter.compat_metrics import (
    CAPACITY_FIGURES,
    CLIENT_METRICS,
    LATENCY_BUCKETS,
    NUMBER_FIGURES,
    RATE_FIGURES,
    RATE_WINDOWS,
    RUNTIME_PREFIX,
    SIZE_FIGURES,
)
from nsadmin.operations.exporter.derived_figures import ClientFacts
from nsadmin.operations.exporter.figures import FigureRow, FigureTable, Reading, ServerIdentity, clean_label

_BUCKET_PATTERN = re.compile(r"\[([^][]{1,64})\]:(\d{1,19})")
_CLUSTERING_ORDINAL = "1"
"""MessageModel.CLUSTERING.ordinal(): the only model whose lag rocketmq-exporter reports."""


class CompatClients(NamedTuple):
    """The clients of a group as one broker knows them, and whether the group consumes as a cluster.

    The texts are the addresses and the ids of the clients, joined by commas.
    """

    client_count: int = 0
    addrs_text: str = ""
    ids_text: str = ""
    is_clustering: bool = True


class CompatFacts(NamedTuple):
    """The figures that are combined over brokers: clients by group, and lag by group and topic."""

    clients_by_group: Mapping[str, CompatClients]
    lag_by_place: Mapping[tuple[str, str], int]
    client_rows: Mapping[str, Sequence[FigureRow]] = {}


def build_compat_runtime(server: ServerIdentity, info: RuntimeInfo) -> FigureTable:
    """Build the metrics rocketmq_brokeruntime_*."""
    table = info.table
    labels = (
        server.cluster_name,
        server.address,
        "",
        clean_label(table.get("brokerVersionDesc", "")),
        table.get("bootTimestamp", ""),
        table.get("brokerVersion", ""),
    )
    disk_bytes = parse_disk_capacity(table.get("commitLogDirCapacity", ""))
    bucket_counts = dict(_BUCKET_PATTERN.findall(table.get("putMessageDistributeTime", "")))
    figures: dict[str, float | None] = {
        **{name: info.get_number(table_key) for name, table_key in NUMBER_FIGURES},
        # rocketmq-exporter ignores the unit, and exports 239.9 for "239.9 KiB".
        **{name: parse_size(table.get(table_key, "")) for name, table_key in SIZE_FIGURES},
        **{name: disk_bytes.get(word) for name, word in CAPACITY_FIGURES},
        **{
            name: float(bucket_counts[bucket]) if bucket in bucket_counts else None
            for name, bucket in LATENCY_BUCKETS
        },
    }
    for name, table_keys in RATE_FIGURES:
        rate_words = next((table[key] for key in table_keys if key in table), "").split()
        # A broker that has just started has no rates yet: rocketmq-exporter says 0.
        for window, rate_word in zip(RATE_WINDOWS, [*rate_words, "0", "0", "0"], strict=False):
            figures[f"{name}_tps{window}"] = parse_broker_number(rate_word)
    return FigureTable(tuple(RUNTIME_PREFIX + name for name in figures), [(labels, tuple(figures.values()))])


def sum_raw_lags(stats: ConsumeStats) -> dict[str, int]:
    """The lag by topic as ConsumeStats#computeTotalDiff: a queue without a consumer offset counts whole."""
    lag_by_topic: Counter[str] = Counter()
    for queue_lag in stats.queues:
        lag_by_topic[queue_lag.queue.topic] += queue_lag.broker_offset - (queue_lag.consumer_offset or 0)
    return lag_by_topic


def sum_raw_offsets(stats: ConsumeStats) -> dict[str, int]:
    """The sum of the consumer offsets by topic."""
    offset_by_topic: Counter[str] = Counter()
    for queue_lag in stats.queues:
        offset_by_topic[queue_lag.queue.topic] += queue_lag.consumer_offset or 0
    return offset_by_topic


def derive_compat_tables(readings: Sequence[Reading]) -> Iterator[FigureTable]:
    """Derive the metrics of rocketmq-exporter that combine brokers, or that other readings contain."""
    compat_readings = [reading for reading in readings if reading.source == "compat"]
    yield from _derive_group_tables(compat_readings)
    yield _derive_client_table(compat_readings)
    yield FigureTable(
        ("rocketmq_producer_count",),
        [
            ((*reading.server.broker_labels[:2], clean_label(group)), (float(len(clients)),))
            for reading in readings
            if reading.source == "clients" and isinstance(reading.facts, ClientFacts)
            for group, clients in reading.facts.producers.items()
        ],
    )
    yield from _derive_topic_tables(readings)
    yield _derive_commit_log_differences(readings)


def _choose_clients(compat_readings: Iterable[Reading]) -> dict[str, CompatClients]:
    """The clients of each group, from the first broker that has any, as a client is connected to several."""
    chosen_clients: dict[str, CompatClients] = {}
    for reading in compat_readings:
        for group, clients in reading.facts.clients_by_group.items():
            if not chosen_clients.get(group, CompatClients()).client_count:
                chosen_clients[group] = clients
    return chosen_clients


def _derive_group_tables(compat_readings: Sequence[Reading]) -> Iterator[FigureTable]:
    clients_by_group = _choose_clients(compat_readings)
    lag_by_place: Counter[tuple[str, str]] = Counter()
    for reading in compat_readings:
        lag_by_place.update(reading.facts.lag_by_place)
    rows: dict[bool, list[FigureRow]] = {False: [], True: []}
    for (group, topic), behind_count in lag_by_place.items():
        clients = clients_by_group.get(group, CompatClients())
        if clients.is_clustering and not topic.startswith(DLQ_PREFIX):
            labels = (clean_label(group), clean_label(topic), str(clients.client_count), _CLUSTERING_ORDINAL)
            rows[topic.startswith(RETRY_PREFIX)].append((labels, (float(behind_count),)))
    yield FigureTable(("rocketmq_group_diff",), rows[False])
    yield FigureTable(("rocketmq_group_retrydiff",), rows[True])
    groups_with_offsets = {group for group, _ in lag_by_place}
    yield FigureTable(
        ("rocketmq_group_count",),
        [
            ((clients.addrs_text, clients.ids_text, clean_label(group)), (float(clients.client_count),))
            for group, clients in clients_by_group.items()
            if group in groups_with_offsets
        ],
    )


def _derive_client_table(compat_readings: Iterable[Reading]) -> FigureTable:
    rows_by_group: dict[str, Sequence[FigureRow]] = {}
    for reading in compat_readings:
        for group, client_rows in reading.facts.client_rows.items():
            if client_rows:
                rows_by_group.setdefault(group, client_rows)
    metric_names = tuple(name for name, _ in CLIENT_METRICS)
    return FigureTable(metric_names, [row for rows in rows_by_group.values() for row in rows])


def _derive_topic_tables(readings: Iterable[Reading]) -> Iterator[FigureTable]:
    """Sums of queue ends by kind of topic, from the first figure of the topics' own rows."""
    rows: dict[str, list[FigureRow]] = {"": [], RETRY_PREFIX: [], DLQ_PREFIX: []}
    for reading in readings:
        if reading.source != "topics":
            continue
        for (cluster_name, broker_name, topic), figures in reading.tables[0].rows:
            prefix = next((prefix for prefix in GROUP_TOPIC_PREFIXES if topic.startswith(prefix)), "")
            label = topic[len(DLQ_PREFIX) :] if prefix == DLQ_PREFIX else topic
            rows[prefix].append(((cluster_name, broker_name, label), figures[:1]))
    yield FigureTable(("rocketmq_producer_offset",), rows[""])
    yield FigureTable(("rocketmq_topic_retry_offset",), rows[RETRY_PREFIX])
    yield FigureTable(("rocketmq_topic_dlq_offset",), rows[DLQ_PREFIX])


def _derive_commit_log_differences(readings: Iterable[Reading]) -> FigureTable:
    runtime_readings = [
        reading for reading in readings if reading.source == "runtime" and reading.facts is not None
    ]
    master_offsets = {
        reading.server.broker_labels[:2]: reading.facts
        for reading in runtime_readings
        if reading.server.broker_id == "0"
    }
    return FigureTable(
        ("rocketmq_broker_commitlog_diff",),
        [
            (
                (reading.server.cluster_name, reading.server.address, reading.server.broker_name),
                (float(master_offsets[reading.server.broker_labels[:2]] - reading.facts),),
            )
            for reading in runtime_readings
            if reading.server.broker_id != "0" and reading.server.broker_labels[:2] in master_offsets
        ],
    )
