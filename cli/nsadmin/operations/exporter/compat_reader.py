"""Reads what only the metrics of rocketmq-exporter need: counters of brokers, clients, and message times."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import nan
from time import monotonic, time

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from namesrv_core.protocol.resource_names import DLQ_PREFIX, GROUP_TOPIC_PREFIXES
from nsadmin.client import AdminClient
from nsadmin.client.brokers.targets import target_at_addr
from nsadmin.client.consumers.connected_clients import GroupConnections
from nsadmin.client.consumers.consume_stats import GroupQueueLag
from nsadmin.client.messages.queue_reader import QueueSpan
from nsadmin.client.results import is_silent
from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.operations.exporter.broker_reader import ReadChoice
from nsadmin.operations.exporter.compat_figures import (
    CompatClients,
    CompatFacts,
    build_compat_runtime,
    sum_raw_lags,
    sum_raw_offsets,
)
from nsadmin.operations.exporter.figures import FigureRow, FigureTable, Reading, ServerIdentity, clean_label
from nsadmin.operations.exporter.reading_store import ReadingStore

_BATCH_SIZE = 16
_BROKER_COUNTERS = (("rocketmq_broker_tps", "BROKER_PUT_NUMS"), ("rocketmq_broker_qps", "BROKER_GET_NUMS"))
_TOPIC_COUNTERS = (
    ("rocketmq_producer_tps", "TOPIC_PUT_NUMS"),
    ("rocketmq_producer_message_size", "TOPIC_PUT_SIZE"),
)
_GROUP_COUNTERS = (
    ("rocketmq_consumer_tps", "GROUP_GET_NUMS"),
    ("rocketmq_consumer_message_size", "GROUP_GET_SIZE"),
    ("rocketmq_send_back_nums", "SNDBCK_PUT_NUMS"),
)
_SUMMED_COUNTERS = frozenset({"rocketmq_send_back_nums"})


class _BrokerSilent(Exception):
    """The broker stopped answering, or the deadline passed: the reading is not replaced."""


class CompatReader:
    """Reads brokers of one cluster into a store, after their topics."""

    def __init__(
        self,
        admin: AdminClient,
        reading_store: ReadingStore,
        request_pace: RequestPace,
        read_choice: ReadChoice,
    ) -> None:
        self._admin = admin
        self._store = reading_store
        self._request_pace = request_pace
        self._choice = read_choice

    def read_broker(self, server: ServerIdentity, deadline: float) -> bool:
        """Read everything or nothing. Return whether it was read. rocketmq-exporter asks masters only."""
        if server.broker_id != str(MASTER_BROKER_ID):
            return True
        try:
            tables, facts = self._read_all(server, deadline)
        except _BrokerSilent:
            self._store.count_error("compat", server)
            return False
        self._store.put_reading(Reading("compat", server, monotonic(), tables, facts))
        return True

    def _read_all(
        self, server: ServerIdentity, deadline: float
    ) -> tuple[tuple[FigureTable, ...], CompatFacts]:
        with self._request_pace.reserve_requests(2):
            [runtime_result] = self._admin.brokers.get_runtime_info([server.address])
            [group_result] = self._admin.groups.get_tables([target_at_addr(server.address)])
        if runtime_result.result is None or group_result.result is None:
            raise _BrokerSilent
        groups = sorted(filter(self._choice.name_filter.accepts_group, group_result.result))
        clients_by_group: dict[str, CompatClients] = {}
        lag_by_place: dict[tuple[str, str], int] = {}
        client_rows: dict[str, Sequence[FigureRow]] = {}
        offset_rows: list[FigureRow] = []
        latency_rows: list[FigureRow] = []
        for group in groups[: self._choice.max_names]:
            if monotonic() > deadline:
                raise _BrokerSilent
            with self._request_pace.reserve_requests(2):
                [result] = self._admin.consumers.get_stats_each([(server.address, group)])
                connections = self._admin.consumers.get_group_connections([group], [server.address])[group]
            if is_silent(result.error):
                raise _BrokerSilent
            if result.result is None:
                continue
            clients_by_group[group] = _describe_clients(connections)
            for topic, behind_count in sum_raw_lags(result.result).items():
                lag_by_place[group, topic] = behind_count
            offset_rows += [
                (_group_labels(server, topic, group), (float(offset_sum),))
                for topic, offset_sum in sum_raw_offsets(result.result).items()
                if not topic.startswith(DLQ_PREFIX)
            ]
            if clients_by_group[group].is_clustering:
                latency_rows += self._read_latencies(server, group, result.result.queues)
            client_rows[group] = self._read_client_rows(server, group, connections)
        tables = (
            build_compat_runtime(server, runtime_result.result),
            FigureTable(("rocketmq_consumer_offset",), offset_rows),
            FigureTable(("rocketmq_group_get_latency_by_storetime",), latency_rows),
            *self._read_counters(server, lag_by_place, deadline),
        )
        return tables, CompatFacts(clients_by_group, lag_by_place, client_rows)

    def _read_counters(
        self, server: ServerIdentity, group_places: Iterable[tuple[str, str]], deadline: float
    ) -> Iterator[FigureTable]:
        cluster_name, broker_name, _ = server.broker_labels
        broker_labels = (cluster_name, server.address, broker_name)
        topics_reading = self._store.find_reading("topics", server.address)
        topics = [
            topic
            for topic in (() if topics_reading is None else topics_reading.facts)
            if not topic.startswith(GROUP_TOPIC_PREFIXES)
        ]
        counter_places = [
            *((name, stats_name, cluster_name, broker_labels) for name, stats_name in _BROKER_COUNTERS),
            *(
                (name, stats_name, topic, (cluster_name, broker_name, clean_label(topic)))
                for topic in topics
                for name, stats_name in _TOPIC_COUNTERS
            ),
            *(
                (name, stats_name, f"{topic}@{group}", _group_labels(server, topic, group))
                for group, topic in group_places
                if not topic.startswith(GROUP_TOPIC_PREFIXES)
                for name, stats_name in _GROUP_COUNTERS
            ),
        ]
        rows_by_metric: dict[str, list[FigureRow]] = {}
        remaining_places = iter(counter_places)
        while place_batch := list(islice(remaining_places, _BATCH_SIZE)):
            if monotonic() > deadline:
                raise _BrokerSilent
            with self._request_pace.reserve_requests(len(place_batch)):
                stats_results = self._admin.put_counts.get_minute_stats(
                    server.address, [(stats_name, key) for _, stats_name, key, _ in place_batch]
                )
            for (name, _, _, labels), result in zip(place_batch, stats_results, strict=True):
                if is_silent(result.error):
                    raise _BrokerSilent
                if result.result is not None:
                    is_summed = name in _SUMMED_COUNTERS
                    figure = float(result.result.total) if is_summed else result.result.per_second
                    rows_by_metric.setdefault(name, []).append((labels, (round(figure, 2),)))
        return (FigureTable((name,), rows) for name, rows in rows_by_metric.items())

    def _read_latencies(
        self, server: ServerIdentity, group: str, queue_lags: Sequence[GroupQueueLag]
    ) -> list[FigureRow]:
        """The age in ms of the oldest message that waits on any queue of a topic; 0 without a lag."""
        spans_by_topic: dict[str, list[QueueSpan]] = {}
        for queue_lag in queue_lags:
            topic_spans = spans_by_topic.setdefault(queue_lag.queue.topic, [])
            begin_offset = queue_lag.consumer_offset or 0
            if begin_offset < queue_lag.broker_offset:
                topic_spans.append(
                    QueueSpan(
                        queue_lag.queue.broker_name,
                        server.address,
                        queue_lag.queue.queue_id,
                        begin_offset,
                        begin_offset + 1,
                    )
                )
        latency_rows: list[FigureRow] = []
        for topic, topic_spans in spans_by_topic.items():
            if topic.startswith(DLQ_PREFIX):
                continue
            with self._request_pace.reserve_requests(len(topic_spans)):
                store_times = [
                    message.store_timestamp
                    for page in self._admin.queue_reader.read_pages(topic, topic_spans)
                    for message in page.messages
                ]
            oldest_ms = min(store_times, default=None)
            latency_ms = 0.0 if oldest_ms is None else max(time() * 1000 - oldest_ms, 0.0)
            latency_rows.append((_group_labels(server, topic, group), (latency_ms,)))
        return latency_rows

    def _read_client_rows(
        self, server: ServerIdentity, group: str, connections: GroupConnections
    ) -> list[FigureRow]:
        """Ask the clients of a group through this broker, unless they are connected to an earlier one."""
        if not connections.clients or self._is_read_elsewhere(server, group):
            return []
        try:
            with self._request_pace.reserve_requests(len(connections.clients) + 1):
                running_group = self._admin.client_runtime.get_group(group, broker_addr=server.address)
        except RocketMQError:
            return []
        return [
            (
                (
                    clean_label(client.client.client_addr or ""),
                    clean_label(client.client.client_id),
                    clean_label(group),
                    clean_label(topic),
                ),
                tuple(
                    nan if figure is None else figure
                    for figure in (
                        status.consume_failed_msgs,
                        status.consume_failed_tps,
                        status.consume_ok_tps,
                        status.consume_rt,
                        status.pull_rt,
                        status.pull_tps,
                    )
                ),
            )
            for client in running_group.clients
            if client.info is not None
            for topic, status in client.info.status_by_topic.items()
        ]

    def _is_read_elsewhere(self, server: ServerIdentity, group: str) -> bool:
        return any(
            reading.facts.client_rows.get(group)
            for reading in self._store.list_readings()
            if reading.source == "compat" and reading.server.broker_labels < server.broker_labels
        )


def _group_labels(server: ServerIdentity, topic: str, group: str) -> tuple[str, ...]:
    return (*server.broker_labels[:2], clean_label(topic), clean_label(group))


def _describe_clients(connections: GroupConnections) -> CompatClients:
    return CompatClients(
        len(connections.clients),
        clean_label(",".join(client.client_addr or "" for client in connections.clients)),
        clean_label(",".join(client.client_id for client in connections.clients)),
        not connections.is_broadcasting,
    )
